// The table of ONNX operators.
#ifndef ATTUNE_IMPORT_ONNX_OPS_H_
#define ATTUNE_IMPORT_ONNX_OPS_H_

#include <string_view>

#include "import/onnx/op_context.h"

namespace attune::onnx {

// The row for an operator in `opset` of `domain` ("" is the default domain), or nullptr.
Lowering* FindLowering(std::string_view domain, std::string_view op_type, int64_t opset);

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_OPS_H_
