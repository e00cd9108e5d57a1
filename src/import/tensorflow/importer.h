// The import of one model: the nodes that the outputs need, functions, loops, and unsupported operators.
#ifndef ATTUNE_IMPORT_TENSORFLOW_IMPORTER_H_
#define ATTUNE_IMPORT_TENSORFLOW_IMPORTER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/common/not_supported.h"
#include "import/common/shape_notices.h"
#include "import/tensorflow/body.h"
#include "import/tensorflow/function_library.h"
#include "import/tensorflow/import.h"
#include "import/tensorflow/model.h"
#include "import/tensorflow/op_context.h"
#include "import/tensorflow/tensor_proto.h"
#include "import/tensorflow/variables.h"

namespace attune::tensorflow {

// The result of importing a node.
struct Result {
  Outputs outputs = {};
  bool failed = false;  // not supported, which has been reported
  bool dead = false;    // in a branch that is not taken
};

// A scope of names, and the graph for its nodes. There is one scope for the model's graph, one for each
// call of a function, and one for each step of a loop.
struct Scope {
  const Scope* outer = nullptr;  // for a step: the scope of the loop, whose other nodes the step can use, too
  Graph* graph = nullptr;
  const Body* body = nullptr;
  const AttributeMap* attributes = nullptr;                   // of the call of the function
  std::string prefix = {};                                    // of node names
  std::unordered_map<std::string_view, Result> results = {};  // by name of a node or argument
};

class Importer {
 public:
  // All arguments must outlive this.
  Importer(const Model& model, const Endpoints& endpoints, Variables* variables, Constants* constants,
           const ImportOptions& options);

  absl::StatusOr<std::unique_ptr<Graph>> Run();

  // Services for operators. They throw ImportFailure.
  Evaluator& evaluator() { return evaluator_; }
  Budget& budget() { return budget_; }
  importing::NotSupportedList& not_supported() { return not_supported_; }
  FunctionLibrary& functions() { return functions_; }
  // Converts a tensor only once, even if a function is called several times.
  Tensor TensorOf(const TensorProto& proto);
  // The tensor that `reference` names in `scope`; first imports its node and everything that it needs.
  Binding Demand(const Reference& reference, Scope& scope);
  // The results of the function `name`, whose nodes are appended to `graph`. Cancelled if one of them is
  // not supported.
  Outputs Call(const std::string& name, const AttributeMap* attributes, std::vector<Binding> arguments,
               Graph* graph, const std::string& caller);
  // The value of the variable, as a constant of `graph`.
  Value* VariableValue(const NodeDef& variable, Graph* graph);
  // An empty graph for a region, kept as long as the evaluator may use its values.
  Graph* NewRegion(const std::string& name);

 private:
  std::unique_ptr<Graph> Import();
  void AddInputs(Scope& scope);
  void AddInput(const Endpoint& endpoint, const Shape& shape, Scope& scope);
  void AddOutputs(Scope& scope);
  void DemandNode(std::string_view name, Scope& scope);
  Result ImportNode(const NodeDef& node, Scope& scope);
  Result CallOperator(const NodeDef& node, const std::string& name, std::vector<Binding> inputs,
                      Scope& scope);
  std::vector<Binding> GatherInputs(const NodeDef& node, const Scope& scope, Result& result);
  Binding Lookup(const Reference& reference, const Scope& scope);

  const Model& model_;
  const Endpoints& endpoints_;
  Variables* variables_;
  Constants* constants_;
  const ImportOptions& options_;
  FunctionLibrary functions_;
  std::vector<std::unique_ptr<Graph>> regions_;
  std::map<std::pair<const Graph*, const NodeDef*>, Value*> variable_values_;
  Evaluator evaluator_;
  Budget budget_;
  importing::NotSupportedList not_supported_;
  importing::ShapeNotices notices_;
  bool as_declared_ = true;  // the inputs have the shapes that the model declares
  std::unordered_map<const TensorProto*, Tensor> tensors_;
  int depth_ = 0;
};

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_IMPORTER_H_
