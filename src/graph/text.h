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
  // Constants of more elements than this print as `dense<...>`: such a text does not parse back.
  // -1: print every constant whole (large ones as hexadecimal bytes).
  int64_t max_constant_elements = -1;
};

// The canonical text of a graph. Print(*ParseGraph(Print(g))) == Print(g), byte for byte.
//
//   graph @name(%x: f32[1,3,224,224]) {
//     %w = constant() {value = f32[2]<1.5, -2>} : f32[2]
//     %y = conv(%x, %w, _) {pads = [1, 1, 1, 1], strides = [2, 2]} @"layer.conv1" : f32[1,64,112,112]
//     %a, %b = top_k(%y) {axis = 1, k = 5} : f32[1,5], i64[1,5]
//     return "out": %a
//   }
//
// `_` is an absent optional input; regions follow the attributes in braces of their own.
std::string Print(const Graph& graph, const PrintOptions& options = {});

// Parses and verifies. Input is hostile: bounded depth and memory. Errors name line and column.
absl::StatusOr<std::unique_ptr<Graph>> ParseGraph(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_GRAPH_TEXT_H_
