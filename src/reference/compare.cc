#include "reference/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "reference/values.h"

namespace attune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string Describe(const Tensor& tensor) {
  return absl::StrCat(DTypeName(tensor.dtype()), "[", absl::StrJoin(tensor.shape(), ","), "]");
}

// a - b| element by element, exact for 64-bit integers.
class AbsoluteErrors {
 public:
  AbsoluteErrors(const Tensor& expected, const Tensor& actual) : expected_(expected), actual_(actual) {
    if (IsFloat(expected.dtype())) return;
    expected_bits_ = reference::Load<uint64_t>(expected);
    actual_bits_ = reference::Load<uint64_t>(actual);
  }

  double operator[](int64_t i) const {
    if (IsFloat(expected_.dtype())) return std::fabs(actual_.ToDouble(i) - expected_.ToDouble(i));
    const uint64_t a = actual_bits_[i];
    const uint64_t b = expected_bits_[i];
    const bool is_signed = IsSignedInt(expected_.dtype());
    const bool greater = is_signed ? static_cast<int64_t>(a) > static_cast<int64_t>(b) : a > b;
    return static_cast<double>(greater ? a - b : b - a);  // the difference fits the unsigned type
  }

 private:
  const Tensor& expected_;
  const Tensor& actual_;
  std::vector<uint64_t> expected_bits_;
  std::vector<uint64_t> actual_bits_;
};

// Whether the two are the same non-finite value.
bool SameNonFinite(double expected, double actual) {
  return std::isnan(expected) ? std::isnan(actual) : std::isinf(expected) && expected == actual;
}

// The unit roundoff of storing to `dtype`; doubles are stored as computed.
double StorageRoundoff(DType dtype) { return dtype == DType::kF64 ? 0 : UnitRoundoff(dtype); }

// The sums for the cosine.
struct Products {
  double expected_squared = 0;
  double actual_squared = 0;
  double mixed = 0;

  double Cosine() const {
    if (expected_squared == 0 && actual_squared == 0) return 1;
    if (expected_squared == 0 || actual_squared == 0) return 0;
    return mixed / std::sqrt(expected_squared) / std::sqrt(actual_squared);
  }
};

// Compares element by element; allowed(i) is the bound on |a - b|.
template <typename F>
Comparison CompareElements(const Tensor& expected, const Tensor& actual, F allowed) {
  Comparison result;
  if (expected.dtype() != actual.dtype() || expected.shape() != actual.shape()) {
    result.type_mismatch = absl::StrCat("is ", Describe(actual), ", expected ", Describe(expected));
    return result;
  }
  result.elements = expected.num_elements();
  const AbsoluteErrors errors(expected, actual);
  Products products;
  double squared_errors = 0;
  int64_t finite = 0;
  double worst_excess = -1;
  for (int64_t i = 0; i < result.elements; ++i) {
    const double b = expected.ToDouble(i);
    const double a = actual.ToDouble(i);
    double excess = 0;  // the error relative to the allowed one
    if (std::isfinite(a) && std::isfinite(b)) {
      const double error = errors[i];
      const double bound = allowed(i);
      excess = error == 0 ? 0 : bound > 0 ? error / bound : kInfinity;
      result.max_absolute_error = std::max(result.max_absolute_error, error);
      if (b != 0) result.max_relative_error = std::max(result.max_relative_error, error / std::fabs(b));
      products.expected_squared += b * b;
      products.actual_squared += a * a;
      products.mixed += a * b;
      squared_errors += error * error;
      ++finite;
    } else if (!SameNonFinite(b, a)) {
      excess = kInfinity;
    }
    if (!(excess <= 1)) ++result.mismatches;
    if (excess > worst_excess) {
      worst_excess = excess;
      result.worst = i;
      result.worst_expected = b;
      result.worst_actual = a;
    }
  }
  result.worst_excess = std::max(worst_excess, 0.0);
  result.cosine = products.Cosine();
  if (finite > 0) {
    result.rms_error = std::sqrt(squared_errors / static_cast<double>(finite));
    result.rms_expected = std::sqrt(products.expected_squared / static_cast<double>(finite));
  }
  return result;
}

}  // namespace

