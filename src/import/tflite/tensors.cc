#include "import/tflite/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "import/tflite/sparse.h"

namespace attune::tflite {
namespace {

using schema::TensorType;

// Elements of fewer than 8 bits are unpacked.
constexpr std::pair<TensorType, DType> kTypes[] = {
    {TensorType::FLOAT32, DType::kF32},   {TensorType::FLOAT16, DType::kF16},
    {TensorType::BFLOAT16, DType::kBF16}, {TensorType::FLOAT64, DType::kF64},
    {TensorType::INT2, DType::kI8},       {TensorType::INT4, DType::kI8},
    {TensorType::INT8, DType::kI8},       {TensorType::INT16, DType::kI16},
    {TensorType::INT32, DType::kI32},     {TensorType::INT64, DType::kI64},
    {TensorType::UINT4, DType::kU8},      {TensorType::UINT8, DType::kU8},
    {TensorType::UINT16, DType::kU16},    {TensorType::UINT32, DType::kU32},
    {TensorType::UINT64, DType::kU64},    {TensorType::BOOL, DType::kBool},
};

// The number of bits of an element in the file.
int StoredBits(TensorType type) {
  switch (type) {
    case TensorType::INT2:
      return 2;
    case TensorType::INT4:
    case TensorType::UINT4:
      return 4;
    default:
      return 8 * DTypeSize(RequireDType(type));
  }
}

// Unpacks elements of fewer than 8 bits; the first element is in the lowest bits of a byte.
Tensor Unpacked(std::string_view data, TensorType type, const Shape& shape, int bits) {
  Tensor result = OrThrow(Tensor::Allocate(RequireDType(type), shape));
  const int in_byte = 8 / bits;
  const int values = 1 << bits;
  const bool is_signed = type != TensorType::UINT4;
  for (int64_t i = 0; i < result.num_elements(); ++i) {
    const int byte = static_cast<uint8_t>(data[i / in_byte]);
    const int value = byte >> (bits * (i % in_byte)) & (values - 1);
    result.SetInt(i, is_signed && value >= values / 2 ? value - values : value);
  }
  return result;
}

// A bool may be any byte in the file, but must be 0 or 1 in memory.
void NormalizeBools(Tensor& tensor) {
  if (tensor.dtype() != DType::kBool) return;
  for (uint8_t& value : tensor.as_mutable<uint8_t>()) value = value != 0 ? 1 : 0;
}

Tensor ReadDense(std::string_view data, TensorType type, const Shape& shape) {
  const int bits = StoredBits(type);
  const int64_t bytes = CeilDiv(Multiply(Product(shape), bits), 8);
  if (bytes != static_cast<int64_t>(data.size())) {
    Invalid("its data are ", data.size(), " bytes, its shape needs ", bytes);
  }
  if (bits < 8) return Unpacked(data, type, shape, bits);
  Tensor result = OrThrow(Tensor::Allocate(RequireDType(type), shape));
  if (bytes > 0) std::memcpy(result.mutable_data(), data.data(), bytes);
  NormalizeBools(result);
  return result;
}

Tensor ReadTensor(const Model& model, const schema::Tensor& tensor, const Shape& shape) {
  const std::string_view data = OrThrow(model.BufferData(tensor.buffer()));
  if (tensor.sparsity() == nullptr) return ReadDense(data, tensor.type(), shape);
  const int64_t bits = StoredBits(tensor.type());
  const int64_t stored = static_cast<int64_t>(data.size()) * 8 / bits;
  const Tensor values = ReadDense(data, tensor.type(), {stored});
  return Densified(*tensor.sparsity(), values, shape);
}

}  // namespace

std::optional<DType> DTypeOf(TensorType type) {
  const auto* row = std::ranges::find(kTypes, type, &std::pair<TensorType, DType>::first);
  return row != std::end(kTypes) ? std::optional(row->second) : std::nullopt;
}

std::string TypeName(TensorType type) {
  if (const std::optional<DType> dtype = DTypeOf(type)) return std::string(DTypeName(*dtype));
  const std::string name = schema::EnumNameTensorType(type);
  return name.empty() ? absl::StrCat("type ", static_cast<int>(type)) : absl::AsciiStrToLower(name);
}

DType RequireDType(TensorType type) {
  const std::optional<DType> dtype = DTypeOf(type);
  if (!dtype) Unsupported("a tensor of type ", TypeName(type));
  return *dtype;
}

Shape RequireShape(const schema::Tensor& tensor) {
  constexpr int64_t kMaxRank = 64;
  if (SizeOf(tensor.shape()) > kMaxRank) Invalid("a tensor of rank ", SizeOf(tensor.shape()));
  Shape shape = ToInts(tensor.shape());
  for (int64_t dim : shape) {
    if (dim < 0) Invalid("a tensor with the dimension ", dim);
  }
  Product(shape);
  return shape;
}

DeclaredTensor Describe(const schema::Tensor& tensor, std::string name) {
  DeclaredTensor declared;
  declared.name = std::move(name);
  declared.dtype = TypeName(tensor.type());
  // The signature has -1 for an open dimension; in the shape, the writer replaced it by a number.
  const Ints shape =
      SizeOf(tensor.shape_signature()) > 0 ? ToInts(tensor.shape_signature()) : ToInts(tensor.shape());
  declared.ranked = !shape.empty() || tensor.has_rank();
  for (int64_t dim : shape) declared.dims.push_back(dim < 0 ? "?" : absl::StrCat(dim));
  return declared;
}

std::optional<Shape> DeclaredShape(const schema::Tensor& tensor) {
  // The signature has -1 for an open size; in the shape, the writer replaced it by a number.
  const auto* stated = SizeOf(tensor.shape_signature()) > 0 ? tensor.shape_signature() : tensor.shape();
  if (SizeOf(stated) == 0 && !tensor.has_rank()) return std::nullopt;
  return ToInts(stated);
}

IntegerRange RangeOf(DType dtype) {
  const bool is_signed = !IsUnsignedInt(dtype);
  const int bits = 8 * DTypeSize(dtype) - (is_signed ? 1 : 0);
  const int64_t max = bits < 63 ? (int64_t{1} << bits) - 1 : INT64_MAX;
  return {is_signed ? -max - 1 : 0, max};
}

std::optional<Quantization> QuantizationOf(const schema::Tensor& tensor) {
  const schema::QuantizationParameters* stored = tensor.quantization();
  if (stored == nullptr || SizeOf(stored->scale()) == 0) return std::nullopt;
  if (stored->details_type() != schema::QuantizationDetails::NONE) return std::nullopt;
  Quantization q;
  q.scales.assign(stored->scale()->begin(), stored->scale()->end());
  q.zeros = ToInts(stored->zero_point());
  if (q.zeros.size() <= 1) q.zeros.assign(q.scales.size(), q.zeros.empty() ? 0 : q.zeros[0]);
  if (q.zeros.size() != q.scales.size()) {
    Invalid("tensor '", NameOf(tensor.name()), "' has ", q.scales.size(), " scales and ", q.zeros.size(),
            " zero points");
  }
  for (float scale : q.scales) {
    if (!std::isfinite(scale) || scale < 0) {
      Invalid("tensor '", NameOf(tensor.name()), "' is quantized with the scale ", scale);
    }
  }
  if (IsQuantized(tensor)) {
    const IntegerRange range = RangeOf(RequireDType(tensor.type()));
    for (int64_t zero : q.zeros) {
      if (zero < range.min || zero > range.max) {
        Invalid("tensor '", NameOf(tensor.name()), "' is quantized with the zero point ", zero);
      }
    }
  }
  if (q.per_channel()) q.axis = stored->quantized_dimension();
  return q;
}

bool IsQuantized(const schema::Tensor& tensor) {
  const std::optional<DType> dtype = DTypeOf(tensor.type());
  const bool narrow =
      dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16 || dtype == DType::kU16;
  return narrow && tensor.quantization() != nullptr && SizeOf(tensor.quantization()->scale()) > 0 &&
         tensor.quantization()->details_type() == schema::QuantizationDetails::NONE;
}

bool HasData(const Model& model, const schema::Tensor& tensor) {
  if (tensor.buffer() == 0) return false;
  const schema::Buffer& buffer = *model.root().buffers()->Get(tensor.buffer());
  return SizeOf(buffer.data()) > 0 || buffer.offset() > 1;
}

Tensor TensorData::Read(const Model& model, const schema::Tensor& tensor, Budget& budget) {
  const Shape shape = RequireShape(tensor);
  const DType dtype = RequireDType(tensor.type());
  budget.SpendBytes(Multiply(Product(shape), DTypeSize(dtype)));
  const auto known = tensors_.find(&tensor);
  if (known != tensors_.end()) return known->second;
  return tensors_[&tensor] = ReadTensor(model, tensor, shape);
}

}  // namespace attune::tflite
