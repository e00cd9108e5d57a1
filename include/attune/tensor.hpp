// Tensors, and the control of long calls, for attune/compiler.hpp.
#ifndef ATTUNE_TENSOR_HPP_
#define ATTUNE_TENSOR_HPP_

#if __cplusplus < 202002L
#error "Attune is used from C++20 or newer (-std=c++20), or from C by attune/compiler.h."
#endif

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attune/error.hpp"
#include "attune/tensor.h"

namespace attune::compiler {

using Shape = std::vector<int64_t>;

// A dense, row-major array in memory of this process, 64-byte aligned. Copies share their bytes.
class Tensor {
 public:
  // An f32 vector without elements.
  Tensor() = default;
  // Zeros. Throws if a size is negative or the memory cannot be had.
  Tensor(attune_dtype dtype, Shape shape);
  // A copy of as many bytes as the shape has.
  Tensor(attune_dtype dtype, Shape shape, std::span<const std::byte> bytes);
  // A copy of f32 values.
  Tensor(Shape shape, std::span<const float> values);
  // One of the C interface, which belongs to this Tensor and its copies from now on.
  explicit Tensor(attune_tensor* tensor);

  attune_dtype dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::span<const std::byte> bytes() const { return {bytes_.get(), num_bytes_}; }
  // May be called only while this is the only copy.
  std::span<std::byte> mutable_bytes() { return {bytes_.get(), num_bytes_}; }

  // The elements as T, whose size must be the dtype's (uint16_t for f16 and bf16, uint8_t for bool).
  template <typename T>
  std::span<const T> as() const {
    if (sizeof(T) != attune_dtype_size(dtype_))
      throw Error(ErrorCode::kInvalid, std::string("the tensor's elements are ") + attune_dtype_name(dtype_));
    return {reinterpret_cast<const T*>(bytes_.get()), num_bytes_ / sizeof(T)};
  }

 private:
  attune_dtype dtype_ = ATTUNE_F32;
  Shape shape_ = {0};
  size_t num_bytes_ = 0;
  std::shared_ptr<std::byte[]> bytes_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
using NamedTensors = std::vector<NamedTensor>;

// Lets a caller follow and stop a long call.
struct Control {
  // Called when `done` of `total` units of `what` ("compiling kernels") are done; a total of 0 means that it
  // is not known. Called often, and by several threads at once.
  std::function<void(std::string_view what, int64_t done, int64_t total)> progress = {};
  // If a stop is requested, the call throws an Error with kCancelled; Network::tune() returns instead.
  std::stop_token stop = {};
};

}  // namespace attune::compiler

#include "attune/detail/tensor.hpp"

#endif  // ATTUNE_TENSOR_HPP_
