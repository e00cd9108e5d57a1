// Helpers with which many passes look at and change a graph.
#ifndef ATTUNE_OPT_REWRITE_H_
#define ATTUNE_OPT_REWRITE_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "opt/pass.h"

namespace attune {

// Whether every element is `value`; true of an empty list.
bool AllAre(const Ints& list, int64_t value);

// The node whose only output is used by nothing but one node, possibly by several of its inputs: that
// node. nullptr where the value has other uses or none.
Node* OnlyUser(const Graph& graph, const Value* value);

// The producer of `value` if it is an `op`, else nullptr.
Node* ProducerOf(const Value* value, Op op);

// Appends before `before`, with its name. nullptr where the operator does not accept the inputs.
Value* AddBefore(Graph& graph, Node* before, Op op, std::vector<Value*> inputs, Attributes attributes = {});

// Makes every use of the only output of `node` a use of `replacement`, which takes over the output's name
// if it has none, and erases `node`.
void ReplaceNode(Graph& graph, Node* node, Value* replacement);

// The same, and erases those producers of the node's inputs that are an `op` and used by nothing else.
void ReplaceNodeAndProducers(Graph& graph, Node* node, Op op, Value* replacement);

// Calls rewrite(graph, node) for each node, which may replace that node and add others before it. Returns
// whether any call did.
template <typename Rewrite>
bool ForEachNode(Graph& graph, Rewrite rewrite) {
  bool changed = false;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node* node = it++->get();
    changed |= rewrite(graph, node);
  }
  return changed;
}

// Whether a node has inputs, and all of them are constants that are not frozen.
bool HasConstantInputs(const Node& node);

// Computes such a node and puts constants in the place of its outputs. Errors: `evaluate`'s; then nothing
// changes.
absl::Status FoldNode(Graph& graph, Node* node, const Evaluator& evaluate);

// All elements of a constant, and a tensor of such elements rounded to `dtype`.
std::vector<double> ToDoubles(const Tensor& tensor);
Tensor FromDoubles(DType dtype, Shape shape, std::span<const double> values);

// A tensor of f32 rounded to bf16.
Tensor ToBF16(const Tensor& tensor);

// `tensor`, a float one, with element [.., i, ..] along `axis` times factors[i]. Nothing where a product
// overflows the element type.
std::optional<Tensor> ScaleAlong(const Tensor& tensor, int axis, std::span<const double> factors);

// The values of `constant` along `axis` of a tensor of type `type` that it is broadcast to, if it varies
// along no other axis: as many as the axis has elements. Nothing where it varies otherwise, or where
// broadcasting would change the type's shape.
std::optional<std::vector<double>> ValuesAlong(const Tensor& constant, const TensorType& type, int axis);

}  // namespace attune

#endif  // ATTUNE_OPT_REWRITE_H_
