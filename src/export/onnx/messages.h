// Writes tensors, types and attributes as messages of a model file.
#ifndef ATTUNE_EXPORT_ONNX_MESSAGES_H_
#define ATTUNE_EXPORT_ONNX_MESSAGES_H_

#include <string>

#include "graph/attributes.h"
#include "graph/type.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx_export {

attune_onnx::TensorProto::DataType OnnxType(DType dtype);

// Sets dimensions, element type and raw data.
void SetTensor(const Tensor& tensor, attune_onnx::TensorProto* proto);

// Sets name and type; a dimension that depends on data gets the name of its symbol.
void SetValueInfo(const std::string& name, const TensorType& type, attune_onnx::ValueInfoProto* proto);

// Floats are rounded to f32, which the file format uses; an element type is stored as its number.
void SetAttribute(const std::string& name, const Attribute& value, attune_onnx::AttributeProto* proto);

}  // namespace attune::onnx_export

#endif  // ATTUNE_EXPORT_ONNX_MESSAGES_H_
