#include "sizes/limits.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
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

  absl::Status Add(const SameNodes& same) {
    if (same[0]->op() == Op::kSlice) RETURN_IF_ERROR(AddSlice(same));
    return AddOutputs(same);
  }

  // Checks the demands on several dimensions, within the ranges that the others have left.
  absl::Status Finish() const {
    SizePoint least;
    for (const OpenDim& dim : open_.dims) least.push_back(dim.min);
    for (const Demand& demand : of_several_) {
      if (!GrowsOnly(demand.room)) return Refuse(demand, "for some of them only, which depends on several");
      if (demand.room.At(least).value_or(0) < 0) return Refuse(demand, "for large sizes only");
    }
    return absl::OkStatus();
  }

 private:
  // The node can only be where `room` is not negative.
  struct Demand {
    SizeExpr room;
    const Node* node;
    size_t axis;
    std::string_view what;
  };

  static absl::Status Refuse(const Demand& demand, std::string_view when) {
    return NotSupported("with open sizes, ", OpName(demand.node->op()), " \"", demand.node->name(),
                        "\" along axis ", demand.axis, " ", demand.what, " ", when);
  }

  // Whether larger sizes leave more room.
  static bool GrowsOnly(const SizeExpr& room) {
    return std::ranges::all_of(room.terms(),
                               [](const auto& term) { return term.first.empty() || term.second > 0; });
  }

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
      RETURN_IF_ERROR(Narrow(room, *same[0], d, "stays inside"));
    }
    return absl::OkStatus();
  }

  // No dimension is negative, and a window has a place.
  absl::Status AddOutputs(const SameNodes& same) {
    const Op op = same[0]->op();
    const bool has_window = IsConv(op) || op == Op::kMaxPool || op == Op::kAvgPool;
    for (int i = 0; i < same[0]->num_outputs(); ++i) {
      for (size_t d = 0; d < same[0]->output(i)->type().dims.size(); ++d) {
        std::vector<int64_t> room;
        for (const Node* node : same)
          room.push_back(node->output(i)->type().dims[d].size - (has_window && d >= 2 ? 1 : 0));
        RETURN_IF_ERROR(Narrow(room, *same[0], d, has_window ? "has a window" : "has elements"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Narrow(const std::vector<int64_t>& room, const Node& node, size_t axis,
                      std::string_view what) {
    const std::optional<SizeExpr> size = FitSize(room, open_.points);
    if (!size.has_value()) {
      return NotSupported("with open sizes, ", OpName(node.op()), " \"", node.name(), "\" along axis ", axis,
                          " follows no expression of them");
    }
    if (IsNeverNegative(*size)) return absl::OkStatus();
    const Demand demand = {*size, &node, axis, what};
    std::optional<size_t> only;
    for (size_t dim = 0; dim < open_.dims.size(); ++dim) {
      if (!size->Mentions(static_cast<int>(dim))) continue;
      if (only.has_value()) {
        of_several_.push_back(demand);
        return absl::OkStatus();
      }
      only = dim;
    }
    if (only.has_value()) NarrowTo(*size, *only);
    return absl::OkStatus();  // with none, it is so at no size, which inference would have refused
  }

  // There is room at the points, so what has none is above all of them, or below.
  void NarrowTo(const SizeExpr& room, size_t only) {
    OpenDim& dim = open_.dims[only];
    const auto fits = [&](int64_t value) {
      SizePoint point(open_.dims.size(), 0);
      point[only] = value;
      return room.At(point).value_or(-1) >= 0;
    };
    const int64_t inside = open_.points[0][only];
    dim.min = LastThatFits(inside, dim.min, fits);
    dim.max = LastThatFits(inside, dim.max, fits);
  }

  // The last number on the way from one that fits to another.
  template <typename Fits>
  static int64_t LastThatFits(int64_t from, int64_t to, const Fits& fits) {
    if (fits(to)) return to;
    while (std::abs(to - from) > 1) {
      const int64_t middle = from + (to - from) / 2;
      (fits(middle) ? from : to) = middle;
    }
    return from;
  }

  OpenSizes& open_;
  std::vector<Demand> of_several_;
};

}  // namespace

absl::Status NarrowSizes(std::span<Graph* const> graphs, OpenSizes& open) {
  Limits limits(open);
  RETURN_IF_ERROR(
      ForEachSameNode(graphs, [&](const SameNodes& same, const SameOwners&) { return limits.Add(same); }));
  return limits.Finish();
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
