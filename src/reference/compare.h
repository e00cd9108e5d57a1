// Compares results with the reference: how far they may differ, and how far they do.
//
// Elementwise: |a - b| <= absolute + relative |b|, where b is the expected value. Contractions: |a - b| <=
// γ u Σ|x||w|. Integers are exact, unless a tolerance says otherwise. NaN equals NaN, an infinity equals
// itself.
#ifndef ATTUNE_REFERENCE_COMPARE_H_
#define ATTUNE_REFERENCE_COMPARE_H_

#include <cstdint>
#include <string>

#include "graph/tensor.h"

namespace attune {

struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// For the result of one operator of `dtype`: f32 1e-5 + 1e-4 |b|, f16 2.5e-3 + 1e-3 |b|, bf16 2e-2 + 1e-2
// |b|, f64 1e-9 + 1e-7 |b|, integers and bool 0.
Tolerance OperatorTolerance(DType dtype);

// The types that a compiled network uses where its model has f32.
struct NetworkPrecision {
  DType narrowest = DType::kF32;  // of values and weights
  // Convolutions and matrix products are computed as three bf16 products, as in the pass split_products.
  bool splits_products = false;

  NetworkPrecision(DType dtype = DType::kF32, bool splits = false)  // NOLINT: a dtype is a precision
      : narrowest(dtype), splits_products(splits) {}
};

// For an output of a whole network: the same, but the absolute part is in units of the root mean square of
// the expected tensor's finite elements (1 if that is zero). For split products, the tolerance is that of
// bf16 times 2^-8, but at least that of f32. `precision` is the network's, if it is not the output's dtype.
Tolerance NetworkTolerance(const Tensor& expected);
Tolerance NetworkTolerance(const Tensor& expected, const NetworkPrecision& precision);

// Over the finite elements; 0 if there are none.
double RootMeanSquare(const Tensor& tensor);

// For a contraction: magnitude Σ|x||w| of each element (EvaluateMagnitude), the algorithm's γ, and the unit
// roundoff u of its accumulation (2^-24 for f32). The rounding of the sum to an output of a narrower dtype
// is allowed in addition.
struct ContractionBound {
  Tensor magnitude;
  double gamma = 1;
  double unit_roundoff = 0x1p-24;
};

struct Comparison {
  // Empty, or the reason why nothing could be compared: dtypes or shapes differ.
  std::string type_mismatch;
  int64_t elements = 0;
  int64_t mismatches = 0;         // elements beyond the tolerance
  double max_absolute_error = 0;  // over elements that are finite on both sides
  double max_relative_error = 0;  // |a - b| / |b| over those with b != 0
  double rms_error = 0;           // root mean square over elements that are finite on both sides
  double rms_expected = 0;        // of the same elements
  // The flat index of the element that exceeds its bound by the largest factor, or comes closest to it; -1
  // if there are no elements.
  int64_t worst = -1;
  double worst_expected = 0;
  double worst_actual = 0;
  double worst_excess = 0;  // its error relative to the allowed one
  double cosine = 1;        // similarity of the finite elements; 1 if both are zero

  bool ok() const { return type_mismatch.empty() && mismatches == 0; }
  double mismatch_share() const {
    return elements == 0 ? 0 : static_cast<double>(mismatches) / static_cast<double>(elements);
  }
  // "ok: 1000 elements, max abs 1.2e-07, max rel 3.4e-06, cosine 1" or "3 of 1000 elements differ, worst
  // [17]: 0.5, expected 0.25; …". One line.
  std::string ToString() const;
};

Comparison Compare(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance);
Comparison Compare(const Tensor& expected, const Tensor& actual, const ContractionBound& bound);
// `bound`: f64, one bound per element; infinite if any value is allowed.
Comparison Compare(const Tensor& expected, const Tensor& actual, const Tensor& bound);

}  // namespace attune

#endif  // ATTUNE_REFERENCE_COMPARE_H_
