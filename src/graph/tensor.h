// A host tensor: the data of constants, of graph inputs and of results. Dense, row-major, 64-byte aligned.
#ifndef ATTUNE_GRAPH_TENSOR_H_
#define ATTUNE_GRAPH_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "base/exact_number.h"

namespace attune {

using Shape = std::vector<int64_t>;

// Copies share their bytes; a tensor that others may hold is read only. Distinct tensors may be used
// from several threads at once.
class Tensor {
 public:
  Tensor() = default;

  // Zero-filled. The shape must be non-negative with a byte size that fits; Allocate() checks it.
  Tensor(DType dtype, Shape shape);

  // For shapes that come from a file: an error when a dimension is negative, when the size overflows or
  // is over `max_bytes`, or when the memory cannot be had.
  static absl::StatusOr<Tensor> Allocate(DType dtype, Shape shape, int64_t max_bytes = int64_t{1} << 36);

  // Rank 0 or 1 tensors of the values, converted to `dtype` as by SetNumber() and SetInt().
  static Tensor Scalar(DType dtype, const ExactNumber& value);
  static Tensor FromInts(std::span<const int64_t> values, DType dtype = DType::kI64);
  static Tensor FromFloats(std::span<const float> values, Shape shape);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t num_elements() const { return num_elements_; }
  int64_t num_bytes() const { return num_elements_ * DTypeSize(dtype_); }

  const std::byte* data() const { return bytes_.get(); }
  std::byte* mutable_data() { return bytes_.get(); }

  // The elements as T, whose size must be the dtype's (uint16_t for f16 and bf16, uint8_t for bool).
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.get()), static_cast<size_t>(num_elements_)};
  }
  template <typename T>
  std::span<T> as_mutable() {
    return {reinterpret_cast<T*>(bytes_.get()), static_cast<size_t>(num_elements_)};
  }

  // Element i in row-major order, converted. Integers of 64 bits above 2^53 lose digits as a double.
  double ToDouble(int64_t i) const;
  int64_t ToInt(int64_t i) const;
  ExactNumber ToNumber(int64_t i) const;  // exactly
  // Stores `value` as element i: floats round to nearest even, integers truncate and saturate, bool is
  // value != 0.
  void SetDouble(int64_t i, double value);
  void SetInt(int64_t i, int64_t value);
  void SetNumber(int64_t i, const ExactNumber& value);

  std::vector<int64_t> ToInts() const;

  // The same bytes under another shape of as many elements.
  Tensor Reshaped(Shape shape) const;
  // Equal dtype, shape and bytes.
  bool Identical(const Tensor& other) const;

 private:
  DType dtype_ = DType::kF32;
  Shape shape_;
  int64_t num_elements_ = 0;
  std::shared_ptr<std::byte[]> bytes_;
};

}  // namespace attune

#endif  // ATTUNE_GRAPH_TENSOR_H_
