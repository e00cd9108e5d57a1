// Loads and stores tensors for kernels of the interpreter: elements are widened to the type in which they
// are computed.
//
// Floats of every width are computed in double, signed integers in int64_t, unsigned integers and bool in
// uint64_t. A result is narrowed once, when it is stored.
#ifndef ATTUNE_REFERENCE_VALUES_H_
#define ATTUNE_REFERENCE_VALUES_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace attune::reference {

// The maximum size of a tensor that an operator creates.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 34;

// A zero-filled tensor; an error if it would exceed kMaxTensorBytes.
absl::StatusOr<Tensor> NewTensor(DType dtype, Shape shape);

// Converts an element: floats to integers truncate, saturate and map NaN to 0; integers wrap; to bool is !=
// 0; to floats rounds to nearest even.
template <typename To, typename From>
To ConvertElement(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value)) return 0;
    // The 64-bit maxima round up to a power of two, hence >=.
    if (value >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (value <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// All elements of a tensor, widened. Wide is double, int64_t or uint64_t.
template <typename Wide>
std::vector<Wide> Load(const Tensor& tensor);

// A tensor of `values`, narrowed to `dtype` by ConvertElement. `shape` must have as many elements.
template <typename Wide>
absl::StatusOr<Tensor> Store(const std::vector<Wide>& values, DType dtype, Shape shape);

// Calls f(Wide()) with the type in which elements of `dtype` are computed.
template <typename F>
auto WithWide(DType dtype, F f) {
  if (IsFloat(dtype)) return f(double());
  if (IsSignedInt(dtype)) return f(int64_t());
  return f(uint64_t());
}

// The same for sums and products only: their bits are the same for signed and unsigned integers.
template <typename F>
auto WithRing(DType dtype, F f) {
  if (IsFloat(dtype)) return f(double());
  return f(uint64_t());
}

// Calls f(T()) with an unsigned integer as wide as elements of `dtype`, to move them without interpreting
// them.
template <typename F>
auto WithStorage(DType dtype, F f) {
  switch (DTypeSize(dtype)) {
    case 1:
      return f(uint8_t());
    case 2:
      return f(uint16_t());
    case 4:
      return f(uint32_t());
    default:
      return f(uint64_t());
  }
}

// Sums, differences and products that wrap if T is an integer.
template <typename T>
T WrappingAdd(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    T out;
    __builtin_add_overflow(a, b, &out);
    return out;
  }
}
template <typename T>
T WrappingSub(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a - b;
  } else {
    T out;
    __builtin_sub_overflow(a, b, &out);
    return out;
  }
}
template <typename T>
T WrappingMul(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    T out;
    __builtin_mul_overflow(a, b, &out);
    return out;
  }
}

template <typename T>
bool IsNan(T value) {
  return value != value;
}

// The larger and the smaller of two; if one is NaN, NaN.
template <typename T>
T Maximum(T a, T b) {
  if (IsNan(a)) return a;
  return (b > a || IsNan(b)) ? b : a;
}
template <typename T>
T Minimum(T a, T b) {
  if (IsNan(a)) return a;
  return (b < a || IsNan(b)) ? b : a;
}

// The smallest and the largest value of `dtype`; infinities for floats. Wide must be the type for `dtype`.
template <typename Wide>
Wide LowestOf(DType dtype);
template <typename Wide>
Wide HighestOf(DType dtype);

// The product of shape[begin, end); it never overflows for shapes of existing tensors.
int64_t CountElements(const Shape& shape, int begin, int end);
inline int64_t CountElements(const Shape& shape) {
  return CountElements(shape, 0, static_cast<int>(shape.size()));
}

// The distance in elements between neighbours along each axis of a row-major tensor.
Shape RowMajorStrides(const Shape& shape);

// Calls f(index) for every index within `shape` in row-major order.
template <typename F>
void ForEachIndex(const Shape& shape, F f) {
  Shape index(shape.size(), 0);
  for (int64_t count = CountElements(shape); count > 0; --count) {
    f(std::as_const(index));
    for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// A tensor seen along one axis: [outer, size, inner].
struct AxisView {
  int64_t outer;
  int64_t size;
  int64_t inner;

  AxisView(const Shape& shape, int64_t axis)
      : outer(CountElements(shape, 0, static_cast<int>(axis))),
        size(shape[axis]),
        inner(CountElements(shape, static_cast<int>(axis) + 1, static_cast<int>(shape.size()))) {}
};

// Returns the slices of x at these indices of the axis, which are inside, as a tensor of `shape`.
absl::StatusOr<Tensor> TakeSlices(const Tensor& x, const AxisView& view, const std::vector<int64_t>& indices,
                                  Shape shape);

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_VALUES_H_
