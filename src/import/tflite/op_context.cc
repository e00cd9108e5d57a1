#include "import/tflite/op_context.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "import/tflite/importer.h"

namespace attune::tflite {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Bounds {
  double min = -kInfinity;
  double max = kInfinity;
};

Bounds BoundsOf(Activation activation) {
  switch (activation) {
    case Activation::NONE:
      return {};
    case Activation::RELU:
      return {.min = 0};
    case Activation::RELU_N1_TO_1:
      return {.min = -1, .max = 1};
    case Activation::RELU6:
      return {.min = 0, .max = 6};
    default:
      Unsupported("the fused activation ", schema::EnumNameActivationFunctionType(activation));
  }
}

Value* VectorOf(Emitter& emitter, const std::vector<double>& values, DType dtype) {
  Tensor data(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) data.SetDouble(static_cast<int64_t>(i), values[i]);
  return emitter.NewConstant(data);
}

}  // namespace

OpContext::OpContext(Importer* importer, Scope* scope, const schema::Operator* node, std::string name,
                     Numbers numbers)
    : Emitter(scope->graph, &importer->budget(), &importer->evaluator(), std::move(name)),
      importer_(importer),
      scope_(scope),
      node_(node) {
  real_ = numbers == Numbers::kReal || (numbers == Numbers::kEither && !AllAlike());
}

bool OpContext::HasInput(int i) const {
  return i < num_inputs() && node_->inputs()->Get(static_cast<uint32_t>(i)) >= 0;
}

Value* OpContext::Stored(int i) const {
  if (!HasInput(i)) Invalid("its input ", i, " is missing");
  const Binding& binding = importer_->Lookup(*scope_, node_->inputs()->Get(static_cast<uint32_t>(i)));
  if (binding.failed) throw ImportFailure{absl::CancelledError("reported")};
  return binding.value;
}

const schema::Tensor& OpContext::InTensor(int i) const {
  if (!HasInput(i)) Invalid("its input ", i, " is missing");
  return importer_->model().tensor(scope_->subgraph, node_->inputs()->Get(static_cast<uint32_t>(i)));
}

bool OpContext::HasOutput(int i) const {
  return i < num_outputs() && node_->outputs()->Get(static_cast<uint32_t>(i)) >= 0;
}

const schema::Tensor& OpContext::OutTensor(int i) const {
  if (!HasOutput(i)) Invalid("its output ", i, " is missing");
  return importer_->model().tensor(scope_->subgraph, node_->outputs()->Get(static_cast<uint32_t>(i)));
}

std::vector<Value*> OpContext::AllIn() {
  std::vector<Value*> values;
  for (int i = 0; i < num_inputs(); ++i) values.push_back(In(i));
  if (values.empty()) Invalid("it has no inputs");
  return values;
}

Value* OpContext::Real(int i) {
  Value* x = Stored(i);
  const schema::QuantizationParameters* stored = InTensor(i).quantization();
  const schema::BlockwiseQuantization* blocks =
      stored != nullptr ? stored->details_as_BlockwiseQuantization() : nullptr;
  if (blocks == nullptr && !InQuantized(i)) return x;
  Value*& real = real_values_[i];
  if (real != nullptr) return real;
  if (blocks != nullptr) return real = DequantizeBlocks(x, *blocks);
  const Quantization q = InQuantization(i);
  return real = q.per_channel() ? DequantizeChannels(x, q) : Dequantize(x, q.scales[0], q.zeros[0]);
}

Quantization OpContext::InQuantization(int i) const {
  const std::optional<Quantization> q = QuantizationOf(InTensor(i));
  if (!q) Invalid("its input ", i, " is not quantized");
  if (q->per_channel()) {
    const Shape shape = InShape(i);
    if (q->axis < 0 || q->axis >= static_cast<int64_t>(shape.size()) ||
        shape[q->axis] != static_cast<int64_t>(q->scales.size())) {
      Invalid("its input ", i, " has ", q->scales.size(), " scales along axis ", q->axis, " of ",
              ToString(Stored(i)->type()));
    }
  }
  return *q;
}

double OpContext::ScaleOf(const schema::Tensor& tensor) {
  const std::optional<Quantization> q = QuantizationOf(tensor);
  const std::string name = NameOf(tensor.name());
  if (!q) Invalid("tensor '", name, "' is not quantized");
  if (q->per_channel()) Unsupported("tensor '", name, "' is quantized per channel");
  if (q->scales[0] == 0) Invalid("tensor '", name, "' has the scale 0");
  return q->scales[0];
}

