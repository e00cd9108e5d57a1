#include "import/onnx/tensor_proto.h"

#include <cstring>

#include "base/checked.h"
#include "base/float16.h"
#include "base/status.h"
#include "import/onnx/external_data.h"

namespace attune::onnx {
namespace {

struct TypeRow {
  TensorProto::DataType type;
  const char* name;
  std::optional<DType> dtype;
  int bits;
};

constexpr TypeRow kTypes[] = {
    {TensorProto::FLOAT, "FLOAT", DType::kF32, 32},
    {TensorProto::UINT8, "UINT8", DType::kU8, 8},
    {TensorProto::INT8, "INT8", DType::kI8, 8},
    {TensorProto::UINT16, "UINT16", DType::kU16, 16},
    {TensorProto::INT16, "INT16", DType::kI16, 16},
    {TensorProto::INT32, "INT32", DType::kI32, 32},
    {TensorProto::INT64, "INT64", DType::kI64, 64},
    {TensorProto::STRING, "STRING", std::nullopt, 0},
    {TensorProto::BOOL, "BOOL", DType::kBool, 8},
    {TensorProto::FLOAT16, "FLOAT16", DType::kF16, 16},
    {TensorProto::DOUBLE, "DOUBLE", DType::kF64, 64},
    {TensorProto::UINT32, "UINT32", DType::kU32, 32},
    {TensorProto::UINT64, "UINT64", DType::kU64, 64},
    {TensorProto::COMPLEX64, "COMPLEX64", std::nullopt, 64},
    {TensorProto::COMPLEX128, "COMPLEX128", std::nullopt, 128},
    {TensorProto::BFLOAT16, "BFLOAT16", DType::kBF16, 16},
    {TensorProto::FLOAT8E4M3FN, "FLOAT8E4M3FN", std::nullopt, 8},
    {TensorProto::FLOAT8E4M3FNUZ, "FLOAT8E4M3FNUZ", std::nullopt, 8},
    {TensorProto::FLOAT8E5M2, "FLOAT8E5M2", std::nullopt, 8},
    {TensorProto::FLOAT8E5M2FNUZ, "FLOAT8E5M2FNUZ", std::nullopt, 8},
    {TensorProto::UINT4, "UINT4", DType::kU8, 4},
    {TensorProto::INT4, "INT4", DType::kI8, 4},
    {TensorProto::FLOAT4E2M1, "FLOAT4E2M1", std::nullopt, 4},
    {TensorProto::FLOAT8E8M0, "FLOAT8E8M0", std::nullopt, 8},
    {TensorProto::UINT2, "UINT2", DType::kU8, 2},
    {TensorProto::INT2, "INT2", DType::kI8, 2},
};

const TypeRow* FindType(int data_type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == data_type) return &row;
  }
  return nullptr;
}

// Element `index` of packed values with `bits` < 8 bits each, the lowest bits first; sign extended.
int UnpackBits(std::string_view packed, int64_t index, int bits, bool is_signed) {
  const int per_byte = 8 / bits;
  const int shift = static_cast<int>(index % per_byte) * bits;
  const int value = (static_cast<uint8_t>(packed[index / per_byte]) >> shift) & ((1 << bits) - 1);
  return is_signed && (value >> (bits - 1)) != 0 ? value - (1 << bits) : value;
}

void Unpack(std::string_view packed, const TypeRow& type, Tensor& tensor) {
  auto* out = reinterpret_cast<int8_t*>(tensor.mutable_data());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    out[i] = static_cast<int8_t>(UnpackBits(packed, i, type.bits, type.dtype == DType::kI8));
  }
}

// Converts typed fields, which store narrow types in wider ones, to the tensor's elements.
template <typename To, typename Field>
void Narrow(const Field& values, Tensor& tensor) {
  To* out = reinterpret_cast<To*>(tensor.mutable_data());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) out[i] = static_cast<To>(values[static_cast<int>(i)]);
}

// The number of elements in the typed field for `type`.
int64_t TypedElements(const TensorProto& proto, const TypeRow& type) {
  switch (*type.dtype) {
    case DType::kF32:
      return proto.float_data_size();
    case DType::kF64:
      return proto.double_data_size();
    case DType::kI64:
      return proto.int64_data_size();
    case DType::kU32:
    case DType::kU64:
      return proto.uint64_data_size();
    default:
      return proto.int32_data_size();
  }
}

void CopyTyped(const TensorProto& proto, const TypeRow& type, Tensor& tensor) {
  switch (*type.dtype) {
    case DType::kF32:
      return Narrow<float>(proto.float_data(), tensor);
    case DType::kF64:
      return Narrow<double>(proto.double_data(), tensor);
    case DType::kI64:
      return Narrow<int64_t>(proto.int64_data(), tensor);
    case DType::kU64:
      return Narrow<uint64_t>(proto.uint64_data(), tensor);
    case DType::kU32:
      return Narrow<uint32_t>(proto.uint64_data(), tensor);
    case DType::kI32:
      return Narrow<int32_t>(proto.int32_data(), tensor);
    case DType::kI16:
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return Narrow<uint16_t>(proto.int32_data(), tensor);
    case DType::kBool:
      return Narrow<bool>(proto.int32_data(), tensor);
    case DType::kI8:
    case DType::kU8:
      return Narrow<uint8_t>(proto.int32_data(), tensor);
  }
}

