// Finds the expression behind a number that was seen at several sizes.
#ifndef ATTUNE_SIZES_FIT_H_
#define ATTUNE_SIZES_FIT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sizes/size_expr.h"

namespace attune {

// One value for each open dimension.
using SizePoint = std::vector<int64_t>;

// The simplest expression that has values[i] at points[i], or nothing if there is none of the forms that
// sizes have: a constant; a · m + b and a · m + c · n + b for products m and n of up to three dimensions; and
// a · floor((d + c) / k) + b. At least one point more than the form has unknown numbers must agree, so the
// points must be as many as kLeastPoints, and no two may share a value of a dimension.
inline constexpr size_t kLeastPoints = 8;
std::optional<SizeExpr> FitSize(std::span<const int64_t> values, std::span<const SizePoint> points);

// The open dimensions of a network, and the points at which it was seen.
struct OpenSizes {
  std::vector<OpenDim> dims;
  std::vector<SizePoint> points;
  bool empty() const { return dims.empty(); }
};

// Points to see a network at, around the likely values. The first has primes, the nearest ones, so that no
// product of dimensions and no multiple of a tile is met by chance; the others have several remainders and
// spread over some times the likely values. Nothing if a dimension has too few values.
std::optional<std::vector<SizePoint>> PointsFor(std::span<const OpenDim> dims);

// A point far above the others, for checking what was found at them, inside of the dimensions' ranges.
SizePoint FarPoint(std::span<const OpenDim> dims);

}  // namespace attune

#endif  // ATTUNE_SIZES_FIT_H_
