// The import of one program: names, memory that tensors share, and unsupported operators.
//
// Programs of torch.export still change tensors in place ("aten.relu_"). Values here never change: after
// such an operator, all names of exactly that tensor refer to the new value. Names of other views of the
// same memory are not updated; an operator that uses one later is not supported.
#ifndef ATTUNE_IMPORT_PYTORCH_IMPORTER_H_
#define ATTUNE_IMPORT_PYTORCH_IMPORTER_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/pytorch/import.h"
#include "import/pytorch/op_context.h"
#include "import/pytorch/ops.h"
#include "import/pytorch/storages.h"
#include "import/pytorch/weights.h"

namespace attune::pytorch {

// A scope of names: the program's graph, or a graph inside one of its operators, which only sees its own
// inputs.
struct Scope {
  Scope* caller = nullptr;
  const Json* tensor_values = nullptr;  // the program's types of its tensors
  std::string prefix = {};              // of node names
  std::unordered_map<std::string, Binding> bindings = {};
  std::unordered_map<int64_t, std::vector<Binding*>> by_storage = {};  // of the bindings above
};

class Importer {
 public:
  // `archive_bytes`: the size of the archive, with weights. The other arguments must outlive this.
  Importer(const Json* program, int64_t archive_bytes, std::string model, Weights* weights,
           const PytorchImportOptions& options);

  absl::StatusOr<std::unique_ptr<Graph>> Run();

  // Services for OpContext. They throw ImportFailure.
  Graph& graph() { return *graph_; }
  Evaluator& evaluator() { return evaluator_; }
  Budget& budget() { return budget_; }
  const Binding& Lookup(Scope& scope, const std::string& name);
  // Appends a graph's nodes, with its inputs bound. Returns the outputs.
  Outputs ImportBody(const Json& body, std::vector<Binding> inputs, Scope* caller, std::string prefix);

 private:
  void ReportUnknown();
  void ImportInputs(Scope& scope);
  void ImportInput(const std::string& kind, const Json& spec, Scope& scope);
  void ImportUserInputs(Scope& scope);
  void ImportWeight(const std::string& name, const std::string& weight, Scope& scope);
  void Bind(Scope& scope, const std::string& name, Binding binding);
  void ImportNodes(const Json& body, Scope& scope);
  void ImportNode(const Json& json, Scope& scope);
  // Whether the node's arguments can be used; reports the reason if not.
  bool CheckArguments(const NodeProgram& node, const std::string& name, const Row* row, Scope& scope);
  Outputs CallOperator(const NodeProgram& node, const std::string& name, const Row& row, Scope& scope);
  void BindOutputs(const NodeProgram& node, Outputs outputs, Scope& scope);
  void CheckDeclared(const std::string& name, const Value* value, const Scope& scope);
  void Mutate(const NodeProgram& node, Binding& result, Scope& scope);
  void ImportOutputs(Scope& scope);

  const Json* program_;
  std::string model_;
  const PytorchImportOptions& options_;
  std::unique_ptr<Graph> graph_;
  Evaluator evaluator_;
  Budget budget_;
  Weights* weights_;
  NotSupportedList not_supported_;
  Storages storages_;
  int depth_ = 0;
};

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_IMPORTER_H_
