#include "import/onnx/importer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "graph/infer.h"
#include "import/common/depth_guard.h"
#include "import/common/input_shapes.h"
#include "import/common/names.h"
#include "import/common/remove_unused.h"
#include "import/onnx/inputs.h"
#include "import/onnx/ops.h"
#include "import/onnx/tensor_proto.h"

namespace attune::onnx {
namespace {

constexpr int64_t kNewestOpset = 26;
constexpr int64_t kNewestIrVersion = 14;
// The maximum nesting of function calls and subgraphs.
constexpr int kMaxDepth = 48;

Opsets OpsetsOf(const google::protobuf::RepeatedPtrField<OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const auto& opset : imports) opsets[std::string(CanonicalDomain(opset.domain()))] = opset.version();
  return opsets;
}

// The name of a node in messages: its own, or else that of its first output.
std::string NameOf(const NodeProto& node, const Scope& scope) {
  if (!node.name().empty()) return ScopedName(scope.prefix, node.name());
  for (const auto& output : node.output()) {
    if (!output.empty()) return ScopedName(scope.prefix, output);
  }
  return ScopedName(scope.prefix, "(unnamed)");
}

// The size of all names that an expansion of the node looks up.
size_t NameBytes(const NodeProto& node) {
  size_t bytes = node.name().size();
  for (const auto& input : node.input()) bytes += input.size();
  for (const auto& output : node.output()) bytes += output.size();
  return bytes;
}

// How much a small file may unroll and tabulate; the limit grows with the size of the file.
Budget BudgetFor(const OnnxModel& model, const WorkControl& control) {
  const GraphProto& graph = model.proto().graph();
  const int64_t own = graph.node_size() + graph.initializer_size();
  return {
      .nodes = 40'000 + 200 * own, .bytes = (int64_t{16} << 20) + 16 * model.num_bytes(), .control = control};
}

// Adds the opset that a file of an early version omits.
void CheckVersions(const ModelProto& model, Opsets& opsets) {
  if (model.ir_version() < 1 || model.ir_version() > kNewestIrVersion) {
    Unsupported(kNotSupportedMark, "Model ir_version: ", model.ir_version(),
                " is not among the known versions 1 to ", kNewestIrVersion);
  }
  // Files of IR version 1 and 2 may omit it.
  if (!opsets.contains("")) {
    if (model.ir_version() >= 3 && opsets.empty()) Invalid("the model does not say which opset it uses");
    opsets[""] = 1;
  }
  if (opsets[""] > kNewestOpset) {
    Unsupported(kNotSupportedMark, "Model opset_import: opset ", opsets[""], " is newer than ", kNewestOpset);
  }
}

void CompareDeclared(const std::string& name, const Value* value, const Scope& scope, ShapeNotices& notices) {
  if (scope.declared == nullptr) return;
  if (const std::optional<Shape> declared = scope.declared->Find(name))
    notices.Compare(name, value->type(), *declared);
}

// Reports the unknown operators in a node that cannot be imported, and in its subgraphs.
void ReportUnknown(const NodeProto& node, const Scope& scope, const FunctionTable& functions,
                   NotSupportedList& not_supported) {
  const std::string_view domain = CanonicalDomain(node.domain());
  const auto opset = scope.opsets->find(domain);
  const int64_t version = opset != scope.opsets->end() ? opset->second : 1;
  if (functions.Find(node) == nullptr && FindLowering(domain, node.op_type(), version) == nullptr) {
    not_supported.Add(node.op_type(), NameOf(node, scope),
                      absl::StrCat("no such operator in opset ", version, " of domain '",
                                   domain.empty() ? "ai.onnx" : domain, "'"));
  }
  for (const AttributeProto& attribute : node.attribute()) {
    for (const NodeProto& inner : attribute.g().node()) ReportUnknown(inner, scope, functions, not_supported);
  }
}

}  // namespace

const AttributeProto* ResolveAttribute(const AttributeProto& attribute, const Scope& scope) {
  if (attribute.ref_attr_name().empty()) return &attribute;
  if (scope.attributes == nullptr) return nullptr;
  const auto it = scope.attributes->find(attribute.ref_attr_name());
  return it != scope.attributes->end() ? it->second : nullptr;
}

Importer::Importer(OnnxModel* model, const OnnxImportOptions& options)
    : model_(model),
      proto_(model->proto()),
      options_(options),
      opsets_(OpsetsOf(proto_.opset_import())),
      functions_(proto_),
      evaluator_(options.executor),
      budget_(BudgetFor(*model, options.control)) {}

absl::StatusOr<std::unique_ptr<Graph>> Importer::Run() {
  return notices_.LogAfter([this] { return Import(); });
}

std::unique_ptr<Graph> Importer::Import() {
  auto graph = std::make_unique<Graph>(proto_.graph().name());
  Scope scope{.graph = graph.get(), .opsets = &opsets_};
  CheckVersions(proto_, opsets_);
  ImportInputs(scope);
  const std::vector<Binding> outputs = ImportBody(proto_.graph(), scope);
  OrThrow(not_supported_.status());
  std::set<std::string> names;
  for (int i = 0; i < proto_.graph().output_size(); ++i) {
    const std::string& name = proto_.graph().output(i).name();
    if (!names.insert(name).second) Invalid("the model has two outputs named '", name, "'");
    if (outputs[i].sequence) Unsupported(kNotSupportedMark, "Graph ", name, ": an output that is a sequence");
    graph->AddOutput(name, outputs[i].value);
    CompareDeclared(name, outputs[i].value, scope, notices_);
  }
  RemoveUnused(*graph, evaluator_);
  return graph;
}

// An unsupported model should be reported as such before asking for shapes.
std::vector<Shape> Importer::InputShapes(const std::vector<const ValueInfoProto*>& inputs, Scope& scope) {
  std::vector<DeclaredTensor> declared;
  for (const ValueInfoProto* input : inputs) declared.push_back(DescribeValue(*input));
  absl::StatusOr<std::vector<Shape>> shapes = importing::BindShapes(declared, options_);
  if (shapes.ok()) return *std::move(shapes);
  for (const NodeProto& node : proto_.graph().node()) ReportUnknown(node, scope, functions_, not_supported_);
  OrThrow(not_supported_.status());
  throw ImportFailure{shapes.status()};
}

void Importer::ImportInputs(Scope& scope) {
  const std::vector<const ValueInfoProto*> inputs = RealInputs(proto_.graph());
  for (const ValueInfoProto* input : inputs) {
    const std::string type = DescribeValue(*input).dtype;
    if (!ParseDType(type)) not_supported_.Add("Input", input->name(), absl::StrCat("its type is ", type));
  }
  if (!not_supported_.empty()) {
    for (const ValueInfoProto* input : inputs) scope.bindings[input->name()].failed = true;
    return;
  }
  const std::vector<Shape> shapes = InputShapes(inputs, scope);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = inputs[i]->name();
    if (scope.bindings.contains(name)) Invalid("the model has two inputs named '", name, "'");
    const int element = inputs[i]->type().tensor_type().elem_type();
    TensorType type(*DTypeFromOnnx(element), shapes[i]);
    Binding& binding = scope.bindings[name] =
        importing::AddInput(*scope.graph, name, std::move(type), options_, evaluator_);
    binding.type = element;
  }
}

