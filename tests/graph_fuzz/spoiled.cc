#include "spoiled.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/index_bounds.h"
#include "reference/interpreter.h"

namespace attune::graph_fuzz {
namespace {

// Whether a node reads `value` as indices, and none as the trips of a loop.
bool IsIndex(const Value& value) {
  bool is_index = false;
  for (const Node* user : value.users()) {
    if (user->op() == Op::kLoop) return false;
    const std::optional<IndexOperand> operand = IndexOperandOf(*user);
    is_index |= operand.has_value() && user->input(operand->input) == &value;
  }
  return is_index && value.type().num_elements() > 0;
}

// A copy with one element that hardly any axis has.
Tensor Spoiled(const Tensor& tensor, Random& random) {
  Tensor result(tensor.dtype(), tensor.shape());
  std::copy(tensor.data(), tensor.data() + tensor.num_bytes(), result.mutable_data());
  constexpr int64_t kWrong[] = {64, -65, 1 << 20, -(1 << 20), INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  const bool narrow = tensor.dtype() == DType::kI32;
  const int64_t wrong = kWrong[random.Integer(0, narrow ? 5 : 7)];
  result.SetInt(random.Integer(0, tensor.num_elements() - 1), wrong);
  return result;
}

// The name in the last 'node "NAME"' of a message.
std::string LastNode(std::string_view message) {
  constexpr std::string_view kBegin = "node \"";
  const size_t begin = message.rfind(kBegin);
  if (begin == std::string_view::npos) return "";
  const std::string_view rest = message.substr(begin + kBegin.size());
  return std::string(rest.substr(0, rest.find('"')));
}

std::optional<SpoiledCase> IfRefused(RandomCase random) {
  const auto outputs = Interpreter().Run(*random.graph, random.inputs);
  if (outputs.ok() || !absl::StrContains(outputs.status().message(), " in an axis of size "))
    return std::nullopt;
  std::string reader = LastNode(outputs.status().message());
  return SpoiledCase{std::move(random), std::move(reader)};
}

// Whether a line of a graph's text is a node of that name that has indices.
bool HasReader(std::string_view text, std::string_view name) {
  for (const std::string_view line : absl::StrSplit(text, '\n')) {
    const bool indexes = absl::StrContains(line, " = gather") || absl::StrContains(line, " = scatter") ||
                         absl::StrContains(line, " = check_index");
    if (indexes && absl::StrContains(line, absl::StrCat("@\"", name, "\""))) return true;
  }
  return false;
}

}  // namespace

std::optional<SpoiledCase> SpoilInput(const RandomCase& random, uint64_t seed) {
  Random choices(seed);
  std::vector<size_t> candidates;
  for (size_t i = 0; i < random.inputs.size(); ++i) {
    if (IsIndex(*random.graph->inputs()[i])) candidates.push_back(i);
  }
  if (candidates.empty()) return std::nullopt;
  RandomCase spoiled{random.graph->Clone(), random.inputs};
  Tensor& chosen =
      spoiled.inputs[candidates[static_cast<size_t>(choices.Integer(0, std::ssize(candidates) - 1))]];
  chosen = Spoiled(chosen, choices);
  return IfRefused(std::move(spoiled));
}

std::optional<SpoiledCase> SpoilConstant(const RandomCase& random, uint64_t seed) {
  Random choices(seed);
  RandomCase spoiled{random.graph->Clone(), random.inputs};
  std::vector<Node*> candidates;
  for (const auto& node : spoiled.graph->nodes()) {
    if (node->op() == Op::kConstant && IsIndex(*node->output())) candidates.push_back(node.get());
  }
  if (candidates.empty()) return std::nullopt;
  Node* chosen = candidates[static_cast<size_t>(choices.Integer(0, std::ssize(candidates) - 1))];
  chosen->mutable_attrs().Set("value", Spoiled(*chosen->output()->constant(), choices));
  return IfRefused(std::move(spoiled));
}

std::string Complaint(const SpoiledCase& spoiled, std::string_view optimized, const absl::Status& end) {
  if (end.ok()) {
    return HasReader(optimized, spoiled.reader)
               ? absl::StrCat("\"", spoiled.reader, "\" reads an index out of range, and nothing says so")
               : "";
  }
  if (absl::IsUnimplemented(end) || absl::StrContains(end.message(), " is outside an axis of size "))
    return "";
  return absl::StrCat("an index out of range ends with: ", std::string(end.message()));
}

}  // namespace attune::graph_fuzz
