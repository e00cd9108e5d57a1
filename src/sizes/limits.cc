#include "sizes/limits.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/status.h"
#include "sizes/same_graphs.h"

namespace attune {
namespace {

// Whether it is 0 or more at all sizes, which are 0 or more.
bool IsNeverNegative(const SizeExpr& size) {
  return std::ranges::all_of(size.terms(), [](const auto& term) { return term.second > 0; });
}

class Limits {
 public:
  explicit Limits(OpenSizes& open) : open_(open) {}

  // Each graph's slice: the first and the last index along each axis must be inside of the operand.
  absl::Status AddSlice(const SameNodes& same) {
    const size_t rank = same[0]->attrs().IntList("sizes").size();
    for (size_t d = 0; d < rank; ++d) {
      std::vector<int64_t> room;  // after the last index, or before it if the step is negative
      for (const Node* node : same) {
        const int64_t start = node->attrs().IntList("starts")[d], size = node->attrs().IntList("sizes")[d];
        const int64_t step = node->attrs().IntList("steps")[d], last = start + (size - 1) * step;
        room.push_back(step > 0 ? node->input(0)->type().dims[d].size - 1 - last : last);
      }
      RETURN_IF_ERROR(Demand(room, *same[0], d));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Demand(const std::vector<int64_t>& room, const Node& node, size_t axis) {
    const std::optional<SizeExpr> size = FitSize(room, open_.points);
    const auto refuse = [&](std::string_view why) {
      return NotSupported("with open sizes, slice \"", node.name(), "\" along axis ", axis, " ", why);
    };
    if (!size.has_value()) return refuse("follows no expression of them");
    if (IsNeverNegative(*size)) return absl::OkStatus();
    std::optional<size_t> only;
    for (size_t dim = 0; dim < open_.dims.size(); ++dim) {
      if (!size->Mentions(static_cast<int>(dim))) continue;
      if (only.has_value()) return refuse("stays inside for some of them only, which depends on several");
      only = dim;
    }
    if (!only.has_value()) return absl::OkStatus();  // at no size, which inference would have refused
    OpenDim& dim = open_.dims[*only];
    const auto fits = [&](int64_t value) {
      SizePoint point(open_.dims.size(), 0);
      point[*only] = value;
      return size->At(point).value_or(-1) >= 0;
    };
    // It fits at the points, so what does not fit is above.
    int64_t low = open_.points[0][*only], high = dim.max;
    while (low < high) {
      const int64_t middle = low + (high - low + 1) / 2;
      if (fits(middle)) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    dim.max = low;
    return fits(dim.min) ? absl::OkStatus() : refuse("stays inside for large sizes only");
  }

  OpenSizes& open_;
};

}  // namespace

absl::Status LimitToSlices(std::span<Graph* const> graphs, OpenSizes& open) {
  Limits limits(open);
  return ForEachSameNode(graphs, [&](const SameNodes& same, const SameOwners&) {
    return same[0]->op() == Op::kSlice ? limits.AddSlice(same) : absl::OkStatus();
  });
}

absl::Status CheckAtFarPoint(std::span<Graph* const> graphs, const OpenSizes& open, const SizePoint& far) {
  const auto check = [&](const SameNodes& same, const SameOwners&) -> absl::Status {
    for (int i = 0; i < same[0]->num_outputs(); ++i) {
      for (int d = 0; d < same[0]->output(i)->type().rank(); ++d) {
        std::vector<int64_t> values;
        for (const Node* node : same)
          values.push_back(node->output(i)->type().dims[static_cast<size_t>(d)].size);
        const int64_t at_far = values.back();
        values.pop_back();
        const std::optional<SizeExpr> size = FitSize(values, open.points);
        if (size.has_value() && size->At(far) == at_far) continue;
        return NotSupported("with open sizes, dimension ", d, " of ", OpName(same[0]->op()), " \"",
                            same[0]->name(), "\" follows no expression of them");
      }
    }
    return absl::OkStatus();
  };
  return ForEachSameNode(graphs, check);
}

absl::Status CheckOutputsAt(std::span<Graph* const> graphs, const OpenSizes& open, const Graph& graph,
                            const SizePoint& point) {
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Shape actual = graph.outputs()[i].value->type().shape();
    std::vector<Shape> shapes;
    for (const Graph* one : graphs) shapes.push_back(one->outputs()[i].value->type().shape());
    bool follows = actual.size() == shapes[0].size();
    for (size_t d = 0; follows && d < actual.size(); ++d) {
      std::vector<int64_t> values;
      for (const Shape& shape : shapes) values.push_back(shape[d]);
      const std::optional<SizeExpr> size = FitSize(values, open.points);
      follows = size.has_value() && size->At(point) == actual[d];
    }
    if (!follows)
      return NotSupported("with open sizes, output \"", graph.outputs()[i].name,
                          "\" has another shape at the least ones");
  }
  return absl::OkStatus();
}

}  // namespace attune
