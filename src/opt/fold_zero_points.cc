// Problem: processors multiply unsigned bytes with signed ones, and nothing but products; a sum of
// (x - z_x)(w - z_w) with either sign of each is more.
//
// Idea: all of it is arithmetic of constants. A signed activation plus 128 is an unsigned one whose zero
// point is 128 higher: the quantization that makes it adds that for nothing, and what moves it does not care.
// Unsigned weights less 128 are signed, and mostly fit without a zero point at all. What then is left of a
// zero point z_x is z_x Σ w, a number for each output channel; padding, which stands for zeros, has to be z_x
// for that. And of z_w it is z_w Σ x, the sum of a window, which is a product with ones.
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

// ---- Signed activations become unsigned.

// Gives values of i8 a twin of u8, 128 more.
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
    // The zero point has the shape of a quantization's scale.
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
    const auto shift = [&](const char* name, double number) {
      attributes.Set(name, number + static_cast<double>(kHalfRange));
    };
    if (node->op() == Op::kPad) shift("value", node->attrs().Float("value", 0));
    for (const char* bound : {"min", "max"}) {
      if (node->op() == Op::kClip && attributes.Has(bound)) shift(bound, attributes.Float(bound));
    }
    Value* twin = AddBefore(graph_, node, node->op(), std::move(inputs), std::move(attributes));
    if (twin == nullptr) return false;
    twins_[node->output()] = twin;
    return true;
  }

  // A sum that takes the map as it is takes the twin less 128, so that the map need not be made too.
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
    const bool by_channel = node->op() == Op::kDequantize && node->input(1)->type().rank() != 0;
    if (x->type().dtype != DType::kI8 || x->constant() != nullptr || !zero || by_channel) return false;
    auto twin = twins_.find(x);
    if (twin == twins_.end()) {
      if (!IsIntegerProduct(node->op())) return false;
      twin = twins_.emplace(x, Shifted(node, x)).first;
    }
    Value* shifted = AddScalar(graph_, node, DType::kU8, *zero + kHalfRange);
    std::vector<Value*> inputs = node->inputs();
    inputs.resize(std::max<size_t>(inputs.size(), 3), nullptr);
    inputs[0] = twin->second;
    inputs[2] = shifted;
    ReplaceNode(graph_, node, AddBefore(graph_, node, node->op(), std::move(inputs), node->attrs()));
    return true;
  }

  // What nobody quantizes here, such as an input of the network.
  Value* Shifted(Node* before, Value* x) {
    Value* wide = AddBefore(graph_, before, Op::kCast, {x}, {{"to", DType::kI16}});
    Value* offset = AddScalar(graph_, before, DType::kI16, kHalfRange);
    Value* sum = AddBefore(graph_, before, Op::kAdd, {wide, offset});
    return AddBefore(graph_, before, Op::kCast, {sum}, {{"to", DType::kU8}});
  }

  Graph& graph_;
  std::map<const Value*, Value*> twins_;
};

// ---- Weights become signed, without a zero point.

// The numbers of constant weights less their zero points: [M] along the first axis, or of a matrix along the
// columns.
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

// Of each output.
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

// A product like `node`, of the same x.
Value* ProductWith(Graph& graph, Node* node, const Shape& shape, std::span<const double> weights) {
  Value* w = graph.AddConstant(FromDoubles(DType::kI8, shape, weights), node->name(), node);
  return AddBefore(graph, node, node->op(), {node->input(0), w, node->input(2)}, node->attrs());
}

// Σ x over what each output sees; nullptr where outputs of one group are several, and groups too.
Value* SumOfOperand(Graph& graph, Node* node) {
  Shape shape = node->input(1)->type().shape();
  if (node->op() == Op::kConvInteger) {
    const int64_t group = node->attrs().Int("group", 1);
    if (group != 1 && group != shape[0]) return nullptr;
    shape[0] = group;
  } else {
    shape[node->attrs().Bool("transpose_b") ? 0 : 1] = 1;
  }
  int64_t size = 1;
  for (int64_t dim : shape) size *= dim;
  return ProductWith(graph, node, shape, std::vector<double>(static_cast<size_t>(size), 1));
}

