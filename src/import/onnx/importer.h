// The import of one model: name scopes, functions, subgraphs, and unsupported operators.
#ifndef ATTUNE_IMPORT_ONNX_IMPORTER_H_
#define ATTUNE_IMPORT_ONNX_IMPORTER_H_

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/common/evaluator.h"
#include "import/common/not_supported.h"
#include "import/common/shape_notices.h"
#include "import/onnx/declared_shapes.h"
#include "import/onnx/function_table.h"
#include "import/onnx/import.h"
#include "import/onnx/model.h"
#include "import/onnx/op_context.h"

namespace attune::onnx {

using Opsets = std::map<std::string, int64_t, std::less<>>;

// A scope of names, and the graph that receives the nodes which define them. There is one scope for the
// model's graph, and one for each expansion of a function or a subgraph.
struct Scope {
  Scope* parent = nullptr;  // also nullptr for a function's body, which only sees its inputs
  Graph* graph = nullptr;
  const Opsets* opsets = nullptr;
  const AttributeFrame* attributes = nullptr;  // nullptr outside functions
  std::string prefix = {};                     // of node names
  std::unordered_map<std::string, Binding> bindings = {};
  // For a region, which has its own graph: the parent's values that it uses, and the region's inputs for
  // them, in the same order.
  std::vector<Value*>* captured = nullptr;
  std::unordered_map<const Value*, Value*> captures = {};
  const DeclaredShapes* declared = nullptr;  // nullptr: not to be compared with what is computed
};

// The attribute itself, or the attribute of the enclosing function call to which it refers; nullptr if the
// call does not have it.
const AttributeProto* ResolveAttribute(const AttributeProto& attribute, const Scope& scope);

class Importer {
 public:
  // Both must outlive this.
  Importer(OnnxModel* model, const OnnxImportOptions& options);

  absl::StatusOr<std::unique_ptr<Graph>> Run();

  // Services for OpContext. They throw ImportFailure.
  Evaluator& evaluator() { return evaluator_; }
  Budget& budget() { return budget_; }
  Tensor TensorOf(const TensorProto& proto);
  // Appends a graph's initializers and nodes to `scope`, whose bindings must have its inputs. Returns the
  // outputs.
  std::vector<Binding> ImportBody(const GraphProto& body, Scope& scope);
  NotSupportedList& not_supported() { return not_supported_; }
  ShapeNotices& notices() { return notices_; }
  // Keeps a region as long as the evaluator may use its values.
  const Graph& Keep(std::unique_ptr<Graph> region);
  // The binding of a name in `scope`, captured from the enclosing graph if necessary; nullptr if undefined.
  const Binding* Lookup(Scope& scope, const std::string& name);

 private:
  std::unique_ptr<Graph> Import();
  void ImportInputs(Scope& scope);
  std::vector<Shape> InputShapes(const std::vector<const ValueInfoProto*>& inputs, Scope& scope);
  // The shapes that `body` declares, if its inputs have the shapes that it declares for them; else nullptr.
  const DeclaredShapes* ShapesToCompare(const GraphProto& body, const Scope& scope);
  void ImportInitializers(const GraphProto& graph, Scope& scope);
  void ImportNode(const NodeProto& node, Scope& scope);
  std::vector<Binding> GatherInputs(const NodeProto& node, const std::string& name, Scope& scope);
  Outputs CallFunction(const FunctionProto& function, const NodeProto& node, const std::string& name,
                       std::vector<Binding> inputs, Scope& scope);
  Outputs CallOperator(const NodeProto& node, const std::string& name, std::vector<Binding> inputs,
                       Scope& scope);
  void BindOutputs(const NodeProto& node, Outputs outputs, Scope& scope);

  OnnxModel* model_;
  const ModelProto& proto_;  // the model's
  const OnnxImportOptions& options_;
  Opsets opsets_;
  FunctionTable functions_;
  std::vector<std::unique_ptr<Graph>> regions_;
  Evaluator evaluator_;
  Budget budget_;
  NotSupportedList not_supported_;
  std::unordered_map<const GraphProto*, DeclaredShapes> declared_;
  ShapeNotices notices_;
  int depth_ = 0;
};

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_IMPORTER_H_
