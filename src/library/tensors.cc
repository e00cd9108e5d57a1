#include "library/tensors.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "attune/attune.h"
#include "base/status.h"
#include "library/failure.h"

namespace attune::library {
namespace {

absl::StatusOr<Tensor> NewTensor(attune_dtype dtype, const int64_t* shape, size_t rank) {
  if (attune_dtype_size(dtype) == 0) return InvalidInput("a tensor of no dtype");
  if (rank > 0) RETURN_IF_ERROR(CheckNotNull(shape));
  return Tensor::Allocate(static_cast<DType>(dtype), Shape(shape, shape + rank));
}

}  // namespace

absl::StatusOr<NamedTensor> ToOwn(const attune_array& array) {
  ASSIGN_OR_RETURN(Tensor tensor, NewTensor(array.dtype, array.shape, array.rank));
  if (array.bytes != static_cast<size_t>(tensor.num_bytes()))
    return InvalidInput("the shape has ", tensor.num_bytes(), " bytes, and ", array.bytes, " are given");
  if (array.bytes > 0) RETURN_IF_ERROR(CheckNotNull(array.data));
  std::ranges::copy(std::span(static_cast<const std::byte*>(array.data), array.bytes), tensor.mutable_data());
  return NamedTensor{TextOr(array.name), std::move(tensor)};
}

absl::StatusOr<std::vector<NamedTensor>> ToOwn(const attune_array* arrays, size_t count) {
  if (count > 0) RETURN_IF_ERROR(CheckNotNull(arrays));
  std::vector<NamedTensor> tensors;
  for (const attune_array& array : std::span(arrays, count)) {
    ASSIGN_OR_RETURN(NamedTensor tensor, ToOwn(array));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace attune::library

attune_tensor::attune_tensor(attune::NamedTensor given)
    : named(std::move(given)),
      array{.name = named.name.c_str(),
            .dtype = static_cast<attune_dtype>(named.tensor.dtype()),
            .rank = named.tensor.shape().size(),
            .shape = named.tensor.shape().data(),
            .data = named.tensor.data(),
            .bytes = static_cast<size_t>(named.tensor.num_bytes())} {}

attune_code attune_tensor_create(attune_dtype dtype, const int64_t* shape, size_t rank,
                                 attune_tensor** tensor, attune_failure** failure) {
  return attune::library::Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(attune::library::CheckNotNull(tensor));
    ASSIGN_OR_RETURN(attune::Tensor zeros, attune::library::NewTensor(dtype, shape, rank));
    *tensor = new attune_tensor({"", std::move(zeros)});
    return absl::OkStatus();
  });
}

const attune_array* attune_tensor_array(const attune_tensor* tensor) { return &tensor->array; }
void* attune_tensor_data(attune_tensor* tensor) { return tensor->named.tensor.mutable_data(); }
void attune_tensor_free(attune_tensor* tensor) { delete tensor; }

size_t attune_tensors_count(const attune_tensors* tensors) { return tensors->items.size(); }

const attune_array* attune_tensors_array(const attune_tensors* tensors, size_t index) {
  if (index >= tensors->items.size() || tensors->items[index] == nullptr) return nullptr;
  return &tensors->items[index]->array;
}

attune_tensor* attune_tensors_take(attune_tensors* tensors, size_t index) {
  return index < tensors->items.size() ? tensors->items[index].release() : nullptr;
}

void attune_tensors_free(attune_tensors* tensors) { delete tensors; }
