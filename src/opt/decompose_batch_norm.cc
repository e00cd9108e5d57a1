#include <cmath>

#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

bool HasConstantParameters(const Node& node) {
  for (int i = 1; i < 5; ++i) {
    if (node.input(i)->constant() == nullptr) return false;
  }
  return true;
}

// x·f + o with f = scale / sqrt(variance + epsilon) and o = bias - mean·f, both [C, 1, …].
void Decompose(Graph& graph, Node* node) {
  std::vector<double> factor = ToDoubles(*node->input(1)->constant());
  std::vector<double> offset = ToDoubles(*node->input(2)->constant());
  const std::vector<double> mean = ToDoubles(*node->input(3)->constant());
  const std::vector<double> variance = ToDoubles(*node->input(4)->constant());
  for (size_t c = 0; c < factor.size(); ++c) {
    factor[c] /= std::sqrt(variance[c] + node->attrs().Float("epsilon"));
    offset[c] -= mean[c] * factor[c];
  }
  const TensorType& type = node->output()->type();
  Shape shape(static_cast<size_t>(type.rank() - 1), 1);
  shape[0] = static_cast<int64_t>(factor.size());
  Value* factors = graph.AddConstant(FromDoubles(type.dtype, shape, factor), node->name(), node);
  Value* offsets = graph.AddConstant(FromDoubles(type.dtype, shape, offset), node->name(), node);
  Value* product = AddBefore(graph, node, Op::kMul, {node->input(0), factors});
  ReplaceNode(graph, node, AddBefore(graph, node, Op::kAdd, {product, offsets}));
}

}  // namespace

absl::StatusOr<bool> DecomposeBatchNormPass(Graph& graph, const PassContext&) {
  bool changed = false;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node* node = it++->get();
    if (node->op() != Op::kBatchNorm || !HasConstantParameters(*node)) continue;
    Decompose(graph, node);
    changed = true;
  }
  return changed;
}

}  // namespace attune
