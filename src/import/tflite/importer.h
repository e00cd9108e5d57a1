// The import of one model: subgraphs as scopes of values, and unsupported operators.
#ifndef ATTUNE_IMPORT_TFLITE_IMPORTER_H_
#define ATTUNE_IMPORT_TFLITE_IMPORTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "import/common/evaluator.h"
#include "import/common/not_supported.h"
#include "import/common/shape_notices.h"
#include "import/tflite/import.h"
#include "import/tflite/op_context.h"
#include "import/tflite/tensors.h"

namespace attune::tflite {

// The value bound to a tensor of a subgraph.
struct Binding {
  Value* value = nullptr;
  bool failed = false;  // its operator is not supported, which has been reported
};

// One expansion of a subgraph: its tensors, and the graph for its nodes.
struct Scope {
  int subgraph = 0;
  Graph* graph = nullptr;
  std::string prefix = {};  // of node names
  std::vector<Binding> bindings = {};
  // Whether the inputs have the shapes that the file declares, so that the other tensors should, too.
  bool as_declared = true;
};

// A way into the model: a subgraph, with unique names for its inputs and outputs.
struct Entry {
  int subgraph = 0;
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
};

// The entry with this signature; empty: the first subgraph, with the names of its tensors. Throws
// ImportFailure if there is no such signature.
Entry FindEntry(const Model& model, const std::string& signature);

class Importer {
 public:
  // All arguments must outlive this.
  Importer(const Model* model, TensorData* data, const TfliteImportOptions& options);

  absl::StatusOr<std::unique_ptr<Graph>> Run();

  // Services for OpContext. They throw ImportFailure.
  const Model& model() const { return *model_; }
  Evaluator& evaluator() { return evaluator_; }
  Budget& budget() { return budget_; }
  NotSupportedList& not_supported() { return not_supported_; }
  // Tensor `index` in `scope`: the result of an operator, its constant data, or for a variable, zeros.
  const Binding& Lookup(Scope& scope, int index);
  // Appends a subgraph's nodes to `graph`, with its inputs bound to `inputs`. Returns the outputs.
  std::vector<Value*> ImportSubgraph(int subgraph, Graph* graph, const std::vector<Value*>& inputs,
                                     const std::string& prefix);
  // Keeps a region as long as the evaluator may use its values.
  Graph* Keep(std::unique_ptr<Graph> region);

 private:
  std::unique_ptr<Graph> Import();
  void ImportInputs(const Entry& entry, Scope& scope);
  void ReportUnknown(const Scope& scope);
  Shape InputShape(const std::string& name, const schema::Tensor& tensor, const Scope& scope);
  std::vector<Binding> ImportBody(Scope& scope);
  void ImportOperator(const schema::Operator& node, Scope& scope);
  std::vector<Value*> Lower(const schema::Operator& node, const std::string& name, Scope& scope);
  void BindOutputs(const schema::Operator& node, const std::string& name, const std::vector<Value*>& outputs,
                   Scope& scope);
  void MarkFailed(const schema::Operator& node, Scope& scope);

  const Model* model_;
  TensorData* data_;
  const TfliteImportOptions& options_;
  std::vector<std::unique_ptr<Graph>> regions_;
  Evaluator evaluator_;
  Budget budget_;
  NotSupportedList not_supported_;
  ShapeNotices notices_;
  std::vector<bool> active_;  // the subgraphs being imported, which must not be called again
  int depth_ = 0;             // the number of active subgraphs
};

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_IMPORTER_H_
