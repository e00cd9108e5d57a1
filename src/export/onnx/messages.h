// Tensors, types and attributes as the messages of a model file.
#ifndef ATTUNE_EXPORT_ONNX_MESSAGES_H_
#define ATTUNE_EXPORT_ONNX_MESSAGES_H_

#include <string>

#include "graph/attributes.h"
#include "graph/type.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx_export {

attune_onnx::TensorProto::DataType OnnxType(DType dtype);

// Dimensions, element type and raw data.
void SetTensor(const Tensor& tensor, attune_onnx::TensorProto* proto);

// Name and type; a dimension that depends on data has its symbol's name.
void SetValueInfo(const std::string& name, const TensorType& type, attune_onnx::ValueInfoProto* proto);

// Floats are rounded to f32, which is what the file holds; an element type is its number.
void SetAttribute(const std::string& name, const Attribute& value, attune_onnx::AttributeProto* proto);

}  // namespace attune::onnx_export

#endif  // ATTUNE_EXPORT_ONNX_MESSAGES_H_
