// Numbers represented by integers, and simulated quantization, which rounds values to such numbers.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

struct Grid {
  double scale = 1;
  double zero = 0;  // the integer that represents 0
  double min = 0;
  double max = 0;
};

// Widens the range so that 0 can be represented, as in https://arxiv.org/abs/1712.05877 section 3.
Grid Nudge(double min, double max, double low, double high) {
  if (!(min <= max) || !std::isfinite(min) || !std::isfinite(max)) Invalid("its range is ", min, " to ", max);
  Grid grid;
  if (min == max) {
    if (min != 0) Unsupported("an empty range");
    return grid;
  }
  grid.scale = (max - min) / (high - low);
  grid.zero = std::clamp(std::floor(low - min / grid.scale + 0.5), low, high);
  grid.min = (low - grid.zero) * grid.scale;
  grid.max = (high - grid.zero) * grid.scale;
  return grid;
}

// The numbers that the integers x of a quantized type represent: x times the scale, plus the offset.
struct Line {
  double scale;
  double offset;
};

// https://www.tensorflow.org/api_docs/python/tf/quantization/dequantize. MIN_FIRST moves the range so that
// 0 can be represented: TensorFlow's kernel does this, although the page does not mention it.
Line DequantizedLine(const std::string& mode, DType dtype, bool narrow, double min, double max) {
  const double bits = 8.0 * DTypeSize(dtype);
  const bool is_signed = IsSignedInt(dtype);
  const double lowest = is_signed ? -std::exp2(bits - 1) : 0;
  const double highest = lowest + std::exp2(bits) - 1;
  if (mode == "SCALED") {
    const double of_max = max / highest;
    return {is_signed ? std::max(min / (lowest + (narrow ? 1 : 0)), of_max) : of_max, 0};
  }
  const double scale = (max - min) / (highest - lowest);
  if (mode == "MIN_FIRST" && max != min) min = std::round(min / scale) * scale;
  return {scale, min - lowest * scale};
}

struct Levels {
  double low;
  double high;
  DType dtype;
};

Levels ReadLevels(OpContext& c) {
  const int64_t bits = c.Int("num_bits", 8);
  if (bits < 2 || bits > 16) Invalid("it has ", bits, " bits");
  return {c.Bool("narrow_range") ? 1.0 : 0.0, std::exp2(static_cast<double>(bits)) - 1,
          bits <= 8 ? DType::kU8 : DType::kU16};
}

Value* FakeQuantize(OpContext& c, double min, double max) {
  const Levels levels = ReadLevels(c);
  Value* x = c.In(0);
  const Grid grid = Nudge(min, max, levels.low, levels.high);
  if (grid.max == grid.min) return c.Mul(x, 0.0);
  const double top = levels.dtype == DType::kU8 ? 255 : 65535;
  // Integers only saturate at the limits of their type.
  if (levels.low != 0 || levels.high != top) x = c.Clip(x, grid.min, grid.max);
  Value* scale = c.ScalarLike(x, grid.scale);
  Value* zero = c.Scalar(levels.dtype, grid.zero);
  Value* integers = c.Emit(Op::kQuantize, {x, scale, zero}, {{"to", levels.dtype}});
  return c.Emit(Op::kDequantize, {integers, scale, zero});
}

}  // namespace

Outputs FakeQuantizeArgs(OpContext& c) { return {FakeQuantize(c, c.Float("min", -6), c.Float("max", 6))}; }

// (x, minimum, maximum): one range, or one per slice along `axis`.
Outputs Dequantize(OpContext& c) {
  const std::string mode = c.Choice("mode", {"MIN_COMBINED", "MIN_FIRST", "SCALED"});
  const Tensor mins = c.Known(c.In(1), "minimum");
  const Tensor maxs = c.Known(c.In(2), "maximum");
  const bool whole = c.Int("axis", -1) == -1;
  const int64_t axis = whole ? 0 : Emitter::Axis(c.Int("axis", -1), c.InRank(0));
  const int64_t count = whole ? 1 : c.DimOf(c.In(0), axis);
  if (mins.num_elements() != count || maxs.num_elements() != count)
    Invalid("its ranges do not fit its input");
  Shape along(whole ? 0 : c.InRank(0), 1);
  if (!whole) along[axis] = count;
  Tensor scales = c.NewTable(DType::kF32, along);
  Tensor offsets = c.NewTable(DType::kF32, along);
  for (int64_t i = 0; i < count; ++i) {
    const double min = mins.ToDouble(i);
    const double max = maxs.ToDouble(i);
    if (!(min <= max) || !std::isfinite(min) || !std::isfinite(max))
      Invalid("its range is ", min, " to ", max);
    const Line line = DequantizedLine(mode, c.InType(0), c.Bool("narrow_range"), min, max);
    scales.SetDouble(i, line.scale);
    offsets.SetDouble(i, line.offset);
  }
  Value* y = c.Mul(c.Cast(c.In(0), DType::kF32), c.Constant(std::move(scales)));
  if (mode != "SCALED") y = c.Add(y, c.Constant(std::move(offsets)));
  return {c.Cast(y, c.TypeAttribute("dtype", DType::kF32))};
}

Outputs FakeQuantizeVars(OpContext& c) {
  return {FakeQuantize(c, c.KnownScalar(c.In(1), "minimum").ToDouble(),
                       c.KnownScalar(c.In(2), "maximum").ToDouble())};
}

// One range per slice along the last axis.
Outputs FakeQuantizePerChannel(OpContext& c) {
  const Tensor mins = c.Known(c.In(1), "minimum");
  const Tensor maxs = c.Known(c.In(2), "maximum");
  const int64_t axis = int64_t{c.InRank(0)} - 1;
  const int64_t channels = axis < 0 ? -1 : c.DimOf(c.In(0), axis);
  if (mins.shape() != Shape{channels} || maxs.shape() != Shape{channels})
    Invalid("its ranges do not fit its input");
  const Levels levels = ReadLevels(c);
  Tensor scales(DType::kF32, {channels});
  Tensor zeros(levels.dtype, {channels});
  Tensor lows(DType::kF32, {channels});
  Tensor highs(DType::kF32, {channels});
  for (int64_t i = 0; i < channels; ++i) {
    const Grid grid = Nudge(mins.ToDouble(i), maxs.ToDouble(i), levels.low, levels.high);
    scales.SetDouble(i, grid.scale);
    zeros.SetDouble(i, grid.zero);
    lows.SetDouble(i, grid.min);
    highs.SetDouble(i, grid.max);
  }
  const DType dtype = c.InType(0);
  const auto constant = [&](const Tensor& data) { return c.Cast(c.NewConstant(data), dtype); };
  Value* x = c.Max(c.Min(c.In(0), constant(highs)), constant(lows));
  Value* scale = constant(scales);
  Value* zero = c.NewConstant(zeros);
  Value* integers = c.Emit(Op::kQuantize, {x, scale, zero}, {{"axis", axis}, {"to", levels.dtype}});
  return {c.Emit(Op::kDequantize, {integers, scale, zero}, {{"axis", axis}})};
}

}  // namespace attune::tensorflow
