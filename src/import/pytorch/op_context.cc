#include "import/pytorch/op_context.h"

#include <algorithm>
#include <utility>

#include "import/pytorch/importer.h"

namespace attune::pytorch {

using Kind = Argument::Kind;

OpContext::OpContext(Importer* importer, Scope* scope, const NodeProgram* node, std::string node_name)
    : Emitter(&importer->graph(), &importer->budget(), &importer->evaluator(), std::move(node_name)),
      importer_(importer),
      scope_(scope),
      node_(node) {}

int64_t OpContext::OutputCount() const {
  size_t count = 0;
  for (const Argument& output : node_->outputs) count += output.items.size();
  return static_cast<int64_t>(count);
}

const Argument* OpContext::Find(std::string_view name) const {
  for (const auto& [given, argument] : node_->inputs) {
    if (given == name) return argument.kind == Kind::kNone ? nullptr : &argument;
  }
  return nullptr;
}

const Argument& OpContext::Require(std::string_view name) const {
  const Argument* argument = Find(name);
  if (argument == nullptr) Invalid("its argument '", name, "' is missing");
  return *argument;
}

Number OpContext::NumberOf(const Item& item) const {
  if (item.number) return *item.number;
  const Binding& binding = importer_->Lookup(*scope_, item.name);
  if (binding.number) return *binding.number;
  const Tensor data = Known(binding.value, "argument");
  if (data.num_elements() != 1) Invalid("it takes '", item.name, "' for a number");
  if (IsFloat(data.dtype())) return data.ToDouble(0);
  if (data.dtype() == DType::kBool) return data.ToInt(0) != 0;
  return data.ToInt(0);
}

Value* OpContext::ValueOf(const Item& item) const {
  if (item.name.empty()) return nullptr;
  const Binding& binding = importer_->Lookup(*scope_, item.name);
  if (binding.value == nullptr) Invalid("it takes the number '", item.name, "' for a tensor");
  return binding.value;
}

Value* OpContext::In(std::string_view name) const {
  const Argument& argument = Require(name);
  if (argument.kind != Kind::kTensor) Invalid("its argument '", name, "' is not a tensor");
  return ValueOf(argument.items[0]);
}

std::vector<Value*> OpContext::List(std::string_view name) const {
  const Argument& argument = Require(name);
  if (argument.kind != Kind::kTensors) Invalid("its argument '", name, "' is not a list of tensors");
  std::vector<Value*> values;
  for (const Item& item : argument.items) values.push_back(ValueOf(item));
  return values;
}

Operand OpContext::Either(std::string_view name) const {
  if (Require(name).kind == Kind::kTensor) return In(name);
  return Num(name);
}

Number OpContext::Num(std::string_view name) const {
  const Argument& argument = Require(name);
  const bool single = argument.kind == Kind::kNumber || argument.kind == Kind::kTensor;
  if (!single) Invalid("its argument '", name, "' is not a number");
  return NumberOf(argument.items[0]);
}

Number OpContext::NumAt(size_t position) const {
  if (position >= node_->inputs.size()) Invalid("its argument ", position, " is missing");
  const Argument& argument = node_->inputs[position].second;
  if (argument.kind != Kind::kNumber) Invalid("its argument ", position, " is not a number");
  return NumberOf(argument.items[0]);
}

std::string OpContext::String(std::string_view name, std::string_view absent) const {
  if (!Has(name)) return std::string(absent);
  const Argument& argument = Require(name);
  if (argument.kind != Kind::kString) Invalid("its argument '", name, "' is not a string");
  return argument.text;
}

std::vector<Number> OpContext::Numbers(std::string_view name) const {
  const Argument& argument = Require(name);
  const bool empty = argument.kind == Kind::kTensors && argument.items.empty();
  if (argument.kind != Kind::kNumbers && argument.kind != Kind::kNumber && !empty) {
    Invalid("its argument '", name, "' is not a list of numbers");
  }
  std::vector<Number> numbers;
  for (const Item& item : argument.items) numbers.push_back(NumberOf(item));
  return numbers;
}

Ints OpContext::IntList(std::string_view name) const {
  Ints values;
  for (const Number& number : Numbers(name)) values.push_back(ToInt(number));
  return values;
}

Ints OpContext::PerDimension(std::string_view name, size_t dimensions, const Ints& absent) const {
  Ints values = IntList(name, {});
  if (values.empty()) values = absent;
  if (values.size() == 1) values.resize(dimensions, values[0]);
  if (values.size() != dimensions) {
    Invalid("its argument '", name, "' has ", values.size(), " values, not ", dimensions);
  }
  return values;
}

std::optional<DType> OpContext::OptionalType(std::string_view name) const {
  if (!Has(name)) return std::nullopt;
  const Argument& argument = Require(name);
  if (argument.kind != Kind::kType) Invalid("its argument '", name, "' is not a type");
  const std::optional<DType> dtype = DTypeFromTorch(argument.scalar_type);
  if (!dtype) Unsupported("the type ", TorchTypeName(argument.scalar_type));
  return dtype;
}

int64_t OpContext::AxisOf(std::string_view name, int64_t rank) const {
  return Axis(Int(name), std::max<int64_t>(rank, 1));
}

int64_t OpContext::AxisOf(std::string_view name, int64_t rank, int64_t absent) const {
  return Axis(Int(name, absent), std::max<int64_t>(rank, 1));
}

Value* OpContext::As(const Operand& operand, DType dtype) {
  if (operand.value != nullptr) return Cast(operand.value, dtype);
  // An integer wraps, where a float saturates.
  if (IsInt(dtype) && !std::holds_alternative<double>(operand.number)) {
    return Cast(Integer(ToInt(operand.number)), dtype);
  }
  return Scalar(dtype, pytorch::Exact(operand.number));
}

Outputs OpContext::Inline(size_t position) {
  if (position >= node_->inputs.size() || node_->inputs[position].second.kind != Kind::kGraph) {
    Invalid("its argument ", position, " is not a graph");
  }
  std::vector<Binding> inputs;
  for (size_t i = position + 1; i < node_->inputs.size(); ++i) {
    const Argument& argument = node_->inputs[i].second;
    if (argument.items.size() != 1) Unsupported("its argument ", i, " is neither a tensor nor a number");
    const Item& item = argument.items[0];
    inputs.push_back(item.number ? Binding(*item.number) : importer_->Lookup(*scope_, item.name));
  }
  return importer_->ImportBody(*node_->inputs[position].second.graph, std::move(inputs), scope_,
                               name() + "/");
}

}  // namespace attune::pytorch
