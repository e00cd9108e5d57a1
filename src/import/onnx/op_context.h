// The interface for lowering one ONNX node: its inputs, attributes and opset, and the emitter.
#ifndef ATTUNE_IMPORT_ONNX_OP_CONTEXT_H_
#define ATTUNE_IMPORT_ONNX_OP_CONTEXT_H_

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/common/emitter.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx {

using namespace attune_onnx;  // NOLINT: the schema's messages, and nothing else
using namespace importing;    // NOLINT: what all formats share

class Importer;
struct Scope;

// The value bound to a name: a tensor, or a list of tensors with known length (ONNX's sequences, which only
// exist during import).
struct Binding {
  Value* value = nullptr;
  std::optional<std::vector<Value*>> sequence;
  bool failed = false;  // its node is not supported, which has been reported
  int type = 0;         // the ONNX element type if the dtype does not determine it (INT4, …)

  Binding() = default;
  Binding(Value* tensor) : value(tensor) {}  // NOLINT: a tensor is a binding
};
using Outputs = std::vector<Binding>;

// The attributes of the function call from which a node is expanded; node attributes may refer to them.
using AttributeFrame = std::map<std::string, const AttributeProto*, std::less<>>;

// Members throw ImportFailure: a required input or attribute is absent, an attribute has the wrong kind, or
// a value that must be known is not.
class OpContext : public Emitter {
 public:
  OpContext(Importer* importer, Scope* scope, const NodeProto* node, int64_t opset, std::string name,
            std::vector<Binding> inputs);

  std::string_view op_type() const { return node_->op_type(); }
  int64_t opset() const { return opset_; }  // of the node's domain

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return node_->output_size(); }
  bool HasInput(int i) const;
  bool HasOutput(int i) const { return i < num_outputs() && !node_->output(i).empty(); }

  // Input i, a tensor. In: required. OptionalIn: nullptr if absent.
  Value* In(int i) const;
  Value* OptionalIn(int i) const { return HasInput(i) ? In(i) : nullptr; }
  std::vector<Value*> AllIn() const;
  const Binding& BindingOf(int i) const;
  DType InType(int i) const { return In(i)->type().dtype; }
  Shape InShape(int i) const { return ShapeOf(In(i)); }
  int InRank(int i) const { return In(i)->type().rank(); }

  // Attributes, with references to an enclosing function call resolved. nullptr if absent.
  const AttributeProto* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  int64_t Int(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t absent) const { return Has(name) ? Int(name) : absent; }
  bool Bool(std::string_view name, bool absent = false) const { return Int(name, absent) != 0; }
  double Float(std::string_view name) const;
  double Float(std::string_view name, double absent) const { return Has(name) ? Float(name) : absent; }
  std::string String(std::string_view name, std::string_view absent) const;
  // One of `allowed`, the first if it is absent; any other value is a broken model.
  std::string Choice(std::string_view name, std::initializer_list<std::string_view> allowed) const;
  std::optional<Ints> IntList(std::string_view name) const;
  Ints IntList(std::string_view name, Ints absent) const { return IntList(name).value_or(std::move(absent)); }
  std::optional<std::vector<double>> FloatList(std::string_view name) const;
  std::optional<std::vector<std::string>> StringList(std::string_view name) const;
  const GraphProto& Subgraph(std::string_view name) const;
  // A tensor attribute's data.
  Tensor TensorAttribute(std::string_view name) const;
  Value* SparseConstant(const SparseTensorProto& proto);
  // An attribute that is an ONNX element type, as a dtype; throws for a type that Attune does not support.
  DType TypeAttribute(std::string_view name) const;

  // The numbers are a list, or one number.
  Ints KnownInts(const Value* value, std::string_view what) const;

  // Calls `attempt`; if it fails and another way may succeed, returns the reason and reports nothing.
  std::optional<ImportFailure> Try(const std::function<void()>& attempt);

  // Has the user told that a size is the one that runtimes compute, and not ONNX's.
  void NoteScaledSize(int64_t size, float scale, int64_t scaled, int64_t by_onnx);

  // Subgraphs. Inline appends the body's nodes here, with its inputs bound, and returns its outputs.
  std::vector<Binding> Inline(const GraphProto& body, const std::vector<Binding>& inputs);
  // Imports the body as a region: its inputs get `input_types`. Values of this graph that it uses become
  // additional inputs, and are appended to `captured`, which several regions of one node may share.
  std::unique_ptr<Graph> Region(const GraphProto& body, const std::vector<TensorType>& input_types,
                                std::vector<Value*>* captured);

 private:
  const AttributeProto& Require(std::string_view name, AttributeProto::AttributeType type) const;

  Importer* importer_;
  Scope* scope_;
  const NodeProto* node_;
  int64_t opset_;
  std::vector<Binding> inputs_;
};

// Lowers one node. Returns its outputs in order; fewer than the node has is not supported. Throws
// ImportFailure.
using Lowering = Outputs(OpContext& c);

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_OP_CONTEXT_H_
