// Operators whose output size depends on the data.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/status.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

struct Box {
  double top, left, bottom, right;
  double Area() const { return (bottom - top) * (right - left); }
};

// Reads four numbers as a box: two opposite corners (y, x), or the centre (x, y) with width and height.
Box ReadBox(const double* values, bool center_point) {
  if (center_point) {
    const double half_width = values[2] / 2;
    const double half_height = values[3] / 2;
    return {values[1] - half_height, values[0] - half_width, values[1] + half_height, values[0] + half_width};
  }
  return {std::fmin(values[0], values[2]), std::fmin(values[1], values[3]), std::fmax(values[0], values[2]),
          std::fmax(values[1], values[3])};
}

double IntersectionOverUnion(const Box& a, const Box& b) {
  const double height = std::fmin(a.bottom, b.bottom) - std::fmax(a.top, b.top);
  const double width = std::fmin(a.right, b.right) - std::fmax(a.left, b.left);
  if (height <= 0 || width <= 0 || a.Area() <= 0 || b.Area() <= 0) return 0;
  return height * width / (a.Area() + b.Area() - height * width);
}

// The selected boxes, best score first; of equal scores, the earlier box first.
std::vector<int64_t> SelectBoxes(const Node& node, const std::vector<Box>& boxes, const double* scores) {
  const double iou_threshold = node.attrs().Float("iou_threshold");
  const int64_t max_boxes = node.attrs().Int("max_per_class");
  std::vector<int64_t> candidates;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const bool has_score =
        !node.attrs().Has("score_threshold") || scores[i] > node.attrs().Float("score_threshold");
    if (has_score && !std::isnan(scores[i])) candidates.push_back(static_cast<int64_t>(i));
  }
  std::sort(candidates.begin(), candidates.end(),
            [&](int64_t a, int64_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  std::vector<int64_t> selected;
  for (const int64_t candidate : candidates) {
    if (static_cast<int64_t>(selected.size()) >= max_boxes) break;
    const bool suppressed = std::any_of(selected.begin(), selected.end(), [&](int64_t other) {
      return IntersectionOverUnion(boxes[candidate], boxes[other]) > iou_threshold;
    });
    if (!suppressed) selected.push_back(candidate);
  }
  return selected;
}

}  // namespace

Outputs EvaluateNonZero(const Node&, Inputs inputs) {
  const Tensor& x = inputs[0];
  std::vector<int64_t> found;  // [n, rank]
  WithWide(x.dtype(), [&](auto wide) {
    const auto values = Load<decltype(wide)>(x);
    size_t at = 0;
    ForEachIndex(x.shape(), [&](const Shape& index) {
      if (values[at++] != 0) found.insert(found.end(), index.begin(), index.end());
    });
  });
  // A scalar has no axis along which to report a position.
  const int64_t rank = x.rank();
  const int64_t count = rank == 0 ? 0 : static_cast<int64_t>(found.size()) / rank;
  std::vector<int64_t> transposed(found.size());
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t axis = 0; axis < rank; ++axis) transposed[axis * count + i] = found[i * rank + axis];
  }
  return One(Store(transposed, DType::kI64, {rank, count}));
}

Outputs EvaluateNonMaxSuppression(const Node& node, Inputs inputs) {
  const Shape& shape = inputs[1].shape();  // [batch, classes, boxes]
  const bool center_point = node.attrs().Bool("center_point_box");
  const std::vector<double> corners = Load<double>(inputs[0]);
  const std::vector<double> scores = Load<double>(inputs[1]);
  std::vector<int64_t> selected;
  for (int64_t batch = 0; batch < shape[0]; ++batch) {
    std::vector<Box> boxes;
    for (int64_t i = 0; i < shape[2]; ++i) {
      boxes.push_back(ReadBox(corners.data() + (batch * shape[2] + i) * 4, center_point));
    }
    for (int64_t c = 0; c < shape[1]; ++c) {
      const double* class_scores = scores.data() + (batch * shape[1] + c) * shape[2];
      for (const int64_t box : SelectBoxes(node, boxes, class_scores)) {
        selected.insert(selected.end(), {batch, c, box});
      }
    }
  }
  const auto count = static_cast<int64_t>(selected.size()) / 3;
  return One(Store(selected, DType::kI64, {count, 3}));
}

Outputs EvaluateCompress(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const int64_t axis = node.attrs().Int("axis");
  const AxisView view(x.shape(), axis);
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < inputs[1].num_elements(); ++i) {
    if (inputs[1].ToInt(i) != 0) kept.push_back(i);
  }
  Shape shape = x.shape();
  shape[axis] = static_cast<int64_t>(kept.size());
  return One(TakeSlices(x, view, kept, std::move(shape)));
}

// Distinct values in ascending order, or, if not sorted, in the order of their first occurrence. All NaNs
// are one value, larger than all others.
Outputs EvaluateUnique(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const bool sorted = node.attrs().Int("sorted", 1) != 0;
  return WithWide(x.dtype(), [&](auto wide) -> Outputs {
    using Wide = decltype(wide);
    const std::vector<Wide> values = Load<Wide>(x);
    const auto less = [&](int64_t a, int64_t b) {
      return IsNan(values[b]) ? !IsNan(values[a]) : values[a] < values[b];
    };
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int64_t a, int64_t b) { return less(a, b) || (!less(b, a) && a < b); });
    // In each run of equal values, the first is the first occurrence.
    std::vector<int64_t> firsts;
    std::vector<int64_t> first_of(values.size());
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || less(order[i - 1], order[i])) firsts.push_back(order[i]);
      first_of[order[i]] = firsts.back();
    }
    if (!sorted) std::sort(firsts.begin(), firsts.end());
    std::vector<int64_t> rank(values.size());
    for (size_t i = 0; i < firsts.size(); ++i) rank[firsts[i]] = static_cast<int64_t>(i);
    std::vector<Wide> distinct;
    for (const int64_t first : firsts) distinct.push_back(values[first]);
    std::vector<int64_t> inverse;
    std::vector<int64_t> counts(firsts.size(), 0);
    for (const int64_t first : first_of) {
      inverse.push_back(rank[first]);
      ++counts[rank[first]];
    }
    ASSIGN_OR_RETURN(Tensor out, Store(distinct, x.dtype(), {static_cast<int64_t>(distinct.size())}));
    return std::vector<Tensor>{std::move(out), Tensor::FromInts(firsts), Tensor::FromInts(inverse),
                               Tensor::FromInts(counts)};
  });
}

}  // namespace attune::reference
