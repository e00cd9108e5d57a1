// What the lowering of one TensorFlow node sees: its inputs, its attributes, and the emitter.
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

// The items of a TensorList, or of a TensorArray's flow; nullptr: not written yet.
using TensorItems = std::vector<Value*>;

// A tensor of numbers drawn evenly from [low, high). Only what does not depend on the draw can be imported:
// dropout that keeps everything.
struct RandomNumbers {
  DType dtype = DType::kF32;
  Shape shape = {};
  double low = 0;
  double high = 1;
};

// What a tensor of the model is during import: a value of the graph, or something that exists during import
// only: a list of values whose length is known, a variable, random numbers.
struct Binding {
  Value* value = nullptr;
  std::shared_ptr<const TensorItems> items = nullptr;
  const NodeDef* variable = nullptr;
  std::shared_ptr<const RandomNumbers> random = nullptr;
  bool failed = false;  // its node is not supported; has been reported
  bool dead = false;    // of a branch that is not taken

  Binding() = default;
  Binding(Value* tensor) : value(tensor) {}  // NOLINT: a tensor is a binding
};
using Outputs = std::vector<Binding>;

// Members throw ImportFailure: an input or attribute that is absent, an attribute of the wrong kind, a value
// that must be known and is not.
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

  // Attributes, with references into an enclosing function call resolved. Nullptr where absent. Those without
  // a value for `absent` are required.
  const AttrValue* Find(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t absent) const;
  bool Bool(std::string_view name, bool absent = false) const;
  double Float(std::string_view name, double absent) const;
  std::string String(std::string_view name, std::string_view absent) const;
  Ints IntList(std::string_view name, Ints absent) const;
  // One of `allowed`, the first where it is absent; broken model otherwise.
  std::string Choice(std::string_view name, std::initializer_list<std::string_view> allowed) const;
  // An attribute that holds an element type; NS for a type that Attune does not have.
  DType TypeAttribute(std::string_view name) const;
  DType TypeAttribute(std::string_view name, DType absent) const;
  std::optional<Shape> ShapeAttribute(std::string_view name) const;  // nothing where it is not whole
  Tensor TensorAttribute(std::string_view name) const;

  // The value's data, computed where it follows from what is known; NS otherwise: "its <what> must be
  // known: …".
  Tensor Known(const Value* value, std::string_view what) const;
  Ints KnownInts(const Value* value, std::string_view what) const;
  double KnownScalar(const Value* value, std::string_view what) const;
  int64_t KnownInt(const Value* value, std::string_view what) const;
  // Nothing unless the value follows from constants alone.
  std::optional<Tensor> KnownConstant(const Value* value) const;

  // Appends what `function` does with the arguments to `target`, this node's graph or a region; its results.
  Outputs Call(const NameAttrList& function, std::vector<Binding> arguments, Graph* target);
  const NameAttrList& FunctionAttribute(std::string_view name) const;
  // The value of the variable that input i is.
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

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_OP_CONTEXT_H_
