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
      {"normalized_conv", AddNormalizedConv},
      {"map_consumers", AddMapConsumers},
      {"wide_chain", AddWideChain},
      {"first_layer", AddFirstLayer},
      {"padded_windows", AddPaddedWindows},
      {"transformer", AddTransformer},
      {"decomposed_attention", AddDecomposedAttention},
      {"decomposed_norm", AddDecomposedNorm},
      {"decomposed_activation", AddDecomposedActivation},
      {"recurrence", AddRecurrence},
      {"cancellation", AddCancellation},
      {"mlp", AddMlp},
      {"quantized_chain", AddQuantizedChain},
      {"quantized_first_layer", AddQuantizedFirstLayer},
      {"quantized_residual", AddQuantizedResidual},
      {"fake_quantized_conv", AddFakeQuantizedConv},
      {"dynamic_quantization", AddDynamicQuantization},
  };
  return kPatterns;
}

}  // namespace attune::graph_fuzz