Tensor Importer::TensorOf(const TensorProto& proto) { return OrThrow(model_->TensorOf(proto)); }

void Importer::ImportInitializers(const GraphProto& graph, Scope& scope) {
  const auto bind = [this, &scope](const std::string& name, int type, const auto& make) {
    const auto [it, inserted] = scope.bindings.try_emplace(name);
    if (!inserted) Invalid("two initializers, or an initializer and an input, are named '", name, "'");
    it->second.type = type;
    try {
      it->second.value = make();
    } catch (const ImportFailure& failure) {
      if (!absl::IsUnimplemented(failure.status)) throw;
      it->second.failed = true;
      not_supported_.Add("Initializer", name, failure.status.message());
    }
  };
  const bool is_main = &graph == &proto_.graph();
  for (int i = 0; i < graph.initializer_size(); ++i) {
    const TensorProto& tensor = graph.initializer(i);
    bind(tensor.name(), tensor.data_type(), [&] {
      budget_.SpendNamed(tensor.name().size());
      Tensor data = is_main ? OrThrow(model_->Initializer(i)) : TensorOf(tensor);
      OrThrow(CheckType(TensorType(data.dtype(), data.shape())));
      return scope.graph->AddConstant(std::move(data), ScopedName("", tensor.name()));
    });
  }
  for (const SparseTensorProto& tensor : graph.sparse_initializer()) {
    const std::string& name = tensor.values().name();
    bind(name, tensor.values().data_type(),
         [&] { return OpContext(this, &scope, nullptr, 0, name, {}).SparseConstant(tensor); });
  }
}

