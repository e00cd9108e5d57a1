#include "import/tensorflow/unknown_operators.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "import/common/depth_guard.h"
#include "import/common/names.h"
#include "import/tensorflow/ops.h"
#include "import/tensorflow/ops/lowerings.h"
#include "import/tensorflow/tensor_proto.h"

namespace attune::tensorflow {
namespace {

// The function that a node calls whenever it is imported; empty if there is none. The condition of a loop is
// called before its first step.
std::string_view CalledFunction(const NodeDef& node, const OpRow* row) {
  if (row == nullptr) return node.op();
  const bool calls = row->lower == PartitionedCall, loops = row->lower == While;
  const auto attribute = calls || loops ? node.attr().find(calls ? "f" : "cond") : node.attr().end();
  return attribute != node.attr().end() ? attribute->second.func().name() : std::string_view();
}

}  // namespace

std::optional<DType> TypeOf(const Endpoint& input, importing::NotSupportedList& reports) {
  const std::optional<DType> dtype = DTypeOf(input.type);
  if (!dtype) reports.Add("Placeholder", input.name, absl::StrCat("its type is ", Describe(input).dtype));
  return dtype;
}

void UnknownOperators::Report(const Body& body, const Endpoints& endpoints) {
  Seen seen;
  for (const Endpoint& input : endpoints.inputs) {
    TypeOf(input, *reports_);
    seen[ParseReference(input.tensor).node] = true;
  }
  for (const Endpoint& output : endpoints.outputs) LookAt(ParseReference(output.tensor).node, body, "", seen);
}

// Depth first, so that reports come in the order of those of an import.
void UnknownOperators::LookAt(std::string_view name, const Body& body, const std::string& prefix,
                              Seen& seen) {
  std::vector<std::string_view> stack = {name};
  while (!stack.empty()) {
    const std::string_view current = stack.back();
    const NodeDef* node = body.Find(current);
    const auto [it, is_new] = seen.emplace(current, false);
    // An argument of a function is no node.
    if (node != nullptr && is_new) {
      if (IsOp(*node, "Merge")) continue;
      for (const std::string_view need : NeededNodes(*node, body)) {
        if (!seen.contains(need)) stack.push_back(need);
      }
      continue;
    }
    stack.pop_back();
    if (node == nullptr || it->second) continue;
    it->second = true;
    budget_->SpendNamed(prefix.size() + current.size());
    LookAtNode(*node, importing::ScopedName(prefix, current));
  }
}

void UnknownOperators::LookAtNode(const NodeDef& node, const std::string& name) {
  const OpRow* row = FindOp(node.op());
  const std::string_view function = CalledFunction(node, row);
  if (functions_->Find(function) != nullptr) {
    LookAtFunction(function, name);
  } else if (row == nullptr) {
    reports_->Add(node.op(), name, kUnknownOperator);
  }
}

void UnknownOperators::LookAtFunction(std::string_view name, const std::string& caller) {
  const importing::DepthGuard guard(&depth_, kMaxCallDepth, "functions and loops");
  const FunctionDef& function = *functions_->Find(name);
  Seen seen;
  for (const auto& output : function.signature().output_arg()) {
    const auto source = function.ret().find(output.name());
    if (source == function.ret().end()) continue;
    LookAt(ParseReference(source->second).node, functions_->BodyOf(function), caller + "/", seen);
  }
}

}  // namespace attune::tensorflow
