#include "lower/flatten.h"

#include <algorithm>

namespace attune {
namespace {

bool All(const Ints& values, int64_t wanted) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == wanted; });
}

bool IsPointwise(const Node& conv) {
  const Shape w = conv.input(1)->type().shape();
  return w.size() == 4 && w[2] == 1 && w[3] == 1 && All(conv.attrs().IntList("strides", {1, 1}), 1) &&
         All(conv.attrs().IntList("pads", {0, 0, 0, 0}), 0);
}

// Of feature maps of h × w pixels, one row of all; whether the type allows that.
bool Flatten(Value& value, int64_t h, int64_t w) {
  TensorType type = value.type();
  if (!type.is_static()) return false;
  const size_t rank = type.dims.size();
  const auto spatial = [&](size_t from_end) {
    return rank >= from_end ? type.dims[rank - from_end].size : 1;
  };
  if (spatial(2) == 1 && spatial(1) == 1) return true;
  if (rank < 2 || spatial(2) != h || spatial(1) != w) return false;
  type.dims[rank - 2] = Dim(1);
  type.dims[rank - 1] = Dim(h * w);
  value.set_type(type);
  return true;
}

}  // namespace

std::unique_ptr<Graph> FlattenSpatial(const Graph& region) {
  const Node* conv = nullptr;
  for (const auto& node : region.nodes()) {
    if (node->op() == Op::kConv && conv == nullptr && IsPointwise(*node)) {
      conv = node.get();
    } else if (!IsElementwise(node->op()) && node->op() != Op::kConstant) {
      return nullptr;
    }
  }
  if (conv == nullptr) return nullptr;
  const Shape out = conv->output()->type().shape();
  const int64_t h = out[2], w = out[3];
  if (h == 1) return nullptr;

  std::unique_ptr<Graph> flat = region.Clone();
  const Node* flat_conv = nullptr;
  for (const auto& node : flat->nodes()) {
    if (node->op() == Op::kConv) flat_conv = node.get();
  }
  for (const auto& input : flat->inputs()) {
    // Weights and bias have no pixels.
    if (input.get() == flat_conv->input(1) || input.get() == flat_conv->input(2)) {
      if (input->users().size() > 1) return nullptr;
      continue;
    }
    if (!Flatten(*input, h, w)) return nullptr;
  }
  for (const auto& node : flat->nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      if (!Flatten(*node->output(i), h, w)) return nullptr;
    }
  }
  return flat;
}

}  // namespace attune
