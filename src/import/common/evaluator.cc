#include "import/common/evaluator.h"

#include <optional>
#include <unordered_set>
#include <utility>

#include "base/checked.h"
#include "base/status.h"
#include "import/common/failure.h"

namespace attune::importing {
namespace {

// An upper bound of what computing `node` costs: elements read and written, and for windows and
// contractions a term for each output element and each element of the second operand that meets it.
int64_t Work(const Node& node) {
  const auto saturating = [](std::optional<int64_t> value) { return value.value_or(INT64_MAX); };
  int64_t work = 1;
  for (const Value* input : node.inputs()) {
    if (input != nullptr) work = saturating(CheckedAdd(work, input->type().num_elements()));
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    work = saturating(CheckedAdd(work, node.output(i)->type().num_elements()));
  }
  const OpCategory category = GetOpInfo(node.op()).category;
  const bool contracts = category == OpCategory::kContraction || category == OpCategory::kWindow ||
                         category == OpCategory::kSampling || category == OpCategory::kDynamic;
  if (!contracts) return work;
  const Value* second = node.input(node.num_inputs() > 1 ? 1 : 0);
  return saturating(CheckedMul(work, second->type().num_elements() + 1));
}

}  // namespace

const Evaluator::Known* Evaluator::Find(const Value* value, bool from_inputs) {
  const auto it = known_.find(value);
  if (it == known_.end() || (it->second.from_inputs && !from_inputs)) return nullptr;
  if (value->is_input()) used_.insert(value);
  return &it->second;
}

// Depth first without recursion: a chain may be as long as the model.
absl::StatusOr<Evaluator::Slice> Evaluator::Collect(const Value* value, bool from_inputs) {
  Slice slice;
  std::unordered_set<const Node*> entered;
  std::vector<std::pair<const Value*, bool>> stack = {{value, false}};  // true: its inputs are done
  while (!stack.empty()) {
    const auto [current, done] = stack.back();
    stack.pop_back();
    if (done) {
      slice.nodes.push_back(current->producer());
      continue;
    }
    if (const Known* known = Find(current, from_inputs)) {
      slice.from_inputs |= known->from_inputs;
      continue;
    }
    if (const auto alias = aliases_.find(current); alias != aliases_.end()) {
      ASSIGN_OR_RETURN(Known known, Resolve(alias->second, from_inputs));
      slice.from_inputs |= known.from_inputs;
      known_[current] = std::move(known);
      continue;
    }
    if (current->is_input()) {
      return NotSupported("it depends on the values of input '", current->name(),
                          "'; give them with --input ", current->name(), "=FILE");
    }
    if (!entered.insert(current->producer()).second) continue;
    stack.push_back({current, true});
    for (const Value* input : current->producer()->inputs()) {
      if (input != nullptr) stack.push_back({input, false});
    }
  }
  return slice;
}

absl::Status Evaluator::Charge(const Node& node) {
  if (node.op() == Op::kConstant) return absl::OkStatus();
  work_left_ -= std::min(Work(node), work_left_ + 1);
  for (int i = 0; i < node.num_outputs(); ++i) {
    const TensorType& type = node.output(i)->type();
    bytes_left_ -= std::min(type.num_elements() * DTypeSize(type.dtype), bytes_left_ + 1);
  }
  if (work_left_ < 0 || bytes_left_ < 0) {
    return NotSupported("computing it takes too much work or memory (at ", OpName(node.op()), " '",
                        node.name(), "')");
  }
  return absl::OkStatus();
}

// The slice as a graph of its own without inputs.
absl::StatusOr<Graph> Evaluator::Extract(const Slice& slice, const Value* target) {
  Graph graph("known");
  std::unordered_map<const Value*, Value*> map;
  for (const Node* node : slice.nodes) {
    RETURN_IF_ERROR(Charge(*node));
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs()) {
      if (input != nullptr && !map.contains(input)) map[input] = graph.AddConstant(Find(input, true)->data);
      inputs.push_back(input != nullptr ? map[input] : nullptr);
    }
    std::vector<std::unique_ptr<Graph>> regions;
    for (int i = 0; i < node->num_regions(); ++i) regions.push_back(node->region(i).Clone());
    ASSIGN_OR_RETURN(Node * copy, graph.Add(node->op(), std::move(inputs), node->attrs(), node->name(),
                                            nullptr, std::move(regions), node->num_outputs()));
    for (int i = 0; i < node->num_outputs(); ++i) map[node->output(i)] = copy->output(i);
  }
  graph.AddOutput("value", map.at(target));
  return graph;
}

absl::StatusOr<Evaluator::Known> Evaluator::Resolve(const Value* value, bool from_inputs) {
  if (const Tensor* constant = value->constant()) return Known{*constant, false};
  if (const Known* known = Find(value, from_inputs)) return *known;
  if (const auto alias = aliases_.find(value); alias != aliases_.end()) {
    return Resolve(alias->second, from_inputs);
  }
  ASSIGN_OR_RETURN(const Slice slice, Collect(value, from_inputs));
  if (executor_ == nullptr)
    return NotSupported("it has to be computed, and there is nothing to compute it with");
  ASSIGN_OR_RETURN(const Graph graph, Extract(slice, value));
  absl::StatusOr<std::vector<Tensor>> result = executor_->Run(graph, {});
  if (!result.ok()) return NotSupported("it cannot be computed at import: ", result.status().message());
  return known_[value] = {result->front(), slice.from_inputs};
}

absl::StatusOr<Tensor> Evaluator::Evaluate(const Value* value, bool from_inputs) {
  ASSIGN_OR_RETURN(Known known, Resolve(value, from_inputs));
  return std::move(known.data);
}

Tensor Evaluator::Require(const Value* value, std::string_view what) {
  absl::StatusOr<Tensor> data = Evaluate(value, true);
  if (!data.ok() && absl::IsUnimplemented(data.status())) {
    Unsupported("its ", what, " must be known: ", data.status().message());
  }
  return OrThrow(std::move(data));
}

double Evaluator::RequireScalar(const Value* value, std::string_view what) {
  const Tensor data = Require(value, what);
  if (data.num_elements() != 1) Invalid("its ", what, " must be a single number");
  return data.ToDouble(0);
}

int64_t Evaluator::RequireInt(const Value* value, std::string_view what) {
  const Tensor data = Require(value, what);
  if (data.num_elements() != 1) Invalid("its ", what, " must be a single number");
  return data.ToInt(0);
}

std::optional<Tensor> Evaluator::FromConstants(const Value* value) {
  absl::StatusOr<Tensor> data = Evaluate(value, false);
  return data.ok() ? std::optional<Tensor>(*std::move(data)) : std::nullopt;
}

}  // namespace attune::importing
