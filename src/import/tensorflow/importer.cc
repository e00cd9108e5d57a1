#include "import/tensorflow/importer.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "graph/infer.h"
#include "import/common/depth_guard.h"
#include "import/common/input_shapes.h"
#include "import/common/names.h"
#include "import/common/remove_unused.h"
#include "import/tensorflow/declared_shapes.h"
#include "import/tensorflow/ops.h"
#include "import/tensorflow/tensor_proto.h"
#include "import/tensorflow/unknown_operators.h"

namespace attune::tensorflow {
namespace {

// How much a small file may unroll and tabulate; the limit grows with the size of the file.
Budget BudgetFor(const Model& model, const WorkControl& control) {
  int64_t own = model.graph().node_size();
  for (const FunctionDef& function : model.graph().library().function()) own += function.node_def_size();
  return {
      .nodes = 80'000 + 200 * own, .bytes = (int64_t{16} << 20) + 16 * model.num_bytes(), .control = control};
}

// The size of all names that an expansion of the node looks up.
size_t NameBytes(const NodeDef& node) {
  size_t bytes = node.name().size();
  for (const std::string& input : node.input()) bytes += input.size();
  return bytes;
}

// The result of the node or argument with this name, as far as the scope can use it; nullptr if there is none
// yet.
const Result* Find(const Scope& scope, std::string_view name) {
  for (const Scope* at = &scope; at != nullptr; at = at->outer) {
    if (const auto it = at->results.find(name); it != at->results.end()) return &it->second;
    // A region cannot use values of the graph around it.
    if (at->outer != nullptr && at->outer->graph != at->graph) return nullptr;
  }
  return nullptr;
}

// The index of the output that `reference` means among all outputs of `node`.
int OutputIndex(const NodeDef& node, const Reference& reference, const FunctionLibrary& functions) {
  if (reference.output.empty()) return reference.index;
  int offset = 0;
  if (const FunctionDef* function = functions.Find(node.op())) {
    for (const auto& output : function->signature().output_arg()) {
      if (output.name() == reference.output) return offset + reference.index;
      ++offset;
    }
  }
  const OpRow* row = FindOp(node.op());
  // The row has a single list with all outputs.
  if (row == nullptr || row->outputs.empty()) return reference.index;
  const std::vector<std::string> names = absl::StrSplit(row->outputs, ' ');
  for (const std::string& output : names) {
    if (output == reference.output) return offset + reference.index;
    ++offset;
  }
  Invalid("'", node.name(), "' (", node.op(), ") has no output '", reference.output, "'");
}

// Turns small results that follow from constants into constants: shapes, counters of loops.
void FoldSmall(const std::vector<Binding>& inputs, Outputs& outputs, Graph* graph, Evaluator& evaluator) {
  constexpr int64_t kMaxIntegers = 1024;
  constexpr int64_t kMaxFloats = 16;
  for (const Binding& input : inputs) {
    if (input.value == nullptr || input.value->constant() == nullptr) return;
  }
  for (Binding& output : outputs) {
    if (output.value == nullptr || output.value->is_input() || output.value->constant() != nullptr) continue;
    const TensorType& type = output.value->type();
    const int64_t limit = IsFloat(type.dtype) ? kMaxFloats : kMaxIntegers;
    if (!type.is_static() || type.num_elements() > limit) continue;
    absl::StatusOr<Tensor> data = evaluator.Evaluate(output.value, false);
    if (data.ok()) output = graph->AddConstant(*std::move(data));
  }
}

Binding Marked(bool failed, bool dead) {
  Binding binding;
  binding.failed = failed;
  binding.dead = dead;
  return binding;
}

}  // namespace

Importer::Importer(const Model& model, const Endpoints& endpoints, Variables* variables, Constants* constants,
                   const ImportOptions& options)
    : model_(model),
      endpoints_(endpoints),
      variables_(variables),
      constants_(constants),
      options_(options),
      functions_(model.graph().library()),
      evaluator_(options.executor),
      budget_(BudgetFor(model, options.control)) {}

absl::StatusOr<std::unique_ptr<Graph>> Importer::Run() {
  return notices_.LogAfter([this] { return Import(); });
}

std::unique_ptr<Graph> Importer::Import() {
  auto graph = std::make_unique<Graph>("main");
  Scope scope{.graph = graph.get(), .body = &model_.body()};
  AddInputs(scope);
  AddOutputs(scope);
  OrThrow(not_supported_.status());
  importing::RemoveUnused(*graph, evaluator_);
  return graph;
}

void Importer::AddInputs(Scope& scope) {
  std::vector<DeclaredTensor> declared;
  for (const Endpoint& input : endpoints_.inputs) declared.push_back(Describe(input));
  const absl::StatusOr<std::vector<Shape>> bound =
      importing::BindShapes(declared, options_, {.channels_last = true});
  if (!bound.ok()) {
    // An unsupported model should be reported as such before asking for shapes.
    UnknownOperators(&functions_, &budget_, &not_supported_).Report(model_.body(), endpoints_);
    OrThrow(not_supported_.status());
  }
  const std::vector<Shape> shapes = OrThrow(bound);
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Endpoint& input = endpoints_.inputs[i];
    as_declared_ &= input.shape != nullptr && WholeShape(*input.shape) == shapes[i];
    AddInput(input, shapes[i], scope);
  }
}

void Importer::AddInput(const Endpoint& endpoint, const Shape& shape, Scope& scope) {
  const Reference reference = ParseReference(endpoint.tensor);
  if (model_.body().Find(reference.node) == nullptr) {
    Invalid("the input '", endpoint.name, "' is not a tensor of the graph: '", endpoint.tensor, "'");
  }
  const std::optional<DType> dtype = TypeOf(endpoint, not_supported_);
  Result& result = scope.results[reference.node];
  if (!dtype) {
    result.failed = true;
    return;
  }
  TensorType type(*dtype, shape);
  Value* value = importing::AddInput(*scope.graph, endpoint.name, std::move(type), options_, evaluator_);
  constexpr int kMaxOutputs = 1024;
  if (reference.index >= kMaxOutputs) Invalid("the input '", endpoint.name, "' is output ", reference.index);
  const auto count = static_cast<size_t>(reference.index) + 1;
  if (result.outputs.size() < count) result.outputs.resize(count);
  result.outputs[count - 1] = value;
}

void Importer::AddOutputs(Scope& scope) {
  std::set<std::string> names;
  for (const Endpoint& endpoint : endpoints_.outputs) {
    if (endpoint.tensor.empty()) {
      not_supported_.Add("Output", endpoint.name, "a tensor that is stored in parts (sparse or ragged)");
      continue;
    }
    const Binding binding = Demand(ParseReference(endpoint.tensor), scope);
    if (binding.failed) continue;
    if (binding.dead) Invalid("the output '", endpoint.name, "' belongs to a branch that is not taken");
    if (binding.value == nullptr) {
      not_supported_.Add("Output", endpoint.name, "it is not a tensor of numbers");
    } else if (!names.insert(endpoint.name).second) {
      Invalid("the output '", endpoint.name, "' is named twice");
    } else {
      scope.graph->AddOutput(endpoint.name, binding.value);
      if (as_declared_ && endpoint.shape != nullptr && !endpoint.shape->unknown_rank())
        notices_.Compare(endpoint.name, binding.value->type(), SizesOf(*endpoint.shape));
    }
  }
}

Tensor Importer::TensorOf(const TensorProto& proto) {
  const auto it = tensors_.find(&proto);
  if (it != tensors_.end()) return it->second;
  return tensors_[&proto] = constants_->Read(proto, budget_);
}

Binding Importer::Demand(const Reference& reference, Scope& scope) {
  DemandNode(reference.node, scope);
  return Lookup(reference, scope);
}

// Depth first without recursion, since a path may be as long as the model.
void Importer::DemandNode(std::string_view name, Scope& scope) {
  const DepthGuard guard(&depth_, kMaxCallDepth, "functions and loops");
  std::vector<std::string_view> stack = {name};
  std::unordered_set<std::string_view> entered;  // the unfinished ones are the path to the current node
  while (!stack.empty()) {
    const std::string_view current = stack.back();
    if (Find(scope, current) != nullptr) {
      stack.pop_back();
      continue;
    }
    const NodeDef* node = scope.body->Find(current);
    if (node == nullptr) Invalid("something uses '", current, "', which the model does not have");
    if (entered.insert(current).second) {
      for (std::string_view need : NeededNodes(*node, *scope.body)) {
        if (Find(scope, need) != nullptr) continue;
        if (entered.contains(need)) Invalid("the node '", need, "' depends on its own result");
        stack.push_back(need);
      }
      continue;
    }
    stack.pop_back();
    Result result = ImportNode(*node, scope);
    scope.results.insert_or_assign(node->name(), std::move(result));
  }
}

// The tensors that the node uses; sets `result` to failed or dead if one of them failed or belongs to a
// dead branch.
std::vector<Binding> Importer::GatherInputs(const NodeDef& node, const Scope& scope, Result& result) {
  std::vector<Binding> inputs;
  if (IsOp(node, "Exit")) return inputs;  // ExitLoop finds its inputs itself
  const bool merges = IsOp(node, "Merge");
  for (const std::string& input : node.input()) {
    const Reference reference = ParseReference(input);
    if (reference.control) {
      const Result* pivot = IsPivot(*scope.body, reference.node) ? Find(scope, reference.node) : nullptr;
      if (pivot == nullptr) continue;
      result.failed |= pivot->failed;
      result.dead |= pivot->dead || (!pivot->outputs.empty() && pivot->outputs[0].dead);
      continue;
    }
    inputs.push_back(Lookup(reference, scope));
    result.failed |= inputs.back().failed;
    result.dead |= inputs.back().dead && !merges;
  }
  return inputs;
}

Result Importer::ImportNode(const NodeDef& node, Scope& scope) {
  budget_.SpendNamed(NameBytes(node));
  const std::string name = ScopedName(scope.prefix, node.name());
  Result result;
  std::vector<Binding> inputs = GatherInputs(node, scope, result);
  if (result.dead) {
    result.failed = false;
    return result;
  }
  if (!result.failed) return CallOperator(node, name, std::move(inputs), scope);
  if (FindOp(node.op()) == nullptr && functions_.Find(node.op()) == nullptr) {
    not_supported_.Add(node.op(), name, kUnknownOperator);
  }
  return result;
}

Result Importer::CallOperator(const NodeDef& node, const std::string& name, std::vector<Binding> inputs,
                              Scope& scope) {
  Result result;
  absl::Status status;
  const OpRow* row = FindOp(node.op());
  try {
    if (row != nullptr) {
      OpContext context(this, &scope, &node, name, inputs);
      result.outputs = row->lower(context);
      FoldSmall(inputs, result.outputs, scope.graph, evaluator_);
    } else if (functions_.Find(node.op()) != nullptr) {
      result.outputs = Call(node.op(), &node.attr(), std::move(inputs), scope.graph, name);
    } else {
      status = NotSupported(kUnknownOperator);
    }
  } catch (const ImportFailure& failure) {
    status = failure.status;
  }
  if (status.ok() && as_declared_)
    CompareDeclared(node, model_.graph().versions().producer(), result.outputs, notices_);
  if (status.ok()) return result;
  if (absl::IsUnimplemented(status)) {
    not_supported_.Add(node.op(), name, status.message());
  } else if (!absl::IsCancelled(status)) {
    // Keep the message about the innermost call.
    if (absl::StartsWith(status.message(), "node '")) throw ImportFailure{status};
    throw ImportFailure{Annotate(status, absl::StrCat("node '", name, "' (", node.op(), ")"))};
  }
  result.outputs.clear();
  result.failed = true;
  return result;
}

Binding Importer::Lookup(const Reference& reference, const Scope& scope) {
  const Result* result = Find(scope, reference.node);
  if (result == nullptr) Invalid("something uses '", reference.node, "', which the model does not have");
  if (result->failed || result->dead) return Marked(result->failed, result->dead);
  const NodeDef* node = scope.body->Find(reference.node);
  const int index = node != nullptr ? OutputIndex(*node, reference, functions_) : reference.index;
  if (index < static_cast<int>(result->outputs.size())) return result->outputs[index];
  if (node == nullptr) Invalid("'", reference.node, "' has no output ", index);
  not_supported_.Add(node->op(), ScopedName(scope.prefix, node->name()), absl::StrCat("its output ", index));
  return Marked(true, false);
}

Outputs Importer::Call(const std::string& name, const AttributeMap* attributes,
                       std::vector<Binding> arguments, Graph* graph, const std::string& caller) {
  const FunctionDef* function = functions_.Find(name);
  if (function == nullptr) Unsupported("it calls the function '", name, "', which the model does not have");
  const OpDef& signature = function->signature();
  for (const auto& argument : signature.input_arg()) {
    if (!argument.number_attr().empty() || !argument.type_list_attr().empty()) {
      Unsupported("the function '", name, "' takes a list");
    }
  }
  if (signature.input_arg_size() != static_cast<int>(arguments.size())) {
    Invalid("the function '", name, "' takes ", signature.input_arg_size(), " arguments, it gets ",
            arguments.size());
  }
  Scope scope{.graph = graph,
              .body = &functions_.BodyOf(*function),
              .attributes = attributes,
              .prefix = caller + "/"};
  for (int i = 0; i < signature.input_arg_size(); ++i) {
    scope.results[signature.input_arg(i).name()].outputs = {std::move(arguments[i])};
  }
  Outputs outputs;
  bool failed = false;
  for (const auto& output : signature.output_arg()) {
    const auto source = function->ret().find(output.name());
    if (source == function->ret().end()) Invalid("the function '", name, "' does not say what it returns");
    outputs.push_back(Demand(ParseReference(source->second), scope));
    failed |= outputs.back().failed;
  }
  if (failed) throw ImportFailure{absl::CancelledError("reported")};
  return outputs;
}

Value* Importer::VariableValue(const NodeDef& variable, Graph* graph) {
  Value*& value = variable_values_[{graph, &variable}];
  if (value != nullptr) return value;
  Tensor tensor = OrThrow(variables_->Read(variable));
  OrThrow(CheckType(TensorType(tensor.dtype(), tensor.shape())));
  // Variables count like bytes in the graph's file.
  constexpr int64_t kCopies = 4;
  budget_.bytes += kCopies * tensor.num_bytes();
  return value = graph->AddConstant(std::move(tensor), ScopedName("", variable.name()));
}

Graph* Importer::NewRegion(const std::string& name) {
  return regions_.emplace_back(std::make_unique<Graph>(ScopedName("", name))).get();
}

}  // namespace attune::tensorflow
