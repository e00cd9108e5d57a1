// Problem: processors only multiply unsigned bytes with signed ones, while networks need the sum of (x -
// z_x)(w - z_w) with either sign of each.
//
// Idea: the rest is arithmetic with constants. A signed activation plus 128 is an unsigned one whose zero
// point is 128 higher: the quantization that makes it adds 128 for nothing, and operators that move it work
// the same. Unsigned weights less 128 are signed, and mostly fit i8 even without a zero point. The zero
// point z_x then leaves z_x Σ w, a number for each output channel; for that, padding, which stands for
// zeros, has to be z_x. And z_w leaves z_w Σ x, the sum of a window, which is a product with ones.
//
// Zero points or weights that are known only at run time (dynamic quantization) are treated the same way,
// by operators: sums of constant weights are still constants, and a mask puts the zero point into the
// padding.
#include <algorithm>
#include <map>
#include <optional>

#include "opt/passes.h"
#include "opt/quantization.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

constexpr int64_t kHalfRange = 128;

Value* AddScalar(Graph& graph, Node* before, DType dtype, int64_t number) {
  return graph.AddConstant(Tensor::Scalar(dtype, static_cast<double>(number)), before->name(), before);
}

// Bytes of the other sign: i8 plus 128, or u8 less 128.
Value* Shifted(Graph& graph, Node* before, Value* bytes) {
  const bool is_signed = bytes->type().dtype == DType::kI8;
  Value* wide = AddBefore(graph, before, Op::kCast, {bytes}, {{"to", DType::kI16}});
  Value* offset = AddScalar(graph, before, DType::kI16, is_signed ? kHalfRange : -kHalfRange);
  Value* sum = AddBefore(graph, before, Op::kAdd, {wide, offset});
  return AddBefore(graph, before, Op::kCast, {sum}, {{"to", is_signed ? DType::kU8 : DType::kI8}});
}

// ---- Signed activations become unsigned.

// Gives values of i8 a twin of u8, which is 128 higher.
class UnsignedTwins {
 public:
  explicit UnsignedTwins(Graph& graph) : graph_(graph) {}

  bool Visit(Node* node) {
    switch (node->op()) {
      case Op::kQuantize:
      case Op::kRequantize:
        return TwinOfQuantize(node);
      case Op::kClip:
      case Op::kReshape:
      case Op::kTranspose:
      case Op::kSlice:
      case Op::kConcat:
      case Op::kPad:
      case Op::kMaxPool:
        return TwinOfMovement(node);
      case Op::kDequantize:
      case Op::kConvInteger:
      case Op::kMatMulInteger:
        return Use(node);
      case Op::kCast:
        return Widen(node);
      default:
        return false;
    }
  }

 private:
  bool TwinOfQuantize(Node* node) {
    const std::optional<int64_t> zero = ZeroPointOf(*node, 2);
    // A quantization's zero point has the shape of its scale, and only scalars are handled here.
    const bool by_channel = node->op() == Op::kQuantize && node->input(1)->type().rank() != 0;
    if (node->attrs().Type("to") != DType::kI8 || !zero || by_channel) return false;
    Attributes attributes = node->attrs();
    attributes.Set("to", DType::kU8);
    Value* shifted = AddScalar(graph_, node, DType::kU8, *zero + kHalfRange);
    twins_[node->output()] =
        AddBefore(graph_, node, node->op(), {node->input(0), node->input(1), shifted}, attributes);
    return true;
  }

