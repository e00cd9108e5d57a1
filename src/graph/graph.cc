#include "graph/graph.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/fatal.h"
#include "base/status.h"
#include "graph/infer.h"
#include "graph/node_rules.h"

namespace attune {
namespace {

using ValueMap = std::unordered_map<const Value*, Value*>;

Value* Lookup(const ValueMap& map, const Value* value) {
  if (value == nullptr) return nullptr;
  const auto it = map.find(value);
  if (it == map.end()) Fatal("a node uses the value '", value->name(), "' of another graph");
  return it->second;
}

void RemoveOneUse(std::vector<Node*>& users, const Node* node) {
  // Searches from the back, where a pass's recent rewrites are. The other users keep their order: passes
  // that walk them must not depend on addresses.
  const auto it = std::find(users.rbegin(), users.rend(), node);
  if (it == users.rend()) Fatal("the node '", node->name(), "' is not among the users of its input");
  users.erase(std::next(it).base());
}

bool HasSymbol(const Value& value, std::string_view symbol) {
  return std::ranges::any_of(value.type().dims, [symbol](const Dim& dim) { return dim.symbol == symbol; });
}

// Whether a value of `graph` has a dimension that `symbol` names.
bool IsSymbolUsed(const Graph& graph, std::string_view symbol) {
  for (const auto& input : graph.inputs()) {
    if (HasSymbol(*input, symbol)) return true;
  }
  for (const auto& node : graph.nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      if (HasSymbol(*node->output(i), symbol)) return true;
    }
  }
  return false;
}

}  // namespace

const Tensor* Value::constant() const {
  if (producer_ == nullptr || producer_->op() != Op::kConstant) return nullptr;
  return &producer_->attrs().TensorValue("value");
}

void Node::SetInput(int i, Value* value) {
  if (i >= num_inputs()) inputs_.resize(static_cast<size_t>(i) + 1);
  Value*& slot = inputs_[static_cast<size_t>(i)];
  if (slot != nullptr) RemoveOneUse(slot->users_, this);
  slot = value;
  if (value != nullptr) value->users_.push_back(this);
  while (!inputs_.empty() && inputs_.back() == nullptr) inputs_.pop_back();
}

Value* Graph::AddInput(std::string name, TensorType type) {
  auto value = std::make_unique<Value>();
  value->name_ = std::move(name);
  value->type_ = std::move(type);
  inputs_.push_back(std::move(value));
  return inputs_.back().get();
}

absl::StatusOr<Node*> Graph::Add(Op op, std::vector<Value*> inputs, Attributes attrs, std::string name,
                                 Node* before, std::vector<std::unique_ptr<Graph>> regions, int num_outputs) {
  auto node = std::make_unique<Node>();
  node->op_ = op;
  node->name_ = std::move(name);
  node->inputs_ = std::move(inputs);
  while (!node->inputs_.empty() && node->inputs_.back() == nullptr) node->inputs_.pop_back();
  node->attrs_ = std::move(attrs);
  node->regions_ = std::move(regions);

  // Where neither the caller nor the table says how many outputs there are, the regions do, or it is one.
  const bool counted = num_outputs >= 0;
  if (!counted) num_outputs = std::max(GetOpInfo(op).num_outputs, 1);
  const auto resize_outputs = [&node](int count) {
    for (int i = node->num_outputs(); i < count; ++i) {
      node->outputs_.push_back(std::make_unique<Value>());
      node->outputs_.back()->producer_ = node.get();
      node->outputs_.back()->index_ = i;
    }
    node->outputs_.resize(static_cast<size_t>(count));
  };
  resize_outputs(num_outputs);

  RETURN_IF_ERROR(Annotate(CheckNode(*node), OpName(op)));
  ASSIGN_OR_RETURN(std::vector<TensorType> types, InferTypes(*node));
  if (counted && static_cast<int>(types.size()) != num_outputs) {
    return InvalidInput(OpName(op), ": has ", num_outputs, " outputs, makes ", types.size());
  }
  resize_outputs(static_cast<int>(types.size()));
  if (GetOpInfo(op).category == OpCategory::kDynamic) NameNewSymbol(types);
  for (size_t i = 0; i < types.size(); ++i) node->outputs_[i]->type_ = std::move(types[i]);

  for (Value* input : node->inputs_) {
    if (input != nullptr) input->users_.push_back(node.get());
  }
  Node* added = node.get();
  added->position_ = nodes_.insert(before == nullptr ? nodes_.end() : before->position_, std::move(node));
  return added;
}

