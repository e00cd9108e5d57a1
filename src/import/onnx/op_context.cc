#include "import/onnx/op_context.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "import/common/names.h"
#include "import/onnx/importer.h"
#include "import/onnx/tensor_proto.h"

namespace attune::onnx {
namespace {

constexpr std::string_view kTypeNames[] = {
    "undefined", "float",   "int",    "string",        "tensor",         "graph", "floats", "ints",
    "strings",   "tensors", "graphs", "sparse tensor", "sparse tensors", "type",  "types"};

// Files of IR version 1 do not state which field is used.
AttributeProto::AttributeType TypeOf(const AttributeProto& attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return AttributeProto::FLOAT;
  if (attribute.has_i()) return AttributeProto::INT;
  if (attribute.has_s()) return AttributeProto::STRING;
  if (attribute.has_t()) return AttributeProto::TENSOR;
  if (attribute.has_g()) return AttributeProto::GRAPH;
  if (attribute.floats_size() > 0) return AttributeProto::FLOATS;
  if (attribute.strings_size() > 0) return AttributeProto::STRINGS;
  return AttributeProto::INTS;
}

}  // namespace

OpContext::OpContext(Importer* importer, Scope* scope, const NodeProto* node, int64_t opset, std::string name,
                     std::vector<Binding> inputs)
    : Emitter(scope->graph, &importer->budget(), &importer->evaluator(), std::move(name)),
      importer_(importer),
      scope_(scope),
      node_(node),
      opset_(opset),
      inputs_(std::move(inputs)) {}

bool OpContext::HasInput(int i) const {
  return i < num_inputs() && (inputs_[i].value != nullptr || inputs_[i].sequence.has_value());
}

Value* OpContext::In(int i) const {
  if (!HasInput(i)) Invalid("its input ", i, " is missing");
  if (inputs_[i].value == nullptr) Unsupported("its input ", i, " is a sequence");
  return inputs_[i].value;
}

const Binding& OpContext::BindingOf(int i) const {
  if (i >= num_inputs()) Invalid("its input ", i, " is missing");
  return inputs_[i];
}

std::vector<Value*> OpContext::AllIn() const {
  std::vector<Value*> values;
  for (int i = 0; i < num_inputs(); ++i) values.push_back(In(i));
  if (values.empty()) Invalid("it has no inputs");
  return values;
}

const AttributeProto* OpContext::Find(std::string_view name) const {
  for (const AttributeProto& attribute : node_->attribute()) {
    if (attribute.name() == name) return ResolveAttribute(attribute, *scope_);
  }
  return nullptr;
}

const AttributeProto& OpContext::Require(std::string_view name, AttributeProto::AttributeType type) const {
  const AttributeProto* attribute = Find(name);
  if (attribute == nullptr) Invalid("its attribute '", name, "' is missing");
  if (TypeOf(*attribute) != type) Invalid("its attribute '", name, "' must be of type ", kTypeNames[type]);
  return *attribute;
}

int64_t OpContext::Int(std::string_view name) const { return Require(name, AttributeProto::INT).i(); }
double OpContext::Float(std::string_view name) const { return Require(name, AttributeProto::FLOAT).f(); }

std::string OpContext::String(std::string_view name, std::string_view absent) const {
  return Has(name) ? Require(name, AttributeProto::STRING).s() : std::string(absent);
}

std::string OpContext::Choice(std::string_view name, std::initializer_list<std::string_view> allowed) const {
  const std::string value = String(name, *allowed.begin());
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
  Invalid("its attribute '", name, "' is '", value, "', not one of ", absl::StrJoin(allowed, ", "));
}

std::optional<Ints> OpContext::IntList(std::string_view name) const {
  if (!Has(name)) return std::nullopt;
  const auto& values = Require(name, AttributeProto::INTS).ints();
  return Ints(values.begin(), values.end());
}

std::optional<std::vector<double>> OpContext::FloatList(std::string_view name) const {
  if (!Has(name)) return std::nullopt;
  const auto& values = Require(name, AttributeProto::FLOATS).floats();
  return std::vector<double>(values.begin(), values.end());
}

std::optional<std::vector<std::string>> OpContext::StringList(std::string_view name) const {
  if (!Has(name)) return std::nullopt;
  const auto& values = Require(name, AttributeProto::STRINGS).strings();
  return std::vector<std::string>(values.begin(), values.end());
}

const GraphProto& OpContext::Subgraph(std::string_view name) const {
  return Require(name, AttributeProto::GRAPH).g();
}

Tensor OpContext::TensorAttribute(std::string_view name) const {
  return importer_->TensorOf(Require(name, AttributeProto::TENSOR).t());
}

DType OpContext::TypeAttribute(std::string_view name) const {
  const int64_t type = Int(name);
  return OrThrow(RequireDType(static_cast<int>(std::clamp<int64_t>(type, -1, 1000))));
}

// Scatters the values over zeros: the dense form only takes memory if something needs it.
Value* OpContext::SparseConstant(const SparseTensorProto& proto) {
  const Tensor values = importer_->TensorOf(proto.values());
  const Tensor indices = importer_->TensorOf(proto.indices());
  const Shape shape(proto.dims().begin(), proto.dims().end());
  const int64_t elements = Product(shape);
  const int64_t count = values.num_elements();
  const int64_t rank = static_cast<int64_t>(shape.size());
  const bool flat = indices.rank() == 1;
  if (values.rank() != 1 || indices.dtype() != DType::kI64 ||
      indices.num_elements() != (flat ? count : count * rank) || (!flat && indices.rank() != 2)) {
    Invalid("a sparse tensor's indices do not fit its values");
  }
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t limit = flat ? elements : shape[i % rank];
    if (indices.ToInt(i) < 0 || indices.ToInt(i) >= limit) Invalid("a sparse tensor's index is out of range");
  }
  const Shape target = flat ? Shape{elements} : shape;
  Value* index = Constant(flat ? indices.Reshaped({count, 1}) : indices);
  Value* dense = Emit(Op::kScatterNd, {Filled(values.dtype(), 0, target), index, Constant(values)});
  return Reshape(dense, shape);
}

