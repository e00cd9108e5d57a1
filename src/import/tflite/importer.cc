#include "import/tflite/importer.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/face.h"
#include "graph/infer.h"
#include "import/common/input_shapes.h"
#include "import/common/names.h"
#include "import/common/remove_unused.h"
#include "import/tflite/ops.h"

namespace attune::tflite {
namespace {

// How much a small file may unroll and tabulate; the limit grows with the size of the file.
Budget BudgetFor(const Model& model, const WorkControl& control) {
  return {.nodes = 40'000 + 200 * model.num_operators(),
          .bytes = (int64_t{16} << 20) + 16 * model.num_bytes(),
          .control = control};
}

constexpr int kMaxDepth = 48;

// Marks a subgraph as being imported during its lifetime.
class Guard {
 public:
  Guard(std::vector<bool>& active, int& depth, int subgraph)
      : active_(active), depth_(depth), subgraph_(subgraph) {
    active_[subgraph_] = true;
    ++depth_;
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() {
    active_[subgraph_] = false;
    --depth_;
  }

 private:
  std::vector<bool>& active_;
  int& depth_;
  int subgraph_;
};

const schema::Tensor& TensorOf(const Model& model, const Scope& scope, int index) {
  return model.tensor(scope.subgraph, index);
}

std::string TensorName(const Model& model, const Scope& scope, int64_t index) {
  std::string name = NameOf(TensorOf(model, scope, static_cast<int>(index)).name());
  return name.empty() ? absl::StrCat("tensor", index) : name;
}

// The name of an operator in messages: its first output, which usually contains the name of the layer.
std::string NodeName(const Model& model, const schema::Operator& node, const Scope& scope) {
  for (int64_t output : ToInts(node.outputs())) {
    if (output >= 0) return ScopedName(scope.prefix, TensorName(model, scope, output));
  }
  return ScopedName(scope.prefix, "(unnamed)");
}

// The initial content of a variable tensor: zeros, or for i8, the integer that represents 0.
Value* InitialState(const schema::Tensor& tensor, Emitter& emitter) {
  const DType dtype = RequireDType(tensor.type());
  const std::optional<Quantization> q = QuantizationOf(tensor);
  const double zero = dtype == DType::kI8 && q ? static_cast<double>(q->zeros[0]) : 0;
  return emitter.Filled(dtype, zero, RequireShape(tensor));
}

// The tensors' names in a signature's table.
std::map<int64_t, std::string> SignatureNames(
    const flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>* table) {
  std::map<int64_t, std::string> names;
  for (int64_t i = 0; i < SizeOf(table); ++i) {
    const schema::TensorMap& entry = *table->Get(static_cast<uint32_t>(i));
    names.emplace(entry.tensor_index(), NameOf(entry.name()));
  }
  return names;
}

// Unique names for a subgraph's inputs or outputs: those in `names` (by tensor; from a signature), else the
// tensors' own, else "<what>0", ….
std::vector<std::string> UniqueNames(const Model& model, int subgraph, const Ints& tensors,
                                     const std::map<int64_t, std::string>& names, std::string_view what) {
  std::vector<std::string> result;
  std::set<std::string> known;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto given = names.find(tensors[i]);
    std::string name = given != names.end()
                           ? given->second
                           : NameOf(model.tensor(subgraph, static_cast<int>(tensors[i])).name());
    if (name.empty() || known.contains(name)) name = absl::StrCat(what, i);
    while (!known.insert(name).second) name += "_";
    result.push_back(std::move(name));
  }
  return result;
}

// Why an operator of this row is refused whatever its operands are; nothing if it is not.
std::optional<std::string> RefusalOf(const Row* row) {
  if (row == nullptr) return "no such operator is known";
  return row->lower == nullptr ? std::optional<std::string>(row->refused) : std::nullopt;
}

}  // namespace

Entry FindEntry(const Model& model, const std::string& signature) {
  Entry entry;
  std::map<int64_t, std::string> inputs;
  std::map<int64_t, std::string> outputs;
  if (!signature.empty()) {
    const auto* signatures = model.root().signature_defs();
    const schema::SignatureDef* found = nullptr;
    std::vector<std::string> keys;
    for (int64_t i = 0; i < SizeOf(signatures); ++i) {
      const schema::SignatureDef* known = signatures->Get(static_cast<uint32_t>(i));
      keys.push_back(NameOf(known->signature_key()));
      if (keys.back() == signature) found = known;
    }
    if (found == nullptr) {
      Invalid("the model has no signature '", signature, "', it has: ", absl::StrJoin(keys, ", "));
    }
    entry.subgraph = static_cast<int>(found->subgraph_index());
    inputs = SignatureNames(found->inputs());
    outputs = SignatureNames(found->outputs());
  }
  const schema::SubGraph& body = model.subgraph(entry.subgraph);
  entry.inputs = UniqueNames(model, entry.subgraph, ToInts(body.inputs()), inputs, "input");
  entry.outputs = UniqueNames(model, entry.subgraph, ToInts(body.outputs()), outputs, "output");
  return entry;
}

Importer::Importer(const Model* model, TensorData* data, const TfliteImportOptions& options)
    : model_(model),
      data_(data),
      options_(options),
      evaluator_(options.executor),
      budget_(BudgetFor(*model, options.control)),
      active_(model->num_subgraphs()) {}

absl::StatusOr<std::unique_ptr<Graph>> Importer::Run() {
  return notices_.LogAfter([this] { return Import(); });
}

std::unique_ptr<Graph> Importer::Import() {
  const Entry entry = FindEntry(*model_, options_.signature);
  const schema::SubGraph& body = model_->subgraph(entry.subgraph);
  auto graph = std::make_unique<Graph>(NameOf(body.name()));
  Scope scope{.subgraph = entry.subgraph, .graph = graph.get()};
  ImportInputs(entry, scope);
  const std::vector<Binding> outputs = ImportBody(scope);
  OrThrow(not_supported_.status());
  for (size_t i = 0; i < outputs.size(); ++i) graph->AddOutput(entry.outputs[i], outputs[i].value);
  RemoveUnused(*graph, evaluator_);
  return graph;
}

// An unsupported model should be reported as such before asking for shapes.
void Importer::ReportUnknown(const Scope& scope) {
  const schema::SubGraph& body = model_->subgraph(scope.subgraph);
  for (int64_t i = 0; i < SizeOf(body.operators()); ++i) {
    const schema::Operator& node = *body.operators()->Get(static_cast<uint32_t>(i));
    const std::string op = model_->OperatorName(node);
    const std::optional<std::string> refusal = RefusalOf(FindRow(model_->CodeOf(node), op));
    if (refusal) not_supported_.Add(op, NodeName(*model_, node, scope), *refusal);
  }
  OrThrow(not_supported_.status());
}

Shape Importer::InputShape(const std::string& name, const schema::Tensor& tensor, const Scope& scope) {
  const auto shape = options_.input_shapes.find(name);
  const auto value = options_.input_values.find(name);
  if (shape == options_.input_shapes.end() && value == options_.input_values.end()) {
    const Ints stated = ToInts(tensor.shape());
    if (std::any_of(stated.begin(), stated.end(), [](int64_t dim) { return dim == -1; })) {
      ReportUnknown(scope);
      Invalid("the model leaves dimensions of input '", name, "' open: [", absl::StrJoin(stated, ","),
              "]; give its shape, for example ",
              ShapesAsGiven(
                  std::vector{importing::ExampleShape(Describe(tensor, name), {.channels_last = true})}));
    }
    return RequireShape(tensor);
  }
  const Shape given = shape != options_.input_shapes.end() ? shape->second : value->second.shape();
  const int64_t rank = SizeOf(tensor.shape());
  const bool known_rank = rank > 0 || tensor.has_rank();
  if (!CheckedProduct(given) || (known_rank && rank != static_cast<int64_t>(given.size()))) {
    Invalid("input '", name, "' is [", absl::StrJoin(ToInts(tensor.shape()), ","), "] in the model, but [",
            absl::StrJoin(given, ","), "] was given");
  }
  return given;
}

void Importer::ImportInputs(const Entry& entry, Scope& scope) {
  const schema::SubGraph& body = model_->subgraph(scope.subgraph);
  const Ints tensors = ToInts(body.inputs());
  scope.bindings.resize(SizeOf(body.tensors()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string& name = entry.inputs[i];
    const schema::Tensor& tensor = TensorOf(*model_, scope, static_cast<int>(tensors[i]));
    Binding& binding = scope.bindings[tensors[i]];
    if (binding.value != nullptr || binding.failed) Invalid("input ", i, " is an input twice");
    const std::optional<DType> dtype = DTypeOf(tensor.type());
    if (!dtype) {
      not_supported_.Add("Input", name, absl::StrCat("its type is ", TypeName(tensor.type())));
      binding.failed = true;
      continue;
    }
    TensorType type(*dtype, InputShape(name, tensor, scope));
    scope.as_declared &= type.shape() == ToInts(tensor.shape());
    OrThrow(Annotate(CheckType(type), absl::StrCat("input '", name, "'")));
    binding.value = scope.graph->AddInput(name, std::move(type));
    const auto known = options_.input_values.find(name);
    if (known == options_.input_values.end()) continue;
    if (known->second.dtype() != *dtype || known->second.shape() != binding.value->type().shape()) {
      Invalid("input '", name, "' is ", ToString(binding.value->type()), ", but values of ",
              ToString(TensorType(known->second.dtype(), known->second.shape())), " were given");
    }
    evaluator_.SetInput(binding.value, known->second);
  }
}

const Binding& Importer::Lookup(Scope& scope, int index) {
  Binding& binding = scope.bindings[index];
  if (binding.value != nullptr || binding.failed) return binding;
  const schema::Tensor& tensor = TensorOf(*model_, scope, index);
  const std::string name = NameOf(tensor.name());
  Emitter emitter(scope.graph, &budget_, &evaluator_, ScopedName(scope.prefix, name));
  try {
    const bool empty = SizeOf(tensor.shape()) > 0 && Product(RequireShape(tensor)) == 0;
    if (tensor.is_variable()) {
      binding.value = InitialState(tensor, emitter);
    } else if (HasData(*model_, tensor) || empty) {
      binding.value = emitter.Constant(data_->Read(*model_, tensor, budget_));
    } else {
      Invalid("nothing before it makes this tensor, and it is not a constant");
    }
  } catch (const ImportFailure& failure) {
    if (!absl::IsUnimplemented(failure.status)) {
      throw ImportFailure{Annotate(failure.status, absl::StrCat("tensor ", index, " ('", name, "')"))};
    }
    not_supported_.Add("Tensor", name, failure.status.message());
    binding.failed = true;
  }
  return binding;
}

std::vector<Binding> Importer::ImportBody(Scope& scope) {
  if (active_[scope.subgraph]) Invalid("subgraph ", scope.subgraph, " calls itself");
  if (depth_ == kMaxDepth) Invalid("subgraphs nest more than ", kMaxDepth, " deep");
  const Guard guard(active_, depth_, scope.subgraph);
  const schema::SubGraph& body = model_->subgraph(scope.subgraph);
  for (int64_t i = 0; i < SizeOf(body.operators()); ++i) {
    ImportOperator(*body.operators()->Get(static_cast<uint32_t>(i)), scope);
  }
  std::vector<Binding> outputs;
  for (int64_t output : ToInts(body.outputs())) outputs.push_back(Lookup(scope, static_cast<int>(output)));
  return outputs;
}

std::vector<Value*> Importer::ImportSubgraph(int subgraph, Graph* graph, const std::vector<Value*>& inputs,
                                             const std::string& prefix) {
  if (subgraph < 0 || subgraph >= model_->num_subgraphs()) Invalid("there is no subgraph ", subgraph);
  const schema::SubGraph& body = model_->subgraph(subgraph);
  const Ints tensors = ToInts(body.inputs());
  if (tensors.size() != inputs.size()) {
    Invalid("subgraph ", subgraph, " takes ", tensors.size(), " inputs, it gets ", inputs.size());
  }
  Scope scope{.subgraph = subgraph, .graph = graph, .prefix = prefix};
  budget_.SpendBytes(SizeOf(body.tensors()) * static_cast<int64_t>(sizeof(Binding)));
  scope.bindings.resize(SizeOf(body.tensors()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const schema::Tensor& tensor = TensorOf(*model_, scope, static_cast<int>(tensors[i]));
    if (RequireDType(tensor.type()) != inputs[i]->type().dtype) {
      Invalid("subgraph ", subgraph, " takes ", TypeName(tensor.type()), " as input ", i, ", it gets ",
              ToString(inputs[i]->type()));
    }
    scope.bindings[tensors[i]].value = inputs[i];
    scope.as_declared &= inputs[i]->type().is_static() && inputs[i]->type().shape() == ToInts(tensor.shape());
  }
  std::vector<Value*> values;
  for (const Binding& output : ImportBody(scope)) {
    if (output.failed) throw ImportFailure{absl::CancelledError("reported")};
    values.push_back(output.value);
  }
  return values;
}

Graph* Importer::Keep(std::unique_ptr<Graph> region) {
  return regions_.emplace_back(std::move(region)).get();
}

void Importer::MarkFailed(const schema::Operator& node, Scope& scope) {
  for (int64_t output : ToInts(node.outputs())) {
    if (output >= 0) scope.bindings[output].failed = true;
  }
}

void Importer::ImportOperator(const schema::Operator& node, Scope& scope) {
  budget_.SpendNodes();
  const std::string name = NodeName(*model_, node, scope);
  const std::string op = model_->OperatorName(node);
  const Row* row = FindRow(model_->CodeOf(node), op);
  absl::Status status;
  if (const std::optional<std::string> refusal = RefusalOf(row)) {
    status = NotSupported(*refusal);
  } else {
    try {
      for (int64_t input : ToInts(node.inputs())) {
        if (input >= 0 && Lookup(scope, static_cast<int>(input)).failed) {
          throw ImportFailure{absl::CancelledError("reported")};
        }
      }
      BindOutputs(node, name, Lower(node, name, scope), scope);
      return;
    } catch (const ImportFailure& failure) {
      status = failure.status;
    }
  }
  if (absl::IsUnimplemented(status)) {
    not_supported_.Add(op, name, status.message());
  } else if (!absl::IsCancelled(status)) {
    throw ImportFailure{Annotate(status, absl::StrCat("operator '", name, "' (", op, ")"))};
  }
  MarkFailed(node, scope);
}

std::vector<Value*> Importer::Lower(const schema::Operator& node, const std::string& name, Scope& scope) {
  const Row& row = *FindRow(model_->CodeOf(node), model_->OperatorName(node));
  OpContext context(this, &scope, &node, name, row.numbers);
  std::vector<Value*> outputs = row.lower(context);
  for (size_t i = 0; i < outputs.size() && static_cast<int>(i) < context.num_outputs(); ++i) {
    outputs[i] = context.ToOutput(outputs[i], static_cast<int>(i));
  }
  return outputs;
}

void Importer::BindOutputs(const schema::Operator& node, const std::string& name,
                           const std::vector<Value*>& outputs, Scope& scope) {
  const Ints tensors = ToInts(node.outputs());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] < 0) continue;
    if (i >= outputs.size()) Unsupported("its output ", i);
    Binding& binding = scope.bindings[tensors[i]];
    if (binding.value != nullptr || binding.failed) {
      Invalid("it makes tensor ", tensors[i],
              ", which exists already: the operators form a cycle, are not in "
              "order, or one is there twice");
    }
    const schema::Tensor& tensor = TensorOf(*model_, scope, static_cast<int>(tensors[i]));
    if (RequireDType(tensor.type()) != outputs[i]->type().dtype) {
      Invalid("it makes ", ToString(outputs[i]->type()), " where tensor '", name, "' is of ",
              TypeName(tensor.type()));
    }
    binding.value = outputs[i];
    if (!scope.as_declared) continue;
    if (const std::optional<Shape> declared = DeclaredShape(tensor))
      notices_.Compare(TensorName(*model_, scope, tensors[i]), binding.value->type(), *declared);
  }
}

}  // namespace attune::tflite
