// The functions of Tensor. attune/tensor.hpp includes this at its end.
#ifndef ATTUNE_DETAIL_TENSOR_HPP_
#define ATTUNE_DETAIL_TENSOR_HPP_

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attune/detail/call.hpp"
#include "attune/tensor.hpp"

namespace attune::compiler {

inline Tensor::Tensor(attune_tensor* tensor) {
  const std::shared_ptr<attune_tensor> owner(tensor, attune_tensor_free);
  const attune_array& array = *attune_tensor_array(tensor);
  dtype_ = array.dtype;
  shape_.assign(array.shape, array.shape + array.rank);
  num_bytes_ = array.bytes;
  bytes_ = std::shared_ptr<std::byte[]>(owner, static_cast<std::byte*>(attune_tensor_data(tensor)));
}

inline Tensor::Tensor(attune_dtype dtype, Shape shape)
    : Tensor(detail::get<attune_tensor_free>(attune_tensor_create, dtype, shape.data(), shape.size())
                 .release()) {}

inline Tensor::Tensor(attune_dtype dtype, Shape shape, std::span<const std::byte> bytes)
    : Tensor(dtype, std::move(shape)) {
  if (bytes.size() != num_bytes_)
    throw Error(ErrorCode::kInvalid, "the shape has " + std::to_string(num_bytes_) + " bytes, and " +
                                         std::to_string(bytes.size()) + " are given");
  std::ranges::copy(bytes, bytes_.get());
}

inline Tensor::Tensor(Shape shape, std::span<const float> values)
    : Tensor(ATTUNE_F32, std::move(shape), std::as_bytes(values)) {}

namespace detail {

// The tensor as the C interface takes it: points into the tensor and the name.
inline attune_array array_of(const std::string& name, const Tensor& tensor) {
  return {.name = name.c_str(),
          .dtype = tensor.dtype(),
          .rank = tensor.shape().size(),
          .shape = tensor.shape().data(),
          .data = tensor.bytes().data(),
          .bytes = tensor.bytes().size()};
}

inline std::vector<attune_array> arrays_of(const NamedTensors& tensors) {
  std::vector<attune_array> arrays;
  for (const auto& [name, tensor] : tensors) arrays.push_back(array_of(name, tensor));
  return arrays;
}

inline std::vector<attune_array> arrays_of(const std::map<std::string, Tensor>& tensors) {
  std::vector<attune_array> arrays;
  for (const auto& [name, tensor] : tensors) arrays.push_back(array_of(name, tensor));
  return arrays;
}

inline NamedTensor named(Owned<attune_tensor_free> tensor) {
  std::string name = attune_tensor_array(tensor.get())->name;
  return {std::move(name), Tensor(tensor.release())};
}

}  // namespace detail
}  // namespace attune::compiler

#endif  // ATTUNE_DETAIL_TENSOR_HPP_