const Graph& Importer::Keep(std::unique_ptr<Graph> region) {
  return *regions_.emplace_back(std::move(region));
}

const DeclaredShapes* Importer::ShapesToCompare(const GraphProto& body, const Scope& scope) {
  if (scope.parent != nullptr && scope.parent->declared == nullptr) return nullptr;
  for (const ValueInfoProto& input : body.input()) {
    const auto bound = scope.bindings.find(input.name());
    if (bound == scope.bindings.end() || bound->second.value == nullptr) continue;
    const TensorType& type = bound->second.value->type();
    if (!type.is_static() || DeclaredShape(input) != type.shape()) return nullptr;
  }
  return &declared_.try_emplace(&body, body).first->second;
}

std::vector<Binding> Importer::ImportBody(const GraphProto& body, Scope& scope) {
  const DepthGuard guard(&depth_, kMaxDepth, "functions and subgraphs");
  scope.declared = ShapesToCompare(body, scope);
  ImportInitializers(body, scope);
  for (const NodeProto& node : body.node()) ImportNode(node, scope);
  std::vector<Binding> outputs;
  for (const ValueInfoProto& output : body.output()) {
    const Binding* binding = Lookup(scope, output.name());
    if (binding == nullptr)
      Invalid("nothing makes the output '", output.name(), "' of graph '", body.name(), "'");
    outputs.push_back(*binding);
  }
  return outputs;
}

const Binding* Importer::Lookup(Scope& scope, const std::string& name) {
  if (const auto it = scope.bindings.find(name); it != scope.bindings.end()) return &it->second;
  if (scope.parent == nullptr) return nullptr;
  const Binding* outer = Lookup(*scope.parent, name);
  if (outer == nullptr || scope.graph == scope.parent->graph) return outer;

  const auto capture = [&](Value* value) {
    if (value == nullptr) return value;
    Value*& inner = scope.captures[value];
    if (inner != nullptr) return inner;
    if (const Tensor* data = value->constant()) return inner = scope.graph->AddConstant(*data);
    inner = scope.graph->AddInput(absl::StrCat("captured", scope.captured->size()), value->type());
    scope.captured->push_back(value);
    evaluator_.SetAlias(inner, value);
    return inner;
  };
  Binding binding = *outer;
  binding.value = capture(binding.value);
  if (binding.sequence) {
    for (Value*& value : *binding.sequence) value = capture(value);
  }
  return &(scope.bindings[name] = std::move(binding));
}

std::vector<Binding> Importer::GatherInputs(const NodeProto& node, const std::string& name, Scope& scope) {
  std::vector<Binding> inputs;
  for (const std::string& input : node.input()) {
    if (input.empty()) {
      inputs.emplace_back();
      continue;
    }
    const Binding* binding = Lookup(scope, input);
    if (binding == nullptr) {
      Invalid(
          "node '", name, "' (", node.op_type(), ") uses '", input,
          "', which nothing before it makes: the nodes form a cycle, are not in order, or one is missing");
    }
    inputs.push_back(*binding);
  }
  while (!inputs.empty() && node.input(static_cast<int>(inputs.size()) - 1).empty()) inputs.pop_back();
  return inputs;
}

