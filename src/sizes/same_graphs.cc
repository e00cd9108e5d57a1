#include "sizes/same_graphs.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/status.h"

namespace attune {
namespace {

template <typename... What>
absl::Status Differs(const Node& node, const What&... what) {
  return NotSupported("with open sizes, ", OpName(node.op()), " \"", node.name(), "\" ", what...,
                      ", depending on them");
}

// Whether the values say the same, whatever sizes they have.
bool IsSameButForSizes(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  if (std::holds_alternative<int64_t>(a) || std::holds_alternative<Tensor>(a)) return true;
  if (const Ints* ints = std::get_if<Ints>(&a)) return ints->size() == std::get<Ints>(b).size();
  return Attributes({{"", a}}) == Attributes({{"", b}});
}

class Walk {
 public:
  explicit Walk(absl::FunctionRef<absl::Status(const SameNodes&, const SameOwners&)> visit) : visit_(visit) {}

  absl::Status Over(const SameOwners& graphs) {
    std::vector<std::vector<Node*>> nodes;
    for (Graph* graph : graphs) {
      std::vector<Node*>& own = nodes.emplace_back();
      for (const auto& node : graph->nodes()) {
        if (node->op() != Op::kConstant) own.push_back(node.get());
      }
      for (size_t i = 0; i < graph->inputs().size(); ++i) Number(graph->inputs()[i].get(), i);
    }
    values_ += graphs[0]->inputs().size();
    for (size_t n = 0; n < nodes[0].size(); ++n) {
      SameNodes same;
      for (const std::vector<Node*>& own : nodes) {
        if (n >= own.size()) return Differs(*nodes[0][n], "is there or not");
        same.push_back(own[n]);
      }
      RETURN_IF_ERROR(Check(same, graphs));
      for (Node* node : same) {
        for (int i = 0; i < node->num_outputs(); ++i) Number(node->output(i), static_cast<size_t>(i));
      }
      values_ += static_cast<size_t>(same[0]->num_outputs());
      RETURN_IF_ERROR(visit_(same, graphs));
      for (int r = 0; r < same[0]->num_regions(); ++r) {
        std::vector<Graph*> regions;
        for (const Node* node : same) regions.push_back(&node->region(r));
        RETURN_IF_ERROR(Over(regions));
      }
    }
    for (const std::vector<Node*>& own : nodes) {
      if (own.size() != nodes[0].size()) return Differs(*own.back(), "is there or not");
    }
    for (size_t i = 0; i < graphs[0]->outputs().size(); ++i) {
      std::vector<const Value*> values;
      for (const Graph* graph : graphs) values.push_back(graph->outputs()[i].value);
      ASSIGN_OR_RETURN(const bool are_same, AreSame(values, graphs));
      if (!are_same)
        return NotSupported("with open sizes, the output \"", graphs[0]->outputs()[i].name,
                            "\" comes from another operator, depending on them");
    }
    return absl::OkStatus();
  }

 private:
  void Number(const Value* value, size_t offset) { numbers_[value] = values_ + offset; }
  // Values that are the same have equal numbers; an input that is absent has 0.
  size_t NumberOf(const Value* value) const { return value == nullptr ? 0 : numbers_.at(value) + 1; }

  // Passes place constants where they like, and merge equal ones: they are the same where they are used
  // alike.
  absl::StatusOr<bool> AreSame(const std::vector<const Value*>& values, const SameOwners& graphs) {
    const auto is_constant = [](const Value* value) {
      return value != nullptr && value->constant() != nullptr;
    };
    const auto constants = std::ranges::count_if(values, is_constant);
    if (constants == 0) {
      return std::ranges::all_of(values, [&](const Value* v) { return NumberOf(v) == NumberOf(values[0]); });
    }
    if (constants != std::ssize(values)) return false;
    SameNodes same;
    for (const Value* value : values) same.push_back(value->producer());
    if (!constants_.insert(same).second) return true;
    RETURN_IF_ERROR(visit_(same, graphs));
    return true;
  }

  absl::Status Check(const SameNodes& same, const SameOwners& graphs) {
    const Node& first = *same[0];
    for (const Node* node : same) {
      if (node->op() != first.op()) return Differs(first, "is a ", OpName(node->op()), " instead");
      if (node->num_inputs() != first.num_inputs() || node->num_outputs() != first.num_outputs())
        return Differs(first, "has other inputs");
    }
    for (int i = 0; i < first.num_inputs(); ++i) {
      std::vector<const Value*> inputs;
      for (const Node* node : same) inputs.push_back(node->input(i));
      ASSIGN_OR_RETURN(const bool are_same, AreSame(inputs, graphs));
      if (!are_same) return Differs(first, "has another input ", i);
    }
    for (const Node* node : same) {
      const bool has_same_attributes =
          std::ranges::equal(node->attrs(), first.attrs(), [](const auto& a, const auto& b) {
            return a.first == b.first && IsSameButForSizes(a.second, b.second);
          });
      if (!has_same_attributes) return Differs(first, "has other attributes");
      for (int i = 0; i < node->num_outputs(); ++i) {
        const TensorType &type = node->output(i)->type(), &type_of_first = first.output(i)->type();
        if (type.dtype != type_of_first.dtype || type.rank() != type_of_first.rank() ||
            type.layout != type_of_first.layout)
          return Differs(first, "gives ", ToString(type), " instead of ", ToString(type_of_first));
      }
    }
    return absl::OkStatus();
  }

  absl::FunctionRef<absl::Status(const SameNodes&, const SameOwners&)> visit_;
  std::unordered_map<const Value*, size_t> numbers_;
  std::set<SameNodes> constants_;  // that were visited
  size_t values_ = 0;
};

}  // namespace

absl::Status ForEachSameNode(std::span<Graph* const> graphs,
                             absl::FunctionRef<absl::Status(const SameNodes&, const SameOwners&)> visit) {
  return Walk(visit).Over(std::vector<Graph*>(graphs.begin(), graphs.end()));
}

}  // namespace attune
