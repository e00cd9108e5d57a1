#include "graph/index_bounds.h"

#include "absl/strings/str_cat.h"

namespace attune {
namespace {

// The sizes of `count` axes of `type` from `first` on.
IndexBounds BoundsOfAxes(const TensorType& type, int64_t first, int64_t count) {
  const Shape shape = type.shape();
  return {.sizes = Ints(shape.begin() + first, shape.begin() + first + count)};
}

}  // namespace

Tensor BoundsTable(const IndexBounds& bounds) {
  Ints values;
  for (const int64_t size : bounds.sizes) values.push_back(bounds.Least(size));
  values.insert(values.end(), bounds.sizes.begin(), bounds.sizes.end());
  return Tensor::FromInts(values).Reshaped({2, std::ssize(bounds.sizes)});
}

std::optional<IndexOperand> IndexOperandOf(const Node& node) {
  const Attributes& attrs = node.attrs();
  switch (node.op()) {
    case Op::kGather:
    case Op::kGatherElements:
    case Op::kScatterElements:
      return IndexOperand{1, BoundsOfAxes(node.input(0)->type(), attrs.Int("axis"), 1)};
    case Op::kGatherNd:
    case Op::kScatterNd:
      return IndexOperand{1, BoundsOfAxes(node.input(0)->type(), attrs.Int("batch_dims", 0),
                                          node.input(1)->type().dims.back().size)};
    case Op::kRoiAlign:
      return IndexOperand{2, {BoundsOfAxes(node.input(0)->type(), 0, 1).sizes, /*negative=*/false}};
    case Op::kReverseSequence: {
      const auto time_axis = static_cast<size_t>(attrs.Int("time_axis"));
      return IndexOperand{1, {{node.input(0)->type().dims[time_axis].size + 1}, /*negative=*/false}};
    }
    case Op::kCheckIndex:
      return IndexOperand{0, {attrs.IntList("sizes"), attrs.Int("negative", 1) != 0}};
    default:
      return std::nullopt;
  }
}

std::optional<IndexFault> FindIndexFault(const Tensor& indices, const IndexBounds& bounds) {
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t index = indices.ToInt(i), size = bounds.Size(i);
    if (index < bounds.Least(size) || index >= size) return IndexFault{index, size};
  }
  return std::nullopt;
}

std::string IndexReader(std::string_view op, std::string_view node) {
  return node.empty() ? std::string(op) : absl::StrCat(op, " \"", node, "\"");
}

std::string LengthReader(std::string_view op, std::string_view node, int64_t most) {
  return absl::StrCat(IndexReader(op, node), ", lengths up to ", most);
}

}  // namespace attune
