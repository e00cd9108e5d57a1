// The declared inputs and outputs of a model.
#ifndef ATTUNE_IMPORT_ONNX_INPUTS_H_
#define ATTUNE_IMPORT_ONNX_INPUTS_H_

#include <vector>

#include "import/common/declared_tensor.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx {

// Inputs without an initializer.
std::vector<const attune_onnx::ValueInfoProto*> RealInputs(const attune_onnx::GraphProto& graph);

DeclaredTensor DescribeValue(const attune_onnx::ValueInfoProto& info);

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_INPUTS_H_
