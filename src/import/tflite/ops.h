// The table of operators.
#ifndef ATTUNE_IMPORT_TFLITE_OPS_H_
#define ATTUNE_IMPORT_TFLITE_OPS_H_

#include <string_view>
#include <vector>

#include "import/common/listed_operator.h"
#include "import/tflite/op_context.h"

namespace attune::tflite {

struct Row {
  schema::BuiltinOperator code;
  Lowering* lower;  // nullptr: known, but not supported
  Numbers numbers = Numbers::kStored;
  std::string_view refused = {};  // why not
  std::string_view custom = {};   // the name of a custom operator
};

// The row for an operator; nullptr if there is none. `name` matters for custom operators.
const Row* FindRow(schema::BuiltinOperator code, std::string_view name);

// All built-in operators of the schema, and the custom ones of the table.
std::vector<ListedOperator> ListOperators();

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_H_