// A bool may be any byte in the file, but must be 0 or 1 in memory.
void NormalizeBools(Tensor& tensor) {
  if (tensor.dtype() != DType::kBool) return;
  for (uint8_t& byte : tensor.as_mutable<uint8_t>()) byte = byte != 0;
}

// The properties of a tensor that are checked before allocating its memory.
struct Layout {
  const TypeRow* type;
  Shape shape;
  int64_t elements;
  int64_t bytes;  // as stored in raw or external data
};

absl::StatusOr<Layout> CheckLayout(const TensorProto& proto) {
  if (proto.has_segment()) return NotSupported("tensors stored in segments");
  const TypeRow* type = FindType(proto.data_type());
  if (type == nullptr || !type->dtype) return RequireDType(proto.data_type()).status();
  const Shape shape(proto.dims().begin(), proto.dims().end());
  const std::optional<int64_t> elements = CheckedProduct(shape);
  const std::optional<int64_t> bits = elements ? CheckedMul(*elements, type->bits) : std::nullopt;
  if (!bits) return InvalidInput("tensor '", proto.name(), "' has a negative or overflowing shape");
  return Layout{type, shape, *elements, CeilDiv(*bits, 8)};
}

absl::StatusOr<Tensor> FromPacked(const TensorProto& proto, const Layout& layout, std::string_view packed) {
  if (static_cast<int64_t>(packed.size()) != layout.bytes) {
    return InvalidInput("tensor '", proto.name(), "' has ", packed.size(), " bytes of data, its shape needs ",
                        layout.bytes);
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(*layout.type->dtype, layout.shape));
  if (layout.type->bits < 8) {
    Unpack(packed, *layout.type, tensor);
  } else if (!packed.empty()) {
    std::memcpy(tensor.mutable_data(), packed.data(), packed.size());
  }
  NormalizeBools(tensor);
  return tensor;
}

absl::StatusOr<Tensor> FromTypedFields(const TensorProto& proto, const Layout& layout) {
  const TypeRow& type = *layout.type;
  const int64_t needed = type.bits < 8 ? layout.bytes : layout.elements;
  const int64_t present = TypedElements(proto, type);
  if (present != needed) {
    return InvalidInput("tensor '", proto.name(), "' has ", present, " values, its shape needs ", needed);
  }
  if (type.bits < 8) {
    std::string packed;
    for (int32_t byte : proto.int32_data()) packed.push_back(static_cast<char>(byte));
    return FromPacked(proto, layout, packed);
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(*type.dtype, layout.shape));
  CopyTyped(proto, type, tensor);
  return tensor;
}

absl::StatusOr<Tensor> FromExternal(const TensorProto& proto, const Layout& layout,
                                    const std::string& folder) {
  // Check the file before allocating memory for its data.
  ASSIGN_OR_RETURN(const ExternalData data, ExternalData::Open(proto, folder, layout.bytes));
  if (layout.type->bits < 8) {
    std::string packed(static_cast<size_t>(layout.bytes), '\0');
    RETURN_IF_ERROR(data.Read(reinterpret_cast<std::byte*>(packed.data())));
    return FromPacked(proto, layout, packed);
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(*layout.type->dtype, layout.shape));
  RETURN_IF_ERROR(data.Read(tensor.mutable_data()));
  NormalizeBools(tensor);
  return tensor;
}

}  // namespace

std::string OnnxTypeName(int data_type) {
  const TypeRow* row = FindType(data_type);
  return row != nullptr ? row->name : absl::StrCat("type ", data_type);
}

std::optional<DType> DTypeFromOnnx(int data_type) {
  const TypeRow* row = FindType(data_type);
  return row != nullptr ? row->dtype : std::nullopt;
}

absl::StatusOr<DType> RequireDType(int data_type) {
  const std::optional<DType> dtype = DTypeFromOnnx(data_type);
  if (!dtype) return NotSupported("elements of ", OnnxTypeName(data_type));
  return *dtype;
}

absl::StatusOr<Tensor> TensorFromProto(const TensorProto& proto, const std::string& folder) {
  ASSIGN_OR_RETURN(const Layout layout, CheckLayout(proto));
  if (proto.data_location() == TensorProto::EXTERNAL) return FromExternal(proto, layout, folder);
  if (proto.has_raw_data()) return FromPacked(proto, layout, proto.raw_data());
  return FromTypedFields(proto, layout);
}

}  // namespace attune::onnx
