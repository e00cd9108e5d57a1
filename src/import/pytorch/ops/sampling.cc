// Operators that interpolate images.
#include <cmath>

#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {
namespace {

int64_t ScaledSize(int64_t size, double scale) {
  const double scaled = std::floor(static_cast<double>(size) * scale);
  if (!(scale > 0 && scaled >= 0 && scaled < 0x1p40)) Invalid("it scales ", size, " elements by ", scale);
  return static_cast<int64_t>(scaled);
}

// The given scales, one per spatial dimension, or none. A scale that is not positive counts as absent.
Floats GivenScales(OpContext& c, size_t rank) {
  Floats scales;
  if (c.Has("scale_factors")) {
    for (const Number& scale : c.Numbers("scale_factors")) scales.push_back(ToDouble(scale));
  } else {
    constexpr std::string_view kNames[] = {"scales_d", "scales_h", "scales_w"};
    for (size_t i = 0; i < rank; ++i) {
      const std::string_view name = rank == 1 ? "scales" : kNames[3 - rank + i];
      scales.push_back(c.Float(name, 0));
    }
  }
  if (scales.size() != rank) Invalid("it has ", scales.size(), " scales for ", rank, " spatial dimensions");
  return scales;
}

}  // namespace

Outputs Upsample(OpContext& c, size_t rank, Sampling sampling) {
  Value* x = c.In(c.Has("input") ? "input" : "self");
  const Shape shape = c.ShapeOf(x);
  if (shape.size() != rank + 2) Invalid("it resizes ", rank, " dimensions of ", ToString(x->type()));
  const Floats given = GivenScales(c, rank);
  const Ints wanted = c.IntList("output_size", {});
  if (!wanted.empty() && wanted.size() != rank)
    Invalid("its output_size has ", wanted.size(), " values, not ", rank);
  const bool align = c.Bool("align_corners", false);
  Shape sizes = shape;
  Floats scales(rank + 2, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t in = shape[i + 2];
    if (in < 1) Invalid("it resizes an axis without elements");
    sizes[i + 2] = wanted.empty() ? ScaledSize(in, given[i]) : CheckedSize(wanted[i], "output size", 1);
    // Aligned corners lie where the sizes put them, whatever the scale.
    const bool by_sizes = align || !(given[i] > 0);
    scales[i + 2] = by_sizes ? static_cast<double>(sizes[i + 2]) / static_cast<double>(in) : given[i];
  }
  const bool nearest = sampling == Sampling::kNearest || sampling == Sampling::kNearestExact;
  const std::string mode = nearest ? "nearest" : sampling == Sampling::kLinear ? "linear" : "cubic";
  const std::string coordinates = sampling == Sampling::kNearest ? "asymmetric"
                                  : align                        ? "align_corners"
                                                                 : "half_pixel";
  return {c.Emit(
      Op::kResize, {x},
      {{"sizes", sizes},
       {"scales", scales},
       {"mode", mode},
       {"coordinate_mode", coordinates},
       {"nearest_mode", std::string(sampling == Sampling::kNearest ? "floor" : "round_prefer_ceil")}})};
}

Outputs GridSample(OpContext& c) {
  constexpr std::string_view kModes[] = {"linear", "nearest", "cubic"};
  constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};
  const int64_t mode = c.Int("interpolation_mode");
  const int64_t padding = c.Int("padding_mode");
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2) Invalid("its modes are ", mode, " and ", padding);
  return {c.Emit(Op::kGridSample, {c.In("input"), c.In("grid")},
                 {{"mode", std::string(kModes[mode])},
                  {"padding_mode", std::string(kPaddings[padding])},
                  {"align_corners", int64_t{c.Bool("align_corners", false)}}})};
}

}  // namespace attune::pytorch
