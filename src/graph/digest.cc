// Problem: exporters name values as they like and order nodes differently. Idea: a value's digest is that of
// its operator and of its operands' digests (a Merkle tree), so that the graph's follows from its outputs
// alone. Cost: one SHA-256 over all constants.
#include "graph/digest.h"

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "graph/literal.h"
#include "graph/op.h"

namespace attune {
namespace {

// Symbols have names too, so that only their bounds count.
std::string TypeText(const TensorType& type) {
  std::string text(DTypeName(type.dtype));
  for (const Dim& dim : type.dims) absl::StrAppend(&text, dim.is_constant() ? " " : " <=", dim.size);
  if (!type.layout.is_plain()) absl::StrAppend(&text, " c", type.layout.blocked_axis, "/", type.layout.block);
  return text;
}

std::string TensorText(const Tensor& tensor) {
  const std::string_view bytes(reinterpret_cast<const char*>(tensor.data()),
                               static_cast<size_t>(tensor.num_bytes()));
  return absl::StrCat(TypeText(TensorType(tensor.dtype(), tensor.shape())), " ", Sha256Hex(bytes));
}

template <typename Items, typename Format>
std::string ListText(const Items& items, Format format) {
  std::string text = absl::StrCat(items.size(), ":");
  for (const auto& item : items) absl::StrAppend(&text, format(item), ",");
  return text;
}

// Exact numbers have taken the place of floats, and count as such: entries under earlier digests are found.
size_t KindOf(const Attribute& attribute) {
  const bool is_number = std::holds_alternative<ExactNumber>(attribute);
  return is_number ? static_cast<size_t>(AttributeKind::kFloat) : attribute.index();
}

// The kind and the size precede what could be mistaken for something else.
std::string AttributeText(const Attribute& attribute) {
  return absl::StrCat(KindOf(attribute), " ",
                      std::visit(
                          [](const auto& value) -> std::string {
                            using Kind = std::decay_t<decltype(value)>;
                            if constexpr (std::is_same_v<Kind, int64_t>) return absl::StrCat(value);
                            if constexpr (std::is_same_v<Kind, double>) return FormatFloat(value);
                            if constexpr (std::is_same_v<Kind, std::string>)
                              return absl::StrCat(value.size(), ":", value);
                            if constexpr (std::is_same_v<Kind, Ints>)
                              return ListText(value, [](int64_t i) { return absl::StrCat(i); });
                            if constexpr (std::is_same_v<Kind, Floats>) return ListText(value, FormatFloat);
                            if constexpr (std::is_same_v<Kind, DType>) return std::string(DTypeName(value));
                            if constexpr (std::is_same_v<Kind, Tensor>) return TensorText(value);
                            if constexpr (std::is_same_v<Kind, ExactNumber>) return FormatNumber(value);
                          },
                          attribute));
}

class Digests {
 public:
  explicit Digests(const Graph& graph) {
    for (const auto& input : graph.inputs())
      AddValue(input.get(), absl::StrCat("input ", of_value_.size(), " ", TypeText(input->type())));
    for (const auto& node : graph.nodes()) AddNode(*node);
    std::string text = absl::StrCat("graph ", graph.inputs().size(), "\n");
    for (const auto& input : graph.inputs()) absl::StrAppend(&text, of_value_[input.get()], "\n");
    for (const Graph::Output& output : graph.outputs()) absl::StrAppend(&text, of_value_[output.value], "\n");
    digest_ = Sha256Hex(text);
  }

  const std::string& digest() const { return digest_; }

 private:
  void AddValue(const Value* value, const std::string& text) { of_value_[value] = Sha256Hex(text); }

  void AddNode(const Node& node) {
    std::string text = absl::StrCat(OpName(node.op()), "\n");
    for (const Value* input : node.inputs())
      absl::StrAppend(&text, "operand ", input == nullptr ? "none" : of_value_[input], "\n");
    for (const auto& [name, attribute] : node.attrs())
      absl::StrAppend(&text, name, " ", AttributeText(attribute), "\n");
    for (int i = 0; i < node.num_regions(); ++i)
      absl::StrAppend(&text, "region ", Digests(node.region(i)).digest(), "\n");
    for (int i = 0; i < node.num_outputs(); ++i)
      AddValue(node.output(i), absl::StrCat(text, "output ", i, " ", TypeText(node.output(i)->type())));
  }

  std::unordered_map<const Value*, std::string> of_value_;
  std::string digest_;
};

}  // namespace

std::string GraphDigest(const Graph& graph) { return Digests(graph).digest(); }

}  // namespace attune
