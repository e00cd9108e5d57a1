#include "plan/witnesses.h"

#include <algorithm>
#include <set>

#include "base/status.h"
#include "sizes/same_graphs.h"

namespace attune {
namespace {

absl::Status CheckSameConstant(const SameNodes& same) {
  const Tensor& first = same[0]->attrs().TensorValue("value");
  for (const Node* node : same) {
    const Tensor& other = node->attrs().TensorValue("value");
    if (other.data() != first.data() && !other.Identical(first))
      return NotSupported("with open sizes, the constant \"", same[0]->name(),
                          "\" has other values at each size");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Witnesses> Witnesses::Of(std::span<Graph* const> graphs, std::span<const SizePoint> points,
                                        std::span<const OpenDim> dims) {
  Witnesses witnesses;
  witnesses.points_ = points;
  witnesses.dims_ = dims;
  for (const OpenDim& dim : dims) witnesses.sizes_.push_back({MakeVar(dim.name), dim.min, dim.max});
  std::set<const Graph*> seen;
  const auto add_inputs = [&](const SameOwners& owners) -> absl::Status {
    if (!seen.insert(owners[0]).second) return absl::OkStatus();
    for (size_t i = 0; i < owners[0]->inputs().size(); ++i) {
      std::vector<const Value*> same;
      for (const Graph* owner : owners) same.push_back(owner->inputs()[i].get());
      RETURN_IF_ERROR(witnesses.AddShape(same));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(add_inputs(SameOwners(graphs.begin(), graphs.end())));
  const auto add_node = [&](const SameNodes& same, const SameOwners& owners) -> absl::Status {
    RETURN_IF_ERROR(add_inputs(owners));
    if (same[0]->op() == Op::kConstant) return CheckSameConstant(same);
    witnesses.nodes_[same[0]].assign(same.begin(), same.end());
    for (int i = 0; i < same[0]->num_outputs(); ++i) {
      std::vector<const Value*> outputs;
      for (const Node* node : same) outputs.push_back(node->output(i));
      RETURN_IF_ERROR(witnesses.AddShape(outputs));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ForEachSameNode(graphs, add_node));
  return witnesses;
}

absl::Status Witnesses::AddShape(const std::vector<const Value*>& same) {
  std::vector<Shape> shapes;
  for (const Value* value : same) shapes.push_back(value->type().physical_shape());
  std::vector<Expr> open(shapes[0].size());
  for (size_t d = 0; d < open.size(); ++d) {
    std::vector<int64_t> values;
    for (const Shape& shape : shapes) values.push_back(shape[d]);
    const std::optional<SizeExpr> size = FitSize(values, points_);
    if (!size.has_value()) {
      const Node* producer = same[0]->producer();
      return NotSupported("with open sizes, dimension ", d, " of ", ToString(same[0]->type()), ", which ",
                          producer == nullptr ? "an input" : OpName(producer->op()), " \"",
                          producer == nullptr ? same[0]->name() : producer->name(),
                          "\" gives, follows no expression of them");
    }
    if (!size->is_constant()) open[d] = attune::ToExpr(*size, sizes_);
  }
  const bool is_open = std::ranges::any_of(open, [](const Expr& size) { return static_cast<bool>(size); });
  if (is_open) shapes_[same[0]] = std::move(open);
  return absl::OkStatus();
}

std::vector<Expr> Witnesses::OpenNumbers(const std::vector<std::vector<int64_t>>& lists) const {
  std::vector<Expr> numbers;
  bool is_open = false;
  for (size_t i = 0; i < lists[0].size(); ++i) {
    std::vector<int64_t> values;
    for (const std::vector<int64_t>& list : lists) values.push_back(list[i]);
    const std::optional<SizeExpr> size = FitSize(values, points_);
    if (!size.has_value()) return {};
    is_open |= !size->is_constant();
    numbers.push_back(attune::ToExpr(*size, sizes_));
  }
  return is_open ? numbers : std::vector<Expr>();
}

std::vector<Expr> Witnesses::OpenShape(const Value& value) const {
  const auto found = shapes_.find(&value);
  return found == shapes_.end() ? std::vector<Expr>() : found->second;
}

}  // namespace attune