// Puts products of signed weights without zero points in the place of `node`. Returns them.
std::vector<Node*> CenterWeights(Graph& graph, Node* node) {
  const Value* w = node->input(1);
  if (w->type().dtype == DType::kI8 && node->input(3) == nullptr) return {node};
  std::optional<Weights> weights = CenteredWeights(*node);
  if (!weights) return {};
  const Shape shape = w->type().shape();
  if (FitSigned(weights->numbers)) {
    Value* product = ProductWith(graph, node, shape, weights->numbers);
    ReplaceNode(graph, node, product);
    return {product->producer()};
  }
  Value* window = SumOfOperand(graph, node);
  if (window == nullptr) return {};
  const double offset = w->type().dtype == DType::kU8 ? kHalfRange : 0;
  std::vector<double> numbers = ToDoubles(*w->constant());
  for (double& number : numbers) number -= offset;
  std::vector<double> zeros = *ZeroPointsOf(*node, 3);
  for (double& zero : zeros) zero -= offset;
  Value* product = ProductWith(graph, node, shape, numbers);
  Value* rest = AddAlong(graph, node, DType::kI32, zeros, product->type().rank(), OutputAxis(*node));
  ReplaceNode(graph, node,
              AddBefore(graph, node, Op::kSub, {product, AddBefore(graph, node, Op::kMul, {window, rest})}));
  return {product->producer(), window->producer()};
}

// ---- The activations' zero point goes into a sum.

// conv(x) with padding that stands for the zero point: conv(pad(x)).
Value* Padded(Graph& graph, Node* conv, int64_t zero) {
  const Ints pads = conv->attrs().IntList("pads", {});
  if (AllAre(pads, 0)) return conv->input(0);
  const size_t spatial = pads.size() / 2;
  Ints all(2 * (spatial + 2), 0);
  for (size_t i = 0; i < spatial; ++i) {
    all[2 + i] = pads[i];
    all[4 + spatial + i] = pads[spatial + i];
  }
  return AddBefore(graph, conv, Op::kPad, {conv->input(0)},
                   {{"pads", all}, {"value", static_cast<double>(zero)}});
}

bool FoldActivationZero(Graph& graph, Node* node) {
  const std::optional<int64_t> zero = ZeroPointOf(*node, 2);
  if (node->input(2) == nullptr || node->input(3) != nullptr || !zero) return false;
  std::optional<Weights> weights;
  if (*zero != 0) {
    weights = CenteredWeights(*node);
    if (!weights) return false;
  }
  Attributes attributes = node->attrs();
  Value* x = node->input(0);
  if (weights && node->op() == Op::kConvInteger) {
    x = Padded(graph, node, *zero);
    attributes.Set("pads", Ints(attributes.IntList("pads", Ints(2 * (x->type().rank() - 2), 0)).size(), 0));
  }
  Value* sum = AddBefore(graph, node, node->op(), {x, node->input(1)}, std::move(attributes));
  if (weights) {
    std::vector<double> offsets = Sums(*weights);
    for (double& offset : offsets) offset *= -static_cast<double>(*zero);
    Value* constant = AddAlong(graph, node, DType::kI32, offsets, sum->type().rank(), OutputAxis(*node));
    sum = AddBefore(graph, node, Op::kAdd, {sum, constant});
  }
  ReplaceNode(graph, node, sum);
  return true;
}

}  // namespace

absl::StatusOr<bool> FoldZeroPointsPass(Graph& graph, const PassContext&) {
  UnsignedTwins twins(graph);
  bool changed = ForEachNode(graph, [&](Graph&, Node* node) { return twins.Visit(node); });
  std::vector<Node*> products;
  for (const auto& node : graph.nodes()) {
    if (IsIntegerProduct(node->op()) && node->input(0)->type().dtype == DType::kU8)
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
