// Operators that interpolate images, and those that choose boxes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "import/tensorflow/ops/images.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

// Except for nearest neighbours, integers become floats.
Value* AsF32(OpContext& c, Value* x) { return IsFloat(x->type().dtype) ? x : c.Cast(x, DType::kF32); }

Outputs Resize(OpContext& c, const std::string& mode, const std::string& coordinates,
               const std::string& nearest_mode) {
  const Images images(c, 2);
  const Ints target = c.KnownInts(c.In(1), "size");
  if (target.size() != 2) Invalid("its size has ", target.size(), " values, not 2");
  Value* x = images.ChannelsFirst(mode == "nearest" ? c.In(0) : AsF32(c, c.In(0)));
  Shape sizes = c.ShapeOf(x);
  Floats scales(4, 1);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t from = CheckedSize(sizes[i + 2], "image size", 1);
    sizes[i + 2] = CheckedSize(target[i], "size", 1);
    scales[i + 2] = static_cast<double>(target[i]) / static_cast<double>(from);
  }
  Value* y = c.Emit(Op::kResize, {x},
                    {{"sizes", sizes},
                     {"scales", scales},
                     {"mode", mode},
                     {"coordinate_mode", coordinates},
                     {"nearest_mode", nearest_mode}});
  return {images.AsGiven(y)};
}

std::string Coordinates(OpContext& c) {
  if (c.Bool("align_corners")) return "align_corners";
  return c.Bool("half_pixel_centers") ? "half_pixel" : "asymmetric";
}

// Column i of [n, 4], as [n, 1].
Value* Column(OpContext& c, Value* boxes, int64_t i) { return c.SliceAxis(boxes, 1, i, 1); }

// The positions [n, count] of `count` samples between normalized borders, along an axis of `size` pixels; a
// single sample is in the middle.
Value* SamplePositions(OpContext& c, Value* first, Value* last, int64_t count, int64_t size) {
  const DType dtype = first->type().dtype;
  Value* relative = nullptr;
  if (count == 1) {
    relative = c.Mul(c.Add(first, last), 0.5);
  } else {
    Value* step = c.Div(c.Sub(last, first), static_cast<double>(count - 1));
    relative = c.Add(first, c.Mul(c.Reshape(c.Count(dtype, count), {1, count}), step));
  }
  return c.Mul(relative, static_cast<double>(size - 1));
}

Value* Inside(OpContext& c, Value* positions, int64_t size) {
  Value* low = c.Emit(Op::kGreaterEqual, {positions, c.ScalarLike(positions, 0)});
  Value* high = c.Emit(Op::kLessEqual, {positions, c.ScalarLike(positions, size - 1)});
  return c.Emit(Op::kAnd, {low, high});
}

// Converts positions to GridSample's coordinates: -1 is the center of the first pixel, 1 that of the last.
Value* GridCoordinate(OpContext& c, Value* positions, int64_t size) {
  if (size == 1) return c.Mul(positions, 0.0);
  return c.Add(c.Mul(positions, 2.0 / static_cast<double>(size - 1)), -1);
}

Value* SelectBoxes(OpContext& c, double iou, double score) {
  const int64_t boxes = c.DimOf(c.In(0), 0);
  const int64_t limit = std::max<int64_t>(c.KnownInt(c.In(2), "maximum of boxes"), 0);
  Value* selected =
      c.Emit(Op::kNonMaxSuppression, {c.Reshape(c.In(0), {1, boxes, 4}), c.Reshape(c.In(1), {1, 1, boxes})},
             {{"max_per_class", limit}, {"iou_threshold", iou}, {"score_threshold", score}});
  // Each row is (batch, class, box); only the box matters.
  return c.Cast(c.Squeeze(c.SliceAxis(selected, 1, 2, 1), {1}), DType::kI32);
}

constexpr double kEveryScore = -std::numeric_limits<float>::max();

}  // namespace

