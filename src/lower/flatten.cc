#include "lower/flatten.h"

#include <algorithm>
#include <utility>

namespace attune {
namespace {

bool All(const Ints& values, int64_t wanted) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == wanted; });
}

bool HasOneTap(const Node& conv) {
  const Shape w = conv.input(1)->type().shape();
  return w.size() == 4 && w[2] == 1 && w[3] == 1 && All(conv.attrs().IntList("strides", {1, 1}), 1) &&
         All(conv.attrs().IntList("pads", {0, 0, 0, 0}), 0);
}

// The only node of a group that is not elementwise, or null.
const Node* OnlyAnchor(const Graph& region) {
  const Node* anchor = nullptr;
  for (const auto& node : region.nodes()) {
    if (node->op() == Op::kConstant || IsElementwise(node->op())) continue;
    if (anchor != nullptr) return nullptr;
    anchor = node.get();
  }
  return anchor;
}

// A copy of `region` in which `flatten` has changed the type of every value except the anchor's inputs
// after the first. Null if `flatten` refuses a value, or if one of those inputs has another use.
template <typename F>
std::unique_ptr<Graph> WithFlatTypes(const Graph& region, F flatten) {
  std::unique_ptr<Graph> flat = region.Clone();
  const Node& anchor = *OnlyAnchor(*flat);
  for (const auto& input : flat->inputs()) {
    bool is_weight = false;
    for (int i = 1; i < anchor.num_inputs(); ++i) is_weight |= input.get() == anchor.input(i);
    if (is_weight ? input->users().size() > 1 : !flatten(*input)) return nullptr;
  }
  for (const auto& node : flat->nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      if (!flatten(*node->output(i))) return nullptr;
    }
  }
  return flat;
}

// Turns a feature map of h × w pixels into one row of all pixels. Returns whether the type allows that.
bool FlattenPixels(Value& value, int64_t h, int64_t w) {
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

// Turns a batch of matrices, of these dimensions before the last, into one matrix of all rows. Returns
// whether the type allows that.
bool FlattenRows(Value& value, const Shape& batch) {
  TensorType type = value.type();
  if (!type.is_static() || !type.layout.is_plain()) return false;
  const size_t rank = type.dims.size();
  const Shape shape = type.shape();
  if (rank == 0 || All(Ints(shape.begin(), shape.end() - 1), 1)) return true;
  if (Shape(shape.begin(), shape.end() - 1) != batch) return false;
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < rank; ++d) {
    rows *= shape[d];
    type.dims[d] = Dim(1);
  }
  type.dims[rank - 2] = Dim(rows);
  value.set_type(type);
  return true;
}

}  // namespace

std::unique_ptr<Graph> Flatten(const Graph& region) {
  const Node* anchor = OnlyAnchor(region);
  if (anchor == nullptr || !anchor->output()->type().is_static()) return nullptr;
  const Shape out = anchor->output()->type().shape();
  if (IsConv(anchor->op()) && HasOneTap(*anchor) && out[2] > 1)
    return WithFlatTypes(region, [&](Value& value) { return FlattenPixels(value, out[2], out[3]); });
  if (!IsMatMul(anchor->op()) || anchor->attrs().Bool("transpose_a")) return nullptr;
  // Zero points for the rows of a matrix repeat for each matrix of the batch, and do not index all rows.
  const Value* zero_points = anchor->input(2);
  if (zero_points != nullptr && zero_points->type().num_elements() != 1) return nullptr;
  const Shape batch(out.begin(), out.end() - 1);
  if (anchor->input(1)->type().rank() != 2 || All(Ints(batch.begin(), batch.end() - 1), 1)) return nullptr;
  return WithFlatTypes(region, [&](Value& value) { return FlattenRows(value, batch); });
}

std::unique_ptr<Graph> FlatCopy(const Graph& region) {
  std::unique_ptr<Graph> flat = Flatten(region);
  return flat == nullptr ? region.Clone() : std::move(flat);
}

}  // namespace attune
