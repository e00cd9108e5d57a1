#include "import/tensorflow/op_context.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "import/tensorflow/importer.h"
#include "import/tensorflow/tensor_proto.h"

namespace attune::tensorflow {

OpContext::OpContext(Importer* importer, Scope* scope, const NodeDef* node, std::string name,
                     std::vector<Binding> inputs)
    : Emitter(scope->graph, &importer->budget(), &importer->evaluator(), std::move(name)),
      importer_(importer),
      scope_(scope),
      node_(node),
      inputs_(std::move(inputs)) {}

const Binding& OpContext::BindingOf(int i) const {
  if (i < 0 || i >= num_inputs()) Invalid("its input ", i, " is missing");
  return inputs_[i];
}

Value* OpContext::In(int i) const {
  const Binding& binding = BindingOf(i);
  if (binding.value != nullptr) return binding.value;
  if (binding.random != nullptr) Unsupported("its input ", i, " is of random numbers");
  if (binding.items != nullptr) Unsupported("its input ", i, " is a list of tensors");
  if (binding.variable != nullptr) Unsupported("its input ", i, " is a variable, not a value");
  Unsupported("its input ", i, " is not a tensor");
}

std::vector<Value*> OpContext::AllIn(int first) const {
  std::vector<Value*> values;
  for (int i = first; i < num_inputs(); ++i) values.push_back(In(i));
  if (values.empty()) Invalid("it has no inputs");
  return values;
}

const AttrValue* OpContext::Find(std::string_view name) const {
  const std::string key(name);
  const auto it = node_->attr().find(key);
  if (it == node_->attr().end()) return nullptr;
  if (it->second.value_case() != AttrValue::kPlaceholder) return &it->second;
  if (scope_->attributes == nullptr) return nullptr;
  const auto given = scope_->attributes->find(it->second.placeholder());
  return given != scope_->attributes->end() ? &given->second : nullptr;
}

const AttrValue& OpContext::Require(std::string_view name, AttrValue::ValueCase kind) const {
  const AttrValue* attribute = Find(name);
  if (attribute == nullptr) Invalid("its attribute '", name, "' is missing");
  if (attribute->value_case() != kind) Invalid("its attribute '", name, "' is of another kind");
  return *attribute;
}

int64_t OpContext::Int(std::string_view name) const { return Require(name, AttrValue::kI).i(); }

int64_t OpContext::Int(std::string_view name, int64_t absent) const {
  return Find(name) != nullptr ? Int(name) : absent;
}

bool OpContext::Bool(std::string_view name, bool absent) const {
  return Find(name) != nullptr ? Require(name, AttrValue::kB).b() : absent;
}

double OpContext::Float(std::string_view name, double absent) const {
  return Find(name) != nullptr ? Require(name, AttrValue::kF).f() : absent;
}

std::string OpContext::String(std::string_view name, std::string_view absent) const {
  return Find(name) != nullptr ? Require(name, AttrValue::kS).s() : std::string(absent);
}

// An empty list may be written as a missing list.
Ints OpContext::IntList(std::string_view name, Ints absent) const {
  const AttrValue* attribute = Find(name);
  if (attribute == nullptr || attribute->value_case() == AttrValue::VALUE_NOT_SET) return absent;
  const auto& values = Require(name, AttrValue::kList).list().i();
  return values.empty() ? absent : Ints(values.begin(), values.end());
}

std::string OpContext::Choice(std::string_view name, std::initializer_list<std::string_view> allowed) const {
  const std::string value = String(name, *allowed.begin());
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
  Invalid("its attribute '", name, "' is '", value, "', not one of ", absl::StrJoin(allowed, ", "));
}

DType OpContext::TypeAttribute(std::string_view name) const {
  return OrThrow(RequireDType(Require(name, AttrValue::kType).type()));
}

DType OpContext::TypeAttribute(std::string_view name, DType absent) const {
  return Find(name) != nullptr ? TypeAttribute(name) : absent;
}

std::optional<Shape> OpContext::ShapeAttribute(std::string_view name) const {
  return WholeShape(Require(name, AttrValue::kShape).shape());
}

Tensor OpContext::TensorAttribute(std::string_view name) const {
  return importer_->TensorOf(Require(name, AttrValue::kTensor).tensor());
}

const NameAttrList& OpContext::FunctionAttribute(std::string_view name) const {
  return Require(name, AttrValue::kFunc).func();
}

Outputs OpContext::Call(const NameAttrList& function, std::vector<Binding> arguments, Graph* target) {
  return importer_->Call(function.name(), &function.attr(), std::move(arguments), target, name());
}

Value* OpContext::VariableValue(int i) {
  const Binding& binding = BindingOf(i);
  // A variable of the old kind is represented by its value.
  if (binding.variable == nullptr) return In(i);
  return importer_->VariableValue(*binding.variable, graph());
}

}  // namespace attune::tensorflow
