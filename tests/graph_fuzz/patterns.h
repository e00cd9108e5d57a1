// Pieces of graphs that random operators would not make: parts of real networks, whose nodes passes
// recognize, which fuse, or whose layouts are chosen together; and neighbours of the kinds that passes
// rewrite.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_PATTERNS_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_PATTERNS_H_

#include <span>
#include <string_view>

#include "graph_maker.h"

namespace attune::graph_fuzz {

struct Pattern {
  std::string_view name;
  // Adds the pattern. If a part of it fails, the nodes before that stay.
  void (*add)(GraphMaker&);
  // How often it is drawn, relative to the sum of all weights.
  int weight = 1;
};

std::span<const Pattern> Patterns();
void AddRandomPattern(GraphMaker&);

// On feature maps.
void AddResidual(GraphMaker&);  // patterns_vision.cc
void AddInvertedResidual(GraphMaker&);
void AddInception(GraphMaker&);
void AddDense(GraphMaker&);
void AddShuffle(GraphMaker&);
void AddUNet(GraphMaker&);
void AddConvChain(GraphMaker&);
void AddNormalizedConv(GraphMaker&);
void AddMapConsumers(GraphMaker&);
void AddWideChain(GraphMaker&);
void AddFirstLayer(GraphMaker&);
void AddPaddedWindows(GraphMaker&);
void AddVolumes(GraphMaker&);      // patterns_volume.cc
void AddTransformer(GraphMaker&);  // patterns_sequence.cc
void AddDecomposedAttention(GraphMaker&);
void AddAttentionOfTiles(GraphMaker&);
void AddDecomposedNorm(GraphMaker&);
void AddDecomposedActivation(GraphMaker&);
void AddRecurrence(GraphMaker&);
void AddCancellation(GraphMaker&);
void AddMlp(GraphMaker&);
void AddQuantizedChain(GraphMaker&);  // patterns_quantized.cc
void AddQuantizedFirstLayer(GraphMaker&);
void AddQuantizedResidual(GraphMaker&);
void AddFakeQuantizedConv(GraphMaker&);
void AddDynamicQuantization(GraphMaker&);
void AddMovedIntegers(GraphMaker&);
void AddFixedPoint(GraphMaker&);
void AddChain(GraphMaker&);  // patterns_rewrites.cc
void AddMovements(GraphMaker&);
void AddBetweenTransposes(GraphMaker&);
void AddPartOfParts(GraphMaker&);
void AddCasts(GraphMaker&);
void AddPooledConv(GraphMaker&);
void AddWhatRulesFit(GraphMaker&);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_PATTERNS_H_
