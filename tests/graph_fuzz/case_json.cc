#include "case_json.h"

#include <string>
#include <type_traits>
#include <variant>

#include "base/dtype.h"

namespace attune::graph_fuzz {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, DType>) {
          return std::string(DTypeName(value));
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return ToString(TensorType(value.dtype(), value.shape()));
        } else if constexpr (std::is_same_v<T, ExactNumber>) {
          return value.Visit([](auto number) -> Json { return number; });
        } else {
          return value;
        }
      },
      attribute);
}

}  // namespace

const std::string& NameOfValue(const Value& value) {
  return value.constant() != nullptr ? value.producer()->name() : value.name();
}

Json NodeToJson(const Node& node) {
  Json inputs = Json::array(), operands = Json::array(), outputs = Json::array(), attrs = Json::object();
  for (const Value* input : node.inputs()) {
    inputs.push_back(input == nullptr ? "" : ToString(input->type()));
    operands.push_back(input == nullptr ? "" : NameOfValue(*input));
  }
  for (int i = 0; i < node.num_outputs(); ++i) outputs.push_back(node.output(i)->name());
  for (const auto& [name, value] : node.attrs()) attrs[name] = ToJson(value);
  return {{"op", std::string(OpName(node.op()))},
          {"outputs", outputs},
          {"type", ToString(node.output()->type())},
          {"operands", operands},
          {"inputs", inputs},
          {"attrs", attrs}};
}

}  // namespace attune::graph_fuzz