Ints OpContext::KnownInts(const Value* value, std::string_view what) const {
  if (value->type().rank() > 1) Invalid("its ", what, " must be a list, not ", ToString(value->type()));
  return Emitter::KnownInts(value, what);
}

std::optional<ImportFailure> OpContext::Try(const std::function<void()>& attempt) {
  return importer_->not_supported().Try(attempt);
}

void OpContext::NoteScaledSize(int64_t size, float scale, int64_t scaled, int64_t by_onnx) {
  importer_->notices().AddScaled(name(), size, scale, scaled, by_onnx);
}

std::vector<Binding> OpContext::Inline(const GraphProto& body, const std::vector<Binding>& inputs) {
  if (body.input_size() != static_cast<int>(inputs.size())) {
    Invalid("the subgraph '", body.name(), "' takes ", body.input_size(), " inputs, it gets ", inputs.size());
  }
  Scope inner{.parent = scope_,
              .graph = scope_->graph,
              .opsets = scope_->opsets,
              .attributes = scope_->attributes,
              .prefix = name() + "/"};
  for (int i = 0; i < body.input_size(); ++i) inner.bindings[body.input(i).name()] = inputs[i];
  std::vector<Binding> outputs = importer_->ImportBody(body, inner);
  for (const Binding& output : outputs) {
    if (output.failed) throw ImportFailure{absl::CancelledError("reported")};
  }
  return outputs;
}

std::unique_ptr<Graph> OpContext::Region(const GraphProto& body, const std::vector<TensorType>& input_types,
                                         std::vector<Value*>* captured) {
  if (body.input_size() != static_cast<int>(input_types.size())) {
    Invalid("the subgraph '", body.name(), "' takes ", body.input_size(), " inputs, it gets ",
            input_types.size());
  }
  auto owned = std::make_unique<Graph>(ScopedName("", body.name()));
  Graph* graph = owned.get();
  // The following may fail half way; the region must live as long as the evaluator knows its values.
  const Graph& kept = importer_->Keep(std::move(owned));
  Scope inner{.parent = scope_,
              .graph = graph,
              .opsets = scope_->opsets,
              .attributes = scope_->attributes,
              .prefix = name() + "/",
              .captured = captured};
  for (int i = 0; i < body.input_size(); ++i) {
    const std::string& input = body.input(i).name();
    inner.bindings[input] = graph->AddInput(ScopedName("", input), input_types[i]);
  }
  for (size_t i = 0; i < captured->size(); ++i) {
    Value* outer = (*captured)[i];
    inner.captures[outer] = graph->AddInput(absl::StrCat("captured", i), outer->type());
    importer_->evaluator().SetAlias(inner.captures[outer], outer);
  }
  const std::vector<Binding> outputs = importer_->ImportBody(body, inner);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].failed) throw ImportFailure{absl::CancelledError("reported")};
    if (outputs[i].value == nullptr) Unsupported("a subgraph's output that is a sequence");
    graph->AddOutput(ScopedName("", body.output(static_cast<int>(i)).name()), outputs[i].value);
  }
  return kept.Clone();
}

}  // namespace attune::onnx
