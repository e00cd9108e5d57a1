#include "import/tensorflow/function_library.h"

namespace attune::tensorflow {

FunctionLibrary::FunctionLibrary(const FunctionDefLibrary& library) {
  for (const FunctionDef& function : library.function()) functions_[function.signature().name()] = &function;
}

const FunctionDef* FunctionLibrary::Find(std::string_view name) const {
  const auto it = functions_.find(name);
  return it != functions_.end() ? it->second : nullptr;
}

const Body& FunctionLibrary::BodyOf(const FunctionDef& function) {
  std::unique_ptr<Body>& body = bodies_[&function];
  if (body == nullptr) body = std::make_unique<Body>(function.node_def());
  return *body;
}

std::vector<bool> FunctionLibrary::HandedThrough(std::string_view name) {
  const FunctionDef* function = Find(name);
  if (function == nullptr) return {};
  const Body& body = BodyOf(*function);
  const OpDef& signature = function->signature();
  std::vector<bool> handed;
  for (int i = 0; i < signature.output_arg_size(); ++i) {
    const auto source = function->ret().find(signature.output_arg(i).name());
    if (source == function->ret().end() || i >= signature.input_arg_size()) {
      handed.push_back(false);
      continue;
    }
    Reference reference = ParseReference(source->second);
    constexpr int kMaxCopies = 16;
    for (int copies = 0; copies < kMaxCopies; ++copies) {
      const NodeDef* node = body.Find(reference.node);
      if (node == nullptr || node->op() != "Identity" || DataInputs(*node).empty()) break;
      reference = DataInputs(*node)[0];
    }
    handed.push_back(reference.node == signature.input_arg(i).name());
  }
  return handed;
}

}  // namespace attune::tensorflow
