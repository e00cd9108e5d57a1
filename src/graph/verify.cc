#include "graph/verify.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "base/text/quote.h"
#include "graph/infer.h"
#include "graph/names.h"
#include "graph/node_rules.h"

namespace attune {
namespace {

// `conv "layer1.conv1"`, or by its first output's name where the node has none.
std::string Describe(const Node& node) {
  std::string text(OpName(node.op()));
  if (!node.name().empty()) return absl::StrCat(text, " ", Quote(node.name()));
  if (node.num_outputs() > 0 && !node.output()->name().empty()) {
    return absl::StrCat(text, " making %", QuoteUnlessIdentifier(node.output()->name()));
  }
  return text;
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  absl::Status Run(int depth);

 private:
  // One rule each, or a few of one kind.
  absl::Status CheckInput(const Value& input);
  absl::Status CheckOperands(const Node& node);
  absl::Status CheckMadeValues(const Node& node);
  absl::Status CheckRegions(const Node& node, int depth);
  absl::Status CheckOutputs();
  absl::Status CheckUsers() const;
  absl::Status CheckUsersOf(const Value& value) const;

  absl::Status CheckName(const Value& value);
  absl::Status CheckSymbols(const TensorType& type);

  const Graph& graph_;
  std::unordered_set<const Value*> made_;  // so far
  std::unordered_map<const Value*, std::vector<const Node*>> uses_;
  std::set<std::string_view> names_;
  std::map<std::string_view, int64_t> bounds_;  // of the symbols
};

absl::Status Verifier::Run(int depth) {
  if (depth > kMaxRegionDepth) return InvalidInput("regions nest deeper than ", kMaxRegionDepth);
  for (const auto& input : graph_.inputs()) {
    RETURN_IF_ERROR(Annotate(CheckInput(*input), absl::StrCat("graph input ", Quote(input->name()))));
  }
  for (const auto& node : graph_.nodes()) {
    const auto check = [&]() -> absl::Status {
      RETURN_IF_ERROR(CheckNode(*node));
      RETURN_IF_ERROR(CheckOperands(*node));
      RETURN_IF_ERROR(CheckRegions(*node, depth));
      RETURN_IF_ERROR(CheckOutputTypes(*node));
      return CheckMadeValues(*node);
    };
    RETURN_IF_ERROR(Annotate(check(), Describe(*node)));
  }
  RETURN_IF_ERROR(CheckOutputs());
  return CheckUsers();
}

absl::Status Verifier::CheckInput(const Value& input) {
  RETURN_IF_ERROR(CheckType(input.type()));
  RETURN_IF_ERROR(CheckSymbols(input.type()));
  made_.insert(&input);
  return CheckName(input);
}

absl::Status Verifier::CheckOperands(const Node& node) {
  for (int i = 0; i < node.num_inputs(); ++i) {
    const Value* operand = node.input(i);
    if (operand == nullptr) continue;
    if (!made_.contains(operand)) return InvalidInput("input ", i, " is not made before this use");
    uses_[operand].push_back(&node);
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckMadeValues(const Node& node) {
  const size_t symbols_before = bounds_.size();
  bool dynamic = false;
  for (int i = 0; i < node.num_outputs(); ++i) {
    const Value& output = *node.output(i);
    if (output.producer() != &node || output.index() != i) {
      return InvalidInput("output ", i, " does not know the node that makes it");
    }
    RETURN_IF_ERROR(CheckSymbols(output.type()));
    RETURN_IF_ERROR(CheckName(output));
    dynamic |= !output.type().is_static();
    made_.insert(&output);
  }
  if (GetOpInfo(node.op()).category == OpCategory::kDynamic && dynamic && bounds_.size() == symbols_before) {
    return InvalidInput("its size depends on the data, but its symbol names another size already");
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckRegions(const Node& node, int depth) {
  for (int i = 0; i < node.num_regions(); ++i) {
    RETURN_IF_ERROR(Annotate(Verifier(node.region(i)).Run(depth + 1), absl::StrCat("region ", i)));
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckOutputs() {
  std::set<std::string_view> names;
  for (const Graph::Output& output : graph_.outputs()) {
    if (!made_.contains(output.value)) {
      return InvalidInput("graph output ", Quote(output.name), " is not a value of the graph");
    }
    if (!output.name.empty() && !names.insert(output.name).second) {
      return InvalidInput("two graph outputs are named ", Quote(output.name));
    }
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckUsers() const {
  for (const auto& input : graph_.inputs()) RETURN_IF_ERROR(CheckUsersOf(*input));
  for (const auto& node : graph_.nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      RETURN_IF_ERROR(Annotate(CheckUsersOf(*node->output(i)), Describe(*node)));
    }
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckUsersOf(const Value& value) const {
  std::vector<const Node*> recorded(value.users().begin(), value.users().end());
  std::vector<const Node*> actual;
  if (const auto it = uses_.find(&value); it != uses_.end()) actual = it->second;
  std::ranges::sort(recorded, std::less<>());
  std::ranges::sort(actual, std::less<>());
  if (recorded == actual) return absl::OkStatus();
  return InvalidInput("the users that the value ", Quote(value.name()), " records are not those that it has");
}

absl::Status Verifier::CheckName(const Value& value) {
  if (value.name().empty() || names_.insert(value.name()).second) return absl::OkStatus();
  return InvalidInput("two values are named ", Quote(value.name()));
}

absl::Status Verifier::CheckSymbols(const TensorType& type) {
  for (const Dim& dim : type.dims) {
    if (dim.is_constant()) continue;
    if (dim.symbol == kNewSymbol) return InvalidInput(ToString(type), " has a symbol that was never named");
    const auto [it, is_new] = bounds_.emplace(dim.symbol, dim.size);
    if (!is_new && it->second != dim.size) {
      return InvalidInput("the symbol ", Quote(dim.symbol), " has the bounds ", it->second, " and ",
                          dim.size);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Verify(const Graph& graph) { return Verifier(graph).Run(0); }

}  // namespace attune
