#include "import/tensorflow/tensor_proto.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/status.h"

namespace attune::tensorflow {
namespace {

using importing::Invalid;
using importing::OrThrow;

// Added to the type's number for references to variables.
constexpr int kReference = 100;

struct TypeRow {
  DataType type;
  const char* name;
  std::optional<DType> dtype;
};

constexpr TypeRow kTypes[] = {
    {DT_FLOAT, "float", DType::kF32},      {DT_DOUBLE, "double", DType::kF64},
    {DT_INT32, "int32", DType::kI32},      {DT_UINT8, "uint8", DType::kU8},
    {DT_INT16, "int16", DType::kI16},      {DT_INT8, "int8", DType::kI8},
    {DT_STRING, "string", std::nullopt},   {DT_COMPLEX64, "complex64", std::nullopt},
    {DT_INT64, "int64", DType::kI64},      {DT_BOOL, "bool", DType::kBool},
    {DT_QINT8, "qint8", DType::kI8},       {DT_QUINT8, "quint8", DType::kU8},
    {DT_QINT32, "qint32", DType::kI32},    {DT_BFLOAT16, "bfloat16", DType::kBF16},
    {DT_QINT16, "qint16", DType::kI16},    {DT_QUINT16, "quint16", DType::kU16},
    {DT_UINT16, "uint16", DType::kU16},    {DT_COMPLEX128, "complex128", std::nullopt},
    {DT_HALF, "half", DType::kF16},        {DT_RESOURCE, "resource", std::nullopt},
    {DT_VARIANT, "variant", std::nullopt}, {DT_UINT32, "uint32", DType::kU32},
    {DT_UINT64, "uint64", DType::kU64},
};

const TypeRow* FindType(int type) {
  if (type > kReference) type -= kReference;
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

// Stores the elements of a list, which may have a wider type. The last element is repeated up to the end;
// if there are none, all are zeros.
template <typename To, typename List>
absl::Status Fill(const List& values, Tensor& tensor) {
  const int64_t count = tensor.num_elements();
  const auto given = static_cast<int64_t>(values.size());
  if (given > count) return InvalidInput("a tensor has ", given, " values, its shape needs ", count);
  auto* out = reinterpret_cast<To*>(tensor.mutable_data());
  for (int64_t i = 0; i < given; ++i) out[i] = static_cast<To>(values.Get(static_cast<int>(i)));
  if (given > 0 && given < count) std::fill(out + given, out + count, out[given - 1]);
  return absl::OkStatus();
}

absl::Status FillFromList(const TensorProto& proto, Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kF32:
      return Fill<float>(proto.float_val(), tensor);
    case DType::kF64:
      return Fill<double>(proto.double_val(), tensor);
    case DType::kI64:
      return Fill<int64_t>(proto.int64_val(), tensor);
    case DType::kU64:
      return Fill<uint64_t>(proto.uint64_val(), tensor);
    case DType::kU32:
      return Fill<uint32_t>(proto.uint32_val(), tensor);
    case DType::kI32:
      return Fill<int32_t>(proto.int_val(), tensor);
    case DType::kI16:
    case DType::kU16:
      return Fill<uint16_t>(proto.int_val(), tensor);
    case DType::kI8:
    case DType::kU8:
      return Fill<uint8_t>(proto.int_val(), tensor);
    case DType::kF16:
    case DType::kBF16:
      return Fill<uint16_t>(proto.half_val(), tensor);
    case DType::kBool:
      return Fill<bool>(proto.bool_val(), tensor);
  }
  return InternalError("a dtype without a list");
}

}  // namespace

std::string TypeName(int type) {
  const TypeRow* row = FindType(type);
  return row != nullptr ? row->name : absl::StrCat("type ", type);
}

std::optional<DType> DTypeOf(int type) {
  const TypeRow* row = FindType(type);
  return row != nullptr ? row->dtype : std::nullopt;
}

absl::StatusOr<DType> RequireDType(int type) {
  const std::optional<DType> dtype = DTypeOf(type);
  if (!dtype) return NotSupported("elements of type ", TypeName(type));
  return *dtype;
}

bool StatesShape(const TensorShapeProto& proto, int version) {
  // Before this version, an unknown shape was written like that of a scalar.
  constexpr int kFirstWithUnknownShapes = 24;
  return !proto.unknown_rank() && (version >= kFirstWithUnknownShapes || proto.dim_size() > 0);
}

Shape SizesOf(const TensorShapeProto& proto) {
  Shape sizes;
  for (const auto& dim : proto.dim()) sizes.push_back(dim.size());
  return sizes;
}

std::optional<Shape> WholeShape(const TensorShapeProto& proto) {
  if (proto.unknown_rank()) return std::nullopt;
  Shape shape;
  for (const auto& dim : proto.dim()) {
    if (dim.size() < 0) return std::nullopt;
    shape.push_back(dim.size());
  }
  return shape;
}

std::vector<std::string> DescribeDims(const TensorShapeProto& proto) {
  std::vector<std::string> dims;
  for (const auto& dim : proto.dim()) dims.push_back(dim.size() < 0 ? "?" : absl::StrCat(dim.size()));
  return dims;
}

Tensor TensorFromProto(const TensorProto& proto, importing::Budget& budget) {
  const DType dtype = OrThrow(RequireDType(proto.dtype()));
  const std::optional<Shape> shape = WholeShape(proto.tensor_shape());
  const std::optional<int64_t> elements = shape ? CheckedProduct(*shape) : std::nullopt;
  const std::optional<int64_t> bytes = elements ? CheckedMul(*elements, DTypeSize(dtype)) : std::nullopt;
  if (!bytes) Invalid("a constant has an open, negative or overflowing shape");
  const std::string& content = proto.tensor_content();
  if (content.empty()) {
    budget.SpendBytes(*bytes);
  } else if (*bytes != static_cast<int64_t>(content.size())) {
    Invalid("a constant has ", content.size(), " bytes of data, its shape needs ", *bytes);
  }
  Tensor tensor = OrThrow(Tensor::Allocate(dtype, *shape));
  if (content.empty()) {
    OrThrow(FillFromList(proto, tensor));
  } else {
    std::memcpy(tensor.mutable_data(), content.data(), content.size());
    NormalizeBools(tensor);
  }
  return tensor;
}

Tensor Constants::Read(const TensorProto& proto, importing::Budget& budget) {
  const auto known = tensors_.find(&proto);
  if (known == tensors_.end()) return tensors_[&proto] = TensorFromProto(proto, budget);
  if (proto.tensor_content().empty()) budget.SpendBytes(known->second.num_bytes());
  return known->second;
}

void NormalizeBools(Tensor& tensor) {
  if (tensor.dtype() != DType::kBool) return;
  for (uint8_t& byte : tensor.as_mutable<uint8_t>()) byte = byte != 0;
}

}  // namespace attune::tensorflow
