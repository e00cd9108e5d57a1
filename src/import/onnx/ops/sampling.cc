// Operators that interpolate images.
#include <algorithm>
#include <cmath>

#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

// The sizes and scales for Resize's axes, extended to all axes.
struct ResizeTarget {
  Shape sizes;
  Floats scales;
};

int64_t WholeSize(double size) {
  if (!(size >= 0 && size < 0x1p40)) Invalid("it resizes an axis to ", size, " elements");
  return static_cast<int64_t>(size);
}

// ONNX says floor(size * scale). Exporters and runtimes multiply in f32, so that 320 * 0.7 is 224 although
// the f32 next to 0.7 is less than that; exactly, it is 223.99999 (docs/decisions/sizes.md).
int64_t ScaledSize(OpContext& c, int64_t size, float scale) {
  const int64_t scaled = WholeSize(std::floor(static_cast<float>(size) * scale));
  const int64_t by_onnx = WholeSize(std::floor(static_cast<double>(size) * scale));
  if (scaled != by_onnx) c.NoteScaledSize(size, scale, scaled, by_onnx);
  return scaled;
}

void SetScales(OpContext& c, ResizeTarget& target, const Ints& axes, const std::vector<float>& scales) {
  if (scales.size() != axes.size()) Invalid("it has ", scales.size(), " scales for ", axes.size(), " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!(scales[i] > 0)) Invalid("it scales by ", scales[i]);
    target.scales[axes[i]] = scales[i];
    target.sizes[axes[i]] = ScaledSize(c, target.sizes[axes[i]], scales[i]);
  }
}

// keep_aspect_ratio_policy: one scale for all axes, the smallest or the largest that the sizes require. Its
// products are rounded in f32, too.
void SetSizes(ResizeTarget& target, const Ints& axes, Ints sizes, const std::string& policy) {
  if (sizes.size() != axes.size()) Invalid("it has ", sizes.size(), " sizes for ", axes.size(), " axes");
  const auto ratio = [&](size_t i) {
    return static_cast<double>(sizes[i]) / static_cast<double>(target.sizes[axes[i]]);
  };
  if (policy != "stretch" && !axes.empty()) {
    double scale = ratio(0);
    for (size_t i = 1; i < axes.size(); ++i) {
      scale = policy == "not_larger" ? std::min(scale, ratio(i)) : std::max(scale, ratio(i));
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      const float scaled = static_cast<float>(scale) * static_cast<float>(target.sizes[axes[i]]);
      target.scales[axes[i]] = scale;
      target.sizes[axes[i]] = WholeSize(std::round(scaled));
    }
    return;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    target.scales[axes[i]] = target.sizes[axes[i]] == 0 ? 1 : ratio(i);
    target.sizes[axes[i]] = sizes[i];
  }
}

std::vector<float> ToFloats(const Tensor& data) {
  std::vector<float> values(data.num_elements());
  for (int64_t i = 0; i < data.num_elements(); ++i) values[i] = static_cast<float>(data.ToDouble(i));
  return values;
}

Value* ResizeAsymmetrically(OpContext& c, Value* x, const ResizeTarget& target, const std::string& mode,
                            const std::string& nearest_mode) {
  return c.Emit(Op::kResize, {x},
                {{"sizes", target.sizes},
                 {"scales", target.scales},
                 {"mode", mode},
                 {"coordinate_mode", std::string("asymmetric")},
                 {"nearest_mode", nearest_mode}});
}

// Opset 10 does not say which element is the nearest. Its test data and onnxruntime take the one before a
// coordinate where an axis grows, and the one after it where the axis shrinks.
Value* NearestOfOpset10(OpContext& c, const ResizeTarget& target) {
  Value* x = c.In(0);
  for (const bool shrinking : {true, false}) {
    ResizeTarget step{c.ShapeOf(x), Floats(target.sizes.size(), 1)};
    for (size_t i = 0; i < target.sizes.size(); ++i) {
      if ((target.scales[i] < 1) != shrinking) continue;
      step.sizes[i] = target.sizes[i];
      step.scales[i] = target.scales[i];
    }
    const bool any = std::ranges::any_of(step.scales, [](double scale) { return scale != 1; });
    if (any) x = ResizeAsymmetrically(c, x, step, "nearest", shrinking ? "ceil" : "floor");
  }
  return x;
}

// Whether an input is present and not empty: in Resize, either form means that it is absent.
bool HasElements(OpContext& c, int input) { return c.HasInput(input) && Product(c.InShape(input)) > 0; }

}  // namespace

