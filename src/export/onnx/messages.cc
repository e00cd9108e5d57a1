#include "export/onnx/messages.h"

#include <bit>
#include <variant>

namespace attune::onnx_export {
namespace {

using attune_onnx::AttributeProto;
using attune_onnx::TensorProto;

static_assert(std::endian::native == std::endian::little, "raw_data is little endian");

// In the order of DType.
constexpr TensorProto::DataType kTypes[kNumDTypes] = {
    TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::FLOAT16, TensorProto::BFLOAT16,
    TensorProto::INT8,  TensorProto::INT16,  TensorProto::INT32,   TensorProto::INT64,
    TensorProto::UINT8, TensorProto::UINT16, TensorProto::UINT32,  TensorProto::UINT64,
    TensorProto::BOOL};

// Sets the field for the kind of the attribute, and returns the kind.
struct AttributeSetter {
  AttributeProto* proto;

  AttributeProto::AttributeType operator()(int64_t value) const {
    proto->set_i(value);
    return AttributeProto::INT;
  }
  AttributeProto::AttributeType operator()(double value) const {
    proto->set_f(static_cast<float>(value));
    return AttributeProto::FLOAT;
  }
  AttributeProto::AttributeType operator()(const ExactNumber& value) const {
    return (*this)(value.ToDouble());
  }
  AttributeProto::AttributeType operator()(const std::string& value) const {
    proto->set_s(value);
    return AttributeProto::STRING;
  }
  AttributeProto::AttributeType operator()(const Ints& values) const {
    for (int64_t value : values) proto->add_ints(value);
    return AttributeProto::INTS;
  }
  AttributeProto::AttributeType operator()(const Floats& values) const {
    for (double value : values) proto->add_floats(static_cast<float>(value));
    return AttributeProto::FLOATS;
  }
  AttributeProto::AttributeType operator()(DType value) const { return (*this)(int64_t{OnnxType(value)}); }
  AttributeProto::AttributeType operator()(const Tensor& value) const {
    SetTensor(value, proto->mutable_t());
    return AttributeProto::TENSOR;
  }
};

}  // namespace

TensorProto::DataType OnnxType(DType dtype) { return kTypes[static_cast<size_t>(dtype)]; }

void SetTensor(const Tensor& tensor, TensorProto* proto) {
  for (int64_t dim : tensor.shape()) proto->add_dims(dim);
  proto->set_data_type(OnnxType(tensor.dtype()));
  proto->mutable_raw_data()->assign(reinterpret_cast<const char*>(tensor.data()),
                                    static_cast<size_t>(tensor.num_bytes()));
}

void SetValueInfo(const std::string& name, const TensorType& type, attune_onnx::ValueInfoProto* proto) {
  proto->set_name(name);
  auto* tensor = proto->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(OnnxType(type.dtype));
  auto* shape = tensor->mutable_shape();  // even a scalar has a shape
  for (const Dim& dim : type.dims) {
    if (dim.is_constant()) {
      shape->add_dim()->set_dim_value(dim.size);
    } else {
      shape->add_dim()->set_dim_param(dim.symbol);
    }
  }
}

void SetAttribute(const std::string& name, const Attribute& value, AttributeProto* proto) {
  proto->set_name(name);
  proto->set_type(std::visit(AttributeSetter{proto}, value));
}

}  // namespace attune::onnx_export
