// The functions of a model, as its nodes call them.
#ifndef ATTUNE_IMPORT_ONNX_FUNCTION_TABLE_H_
#define ATTUNE_IMPORT_ONNX_FUNCTION_TABLE_H_

#include <map>
#include <string>
#include <string_view>

#include "import/onnx/onnx.pb.h"

namespace attune::onnx {

// Returns the domain by the one of its names that tables use: both spellings of the default domain mean the
// same.
std::string_view CanonicalDomain(std::string_view domain);

// Refers to the functions of the model that it is made from.
class FunctionTable {
 public:
  explicit FunctionTable(const attune_onnx::ModelProto& model);

  // Returns the function that the node calls; null if the model has none by its domain, name and overload.
  const attune_onnx::FunctionProto* Find(const attune_onnx::NodeProto& node) const;

 private:
  std::map<std::string, const attune_onnx::FunctionProto*> functions_;  // by domain, name and overload
};

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_FUNCTION_TABLE_H_