void Importer::ImportNode(const NodeProto& node, Scope& scope) {
  budget_.SpendNamed(NameBytes(node));
  const std::string name = NameOf(node, scope);
  std::vector<Binding> inputs = GatherInputs(node, name, scope);
  Outputs outputs;
  if (std::any_of(inputs.begin(), inputs.end(), [](const Binding& input) { return input.failed; })) {
    ReportUnknown(node, scope, functions_, not_supported_);
    outputs.resize(node.output_size());
    for (Binding& output : outputs) output.failed = true;
  } else {
    const FunctionProto* function = functions_.Find(node);
    outputs = function != nullptr ? CallFunction(*function, node, name, std::move(inputs), scope)
                                  : CallOperator(node, name, std::move(inputs), scope);
  }
  BindOutputs(node, std::move(outputs), scope);
}

Outputs Importer::CallOperator(const NodeProto& node, const std::string& name, std::vector<Binding> inputs,
                               Scope& scope) {
  const std::string_view domain = CanonicalDomain(node.domain());
  const auto opset = scope.opsets->find(domain);
  const int64_t version = opset != scope.opsets->end() ? opset->second : 1;
  absl::Status status;
  if (Lowering* lower = FindLowering(domain, node.op_type(), version)) {
    std::vector<Value*> values;
    for (const Binding& input : inputs) values.push_back(input.value);
    try {
      OpContext context(this, &scope, &node, version, name, std::move(inputs));
      Outputs outputs = lower(context);
      bool complete = true;
      for (int i = static_cast<int>(outputs.size()); i < node.output_size(); ++i)
        complete &= node.output(i).empty();
      if (complete) return outputs;
      status = NotSupported("its output ", outputs.size());
    } catch (const ImportFailure& failure) {
      status = AsFailureOf(values, failure.status);
    }
  } else {
    status = NotSupported("no such operator in opset ", version, " of domain '",
                          domain.empty() ? "ai.onnx" : domain, "'");
  }
  if (absl::IsUnimplemented(status)) {
    not_supported_.Add(node.op_type(), name, status.message());
  } else if (!absl::IsCancelled(status)) {
    throw ImportFailure{Annotate(status, absl::StrCat("node '", name, "' (", node.op_type(), ")"))};
  }
  Outputs failed(node.output_size());
  for (Binding& output : failed) output.failed = true;
  return failed;
}

Outputs Importer::CallFunction(const FunctionProto& function, const NodeProto& node, const std::string& name,
                               std::vector<Binding> inputs, Scope& scope) {
  const DepthGuard guard(&depth_, kMaxDepth, "functions and subgraphs");
  if (static_cast<int>(inputs.size()) > function.input_size() ||
      node.output_size() > function.output_size()) {
    Invalid("node '", name, "' (", node.op_type(), ") has more inputs or outputs than the function it calls");
  }
  AttributeFrame frame;
  for (const AttributeProto& attribute : function.attribute_proto()) frame[attribute.name()] = &attribute;
  for (const AttributeProto& attribute : node.attribute()) {
    if (const AttributeProto* resolved = ResolveAttribute(attribute, scope))
      frame[attribute.name()] = resolved;
  }
  Opsets opsets = OpsetsOf(function.opset_import());
  if (opsets.empty()) opsets = *scope.opsets;
  Scope body{.graph = scope.graph, .opsets = &opsets, .attributes = &frame, .prefix = name + "/"};
  for (int i = 0; i < function.input_size(); ++i) {
    // A trailing input that the call omits is also absent in the function.
    body.bindings[function.input(i)] = i < static_cast<int>(inputs.size()) ? std::move(inputs[i]) : Binding();
  }
  for (const NodeProto& inner : function.node()) ImportNode(inner, body);
  Outputs outputs;
  for (const std::string& output : function.output()) {
    const Binding* binding = Lookup(body, output);
    if (binding == nullptr)
      Invalid("nothing makes the output '", output, "' of function '", function.name(), "'");
    outputs.push_back(*binding);
  }
  return outputs;
}

void Importer::BindOutputs(const NodeProto& node, Outputs outputs, Scope& scope) {
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const auto [it, inserted] = scope.bindings.try_emplace(node.output(i));
    if (!inserted) {
      Invalid("node '", NameOf(node, scope), "' (", node.op_type(), ") makes '", node.output(i),
              "', which exists already");
    }
    it->second = std::move(outputs[i]);
    if (it->second.value != nullptr) CompareDeclared(it->first, it->second.value, scope, notices_);
  }
}

}  // namespace attune::onnx
