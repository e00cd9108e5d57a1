// The table of ONNX operators.
#ifndef ATTUNE_IMPORT_ONNX_OPS_H_
#define ATTUNE_IMPORT_ONNX_OPS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "import/common/listed_operator.h"
#include "import/onnx/op_context.h"

namespace attune::onnx {

// The row for an operator in `opset` of `domain` ("" is the default domain), or nullptr.
Lowering* FindLowering(std::string_view domain, std::string_view op_type, int64_t opset);

// All rows.
std::vector<ListedOperator> ListOperators();

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_OPS_H_
