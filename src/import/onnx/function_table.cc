#include "import/onnx/function_table.h"

#include "absl/strings/str_cat.h"

namespace attune::onnx {
namespace {

std::string KeyOf(std::string_view domain, std::string_view name, std::string_view overload) {
  return absl::StrCat(CanonicalDomain(domain), "\n", name, "\n", overload);
}

}  // namespace

std::string_view CanonicalDomain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

FunctionTable::FunctionTable(const attune_onnx::ModelProto& model) {
  for (const attune_onnx::FunctionProto& function : model.functions())
    functions_[KeyOf(function.domain(), function.name(), function.overload())] = &function;
}

const attune_onnx::FunctionProto* FunctionTable::Find(const attune_onnx::NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto it = functions_.find(KeyOf(node.domain(), node.op_type(), node.overload()));
  return it != functions_.end() ? it->second : nullptr;
}

}  // namespace attune::onnx
