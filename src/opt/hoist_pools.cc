// An average of neighbouring pixels and a product that works on each pixel may be exchanged: both are sums.
// Averaged first, there are fewer pixels to multiply.
#include <algorithm>

#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// Whether each output pixel depends on the input pixel at the same index alone.
bool IsPixelwise(const Node& conv) {
  const Shape w = conv.input(1)->type().shape();
  const auto& attrs = conv.attrs();
  return std::all_of(w.begin() + 2, w.end(), [](int64_t taps) { return taps == 1; }) &&
         AllAre(attrs.IntList("strides", {}), 1) && AllAre(attrs.IntList("pads", {}), 0);
}

// Whether there are fewer windows than pixels, and every window lies in the image, so that a constant's
// average is the constant.
bool Shrinks(const Node& pool) {
  const auto& attrs = pool.attrs();
  return AllAre(attrs.IntList("pads", {}), 0) && !attrs.Bool("ceil_mode") &&
         !AllAre(attrs.IntList("strides", {}), 1);
}

bool Hoist(Graph& graph, Node* pool) {
  if (pool->op() != Op::kAvgPool || !pool->input(0)->type().is_static() || !Shrinks(*pool)) return false;
  Node* conv = ProducerOf(pool->input(0), Op::kConv);
  if (conv == nullptr || !IsPixelwise(*conv) || OnlyUser(graph, conv->output()) != pool) return false;
  Value* averages = AddBefore(graph, pool, Op::kAvgPool, {conv->input(0)}, pool->attrs());
  std::vector<Value*> inputs = conv->inputs();
  inputs[0] = averages;
  ReplaceNodeAndProducers(graph, pool, Op::kConv,
                          AddBefore(graph, pool, Op::kConv, std::move(inputs), conv->attrs()));
  return true;
}

}  // namespace

absl::StatusOr<bool> HoistPoolsPass(Graph& graph, const PassContext&) { return ForEachNode(graph, Hoist); }

}  // namespace attune
