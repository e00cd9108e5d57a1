#include "import/common/evaluator.h"

#include <optional>
#include <unordered_set>
#include <utility>

#include "base/face.h"
#include "base/status.h"
#include "import/common/failure.h"

namespace attune::importing {
namespace {

// An intermediate value is kept if it has at most this many elements.
constexpr int64_t kMaxKept = 64;

absl::Status DependsOnInput(const Value* input) {
  return NotSupported("it depends on the values of input '", input->name(), "'; give them with ",
                      ValueAsGiven(input->name()));
}

}  // namespace

const Evaluator::Known* Evaluator::Find(const Value* value, bool from_inputs) {
  const auto it = known_.find(value);
  if (it == known_.end() || (it->second.from_inputs && !from_inputs)) return nullptr;
  if (value->is_input()) used_.insert(value);
  return &it->second;
}

// Depth first without recursion, since a path may be as long as the model.
absl::StatusOr<Evaluator::Slice> Evaluator::Collect(const Value* value, bool from_inputs) {
  Slice slice;
  auto& open = from_inputs ? open_ : open_without_inputs_;
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
    const auto known_open = open.find(current);
    if (current->is_input() || known_open != open.end()) {
      const Value* input = current->is_input() ? current : known_open->second;
      open[value] = input;
      return DependsOnInput(input);
    }
    if (!entered.insert(current->producer()).second) continue;
    stack.push_back({current, true});
    for (const Value* input : current->producer()->inputs()) {
      if (input != nullptr) stack.push_back({input, false});
    }
  }
  return slice;
}

absl::StatusOr<Evaluator::Extract> Evaluator::MakeExtract(const Slice& slice, const Value* target) {
  Extract extract{Graph("known"), {target}};
  std::unordered_map<const Value*, Value*> map;
  for (const Node* node : slice.nodes) {
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs()) {
      if (input != nullptr && !map.contains(input)) {
        map[input] = extract.graph.AddConstant(Find(input, true)->data);
      }
      inputs.push_back(input != nullptr ? map[input] : nullptr);
    }
    std::vector<std::unique_ptr<Graph>> regions;
    for (int i = 0; i < node->num_regions(); ++i) regions.push_back(node->region(i).Clone());
    ASSIGN_OR_RETURN(Node * copy,
                     extract.graph.Add(node->op(), std::move(inputs), node->attrs(), node->name(), nullptr,
                                       std::move(regions), node->num_outputs()));
    for (int i = 0; i < node->num_outputs(); ++i) {
      const Value* output = node->output(i);
      map[output] = copy->output(i);
      const TensorType& type = output->type();
      if (output != target && type.is_static() && type.num_elements() <= kMaxKept) {
        extract.values.push_back(output);
      }
    }
  }
  for (const Value* value : extract.values) extract.graph.AddOutput("", map.at(value));
  return extract;
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
  if (budget_.spent()) return NotSupported("its value would exceed the computation that an import allows");
  ASSIGN_OR_RETURN(const Extract extract, MakeExtract(slice, value));
  absl::StatusOr<std::vector<Tensor>> results = executor_->RunWithin(extract.graph, {}, budget_);
  if (!results.ok()) return NotSupported("it cannot be computed at import: ", results.status().message());
  for (size_t i = 0; i < results->size(); ++i) {
    known_[extract.values[i]] = {std::move((*results)[i]), slice.from_inputs};
  }
  return known_[value];
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

ExactNumber Evaluator::RequireScalar(const Value* value, std::string_view what) {
  const Tensor data = Require(value, what);
  if (data.num_elements() != 1) Invalid("its ", what, " must be a single number");
  return data.ToNumber(0);
}

int64_t Evaluator::RequireInt(const Value* value, std::string_view what) {
  const std::vector<int64_t> integers = RequireInts(value, what);
  if (integers.size() != 1) Invalid("its ", what, " must be a single number");
  return integers[0];
}

std::vector<int64_t> Evaluator::RequireInts(const Value* value, std::string_view what) {
  const DType dtype = value->type().dtype;
  if (!IsInt(dtype)) Invalid("its ", what, " must be of integers, not of ", DTypeName(dtype));
  return Require(value, what).ToInts();
}

std::optional<Tensor> Evaluator::FromConstants(const Value* value) {
  absl::StatusOr<Tensor> data = Evaluate(value, false);
  return data.ok() ? std::optional<Tensor>(*std::move(data)) : std::nullopt;
}

}  // namespace attune::importing