int64_t OpContext::ZeroOf(const schema::Tensor& tensor) {
  const std::optional<Quantization> q = QuantizationOf(tensor);
  return q ? q->zeros[0] : 0;
}

bool OpContext::SameQuantization(const schema::Tensor& a, const schema::Tensor& b) {
  return IsQuantized(a) && IsQuantized(b) && a.type() == b.type() && QuantizationOf(a) == QuantizationOf(b);
}

OpContext::Scale OpContext::Intermediate(int i) const {
  const schema::SubGraph& graph = importer_->model().subgraph(scope_->subgraph);
  const int32_t index =
      SizeOf(node_->intermediates()) > i ? node_->intermediates()->Get(static_cast<uint32_t>(i)) : -1;
  if (index < 0 || index >= SizeOf(graph.tensors()))
    Invalid("its intermediate value ", i, " is tensor ", index);
  const schema::Tensor& tensor = importer_->model().tensor(scope_->subgraph, index);
  return {ScaleOf(tensor), ZeroOf(tensor)};
}

// Tensors that are not quantized, such as sizes and conditions, are ignored.
bool OpContext::AllAlike() const {
  const schema::Tensor* first = nullptr;
  const auto alike = [&first](const schema::Tensor& tensor) {
    if (!IsQuantized(tensor)) return true;
    if (first == nullptr) first = &tensor;
    return SameQuantization(*first, tensor);
  };
  for (int i = 0; i < num_inputs(); ++i) {
    if (HasInput(i) && !alike(InTensor(i))) return false;
  }
  for (int i = 0; i < num_outputs(); ++i) {
    if (HasOutput(i) && !alike(OutTensor(i))) return false;
  }
  return true;
}

std::string_view OpContext::CustomOptions() const {
  return OrThrow(importer_->model().CustomOptions(*node_));
}

Value* OpContext::Dequantize(Value* x, double scale, int64_t zero) {
  Value* zero_point = zero != 0 ? Scalar(x->type().dtype, static_cast<double>(zero)) : nullptr;
  return Emit(Op::kDequantize, {x, Scalar(DType::kF32, scale), zero_point});
}

Value* OpContext::Quantize(Value* x, double scale, int64_t zero, DType to) {
  Value* zero_point = zero != 0 ? Scalar(to, static_cast<double>(zero)) : nullptr;
  return Emit(Op::kQuantize, {x, Scalar(DType::kF32, scale), zero_point},
              {{"to", to}, {"rounding", std::string("half_away")}});
}

Value* OpContext::DequantizeChannels(Value* x, const Quantization& q) {
  Value* scales = VectorOf(*this, {q.scales.begin(), q.scales.end()}, DType::kF32);
  Value* zeros = nullptr;
  if (std::any_of(q.zeros.begin(), q.zeros.end(), [](int64_t zero) { return zero != 0; })) {
    zeros = NewConstant(Tensor::FromInts(q.zeros, x->type().dtype));
  }
  return Emit(Op::kDequantize, {x, scales, zeros}, {{"axis", q.axis}});
}

// Blocks are along the last axis; their scales are a tensor of the subgraph.
Value* OpContext::DequantizeBlocks(Value* x, const schema::BlockwiseQuantization& blocks) {
  const int64_t axis = x->type().rank() - 1;
  const auto parameter = [&](int32_t index) -> Value* {
    const schema::SubGraph& graph = importer_->model().subgraph(scope_->subgraph);
    if (index <= 0) return nullptr;
    if (index >= SizeOf(graph.tensors())) Invalid("its blocks' parameters are tensor ", index);
    const Binding& binding = importer_->Lookup(*scope_, index);
    if (binding.failed) throw ImportFailure{absl::CancelledError("reported")};
    return binding.value;
  };
  Value* scales = parameter(blocks.scales());
  if (scales == nullptr || axis < 0 || blocks.block_size() < 1)
    Invalid("its quantization in blocks is damaged");
  Value* zeros = parameter(blocks.zero_points());
  if (zeros != nullptr) zeros = Cast(zeros, x->type().dtype);
  return Emit(Op::kDequantize, {x, Cast(scales, DType::kF32), zeros},
              {{"axis", axis}, {"block_size", int64_t{blocks.block_size()}}});
}

