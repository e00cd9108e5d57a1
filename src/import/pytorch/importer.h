// The import of one program: names, memory that tensors share, and what is not supported.
//
// Programs of torch.export still change tensors in place ("aten.relu_"). Values here never change: after such
// an operator its tensor's name, and each other name of exactly that tensor, means the new value. A name that
// means another view of the memory is not followed; an operator that takes it later is not supported.
#ifndef ATTUNE_IMPORT_PYTORCH_IMPORTER_H_
#define ATTUNE_IMPORT_PYTORCH_IMPORTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/pytorch/import.h"
#include "import/pytorch/op_context.h"
#include "import/pytorch/ops.h"
#include "import/pytorch/weights.h"

namespace attune::pytorch {

// Where names are looked up: the program's graph, or one that an operator of it holds, which sees its own
// inputs alone.
struct Scope {
  Scope* caller = nullptr;
  const Json* tensor_values = nullptr;  // what the program says of its tensors' types
  std::string prefix = {};              // of node names
  std::unordered_map<std::string, Binding> bindings = {};
  std::unordered_map<int64_t, std::vector<Binding*>> by_storage = {};  // of the bindings above
};

class Importer {
 public:
  // All must outlive this.
  Importer(const Json* program, const Archive* archive, std::string model,
           const PytorchImportOptions& options);

  absl::StatusOr<std::unique_ptr<Graph>> Run();

  // Services for OpContext. They throw ImportFailure.
  Graph& graph() { return *graph_; }
  Evaluator& evaluator() { return evaluator_; }
  Budget& budget() { return budget_; }
  const Binding& Lookup(Scope& scope, const std::string& name);
  // Appends a graph's nodes, its inputs bound; its outputs.
  Outputs ImportBody(const Json& body, std::vector<Binding> inputs, Scope* caller, std::string prefix);

 private:
  void ReportUnknown();
  void ImportInputs(Scope& scope);
  void ImportInput(const std::string& kind, const Json& spec, Scope& scope);
  void ImportUserInputs(Scope& scope);
  void ImportWeight(const std::string& name, const std::string& weight, Scope& scope);
  void Bind(Scope& scope, const std::string& name, Binding binding);
  // Gives a tensor memory of its own, or that of `input`, as the row says.
  void PlaceNew(Binding& binding);
  void Place(Binding& binding, const Binding& input, Memory memory);
  void ImportNodes(const Json& body, Scope& scope);
  void ImportNode(const Json& json, Scope& scope);
  // Whether the node's arguments can be used; reports why not.
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
  Weights weights_;
  NotSupportedList not_supported_;
  std::map<int64_t, std::string> lasting_;  // storages that outlive a run, by what the program calls them
  int64_t next_place_ = 0;
  int depth_ = 0;
};

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_IMPORTER_H_
