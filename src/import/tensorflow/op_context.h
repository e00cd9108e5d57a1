// The interface for lowering one TensorFlow node: its inputs, its attributes, and the emitter.
#ifndef ATTUNE_IMPORT_TENSORFLOW_OP_CONTEXT_H_
#define ATTUNE_IMPORT_TENSORFLOW_OP_CONTEXT_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/tensorflow/vocabulary.h"

namespace attune::tensorflow {

class Importer;
struct Scope;

// The items of a TensorList, or of a TensorArray's flow; nullptr: not yet written.
using TensorItems = std::vector<Value*>;

// A tensor of uniform random numbers from [low, high). Only results that are the same for all random
// numbers can be imported, such as dropout that keeps everything.
struct RandomNumbers {
  DType dtype = DType::kF32;
  Shape shape = {};
  double low = 0;
  double high = 1;
};

// A tensor of the model during import: a value of the graph, or something that only exists during import: a
// list of values with known length, a variable, random numbers.
struct Binding {
  Value* value = nullptr;
  std::shared_ptr<const TensorItems> items = nullptr;
  const NodeDef* variable = nullptr;
  std::shared_ptr<const RandomNumbers> random = nullptr;
  bool failed = false;  // its node is not supported, which has been reported
  bool dead = false;    // in a branch that is not taken

  Binding() = default;
  Binding(Value* tensor) : value(tensor) {}  // NOLINT: a tensor is a binding
};
using Outputs = std::vector<Binding>;

// Members throw ImportFailure: an input or attribute is absent, an attribute has the wrong kind, or a value
// that must be known is not.
class OpContext : public Emitter {
 public:
  OpContext(Importer* importer, Scope* scope, const NodeDef* node, std::string name,
            std::vector<Binding> inputs);

  const std::string& op() const { return node_->op(); }
  const NodeDef& node() const { return *node_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  // Input i, a tensor.
  Value* In(int i) const;
  std::vector<Value*> AllIn(int first = 0) const;
  const Binding& BindingOf(int i) const;
  const std::vector<Binding>& bindings() const { return inputs_; }
  DType InType(int i) const { return In(i)->type().dtype; }
  Shape InShape(int i) const { return ShapeOf(In(i)); }
  int InRank(int i) const { return In(i)->type().rank(); }

  // Attributes, with references to an enclosing function call resolved. Find returns nullptr if absent;
  // others without a parameter `absent` are required.
  const AttrValue* Find(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t absent) const;
  bool Bool(std::string_view name, bool absent = false) const;
  double Float(std::string_view name, double absent) const;
  std::string String(std::string_view name, std::string_view absent) const;
  Ints IntList(std::string_view name, Ints absent) const;
  // One of `allowed`, the first if it is absent; any other value is a broken model.
  std::string Choice(std::string_view name, std::initializer_list<std::string_view> allowed) const;
  // An attribute that is an element type; throws for a type that Attune does not support.
  DType TypeAttribute(std::string_view name) const;
  DType TypeAttribute(std::string_view name, DType absent) const;
  std::optional<Shape> ShapeAttribute(std::string_view name) const;  // nullopt if it is not complete
  Tensor TensorAttribute(std::string_view name) const;

  // Appends the nodes of `function` for these arguments to `target`, which is this node's graph or a
  // region. Returns the results.
  Outputs Call(const NameAttrList& function, std::vector<Binding> arguments, Graph* target);
  const NameAttrList& FunctionAttribute(std::string_view name) const;
  // The value of the variable in input i.
  Value* VariableValue(int i);

  Importer& importer() const { return *importer_; }
  Scope& scope() const { return *scope_; }

 private:
  const AttrValue& Require(std::string_view name, AttrValue::ValueCase kind) const;

  Importer* importer_;
  Scope* scope_;
  const NodeDef* node_;
  std::vector<Binding> inputs_;
};

// Lowers one node. Returns its outputs in order; missing outputs at the end are not supported. Throws
// ImportFailure.
using Lowering = Outputs(OpContext& c);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_OP_CONTEXT_H_