Value* OpContext::Centered(int input) {
  Value* x = Cast(Stored(input), DType::kI32);
  const int64_t zero = InZero(input);
  return zero == 0 ? x : Sub(x, Scalar(DType::kI32, static_cast<double>(zero)));
}

Value* OpContext::FixedPointTo(Value* acc, const std::vector<double>& multipliers, int64_t axis, DType to,
                               int64_t zero) {
  // Multipliers in this format have at most 31 binary digits before the point. An integer times a larger
  // factor exceeds every type, and with the largest multiplier it also saturates at the type's limits.
  const double largest = std::nextafter(0x1p30, 0);
  std::vector<double> factors = multipliers;
  for (double& factor : factors) {
    if (!(factor >= 0)) Invalid("its scales give the factor ", factor);
    factor = std::min(factor, largest);
  }
  return Requantize(acc, factors, axis, to, zero, "fixed_point");
}

Value* OpContext::InDoubles(Value* acc, const std::vector<double>& multipliers, int64_t axis) {
  return Requantize(acc, multipliers, axis, OutType(), OutZero(), "half_away");
}

Value* OpContext::Requantize(Value* acc, const std::vector<double>& factors, int64_t axis, DType to,
                             int64_t zero, const std::string& rounding) {
  Value* factor =
      factors.size() == 1 ? Scalar(DType::kF64, factors[0]) : VectorOf(*this, factors, DType::kF64);
  Value* zero_point = zero != 0 ? Scalar(to, static_cast<double>(zero)) : nullptr;
  Attributes attrs = {{"to", to}, {"rounding", rounding}};
  if (factors.size() > 1) attrs.Set("axis", axis);
  return Emit(Op::kRequantize, {acc, factor, zero_point}, std::move(attrs));
}

Value* OpContext::ToOutput(Value* x, int output) {
  if (!OutQuantized(output) || !IsFloat(x->type().dtype)) return x;
  return Quantize(Cast(x, DType::kF32), OutScale(output), OutZero(output), OutType(output));
}

Value* OpContext::Activate(Value* x, Activation activation, int output) {
  if (!OutQuantized(output)) return ActivateReal(x, activation);
  const Bounds bounds = BoundsOf(activation);
  return ApplyBounds(ToOutput(x, output), bounds.min, bounds.max, output);
}

// The bounds as integers of the output, rounded half away from zero; none if the type ends before.
Value* OpContext::ApplyBounds(Value* x, double min, double max, int output) {
  if (!OutQuantized(output)) return Clip(x, min, max);
  const IntegerRange range = RangeOf(x->type().dtype);
  const auto stored = [&](double bound) {
    const float steps = std::round(static_cast<float>(bound) / static_cast<float>(OutScale(output)));
    const double value = static_cast<double>(OutZero(output)) + static_cast<double>(steps);
    if (value <= static_cast<double>(range.min)) return -kInfinity;
    return value >= static_cast<double>(range.max) ? kInfinity : value;
  };
  double low = std::isinf(min) ? -kInfinity : stored(min);
  double high = std::isinf(max) ? kInfinity : stored(max);
  // All values are on one side of the range.
  if (low == kInfinity) low = static_cast<double>(range.max);
  if (high == -kInfinity) high = static_cast<double>(range.min);
  return Clip(x, low, high);
}

Value* OpContext::ActivateReal(Value* x, Activation activation) {
  if (activation == Activation::TANH) return Emit(Op::kTanh, {x});
  if (activation == Activation::RELU && (IsFloat(x->type().dtype) || IsSignedInt(x->type().dtype))) {
    return Emit(Op::kRelu, {x});
  }
  const Bounds bounds = BoundsOf(activation);
  return Clip(x, bounds.min, bounds.max);
}

std::optional<ImportFailure> OpContext::Try(const std::function<void()>& attempt) {
  return importer_->not_supported().Try(attempt);
}

std::vector<Value*> OpContext::Inline(int subgraph, Graph* target, const std::vector<Value*>& inputs) {
  return importer_->ImportSubgraph(subgraph, target, inputs, name() + "/");
}

const Model& OpContext::model() const { return importer_->model(); }

Graph* OpContext::NewRegion(const std::string& name) {
  return importer_->Keep(std::make_unique<Graph>(name));
}

void OpContext::SetAlias(const Value* region_input, Value* outer) {
  importer_->evaluator().SetAlias(region_input, outer);
}

}  // namespace attune::tflite