// Opset 10 takes (x, scales) and samples asymmetrically; 11 and later take (x, roi, scales, sizes). A region
// decides which elements are sampled, and not how many, as in all implementations: ONNX's text would multiply
// the number by the region's extent, too.
Outputs Resize(OpContext& c) {
  const int64_t rank = c.InRank(0);
  const Ints axes = Emitter::DistinctAxes(c.IntList("axes", Iota(rank)), rank);
  const bool old = c.opset() < 11;
  const int scales_input = old ? 1 : 2;
  ResizeTarget target{c.InShape(0), Floats(rank, 1)};
  if (HasElements(c, scales_input) && HasElements(c, 3)) Invalid("it has both scales and sizes");
  if (HasElements(c, scales_input)) {
    SetScales(c, target, axes, ToFloats(c.Known(c.In(scales_input), "scales")));
  } else if (c.HasInput(3)) {
    SetSizes(target, axes, c.KnownInts(c.In(3), "sizes"),
             c.Choice("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}));
  } else {
    Invalid("it has neither scales nor sizes");
  }
  const std::string mode = c.String("mode", "nearest");
  if (old && mode == "nearest") return {NearestOfOpset10(c, target)};
  const std::string coordinates =
      c.String("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  Attributes attrs = {{"sizes", target.sizes},
                      {"scales", target.scales},
                      {"mode", mode},
                      {"coordinate_mode", coordinates},
                      {"nearest_mode", c.String("nearest_mode", "round_prefer_floor")},
                      {"cubic_coeff", c.Float("cubic_coeff_a", -0.75)},
                      {"exclude_outside", c.Int("exclude_outside", 0)},
                      {"antialias", c.Int("antialias", 0)},
                      {"extrapolation_value", c.Float("extrapolation_value", 0)}};
  if (coordinates == "tf_crop_and_resize") {
    const std::vector<float> given = ToFloats(c.Known(c.In(1), "region of interest"));
    if (given.size() != 2 * axes.size()) Invalid("its roi has ", given.size(), " values");
    Floats roi(2 * rank, 0);
    std::fill(roi.begin() + rank, roi.end(), 1);
    for (size_t i = 0; i < axes.size(); ++i) {
      roi[axes[i]] = given[i];
      roi[axes[i] + rank] = given[i + axes.size()];
    }
    attrs.Set("roi", roi);
  }
  return {c.Emit(Op::kResize, {c.In(0)}, std::move(attrs))};
}

Outputs Upsample(OpContext& c) {
  std::vector<float> scales;
  if (c.opset() >= 9) {
    scales = ToFloats(c.Known(c.In(1), "scales"));
  } else if (c.Has("scales")) {
    const std::vector<double> given = *c.FloatList("scales");
    scales.assign(given.begin(), given.end());
  } else {
    scales = {1, 1, static_cast<float>(c.Float("height_scale")), static_cast<float>(c.Float("width_scale"))};
  }
  ResizeTarget target{c.InShape(0), Floats(c.InRank(0), 1)};
  SetScales(c, target, Iota(c.InRank(0)), scales);
  const std::string mode = c.String("mode", "nearest");
  return {ResizeAsymmetrically(c, c.In(0), target, mode == "bilinear" ? "linear" : mode, "floor")};
}

Outputs GridSample(OpContext& c) {
  std::string mode = c.String("mode", c.opset() >= 20 ? "linear" : "bilinear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  return {c.Emit(Op::kGridSample, {c.In(0), c.Cast(c.In(1), c.InType(0))},
                 {{"mode", mode},
                  {"padding_mode", c.String("padding_mode", "zeros")},
                  {"align_corners", c.Int("align_corners", 0)}})};
}

Outputs RoiAlign(OpContext& c) {
  // Before opset 16, coordinates were not shifted by half a pixel.
  const std::string mode =
      c.String("coordinate_transformation_mode", c.opset() >= 16 ? "half_pixel" : "output_half_pixel");
  return {c.Emit(Op::kRoiAlign, {c.In(0), c.In(1), c.In(2)},
                 {{"mode", c.String("mode", "avg")},
                  {"coordinate_mode", mode},
                  {"height", c.Int("output_height", 1)},
                  {"width", c.Int("output_width", 1)},
                  {"sampling_ratio", c.Int("sampling_ratio", 0)},
                  {"spatial_scale", c.Float("spatial_scale", 1)}})};
}

// theta [N, 2, 3] or [N, 3, 4] times a grid of homogeneous coordinates.
Outputs AffineGrid(OpContext& c) {
  const Ints size = c.KnownInts(c.In(1), "size");
  if (size.size() != 4 && size.size() != 5) Invalid("its size has ", size.size(), " values, not 4 or 5");
  const bool align = c.Bool("align_corners");
  const int64_t spatial = static_cast<int64_t>(size.size()) - 2;
  const Shape extent(size.begin() + 2, size.end());
  const DType dtype = c.InType(0);
  // Coordinates range from -1 to 1, at the pixels' centers or (align) corners; x, for the last axis, comes
  // first.
  std::vector<Value*> columns;
  Shape column = extent;
  column.push_back(1);
  for (int64_t axis = spatial; axis-- > 0;) {
    const double count = static_cast<double>(extent[axis]);
    const double step = align ? (count > 1 ? 2 / (count - 1) : 0) : 2 / std::max(count, 1.0);
    const double first = align ? (count > 1 ? -1 : 0) : -1 + step / 2;
    Shape along(spatial + 1, 1);
    along[axis] = extent[axis];
    Value* positions = c.Add(c.Mul(c.Count(dtype, extent[axis]), step), first);
    columns.push_back(c.Broadcast(c.Reshape(positions, along), column));
  }
  columns.push_back(c.Filled(dtype, 1, column));
  const int64_t points = Product(extent);
  Value* grid = c.Reshape(c.Concat(columns, spatial), {1, points, spatial + 1});
  Shape shape = {size[0]};
  shape.insert(shape.end(), extent.begin(), extent.end());
  shape.push_back(spatial);
  return {c.Reshape(c.MatMul(grid, c.In(0), false, true), shape)};
}

}  // namespace attune::onnx