Tolerance OperatorTolerance(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return {1e-5, 1e-4};
    case DType::kF64:
      return {1e-9, 1e-7};
    case DType::kF16:
      return {2.5e-3, 1e-3};
    case DType::kBF16:
      return {2e-2, 1e-2};
    default:
      return {0, 0};
  }
}

Tolerance NetworkTolerance(const Tensor& expected) { return NetworkTolerance(expected, expected.dtype()); }

Tolerance NetworkTolerance(const Tensor& expected, const NetworkPrecision& precision) {
  Tolerance tolerance = OperatorTolerance(precision.narrowest);
  if (precision.splits_products) {
    constexpr double kLowPart = 0x1p-8;  // the unit roundoff of bf16, where the second bf16 number begins
    const Tolerance bf16 = OperatorTolerance(DType::kBF16);
    tolerance.absolute = std::max(tolerance.absolute, kLowPart * bf16.absolute);
    tolerance.relative = std::max(tolerance.relative, kLowPart * bf16.relative);
  }
  if (const double scale = RootMeanSquare(expected); scale > 0) tolerance.absolute *= scale;
  return tolerance;
}

double RootMeanSquare(const Tensor& tensor) {
  double sum = 0;
  int64_t count = 0;
  for (const double value : reference::Load<double>(tensor)) {
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

std::string Comparison::ToString() const {
  if (!type_mismatch.empty()) return type_mismatch;
  const std::string errors = absl::StrFormat("max abs %.3g, max rel %.3g, cosine %.6g", max_absolute_error,
                                             max_relative_error, cosine);
  if (ok()) return absl::StrFormat("ok: %d elements, %s", elements, errors);
  return absl::StrFormat("%d of %d elements differ (%.3g%%), worst [%d]: %.9g, expected %.9g; %s", mismatches,
                         elements, 100 * mismatch_share(), worst, worst_actual, worst_expected, errors);
}

Comparison Compare(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance) {
  return CompareElements(expected, actual, [&](int64_t i) {
    return tolerance.absolute + tolerance.relative * std::fabs(expected.ToDouble(i));
  });
}

Comparison Compare(const Tensor& expected, const Tensor& actual, const ContractionBound& bound) {
  if (bound.magnitude.shape() != expected.shape()) {
    Comparison result;
    result.type_mismatch =
        absl::StrCat("the magnitude is ", Describe(bound.magnitude), ", expected ", Describe(expected));
    return result;
  }
  const double storage = StorageRoundoff(expected.dtype());
  return CompareElements(expected, actual, [&](int64_t i) {
    // Both sides round to the storage type, each by at most half an ulp.
    return bound.gamma * bound.unit_roundoff * bound.magnitude.ToDouble(i) +
           2 * storage * std::fabs(expected.ToDouble(i));
  });
}

Comparison Compare(const Tensor& expected, const Tensor& actual, const Tensor& bound) {
  if (expected.dtype() != actual.dtype() || expected.shape() != actual.shape()) {
    return Compare(expected, actual, Tolerance());
  }
  const auto bounds = bound.as<double>();
  // An element that may have any value counts as correct.
  Tensor judged(actual.dtype(), actual.shape());
  const auto bytes = static_cast<size_t>(DTypeSize(actual.dtype()));
  for (size_t i = 0; i < bounds.size(); ++i) {
    const Tensor& from = std::isinf(bounds[i]) ? expected : actual;
    std::memcpy(judged.mutable_data() + i * bytes, from.data() + i * bytes, bytes);
  }
  return CompareElements(expected, judged, [&](int64_t i) { return bounds[static_cast<size_t>(i)]; });
}

}  // namespace attune