void Graph::NameNewSymbol(std::vector<TensorType>& types) {
  std::string name;
  do {
    name = absl::StrCat("n", next_symbol_++);
  } while (IsSymbolUsed(*this, name));
  for (TensorType& type : types) {
    for (Dim& dim : type.dims) {
      if (dim.symbol == kNewSymbol) dim.symbol = name;
    }
  }
}

absl::StatusOr<Node*> Graph::AddCopy(const Node& node, std::vector<Value*> inputs) {
  ASSIGN_OR_RETURN(Node* const copy, Add(node.op(), std::move(inputs), node.attrs(), node.name(), nullptr, {},
                                         node.num_outputs()));
  for (int i = 0; i < node.num_outputs(); ++i) {
    copy->output(i)->set_name(node.output(i)->name());
    copy->output(i)->set_type(node.output(i)->type());
  }
  return copy;
}

Value* Graph::Make(Op op, std::vector<Value*> inputs, Attributes attrs, Node* before) {
  absl::StatusOr<Node*> node = Add(op, std::move(inputs), std::move(attrs), "", before);
  if (!node.ok()) Fatal("cannot make a node: ", node.status().message());
  return (*node)->output();
}

Value* Graph::AddConstant(Tensor data, std::string name, Node* before) {
  Value* value = Make(Op::kConstant, {}, {{"value", std::move(data)}}, before);
  value->producer()->set_name(std::move(name));
  return value;
}

void Graph::ReplaceAllUses(Value* from, Value* to) {
  if (from == to) return;
  const std::vector<Node*> users = std::exchange(from->users_, {});
  const Node* previous = nullptr;
  for (Node* user : users) {
    // The uses by one node mostly follow each other: one walk over its inputs finds them all.
    if (user != previous) std::ranges::replace(user->inputs_, from, to);
    previous = user;
  }
  to->users_.insert(to->users_.end(), users.begin(), users.end());
  for (Output& output : outputs_) {
    if (output.value == from) output.value = to;
  }
}

bool Graph::IsOutput(const Value* value) const {
  return std::ranges::any_of(outputs_, [value](const Output& output) { return output.value == value; });
}

int Graph::NumUses(const Value* value) const {
  const auto by_outputs =
      std::ranges::count_if(outputs_, [value](const Output& output) { return output.value == value; });
  return static_cast<int>(value->users_.size()) + static_cast<int>(by_outputs);
}

void Graph::Erase(Node* node) {
  for (const auto& output : node->outputs_) {
    if (NumUses(output.get()) > 0)
      Fatal("erasing the ", OpName(node->op()), " '", node->name(), "', which is used");
  }
  for (Value* input : node->inputs_) {
    if (input != nullptr) RemoveOneUse(input->users_, node);
  }
  nodes_.erase(node->position_);
}

void Graph::EraseInput(int i) {
  const auto at = inputs_.begin() + i;
  if (NumUses(at->get()) > 0) Fatal("erasing the graph input '", (*at)->name(), "', which is used");
  inputs_.erase(at);
}

std::unique_ptr<Graph> Graph::Clone() const {
  auto clone = std::make_unique<Graph>(name_);
  clone->next_symbol_ = next_symbol_;
  ValueMap map;
  for (const auto& input : inputs_) map[input.get()] = clone->AddInput(input->name(), input->type());
  // Clones all nodes before their inputs: an order that the verifier would refuse is cloned as it is.
  for (const auto& node : nodes_) {
    auto copy = std::make_unique<Node>();
    copy->op_ = node->op_;
    copy->name_ = node->name_;
    copy->attrs_ = node->attrs_;
    for (const auto& region : node->regions_) copy->regions_.push_back(region->Clone());
    for (const auto& output : node->outputs_) {
      auto& value = copy->outputs_.emplace_back(std::make_unique<Value>());
      value->name_ = output->name_;
      value->type_ = output->type_;
      value->producer_ = copy.get();
      value->index_ = output->index_;
      map[output.get()] = value.get();
    }
    const auto position = clone->nodes_.insert(clone->nodes_.end(), std::move(copy));
    (*position)->position_ = position;
  }
  auto copy = clone->nodes_.begin();
  for (const auto& node : nodes_) {
    for (const Value* input : node->inputs_) {
      Value* value = Lookup(map, input);
      (*copy)->inputs_.push_back(value);
      if (value != nullptr) value->users_.push_back(copy->get());
    }
    ++copy;
  }
  for (const Output& output : outputs_) clone->AddOutput(output.name, Lookup(map, output.value));
  return clone;
}

}  // namespace attune
