#include "import/tensorflow/variables.h"

#include <utility>
#include <vector>

#include "base/status.h"
#include "import/tensorflow/body.h"

namespace attune::tensorflow {
namespace {

// The maximum number of copies between a variable and the node that restores it.
constexpr int kMaxCopies = 16;

// Follows copies back to the original reference.
Reference SkipCopies(const Body& body, Reference reference) {
  for (int i = 0; i < kMaxCopies; ++i) {
    const NodeDef* node = body.Find(reference.node);
    if (node == nullptr || node->op() != "Identity") return reference;
    const std::vector<Reference> inputs = DataInputs(*node);
    if (inputs.empty()) return reference;
    reference = inputs[0];
  }
  return reference;
}

// The name under which a tensor is restored; empty if it is not restored.
std::string RestoredName(const Body& body, const Reference& value) {
  const Reference source = SkipCopies(body, value);
  const NodeDef* restore = body.Find(source.node);
  if (restore == nullptr || restore->op() != "RestoreV2") return "";
  const std::vector<Reference> inputs = DataInputs(*restore);
  if (inputs.size() < 2) return "";
  const NodeDef* names = body.Find(SkipCopies(body, inputs[1]).node);
  if (names == nullptr || names->op() != "Const") return "";
  const auto attribute = names->attr().find("value");
  if (attribute == names->attr().end()) return "";
  const auto& strings = attribute->second.tensor().string_val();
  return source.index < strings.size() ? strings.Get(source.index) : "";
}

// Maps the node or argument that represents a variable to the name under which it is restored.
std::map<std::string, std::string> RestoredIn(const Body& body) {
  std::map<std::string, std::string> keys;
  for (const NodeDef& node : body.nodes()) {
    if (node.op() != "Assign" && node.op() != "AssignVariableOp") continue;
    const std::vector<Reference> inputs = DataInputs(node);
    if (inputs.size() < 2) continue;
    std::string key = RestoredName(body, inputs[1]);
    if (!key.empty()) keys[std::string(SkipCopies(body, inputs[0]).node)] = std::move(key);
  }
  return keys;
}

std::string StringAttribute(const NodeDef& node, const char* name) {
  const auto it = node.attr().find(name);
  return it != node.attr().end() ? it->second.s() : "";
}

}  // namespace

std::map<std::string, std::string> FindRestoredKeys(const GraphDef& graph, const Body& body) {
  std::map<std::string, std::string> keys = RestoredIn(body);
  std::map<std::string_view, const FunctionDef*> functions;
  for (const FunctionDef& function : graph.library().function()) {
    functions[function.signature().name()] = &function;
  }
  for (const NodeDef& node : graph.node()) {
    const auto attribute = node.attr().find("f");
    if (attribute == node.attr().end()) continue;
    const auto found = functions.find(attribute->second.func().name());
    if (found == functions.end()) continue;
    const std::map<std::string, std::string> inside = RestoredIn(Body(found->second->node_def()));
    if (inside.empty()) continue;
    const std::vector<Reference> inputs = DataInputs(node);
    const auto& arguments = found->second->signature().input_arg();
    for (int i = 0; i < arguments.size() && i < static_cast<int>(inputs.size()); ++i) {
      const auto key = inside.find(arguments[i].name());
      if (key != inside.end()) keys.emplace(SkipCopies(body, inputs[i]).node, key->second);
    }
  }
  return keys;
}

absl::Status Variables::Open() {
  if (bundle_) return absl::OkStatus();
  const std::string prefix = model_.checkpoint_prefix();
  if (prefix.empty()) {
    return NotSupported("a variable without a value: freeze the graph, or give the folder of a SavedModel");
  }
  ASSIGN_OR_RETURN(Bundle bundle, Bundle::Open(prefix));
  bundle_ = std::move(bundle);
  restored_keys_ = FindRestoredKeys(model_.graph(), model_.body());
  return absl::OkStatus();
}

// The node that restores the variable has priority; models without it are matched by name.
absl::StatusOr<std::string> Variables::KeyOf(const NodeDef& node) const {
  if (const auto it = restored_keys_.find(node.name()); it != restored_keys_.end()) return it->second;
  const std::string shared = StringAttribute(node, "shared_name");
  for (const std::string& name : {shared, node.name()}) {
    const auto it = bundle_->keys_by_name().find(name);
    if (it != bundle_->keys_by_name().end()) return it->second;
    if (!name.empty() && bundle_->Has(name)) return name;
  }
  return absl::NotFoundError(absl::StrCat("the checkpoint has no value of the variable '", node.name(), "'"));
}

absl::StatusOr<Tensor> Variables::Read(const NodeDef& node) {
  RETURN_IF_ERROR(Open());
  ASSIGN_OR_RETURN(const std::string key, KeyOf(node));
  if (const auto it = tensors_.find(key); it != tensors_.end()) return it->second;
  ASSIGN_OR_RETURN(Tensor tensor, bundle_->Read(key));
  return tensors_[key] = std::move(tensor);
}

}  // namespace attune::tensorflow