  bool TwinOfMovement(Node* node) {
    if (node->num_outputs() != 1) return false;
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs()) {
      const auto twin = twins_.find(input);
      if (twin == twins_.end()) return false;
      inputs.push_back(twin->second);
    }
    Attributes attributes = node->attrs();
    // For bytes, whose numbers are exact as doubles.
    const auto shift = [&](const char* name, const ExactNumber& number) {
      attributes.Set(name, ExactNumber(number.ToDouble() + static_cast<double>(kHalfRange)));
    };
    if (node->op() == Op::kPad) shift("value", node->attrs().Number("value", 0));
    for (const char* bound : {"min", "max"}) {
      if (node->op() == Op::kClip && attributes.Has(bound)) shift(bound, attributes.Number(bound));
    }
    Value* twin = AddBefore(graph_, node, node->op(), std::move(inputs), std::move(attributes));
    if (twin == nullptr) return false;
    twins_[node->output()] = twin;
    return true;
  }

  // A cast for a sum takes the twin less 128 instead, so that the original value need not be made too.
  bool Widen(Node* node) {
    const auto twin = twins_.find(node->input(0));
    if (twin == twins_.end() || node->attrs().Type("to") != DType::kI32) return false;
    Value* wide = AddBefore(graph_, node, Op::kCast, {twin->second}, node->attrs());
    Value* half_range = AddScalar(graph_, node, DType::kI32, kHalfRange);
    ReplaceNode(graph_, node, AddBefore(graph_, node, Op::kSub, {wide, half_range}));
    return true;
  }

  // (x, w, x_zero?, w_zero?), or (x, scale, zero?)
  bool Use(Node* node) {
    Value* x = node->input(0);
    const std::optional<int64_t> zero = ZeroPointOf(*node, 2);
    const bool is_product = IsIntegerProduct(node->op());
    if (x->type().dtype != DType::kI8 || x->constant() != nullptr) return false;
    if (!is_product && (!zero || node->input(1)->type().rank() != 0)) return false;
    auto twin = twins_.find(x);
    if (twin == twins_.end()) {
      if (!is_product) return false;
      twin = twins_.emplace(x, Shifted(graph_, node, x)).first;
    }
    Value* shifted = zero ? AddScalar(graph_, node, DType::kU8, *zero + kHalfRange)
                          : Shifted(graph_, node, node->input(2));
    std::vector<Value*> inputs = node->inputs();
    inputs.resize(std::max<size_t>(inputs.size(), 3), nullptr);
    inputs[0] = twin->second;
    inputs[2] = shifted;
    ReplaceNode(graph_, node, AddBefore(graph_, node, node->op(), std::move(inputs), node->attrs()));
    return true;
  }

  Graph& graph_;
  std::map<const Value*, Value*> twins_;
};

// ---- Weights become signed, without a zero point.

// Constant weights less their zero points. The outputs are along the first axis of a convolution's weights,
// and along the columns of a matrix.
struct Weights {
  std::vector<double> numbers;
  int64_t outputs, inner;  // the shape seen as [.., outputs, inner]
};

std::optional<Weights> CenteredWeights(const Node& product) {
  const Tensor* w = product.input(1)->constant();
  const std::optional<std::vector<double>> zeros = ZeroPointsOf(product, 3);
  if (w == nullptr || !zeros) return std::nullopt;
  const Shape& shape = w->shape();
  int64_t axis = 0;
  if (product.op() == Op::kMatMulInteger) {
    if (shape.size() != 2) return std::nullopt;
    axis = product.attrs().Bool("transpose_b") ? 0 : 1;
  }
  Weights weights{ToDoubles(*w), shape[axis], 1};
  for (int64_t i = axis + 1; i < std::ssize(shape); ++i) weights.inner *= shape[i];
  for (int64_t i = 0; i < std::ssize(weights.numbers); ++i) {
    weights.numbers[i] -= zeros->size() == 1 ? zeros->front() : (*zeros)[i / weights.inner % weights.outputs];
  }
  return weights;
}

bool FitSigned(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return -kHalfRange <= x && x < kHalfRange; });
}

// The sum of the weights of each output.
std::vector<double> Sums(const Weights& weights) {
  std::vector<double> sums(static_cast<size_t>(weights.outputs), 0);
  for (int64_t i = 0; i < std::ssize(weights.numbers); ++i) {
    sums[i / weights.inner % weights.outputs] += weights.numbers[i];
  }
  return sums;
}

int64_t OutputAxis(const Node& product) {
  return product.op() == Op::kConvInteger ? 1 : product.output()->type().rank() - 1;
}

// A product like `node`, of the same x with other weights.
Value* ProductWith(Graph& graph, Node* node, Value* weights) {
  return AddBefore(graph, node, node->op(), {node->input(0), weights, node->input(2)}, node->attrs());
}
Value* ProductWith(Graph& graph, Node* node, const Shape& shape, std::span<const double> weights) {
  return ProductWith(graph, node,
                     graph.AddConstant(FromDoubles(DType::kI8, shape, weights), node->name(), node));
}

// Σ x over what each output sees.
Value* SumOfOperand(Graph& graph, Node* node) {
  Shape shape = node->input(1)->type().shape();
  if (node->op() == Op::kConvInteger) {
    if (node->attrs().Int("group", 1) == 1) shape[0] = 1;
  } else {
    shape.erase(shape.begin(), shape.end() - 2);
    shape[node->attrs().Bool("transpose_b") ? 0 : 1] = 1;
  }
  int64_t size = 1;
  for (int64_t dim : shape) size *= dim;
  return ProductWith(graph, node, shape, std::vector<double>(static_cast<size_t>(size), 1));
}

