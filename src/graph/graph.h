// The Graph IR: a network as operators over SSA values.
//
// A Graph owns its nodes, in an order in which every value is made before it is used (the verifier
// checks it), and its values: the inputs and the nodes' outputs. A value is made once and never changes;
// its type is inferred from the node that makes it (infer.h). Operators may own regions, which are graphs
// of their own: their inputs are bound by the operator, and they see no value of the enclosing graph.
//
// Not thread safe; distinct graphs are independent.
#ifndef ATTUNE_GRAPH_GRAPH_H_
#define ATTUNE_GRAPH_GRAPH_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/attributes.h"
#include "graph/op.h"
#include "graph/type.h"

namespace attune {

class Graph;
class Node;

class Value {
 public:
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  const TensorType& type() const { return type_; }
  void set_type(TensorType type) { type_ = std::move(type); }

  // The node that makes this value, nullptr for a graph input, and which of its outputs it is.
  Node* producer() const { return producer_; }
  int index() const { return index_; }
  bool is_input() const { return producer_ == nullptr; }

  // The nodes that use it, once for each use, in no particular order. Graph outputs do not count.
  const std::vector<Node*>& users() const { return users_; }

  // The constant's data where the producer is a constant, else nullptr.
  const Tensor* constant() const;

 private:
  friend class Graph;
  friend class Node;
  std::string name_;
  TensorType type_;
  Node* producer_ = nullptr;
  int index_ = 0;
  std::vector<Node*> users_;
};

class Node {
 public:
  Op op() const { return op_; }
  // Where the node comes from, for messages ("layer1.0.conv1"); may be empty.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // An optional input that is absent is nullptr; trailing absent inputs are dropped.
  const std::vector<Value*>& inputs() const { return inputs_; }
  Value* input(int i) const { return i < static_cast<int>(inputs_.size()) ? inputs_[i] : nullptr; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  Value* output(int i = 0) const { return outputs_[i].get(); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }

  const Attributes& attrs() const { return attrs_; }
  Attributes& mutable_attrs() { return attrs_; }

  int num_regions() const { return static_cast<int>(regions_.size()); }
  Graph& region(int i = 0) const { return *regions_[i]; }

  // Keeps users() of both values right. May set an optional input that was absent, or make one absent.
  void SetInput(int i, Value* value);

 private:
  friend class Graph;
  Op op_ = Op::kConstant;
  std::string name_;
  std::vector<Value*> inputs_;
  std::vector<std::unique_ptr<Value>> outputs_;
  Attributes attrs_;
  std::vector<std::unique_ptr<Graph>> regions_;
  std::list<std::unique_ptr<Node>>::iterator position_;
};

class Graph {
 public:
  using NodeList = std::list<std::unique_ptr<Node>>;

  Graph() = default;
  explicit Graph(std::string name) : name_(std::move(name)) {}
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  Value* AddInput(std::string name, TensorType type);
  const std::vector<std::unique_ptr<Value>>& inputs() const { return inputs_; }

  // Outputs may name a value twice, or an input. Each has a name of its own (a model's output name).
  void AddOutput(std::string name, Value* value) { outputs_.push_back({std::move(name), value}); }
  struct Output {
    std::string name;
    Value* value;
  };
  const std::vector<Output>& outputs() const { return outputs_; }
  void SetOutput(int i, Value* value) { outputs_[i].value = value; }

  // Appends a node, or inserts it before `before`, and infers its output types. An error (of shapes
  // that do not fit, say) names the operator and leaves the graph as it was. `num_outputs` counts for
  // operators with a variable number of outputs; -1 takes the operator table's.
  absl::StatusOr<Node*> Add(Op op, std::vector<Value*> inputs, Attributes attrs = {}, std::string name = "",
                            Node* before = nullptr, std::vector<std::unique_ptr<Graph>> regions = {},
                            int num_outputs = -1);

  // Appends a node like `node`, which has no regions, with other inputs; names and types of its outputs are
  // those of node's, not inferred ones: layouts and symbols that types elsewhere mention are kept.
  absl::StatusOr<Node*> AddCopy(const Node& node, std::vector<Value*> inputs);

  // The same as Add() where the caller guarantees that inference succeeds (a pass that rewrites verified
  // nodes); aborts with the error's text otherwise. Returns output 0.
  Value* Make(Op op, std::vector<Value*> inputs, Attributes attrs = {}, Node* before = nullptr);

  // A constant node with `data`, named `name`.
  Value* AddConstant(Tensor data, std::string name = "", Node* before = nullptr);

  // The nodes in order. Erasing or inserting other nodes keeps iterators valid.
  const NodeList& nodes() const { return nodes_; }
  NodeList& nodes() { return nodes_; }

  // Every use of `from`, graph outputs included, becomes a use of `to`.
  void ReplaceAllUses(Value* from, Value* to);
  bool IsOutput(const Value* value) const;
  // Uses by nodes and by graph outputs.
  int NumUses(const Value* value) const;

  // Removes a node none of whose outputs is used.
  void Erase(Node* node);
  // Removes graph input i, which nothing uses.
  void EraseInput(int i);

  std::unique_ptr<Graph> Clone() const;

 private:
  // Names the new symbol of a node whose output size depends on the data (infer.h): puts a name that no
  // value uses into the node's output types.
  void NameNewSymbol(std::vector<TensorType>& types);

  std::string name_;
  std::vector<std::unique_ptr<Value>> inputs_;
  NodeList nodes_;
  std::vector<Output> outputs_;
  int64_t next_symbol_ = 0;  // the start of the next search for an unused name
};

}  // namespace attune

#endif  // ATTUNE_GRAPH_GRAPH_H_
