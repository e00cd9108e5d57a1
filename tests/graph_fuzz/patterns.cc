#include "patterns.h"

namespace attune::graph_fuzz {

std::span<const Pattern> Patterns() {
  static constexpr Pattern kPatterns[] = {
      {"residual", AddResidual},
      {"inverted_residual", AddInvertedResidual},
      {"inception", AddInception},
      {"dense", AddDense},
      {"shuffle", AddShuffle},
      {"u_net", AddUNet},
      {"conv_chain", AddConvChain},
      {"normalized_conv", AddNormalizedConv, 2},
      {"map_consumers", AddMapConsumers},
      {"wide_chain", AddWideChain},
      {"first_layer", AddFirstLayer},
      {"padded_windows", AddPaddedWindows, 3},
      {"volumes", AddVolumes, 3},
      {"transformer", AddTransformer},
      {"decomposed_attention", AddDecomposedAttention},
      {"attention_of_tiles", AddAttentionOfTiles, 6},
      {"decomposed_norm", AddDecomposedNorm},
      {"decomposed_activation", AddDecomposedActivation},
      {"recurrence", AddRecurrence},
      {"cancellation", AddCancellation},
      {"mlp", AddMlp},
      {"quantized_chain", AddQuantizedChain},
      {"quantized_first_layer", AddQuantizedFirstLayer},
      {"quantized_residual", AddQuantizedResidual},
      {"fake_quantized_conv", AddFakeQuantizedConv},
      {"dynamic_quantization", AddDynamicQuantization, 2},
      {"moved_integers", AddMovedIntegers, 3},
      {"fixed_point", AddFixedPoint, 2},
      {"chain", AddChain, 3},
      {"movements", AddMovements, 4},
      {"between_transposes", AddBetweenTransposes, 5},
      {"part_of_parts", AddPartOfParts, 2},
      {"casts", AddCasts, 2},
      {"pooled_conv", AddPooledConv, 8},
      {"what_rules_fit", AddWhatRulesFit, 4},
  };
  return kPatterns;
}

void AddRandomPattern(GraphMaker& maker) {
  static const int64_t kSum = [] {
    int64_t sum = 0;
    for (const Pattern& pattern : Patterns()) sum += pattern.weight;
    return sum;
  }();
  int64_t draw = maker.Pick(kSum);
  for (const Pattern& pattern : Patterns()) {
    draw -= pattern.weight;
    if (draw < 0) return pattern.add(maker);
  }
}

}  // namespace attune::graph_fuzz