// `values`, a scalar or one for each index of `axis`, in a shape that broadcasts to a tensor of that rank.
Value* Along(Graph& graph, Node* before, Value* values, int rank, int64_t axis) {
  if (values->type().rank() == 0) return values;
  Shape shape(static_cast<size_t>(rank - axis), 1);
  shape[0] = values->type().shape()[0];
  return AddBefore(graph, before, Op::kReshape, {values}, {{"shape", Ints(shape.begin(), shape.end())}});
}

Value* ToI32(Graph& graph, Node* before, Value* value) {
  return AddBefore(graph, before, Op::kCast, {value}, {{"to", DType::kI32}});
}

// Replaces `node` by `product`, a product of signed weights, less rest · Σ x. Returns the two products.
std::vector<Node*> LessWindow(Graph& graph, Node* node, Value* product, Value* rest) {
  Value* window = SumOfOperand(graph, node);
  ReplaceNode(graph, node,
              AddBefore(graph, node, Op::kSub, {product, AddBefore(graph, node, Op::kMul, {window, rest})}));
  return {product->producer(), window->producer()};
}

// CenterWeights() for weights, or zero points of weights, that are not constants.
std::vector<Node*> CenterRunTimeWeights(Graph& graph, Node* node) {
  Value* w = node->input(1);
  Value* zero = node->input(3);
  const bool is_signed = w->type().dtype == DType::kI8;
  Value* product = ProductWith(graph, node, is_signed ? w : Shifted(graph, node, w));
  Value* rest = is_signed ? nullptr : AddScalar(graph, node, DType::kI32, -kHalfRange);
  if (zero != nullptr) {
    zero = ToI32(graph, node, zero);
    rest = rest == nullptr ? zero : AddBefore(graph, node, Op::kAdd, {zero, rest});
    rest = Along(graph, node, rest, product->type().rank(), OutputAxis(*node));
  }
  return LessWindow(graph, node, product, rest);
}

// Replaces `node` by products of signed weights without zero points. Returns them.
std::vector<Node*> CenterWeights(Graph& graph, Node* node) {
  const Value* w = node->input(1);
  if (w->type().dtype == DType::kI8 && node->input(3) == nullptr) return {node};
  std::optional<Weights> weights = CenteredWeights(*node);
  if (!weights) return CenterRunTimeWeights(graph, node);
  const Shape shape = w->type().shape();
  if (FitSigned(weights->numbers)) {
    Value* product = ProductWith(graph, node, shape, weights->numbers);
    ReplaceNode(graph, node, product);
    return {product->producer()};
  }
  const double offset = w->type().dtype == DType::kU8 ? kHalfRange : 0;
  std::vector<double> numbers = ToDoubles(*w->constant());
  for (double& number : numbers) number -= offset;
  std::vector<double> zeros = *ZeroPointsOf(*node, 3);
  for (double& zero : zeros) zero -= offset;
  Value* product = ProductWith(graph, node, shape, numbers);
  return LessWindow(graph, node, product,
                    AddAlong(graph, node, DType::kI32, zeros, product->type().rank(), OutputAxis(*node)));
}

// ---- The activations' zero point goes into a sum.

// Whether a convolution has padding.
bool IsPadded(const Node& product) {
  return product.op() == Op::kConvInteger && !AllAre(product.attrs().IntList("pads", {}), 0);
}

// The pads of a convolution as those of a pad operator, which has them for the first two axes as well.
Ints PadsOfAllAxes(const Node& conv) {
  const Ints pads = conv.attrs().IntList("pads", {});
  const size_t spatial = pads.size() / 2;
  Ints all(2 * (spatial + 2), 0);
  for (size_t i = 0; i < spatial; ++i) {
    all[2 + i] = pads[i];
    all[4 + spatial + i] = pads[spatial + i];
  }
  return all;
}

// x padded with the zero point, for a convolution that then needs no padding.
Value* Padded(Graph& graph, Node* conv, int64_t zero) {
  return AddBefore(graph, conv, Op::kPad, {conv->input(0)},
                   {{"pads", PadsOfAllAxes(*conv)}, {"value", ExactNumber(zero)}});
}

