// The operators that each format's importer takes, from the importers' own tables.
#ifndef ATTUNE_IMPORT_OPERATORS_H_
#define ATTUNE_IMPORT_OPERATORS_H_

#include <string_view>
#include <vector>

#include "import/common/listed_operator.h"

namespace attune {

struct FormatOperators {
  std::string_view key;                   // "onnx", "tflite", "tensorflow", "pytorch"
  std::string_view name;                  // "ONNX"
  std::string_view remark;                // what else it reads
  std::vector<ListedOperator> operators;  // in the order of the table; those that are refused among them
};

// Every format, ONNX first. An operator that is listed may still be refused for attributes or types that its
// importer lacks; the import says so.
std::vector<FormatOperators> ListFormatOperators();

}  // namespace attune

#endif  // ATTUNE_IMPORT_OPERATORS_H_
