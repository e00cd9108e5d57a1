// TensorProto → Tensor.
#ifndef ATTUNE_IMPORT_ONNX_TENSOR_PROTO_H_
#define ATTUNE_IMPORT_ONNX_TENSOR_PROTO_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx {

using namespace attune_onnx;  // NOLINT: the schema's messages, and nothing else

// "FLOAT", "STRING", …; "type 77" for a number that the format does not define.
std::string OnnxTypeName(int data_type);

// The dtype that stores an ONNX element type. Integers of 2 and 4 bits are stored one per element, in i8
// and u8. nullopt for strings, complex numbers and floats of 8 bits and less.
std::optional<DType> DTypeFromOnnx(int data_type);

// The same; Unimplemented with the type's name instead of nullopt.
absl::StatusOr<DType> RequireDType(int data_type);

// `folder` must contain the external data; empty: external data is refused. Unimplemented for element types
// that Attune does not support, InvalidArgument if dims and data disagree.
absl::StatusOr<Tensor> TensorFromProto(const TensorProto& proto, const std::string& folder);

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_TENSOR_PROTO_H_