// The same with a zero point that is known only at run time.
Value* PaddedAtRunTime(Graph& graph, Node* conv) {
  Value* x = Padded(graph, conv, 0);
  const Ints pads = PadsOfAllAxes(*conv);
  const size_t rank = pads.size() / 2;
  Shape shape = x->type().shape();
  shape[0] = shape[1] = 1;
  Tensor inside(DType::kBool, shape);
  for (int64_t i = 0; i < inside.num_elements(); ++i) {
    int64_t rest = i;
    bool is_inside = true;
    for (size_t axis = rank; axis-- > 0;) {
      const int64_t at = rest % shape[axis];
      rest /= shape[axis];
      is_inside = is_inside && pads[axis] <= at && at < shape[axis] - pads[rank + axis];
    }
    inside.SetDouble(i, is_inside ? 1 : 0);
  }
  Value* mask = graph.AddConstant(std::move(inside), conv->name(), conv);
  return AddBefore(graph, conv, Op::kWhere, {mask, x, conv->input(2)});
}

// Σ w of each output, in a shape that broadcasts to the product; `weights` is set where they are constants.
Value* SumOfWeights(Graph& graph, Node* product, const std::optional<Weights>& weights) {
  const int rank = product->output()->type().rank();
  if (weights) return AddAlong(graph, product, DType::kI32, Sums(*weights), rank, OutputAxis(*product));
  Value* wide = ToI32(graph, product, product->input(1));
  Ints axes;
  if (product->op() == Op::kConvInteger) {
    for (int axis = 1; axis < rank; ++axis) axes.push_back(axis);
    Value* sums = AddBefore(graph, product, Op::kReduceSum, {wide}, {{"axes", axes}, {"keepdims", false}});
    return Along(graph, product, sums, rank, OutputAxis(*product));
  }
  const int rows = wide->type().rank() - 2;
  if (!product->attrs().Bool("transpose_b"))
    return AddBefore(graph, product, Op::kReduceSum, {wide}, {{"axes", Ints{rows}}, {"keepdims", true}});
  Value* sums =
      AddBefore(graph, product, Op::kReduceSum, {wide}, {{"axes", Ints{rows + 1}}, {"keepdims", false}});
  Shape shape = sums->type().shape();
  shape.insert(shape.end() - 1, 1);
  return AddBefore(graph, product, Op::kReshape, {sums}, {{"shape", Ints(shape.begin(), shape.end())}});
}

// `sum` less z_x Σ w.
Value* LessActivationZero(Graph& graph, Node* product, Value* sum) {
  const std::optional<int64_t> zero = ZeroPointOf(*product, 2);
  const std::optional<Weights> weights = CenteredWeights(*product);
  const int rank = sum->type().rank();
  if (zero && weights) {
    std::vector<double> offsets = Sums(*weights);
    for (double& offset : offsets) offset *= -static_cast<double>(*zero);
    Value* constant = AddAlong(graph, product, DType::kI32, offsets, rank, OutputAxis(*product));
    return AddBefore(graph, product, Op::kAdd, {sum, constant});
  }
  Value* wide = Along(graph, product, ToI32(graph, product, product->input(2)), rank, rank - 2);
  Value* share = AddBefore(graph, product, Op::kMul, {wide, SumOfWeights(graph, product, weights)});
  return AddBefore(graph, product, Op::kSub, {sum, share});
}

bool FoldActivationZero(Graph& graph, Node* node) {
  if (node->input(2) == nullptr || node->input(3) != nullptr) return false;
  const std::optional<int64_t> zero = ZeroPointOf(*node, 2);
  Attributes attributes = node->attrs();
  Value* x = node->input(0);
  if (zero != 0 && IsPadded(*node)) {
    x = zero ? Padded(graph, node, *zero) : PaddedAtRunTime(graph, node);
    attributes.Set("pads", Ints(attributes.IntList("pads", {}).size(), 0));
  }
  Value* sum = AddBefore(graph, node, node->op(), {x, node->input(1)}, std::move(attributes));
  ReplaceNode(graph, node, zero == 0 ? sum : LessActivationZero(graph, node, sum));
  return true;
}

}  // namespace

absl::StatusOr<bool> FoldZeroPointsPass(Graph& graph, const PassContext&) {
  UnsignedTwins twins(graph);
  bool changed = ForEachNode(graph, [&](Graph&, Node* node) { return twins.Visit(node); });
  std::vector<Node*> products;
  for (const auto& node : graph.nodes()) {
    if (IsIntegerProduct(node->op()) && node->input(0)->type().dtype == DType::kU8 &&
        node->input(0)->type().is_static() && node->input(1)->type().is_static())
      products.push_back(node.get());
  }
  for (Node* product : products) {
    for (Node* centered : CenterWeights(graph, product)) {
      changed |= centered != product;
      changed |= FoldActivationZero(graph, centered);
    }
  }
  return changed;
}

}  // namespace attune
