#include "import/pytorch/importer.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_join.h"
#include "graph/infer.h"
#include "import/common/input_shapes.h"
#include "import/common/names.h"
#include "import/common/remove_unused.h"
#include "import/pytorch/inputs.h"
#include "import/pytorch/targets.h"

namespace attune::pytorch {
namespace {

constexpr int64_t kSchemaMajor = 8;
constexpr int kMaxDepth = 16;  // of nested graphs

// How much a small file may unroll and tabulate; the limit grows with the size of the file, including
// weights.
Budget BudgetFor(int64_t archive_bytes, const Json& program, const WorkControl& control) {
  const Json::array_t& nodes = ListField(Field(Field(program, "graph_module"), "graph"), "nodes");
  return {.nodes = 40'000 + 200 * static_cast<int64_t>(nodes.size()),
          .bytes = (int64_t{64} << 20) + 16 * archive_bytes,
          .control = control};
}

const Json& GraphOf(const Json& program) { return Field(Field(program, "graph_module"), "graph"); }

// The name of an operator in messages: "aten.conv2d.default".
std::string_view ShortTarget(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  if (target.starts_with(kPrefix)) target.remove_prefix(kPrefix.size());
  return target;
}

// The tensor that an in-place operator changes, or of which the result is a view.
const Item* FirstTensor(const NodeProgram& node) {
  for (const auto& [name, argument] : node.inputs) {
    if (argument.kind == Argument::Kind::kTensor) return &argument.items[0];
  }
  return nullptr;
}

}  // namespace

Importer::Importer(const Json* program, int64_t archive_bytes, std::string model, Weights* weights,
                   const PytorchImportOptions& options)
    : program_(program),
      model_(std::move(model)),
      options_(options),
      graph_(std::make_unique<Graph>(model_)),
      evaluator_(options.executor),
      budget_(BudgetFor(archive_bytes, *program, options.control)),
      weights_(weights) {}

absl::StatusOr<std::unique_ptr<Graph>> Importer::Run() {
  try {
    const int64_t major = IntField(Field(*program_, "schema_version"), "major");
    if (major != kSchemaMajor) {
      Unsupported(kNotSupportedMark, "Model schema_version: ", major, " is not the known version ",
                  kSchemaMajor);
    }
    Scope scope{.tensor_values = &Field(GraphOf(*program_), "tensor_values")};
    ImportInputs(scope);
    ImportNodes(GraphOf(*program_), scope);
    ImportOutputs(scope);
    if (!not_supported_.empty()) return not_supported_.status();
  } catch (const ImportFailure& failure) {
    return failure.status;
  }
  importing::RemoveUnused(*graph_, evaluator_);
  return std::move(graph_);
}

void Importer::Bind(Scope& scope, const std::string& name, Binding binding) {
  if (name.empty()) Invalid("a value of the program has no name");
  const auto [it, inserted] = scope.bindings.emplace(name, std::move(binding));
  if (!inserted) Invalid("the program makes '", name, "' twice");
  if (it->second.storage >= 0) scope.by_storage[it->second.storage].push_back(&it->second);
}

const Binding& Importer::Lookup(Scope& scope, const std::string& name) {
  const auto it = scope.bindings.find(name);
  if (it == scope.bindings.end()) {
    Invalid("it uses '", name,
            "', which nothing before it makes: the nodes form a cycle, are not in order, or one ",
            "is missing");
  }
  return it->second;
}

void Importer::ImportInputs(Scope& scope) {
  ImportUserInputs(scope);
  for (const Json& spec : ListField(Field(Field(*program_, "graph_module"), "signature"), "input_specs")) {
    const auto [kind, held] = ReadUnion(spec);
    if (kind != "user_input") ImportInput(kind, *held, scope);
  }
}

// An unsupported program should be reported as such before asking for shapes.
void Importer::ReportUnknown() {
  for (const Json& json : ListField(GraphOf(*program_), "nodes")) {
    const NodeProgram node = ReadNode(json);
    if (FindTarget(node.target).row == nullptr) {
      not_supported_.Add(ShortTarget(node.target), node.name, "no such operator");
    }
  }
}

void Importer::ImportUserInputs(Scope& scope) {
  const std::vector<UserInput> inputs = ReadUserInputs(*program_);
  for (const UserInput& input : inputs) {
    if (!input.unsupported.empty()) not_supported_.Add("Input", input.name, input.unsupported);
  }
  std::vector<DeclaredTensor> declared;
  for (const UserInput& input : inputs)
    if (input.meta) declared.push_back(Describe(input.name, *input.meta));
  const absl::StatusOr<std::vector<Shape>> bound =
      importing::BindShapes(declared, options_,
                            {.what = "program",
                             .has_unique_symbols = true,
                             .advice = "; torch.export.export leaves open what dynamic_shapes names"});
  if (!not_supported_.empty() || !bound.ok()) {
    ReportUnknown();
    OrThrow(not_supported_.status());
  }
  const std::vector<Shape> shapes = OrThrow(bound);
  // All of them are tensors of supported types.
  for (size_t i = 0; i < inputs.size(); ++i) {
    const UserInput& input = inputs[i];
    TensorType type(*DTypeFromTorch(input.meta->scalar_type), shapes[i]);
    Binding binding = importing::AddInput(*graph_, input.name, std::move(type), options_, evaluator_);
    storages_.PlaceNew(binding);
    Bind(scope, input.name, binding);
  }
}

// The kinds of inputs that are weights, and the field with the name of the weight.
void Importer::ImportInput(const std::string& kind, const Json& spec, Scope& scope) {
  constexpr std::pair<std::string_view, std::string_view> kWeights[] = {
      {"parameter", "parameter_name"},
      {"buffer", "buffer_name"},
      {"tensor_constant", "tensor_constant_name"}};
  for (const auto& [known, field] : kWeights) {
    if (kind == known)
      return ImportWeight(TextField(Field(spec, "arg"), "name"), TextField(spec, field), scope);
  }
  Binding binding;
  if (kind == "constant_input") {
    const Argument argument = ReadArgument(Field(spec, "value"));
    if (argument.kind == Argument::Kind::kNumber) binding.number = argument.items[0].number;
    if (!binding.number) binding.unusable = "is neither a tensor nor a number";
    return Bind(scope, TextField(spec, "name"), binding);
  }
  binding.unusable = absl::StrCat("is of the kind ", kind);
  Bind(scope, TextField(Field(spec, "arg"), "name"), binding);
}

void Importer::ImportWeight(const std::string& name, const std::string& weight, Scope& scope) {
  Binding binding;
  storages_.PlaceWeight(binding, weight);
  try {
    budget_.SpendNodes();
    Tensor data = weights_->Load(weight, budget_);
    OrThrow(CheckType(TensorType(data.dtype(), data.shape())));
    binding.value = graph_->AddConstant(std::move(data), name);
    CheckDeclared(name, binding.value, scope);
  } catch (const ImportFailure& failure) {
    if (!absl::IsUnimplemented(failure.status)) throw;
    // Not reported here, since a program may have weights that nothing uses.
    binding.unusable = absl::StrCat("cannot be read: ", failure.status.message());
  }
  Bind(scope, name, binding);
}

Outputs Importer::ImportBody(const Json& body, std::vector<Binding> inputs, Scope* caller,
                             std::string prefix) {
  if (depth_ == kMaxDepth) Invalid("graphs nest more than ", kMaxDepth, " deep");
  Scope scope{.caller = caller, .tensor_values = &Field(body, "tensor_values"), .prefix = std::move(prefix)};
  const Json& parameters = ListField(body, "inputs");
  if (parameters.size() != inputs.size()) {
    Invalid("its graph takes ", parameters.size(), " inputs, it gets ", inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Argument parameter = ReadArgument(parameters[i]);
    if (parameter.items.size() == 1 && !parameter.items[0].name.empty()) {
      Bind(scope, parameter.items[0].name, std::move(inputs[i]));
    }
  }
  ++depth_;
  ImportNodes(body, scope);
  --depth_;
  Outputs outputs;
  for (const Json& output : ListField(body, "outputs")) {
    for (const Item& item : ReadArgument(output).items) {
      outputs.push_back(item.number ? Binding(*item.number) : Lookup(scope, item.name));
      if (outputs.back().failed) throw ImportFailure{absl::CancelledError("reported")};
    }
  }
  return outputs;
}

void Importer::ImportNodes(const Json& body, Scope& scope) {
  for (const Json& node : ListField(body, "nodes")) ImportNode(node, scope);
}

void Importer::ImportNode(const Json& json, Scope& scope) {
  budget_.SpendNodes();
  const NodeProgram node = ReadNode(json);
  const std::string name = ScopedName(scope.prefix, node.name);
  const Target target = FindTarget(node.target);
  try {
    Outputs outputs;
    if (CheckArguments(node, name, target.row, scope)) outputs = CallOperator(node, name, *target.row, scope);
    if (target.in_place && !outputs.empty() && outputs[0].value != nullptr) Mutate(node, outputs[0], scope);
    BindOutputs(node, std::move(outputs), scope);
  } catch (const ImportFailure& failure) {
    if (absl::IsResourceExhausted(failure.status)) throw;
    throw ImportFailure{
        Annotate(failure.status, absl::StrCat("node '", name, "' (", ShortTarget(node.target), ")"))};
  }
}

bool Importer::CheckArguments(const NodeProgram& node, const std::string& name, const Row* row,
                              Scope& scope) {
  bool usable = row != nullptr;
  if (row == nullptr) not_supported_.Add(ShortTarget(node.target), name, "no such operator");
  for (const auto& [argument_name, argument] : node.inputs) {
    for (const Item& item : argument.items) {
      if (item.name.empty()) continue;
      const Binding& binding = Lookup(scope, item.name);
      if (!binding.unusable.empty()) {
        not_supported_.Add(ShortTarget(node.target), name,
                           absl::StrCat("its argument '", item.name, "' ", binding.unusable));
      }
      usable &= !binding.failed && binding.unusable.empty();
    }
  }
  return usable;
}

Outputs Importer::CallOperator(const NodeProgram& node, const std::string& name, const Row& row,
                               Scope& scope) {
  try {
    OpContext context(this, &scope, &node, name);
    Outputs outputs = row.lower(context);
    const Item* first = FirstTensor(node);
    for (Binding& output : outputs) {
      if (output.value == nullptr || output.storage >= 0) continue;
      if (first != nullptr) {
        storages_.Place(output, Lookup(scope, first->name), row.memory);
      } else {
        storages_.PlaceNew(output);
      }
    }
    if (outputs.empty()) outputs.emplace_back();  // an assertion, whose output cannot be used
    return outputs;
  } catch (const ImportFailure& failure) {
    if (absl::IsUnimplemented(failure.status)) {
      not_supported_.Add(ShortTarget(node.target), name, failure.status.message());
    } else if (!absl::IsCancelled(failure.status)) {
      throw;
    }
    return {};
  }
}

// Empty `outputs`: the node is not supported, which has been reported.
void Importer::BindOutputs(const NodeProgram& node, Outputs outputs, Scope& scope) {
  size_t next = 0;
  for (const Argument& output : node.outputs) {
    if (output.kind == Argument::Kind::kNone) ++next;
    for (const Item& item : output.items) {
      Binding binding;
      if (outputs.empty() || (next < outputs.size() && outputs[next].failed)) {
        binding.failed = true;
      } else if (next < outputs.size() && (outputs[next].value != nullptr || outputs[next].number)) {
        binding = std::move(outputs[next]);
        if (binding.value != nullptr) CheckDeclared(item.name, binding.value, scope);
      } else {
        binding.unusable =
            absl::StrCat("is output ", next, " of ", ShortTarget(node.target), ", which is not supported");
      }
      ++next;
      Bind(scope, item.name, std::move(binding));
    }
  }
}

void Importer::CheckDeclared(const std::string& name, const Value* value, const Scope& scope) {
  const Json* declared = OptionalField(*scope.tensor_values, name);
  if (declared == nullptr) return;
  const TensorMeta meta = ReadTensorMeta(*declared);
  const TensorType& type = value->type();
  bool fits = DTypeFromTorch(meta.scalar_type) == type.dtype && std::ssize(meta.sizes) == type.rank();
  for (size_t i = 0; fits && i < meta.sizes.size(); ++i) {
    fits = !meta.sizes[i].value || *meta.sizes[i].value == type.dims[i].size;
  }
  if (fits) return;
  Invalid("'", name, "' is ", ToString(type), ", but the program says ", TorchTypeName(meta.scalar_type), "[",
          absl::StrJoin(meta.sizes, ",",
                        [](std::string* out, const SymbolicInt& size) {
                          absl::StrAppend(out, size.value ? absl::StrCat(*size.value) : "?");
                        }),
          "]");
}

void Importer::Mutate(const NodeProgram& node, Binding& result, Scope& scope) {
  const Item* self = FirstTensor(node);
  if (self == nullptr) Invalid("it changes nothing that is a tensor");
  const Binding changed = Lookup(scope, self->name);
  result.storage = changed.storage;
  result.tensor = changed.tensor;
  if (result.value == changed.value) return;
  if (const std::string* weight = storages_.WeightIn(changed.storage)) {
    not_supported_.Add(ShortTarget(node.target), ScopedName(scope.prefix, node.name),
                       absl::StrCat("it changes '", *weight, "', which would last until the next run; ",
                                    "export the model after model.eval()"));
    result = Binding();
    result.failed = true;
    return;
  }
  Emitter emitter(graph_.get(), &budget_, &evaluator_, ScopedName(scope.prefix, node.name));
  result.value = emitter.Cast(result.value, changed.value->type().dtype);
  if (result.value->type() != changed.value->type()) {
    Invalid("it changes ", ToString(changed.value->type()), " to ", ToString(result.value->type()),
            " in place");
  }
  for (Scope* reached = &scope; reached != nullptr; reached = reached->caller) {
    const auto sharing = reached->by_storage.find(changed.storage);
    if (sharing == reached->by_storage.end()) continue;
    budget_.SpendNodes(std::ssize(sharing->second) / 64);
    for (Binding* binding : sharing->second) {
      if (binding->tensor == changed.tensor) {
        binding->value = result.value;
      } else if (binding->unusable.empty()) {
        binding->unusable = absl::StrCat("shares memory with '", self->name, "', which '", node.name,
                                         "' has changed in place");
      }
    }
  }
}

void Importer::ImportOutputs(Scope& scope) {
  std::set<std::string> names;
  for (const Json& spec : ListField(Field(Field(*program_, "graph_module"), "signature"), "output_specs")) {
    const auto [kind, held] = ReadUnion(spec);
    if (kind == "token") continue;
    Argument argument;
    if (kind == "user_output") argument = ReadArgument(Field(*held, "arg"));
    const std::string shown = argument.items.empty() ? kind : argument.items[0].name;
    if (kind != "user_output") {
      not_supported_.Add("Output", kind,
                         "a program that changes what outlives a run; export it after model.eval()");
    } else if (argument.kind == Argument::Kind::kTensor) {
      const Binding& binding = Lookup(scope, shown);
      if (binding.failed) continue;
      if (binding.value == nullptr || !binding.unusable.empty()) {
        not_supported_.Add("Output", shown,
                           binding.unusable.empty() ? "it is not a tensor" : binding.unusable);
        continue;
      }
      std::string unique = shown;
      for (int i = 1; !names.insert(unique).second; ++i) {
        budget_.SpendNodes();
        unique = absl::StrCat(shown, "_", i);
      }
      graph_->AddOutput(unique, binding.value);
    } else if (argument.kind != Argument::Kind::kNone) {
      not_supported_.Add("Output", shown, "it is neither a tensor nor None");
    }
  }
}

}  // namespace attune::pytorch
