// The table of TensorFlow operators.
#ifndef ATTUNE_IMPORT_TENSORFLOW_OPS_H_
#define ATTUNE_IMPORT_TENSORFLOW_OPS_H_

#include <string_view>
#include <vector>

#include "import/common/listed_operator.h"
#include "import/tensorflow/op_context.h"

namespace attune::tensorflow {

struct OpRow {
  std::string_view op;
  Lowering* lower;
  // If there are several outputs, their names, separated by spaces; nodes in functions refer to them.
  std::string_view outputs = "";
};

// Why an operator without a row is not supported, unless it is the name of a function.
inline constexpr std::string_view kUnknownOperator = "no such operator is known";

// nullptr: there is no such operator, or it is not supported.
const OpRow* FindOp(std::string_view op);

// All rows.
std::vector<ListedOperator> ListOperators();

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_OPS_H_
