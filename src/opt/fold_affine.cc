#include <optional>

#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// A mul or add of a constant to the result of a contraction that nothing else uses.
struct Affine {
  Node* contraction;
  const Tensor* constant;
};

bool IsFoldableInto(const Node& node) {
  if (node.op() != Op::kConv && node.op() != Op::kConvTranspose && node.op() != Op::kMatMul) return false;
  const Value* bias = node.input(2);
  return node.input(1)->constant() != nullptr && (bias == nullptr || bias->constant() != nullptr);
}

std::optional<Affine> FindAffine(const Graph& graph, const Node& node) {
  for (int i = 0; i < 2; ++i) {
    Node* producer = node.input(i)->producer();
    const Tensor* constant = node.input(1 - i)->constant();
    if (producer == nullptr || constant == nullptr || !IsFoldableInto(*producer) ||
        OnlyUser(graph, producer->output()) != &node || producer->output()->type() != node.output()->type()) {
      continue;
    }
    return Affine{producer, constant};
  }
  return std::nullopt;
}

// Output channels are the rows of a convolution's weights, and the columns of a matrix.
std::optional<Tensor> ScaleWeights(const Node& contraction, const std::vector<double>& factors) {
  const Tensor& weights = *contraction.input(1)->constant();
  if (contraction.op() == Op::kConv) return ScaleAlong(weights, 0, factors);
  if (contraction.op() == Op::kMatMul) {
    return ScaleAlong(weights, weights.rank() - (contraction.attrs().Int("transpose_b", 0) != 0 ? 2 : 1),
                      factors);
  }
  // Transposed: [C, M / group, …], where the first C / group rows make the first M / group channels. Seen
  // as [group, C / group, M / group, …] a factor for each (group, channel) is one for each (row, channel).
  const int64_t group = contraction.attrs().Int("group", 1);
  const int64_t rows = weights.shape()[0];
  const int64_t channels = weights.shape()[1];
  std::vector<double> by_row_and_channel;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t m = 0; m < channels; ++m) {
      by_row_and_channel.push_back(factors[row / (rows / group) * channels + m]);
    }
  }
  Shape flat(weights.shape().begin() + 1, weights.shape().end());
  flat[0] = rows * channels;
  std::optional<Tensor> scaled = ScaleAlong(weights.Reshaped(flat), 0, by_row_and_channel);
  return scaled ? std::optional<Tensor>(scaled->Reshaped(weights.shape())) : std::nullopt;
}

// Puts a contraction with other weights and bias in the place of `affine` and of `node`.
void ReplaceBoth(Graph& graph, Node* node, const Affine& affine, Value* weights, Value* bias) {
  Node* old = affine.contraction;
  Value* folded = AddBefore(graph, old, old->op(), {old->input(0), weights, bias}, old->attrs());
  ReplaceNode(graph, node, folded);
  graph.Erase(old);
}

bool FoldFactor(Graph& graph, Node* node, const Affine& affine, const std::vector<double>& factors) {
  Node* old = affine.contraction;
  std::optional<Tensor> weights = ScaleWeights(*old, factors);
  if (!weights) return false;
  Value* bias = nullptr;
  if (old->input(2) != nullptr) {
    std::optional<Tensor> scaled = ScaleAlong(*old->input(2)->constant(), 0, factors);
    if (!scaled) return false;
    bias = graph.AddConstant(*std::move(scaled), old->name(), old);
  }
  ReplaceBoth(graph, node, affine, graph.AddConstant(*std::move(weights), old->name(), old), bias);
  return true;
}

// Matrix products have no bias: there the sum stays, and becomes part of the kernel by fusion.
bool FoldOffset(Graph& graph, Node* node, const Affine& affine, std::vector<double> offsets) {
  Node* old = affine.contraction;
  if (old->op() == Op::kMatMul) return false;
  if (old->input(2) != nullptr) {
    for (size_t m = 0; m < offsets.size(); ++m) {
      offsets[m] += old->input(2)->constant()->ToDouble(static_cast<int64_t>(m));
    }
  }
  const Shape shape = {static_cast<int64_t>(offsets.size())};
  Value* bias = graph.AddConstant(FromDoubles(old->output()->type().dtype, shape, offsets), old->name(), old);
  ReplaceBoth(graph, node, affine, old->input(1), bias);
  return true;
}

bool Fold(Graph& graph, Node* node) {
  if ((node->op() != Op::kMul && node->op() != Op::kAdd) || !IsFloat(node->output()->type().dtype))
    return false;
  const std::optional<Affine> affine = FindAffine(graph, *node);
  if (!affine) return false;
  const TensorType& type = node->output()->type();
  const int axis = affine->contraction->op() == Op::kMatMul ? type.rank() - 1 : 1;
  std::optional<std::vector<double>> values = ValuesAlong(*affine->constant, type, axis);
  if (!values) return false;
  return node->op() == Op::kMul ? FoldFactor(graph, node, *affine, *values)
                                : FoldOffset(graph, node, *affine, *std::move(values));
}

}  // namespace

absl::StatusOr<bool> FoldAffinePass(Graph& graph, const PassContext&) { return ForEachNode(graph, Fold); }

}  // namespace attune
