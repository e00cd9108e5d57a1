#include <string>
#include <unordered_map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/text/quote.h"
#include "graph/literal.h"
#include "graph/names.h"
#include "graph/text.h"

namespace attune {
namespace {

// Tensors of more elements than this print as hexadecimal bytes.
constexpr int64_t kMaxDecimalElements = 64;

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  void PrintGraph(const Graph& graph, int indent);
  std::string TakeText() { return std::move(text_); }

 private:
  using Numbers = std::unordered_map<const Value*, int>;

  // Numbers the values of `graph` that have no name, in the order in which they are made.
  static Numbers NumberValues(const Graph& graph);

  void PrintNode(const Node& node, const Numbers& numbers, int indent);
  void PrintValue(const Value* value, const Numbers& numbers);
  void PrintAttributes(const Attributes& attributes);
  void PrintAttribute(const Attribute& attribute);
  void PrintTensor(const Tensor& tensor);

  template <typename... Args>
  void Emit(const Args&... args) {
    absl::StrAppend(&text_, args...);
  }
  void Indent(int indent) { text_.append(static_cast<size_t>(indent) * 2, ' '); }

  // Calls `print` for each item, with commas in between.
  template <typename Items, typename F>
  void PrintList(const Items& items, F print) {
    const char* separator = "";
    for (const auto& item : items) {
      Emit(separator);
      print(item);
      separator = ", ";
    }
  }

  const PrintOptions options_;
  std::string text_;
};

Printer::Numbers Printer::NumberValues(const Graph& graph) {
  Numbers numbers;
  const auto number = [&numbers](const std::unique_ptr<Value>& value) {
    if (value->name().empty()) numbers.emplace(value.get(), static_cast<int>(numbers.size()));
  };
  for (const auto& input : graph.inputs()) number(input);
  for (const auto& node : graph.nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      if (node->output(i)->name().empty()) numbers.emplace(node->output(i), static_cast<int>(numbers.size()));
    }
  }
  return numbers;
}

void Printer::PrintGraph(const Graph& graph, int indent) {
  const Numbers numbers = NumberValues(graph);
  Indent(indent);
  Emit("graph");
  if (!graph.name().empty()) Emit(" @", QuoteUnlessIdentifier(graph.name()));
  Emit("(");
  PrintList(graph.inputs(), [&](const auto& input) {
    PrintValue(input.get(), numbers);
    Emit(": ", ToString(input->type()));
  });
  Emit(") {\n");
  for (const auto& node : graph.nodes()) PrintNode(*node, numbers, indent + 1);
  Indent(indent + 1);
  Emit(graph.outputs().empty() ? "return" : "return ");
  PrintList(graph.outputs(), [&](const Graph::Output& output) {
    Emit(Quote(output.name), ": ");
    PrintValue(output.value, numbers);
  });
  Emit("\n");
  Indent(indent);
  Emit("}\n");
}

void Printer::PrintNode(const Node& node, const Numbers& numbers, int indent) {
  std::vector<const Value*> outputs;
  for (int i = 0; i < node.num_outputs(); ++i) outputs.push_back(node.output(i));

  Indent(indent);
  PrintList(outputs, [&](const Value* output) { PrintValue(output, numbers); });
  Emit(outputs.empty() ? "" : " = ", OpName(node.op()), "(");
  PrintList(node.inputs(), [&](const Value* input) { PrintValue(input, numbers); });
  Emit(")");
  if (!node.attrs().empty()) PrintAttributes(node.attrs());
  if (node.num_regions() > 0) {
    Emit(" {\n");
    for (int i = 0; i < node.num_regions(); ++i) PrintGraph(node.region(i), indent + 1);
    Indent(indent);
    Emit("}");
  }
  if (!node.name().empty()) Emit(" @", Quote(node.name()));
  Emit(outputs.empty() ? "" : " : ");
  PrintList(outputs, [&](const Value* output) { Emit(ToString(output->type())); });
  Emit("\n");
}

void Printer::PrintValue(const Value* value, const Numbers& numbers) {
  if (value == nullptr) {
    Emit("_");
  } else if (!value->name().empty()) {
    Emit("%", QuoteUnlessIdentifier(value->name()));
  } else if (const auto it = numbers.find(value); it != numbers.end()) {
    Emit("%", it->second);
  } else {
    Emit("%<unknown>");  // a broken graph, which must print for the message that says so
  }
}

void Printer::PrintAttributes(const Attributes& attributes) {
  Emit(" {");
  PrintList(attributes, [&](const auto& item) {
    Emit(item.first, " = ");
    PrintAttribute(item.second);
  });
  Emit("}");
}

void Printer::PrintAttribute(const Attribute& attribute) {
  if (const auto* value = std::get_if<int64_t>(&attribute)) {
    Emit(*value);
  } else if (const auto* real = std::get_if<double>(&attribute)) {
    Emit(FormatFloat(*real));
  } else if (const auto* string = std::get_if<std::string>(&attribute)) {
    Emit(Quote(*string));
  } else if (const auto* ints = std::get_if<Ints>(&attribute)) {
    Emit("[");
    PrintList(*ints, [&](int64_t item) { Emit(item); });
    Emit("]");
  } else if (const auto* floats = std::get_if<Floats>(&attribute)) {
    Emit("[");
    PrintList(*floats, [&](double item) { Emit(FormatFloat(item)); });
    Emit("]");
  } else if (const auto* dtype = std::get_if<DType>(&attribute)) {
    Emit(DTypeName(*dtype));
  } else if (const auto* number = std::get_if<ExactNumber>(&attribute)) {
    Emit(FormatNumber(*number));
  } else {
    PrintTensor(std::get<Tensor>(attribute));
  }
}

void Printer::PrintTensor(const Tensor& tensor) {
  Emit(ToString(TensorType(tensor.dtype(), tensor.shape())), "<");
  const int64_t elements = tensor.num_elements();
  if (options_.max_constant_elements >= 0 && elements > options_.max_constant_elements) {
    Emit("...");
  } else if (elements > kMaxDecimalElements) {
    const auto* bytes = reinterpret_cast<const char*>(tensor.data());
    Emit("0x", absl::BytesToHexString({bytes, static_cast<size_t>(tensor.num_bytes())}));
  } else {
    for (int64_t i = 0; i < elements; ++i) Emit(i == 0 ? "" : ", ", FormatElement(tensor, i));
  }
  Emit(">");
}

}  // namespace

std::string Print(const Graph& graph, const PrintOptions& options) {
  Printer printer(options);
  printer.PrintGraph(graph, 0);
  return printer.TakeText();
}

}  // namespace attune