Outputs ResizeBilinear(OpContext& c) { return Resize(c, "linear", Coordinates(c), "floor"); }

Outputs ResizeNearestNeighbor(OpContext& c) {
  if (c.Bool("align_corners")) return Resize(c, "nearest", "align_corners", "round_prefer_ceil");
  return Resize(c, "nearest", c.Bool("half_pixel_centers") ? "tf_half_pixel_for_nn" : "asymmetric", "floor");
}

// Half-pixel centers use another kernel, which ignores elements beyond the edge.
Outputs ResizeBicubic(OpContext& c) {
  if (c.Bool("half_pixel_centers"))
    Unsupported("half_pixel_centers, whose weights are normalized at the edges");
  return Resize(c, "cubic", Coordinates(c), "floor");
}

// (images [b, h, w, c], boxes [n, 4] relative to h-1 and w-1, the index of each box's image, size)
Outputs CropAndResize(OpContext& c) {
  const Images images(c, 2);
  const Ints size = c.KnownInts(c.In(3), "crop size");
  if (size.size() != 2) Invalid("its crop size has ", size.size(), " values, not 2");
  for (int64_t side : size) CheckedSize(side, "crop size", 1);
  const Shape shape = c.InShape(0);
  const bool nearest = c.Choice("method", {"bilinear", "nearest"}) == "nearest";
  Value* x = AsF32(c, images.ChannelsFirst(c.In(0)));
  x = c.Gather(x, c.NonNegative(c.In(2), x, 0, 1, "gather"), 0);
  Value* boxes = c.Cast(c.In(1), x->type().dtype);
  const int64_t count = c.DimOf(boxes, 0);
  Value* rows = SamplePositions(c, Column(c, boxes, 0), Column(c, boxes, 2), size[0], shape[1]);
  Value* columns = SamplePositions(c, Column(c, boxes, 1), Column(c, boxes, 3), size[1], shape[2]);
  const auto spread = [&](Value* positions, bool along_rows) {
    const Shape own = along_rows ? Shape{count, size[0], 1, 1} : Shape{count, 1, size[1], 1};
    return c.Broadcast(c.Reshape(positions, own), {count, size[0], size[1], 1});
  };
  Value* inside = c.Emit(
      Op::kAnd, {spread(Inside(c, rows, shape[1]), true), spread(Inside(c, columns, shape[2]), false)});
  // x, for the last axis, comes first.
  Value* grid = c.Concat(
      {spread(GridCoordinate(c, columns, shape[2]), false), spread(GridCoordinate(c, rows, shape[1]), true)},
      3);
  Value* y = c.Emit(Op::kGridSample, {x, grid},
                    {{"mode", std::string(nearest ? "nearest" : "linear")},
                     {"padding_mode", std::string("border")},
                     {"align_corners", int64_t{1}}});
  Value* outside = c.ScalarLike(y, c.Float("extrapolation_value", 0));
  y = c.Where(c.Transpose(inside, {0, 3, 1, 2}), y, outside);
  return {images.AsGiven(y)};
}

// (boxes [n, 4], scores [n], maximum count, thresholds…)
Outputs NonMaxSuppression(OpContext& c) {
  const bool attribute = c.op() == "NonMaxSuppression";
  const double iou =
      attribute ? c.Float("iou_threshold", 0.5) : c.KnownScalar(c.In(3), "IoU threshold").ToDouble();
  const double score =
      c.num_inputs() > 4 ? c.KnownScalar(c.In(4), "score threshold").ToDouble() : kEveryScore;
  if (c.Bool("pad_to_max_output_size")) Unsupported("padding the result, whose size depends on data");
  if (c.op() != "NonMaxSuppressionV5") return {SelectBoxes(c, iou, score)};
  if (c.KnownScalar(c.In(5), "sigma") != 0) Unsupported("soft suppression");
  Value* indices = SelectBoxes(c, iou, score);
  return {indices, c.Gather(c.In(1), indices, 0)};
}

}  // namespace attune::tensorflow
