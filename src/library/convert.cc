#include "library/convert.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/face.h"
#include "base/status.h"

namespace attune::compiler {
namespace {

ErrorCode CodeOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kNotFound:
      return ErrorCode::kNotFound;
    case absl::StatusCode::kUnimplemented:
      return ErrorCode::kUnsupported;
    case absl::StatusCode::kCancelled:
      return ErrorCode::kCancelled;
    case absl::StatusCode::kResourceExhausted:
      return ErrorCode::kNoResources;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDeadlineExceeded:
      return ErrorCode::kUnavailable;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return ErrorCode::kInternal;
    default:
      return ErrorCode::kInvalid;
  }
}

attune::Tensor NewTensor(attune_dtype dtype, const Shape& shape) {
  if (attune_dtype_size(dtype) == 0) throw Error(ErrorCode::kInvalid, "a tensor of no dtype");
  return Value(attune::Tensor::Allocate(static_cast<DType>(dtype), shape));
}

}  // namespace

void NameFace() {
  if (CurrentFace() == Face::kCommandLine) SetFace(Face::kCpp);
}

void Check(const absl::Status& status) {
  if (!status.ok()) throw Error(CodeOf(status.code()), std::string(status.message()), IsMissingFile(status));
}

attune::Tensor TensorAccess::ToOwn(const Tensor& tensor) {
  attune::Tensor own = NewTensor(tensor.dtype_, tensor.shape_);
  std::ranges::copy(tensor.bytes(), own.mutable_data());
  return own;
}

Tensor TensorAccess::FromOwn(const attune::Tensor& tensor) {
  Tensor result;
  result.dtype_ = static_cast<attune_dtype>(tensor.dtype());
  result.shape_ = tensor.shape();
  result.num_bytes_ = static_cast<size_t>(tensor.num_bytes());
  const auto owner = std::make_shared<attune::Tensor>(tensor);
  result.bytes_ = std::shared_ptr<std::byte[]>(owner, owner->mutable_data());
  return result;
}

std::vector<attune::NamedTensor> ToOwn(const NamedTensors& tensors) {
  std::vector<attune::NamedTensor> own;
  for (const auto& [name, tensor] : tensors) own.push_back({name, TensorAccess::ToOwn(tensor)});
  return own;
}

NamedTensors FromOwn(const std::vector<attune::NamedTensor>& tensors) {
  NamedTensors result;
  for (const auto& [name, tensor] : tensors) result.push_back({name, TensorAccess::FromOwn(tensor)});
  return result;
}

InputInfo FromOwn(const InputDeclaration& input) {
  InputInfo info = {.name = input.name,
                    .dtype = ATTUNE_F32,
                    .shape = input.shape,
                    .text = ToString(input),
                    .dims = input.dims,
                    .has_shape = input.ranked};
  if (input.dtype) info.dtype = static_cast<attune_dtype>(*input.dtype);
  return info;
}

Tensor::Tensor(attune_dtype dtype, Shape shape) : Tensor(TensorAccess::FromOwn(NewTensor(dtype, shape))) {}

Tensor::Tensor(attune_dtype dtype, Shape shape, std::span<const std::byte> bytes)
    : Tensor(dtype, std::move(shape)) {
  if (bytes.size() != num_bytes_)
    throw Error(ErrorCode::kInvalid, "the shape has " + std::to_string(num_bytes_) + " bytes, and " +
                                         std::to_string(bytes.size()) + " are given");
  std::ranges::copy(bytes, bytes_.get());
}

Tensor::Tensor(Shape shape, std::span<const float> values)
    : Tensor(ATTUNE_F32, std::move(shape), std::as_bytes(values)) {}

}  // namespace attune::compiler
