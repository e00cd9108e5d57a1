// A function of 16-bit integers as TensorFlow Lite tabulates it (tensorflow/lite/kernels/internal/common.h,
// LUTPopulate and LUTLookup): 512 steps, shifted so that interpolating between them errs as far below as
// above.
#ifndef ATTUNE_IMPORT_TFLITE_OPS_INTERPOLATION_H_
#define ATTUNE_IMPORT_TFLITE_OPS_INTERPOLATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace attune::tflite {

// `Real` is the type that the table is computed in.
template <typename Real>
class Interpolation {
 public:
  // The numbers that the least and the greatest integer represent.
  struct Range {
    Real min, max;
  };

  Interpolation(const std::function<Real(Real)>& function, Range in, Range out) {
    constexpr int kSteps = 512;
    const Real step = (in.max - in.min) / kSteps, inverse = 65536 / (out.max - out.min);
    const auto clamped = [](Real number) {
      return static_cast<int64_t>(std::clamp<Real>(number, INT16_MIN, INT16_MAX));
    };
    for (int i = 0; i < kSteps; ++i) {
      const Real x = in.min + static_cast<Real>(i) * step;
      const Real here = std::round(function(x) * inverse);
      const Real next = function(in.min + static_cast<Real>(i + 1) * step) * inverse;
      const Real middle = std::round((next + here) / 2);
      const Real error = middle - std::round(function(x + step / 2) * inverse);
      table_.push_back(clamped(here - std::round(error / 2)));
    }
    table_.push_back(clamped(std::round(function(in.max) * inverse)));
  }

  int64_t operator[](int64_t x) const {
    const auto place = static_cast<size_t>(256 + (x >> 7));
    const int64_t slope = table_[place + 1] - table_[place];
    return table_[place] + ((slope * (x & 127) + 64) >> 7);
  }

 private:
  std::vector<int64_t> table_;
};

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_INTERPOLATION_H_
