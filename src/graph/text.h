// The text form of the Graph IR.
#ifndef ATTUNE_GRAPH_TEXT_H_
#define ATTUNE_GRAPH_TEXT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace attune {

struct PrintOptions {
  // Tensors of more elements than this print as `f32[64,3,7,7]<...>`: such a text does not parse back.
  // -1: print every constant whole (large ones as hexadecimal bytes).
  int64_t max_constant_elements = -1;
};

// The canonical text of a graph. Print(*ParseGraph(Print(g))) == Print(g), byte for byte.
//
//   graph @name(%x: f32[1,3,224,224], %c: bool[]) {
//     %w = constant() {value = f32[2]<1.5, -2>} : f32[2]
//     %y = requantize(%x, %scale, _) {to = u8} @"layer.conv1" : u8[1,64,112,112]{c1/16}
//     %a, %b = top_k(%y) {axis = 1, k = 5} : f32[1,5], i64[1,5]
//     %0 = if(%c, %a) {
//       graph(%"0:x": f32[1,5]) {
//         return "": %"0:x"
//       }
//       ...
//     } : f32[1,5]
//     return "out": %0
//   }
//
// `_` is an absent optional input; regions follow the attributes in braces of their own. Names that are not
// identifiers are in quotes; a value without a name has a number. Floats are the shortest decimals that read
// back as the same bits; a tensor of over 64 elements prints its bytes, `f32[1000]<0x…>`, little-endian.
// `//` comments until the end of the line.
std::string Print(const Graph& graph, const PrintOptions& options = {});

// Parses and verifies. Input is hostile: bounded depth and memory. Errors name line and column.
absl::StatusOr<std::unique_ptr<Graph>> ParseGraph(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_GRAPH_TEXT_H_
