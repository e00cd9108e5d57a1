#include "reference/rounding.h"

#include <algorithm>
#include <cmath>
#include <string>
namespace attune::reference {
namespace {

double Elements(const Value* value, int begin, int end) {
  const Shape shape = value->type().shape();
  double count = 1;
  for (int axis = begin; axis < end; ++axis) count *= static_cast<double>(shape[axis]);
  return count;
}
double Elements(const Value* value, int begin) { return Elements(value, begin, value->type().rank()); }

double Size(const Value* value, int64_t axis) { return static_cast<double>(value->type().shape()[axis]); }

double SizeAlong(const Value* value, const Ints& axes) {
  double count = 1;
  for (const int64_t axis : axes) count *= Size(value, axis);
  return count;
}

double Product(const Ints& sizes) {
  double product = 1;
  for (const int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

// The number of terms in the longest sum of an operator that computes sums.
double CountTerms(const Node& node) {
  constexpr double kTaps = 16;  // for bicubic interpolation
  const Value* x = node.input(0);
  const int rank = x->type().rank();
  switch (node.op()) {
    case Op::kConv:
    case Op::kDeformConv:
      return Elements(node.input(node.op() == Op::kConv ? 1 : 2), 1);
    case Op::kConvTranspose:
      return Size(x, 1) * Elements(node.input(1), 2);
    case Op::kMatMul:
      return Size(x, node.attrs().Int("transpose_a", 0) != 0 ? rank - 2 : rank - 1);
    case Op::kAttention:
      return std::max(Size(x, 3), Size(node.input(1), 2));
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceProd:
      return SizeAlong(x, node.attrs().IntList("axes"));
    case Op::kCumSum:
    case Op::kCumProd:
    case Op::kSoftmax:
    case Op::kLogSoftmax:
      return Size(x, node.attrs().Int("axis"));
    case Op::kAvgPool:
      return Product(node.attrs().IntList("kernel"));
    case Op::kCol2Im:
      return Product(node.attrs().IntList("block"));
    case Op::kLrn:
      return static_cast<double>(node.attrs().Int("size"));
    case Op::kLayerNorm:
    case Op::kRmsNorm:
      return Elements(x, static_cast<int>(node.attrs().Int("axis")));
    case Op::kGroupNorm:
      return Elements(x, 1) / static_cast<double>(node.attrs().Int("groups"));
    case Op::kRoiAlign:
      return kTaps * kTaps;
    case Op::kResize:
    case Op::kGridSample:
      return kTaps;
    case Op::kDet:
      return Size(x, rank - 1) * Size(x, rank - 1);
    case Op::kScatterElements:
    case Op::kScatterNd:
      return Elements(node.input(2), 0);
    default:
      return 1;
  }
}

bool MayBeWinograd(const Node& node) {
  const auto all = [&](std::string_view name, int64_t value) {
    const Ints sizes = node.attrs().IntList(name, {});
    return std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size == value; });
  };
  const Shape weights = node.input(1)->type().shape();
  return weights.size() == 4 && weights[2] == 3 && weights[3] == 3 && all("strides", 1) &&
         all("dilations", 1);
}

RoundingModel Sum(const Node& node) {
  RoundingModel model = {.kind = Rounding::kSum, .terms = std::max(CountTerms(node), 1.0)};
  switch (node.op()) {
    case Op::kConv:
      model.winograd = MayBeWinograd(node);
      model.keeps_integers = !model.winograd;
      break;
    case Op::kConvTranspose:
    case Op::kMatMul:
    case Op::kReduceSum:
    case Op::kCumSum:
    case Op::kCol2Im:
    case Op::kScatterElements:
    case Op::kScatterNd:
      model.keeps_integers = true;
      break;
    case Op::kLayerNorm:
    case Op::kGroupNorm:
      model.centers = true;
      break;
    default:
      break;
  }
  return model;
}

RoundingModel ModelScatter(const Node& node) {
  const std::string reduction = node.attrs().String("reduction", "none");
  return reduction == "add" || reduction == "mul" ? Sum(node) : RoundingModel();
}

// Nearest-neighbour interpolation may choose another element if a position is halfway between two.
RoundingModel ModelGridSample(const Node& node) {
  RoundingModel model = Sum(node);
  model.jumps = node.attrs().String("mode", "linear") == "nearest";
  return model;
}

RoundingModel ModelRoiAlign(const Node& node) {
  RoundingModel model = Sum(node);
  model.jumps = true;  // the number of samples in a bin is rounded up
  return model;
}

}  // namespace

RoundingModel ModelRounding(const Node& node) {
  const RoundingModel jump = {.jumps = true};
  switch (node.op()) {
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kSign:
    case Op::kEqual:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
    case Op::kArgMax:
    case Op::kArgMin:
    case Op::kTopK:
    case Op::kNonZero:
    case Op::kNonMaxSuppression:
    case Op::kUnique:
      return jump;
    case Op::kMaxPool:
      return {.jumps = node.num_outputs() > 1};
    case Op::kMod:
    case Op::kQuantize:
    case Op::kRequantize:
      return {.kind = Rounding::kFunction, .jumps = true};
    case Op::kCast:
      return {.kind = Rounding::kOnce, .jumps = !IsFloat(node.output()->type().dtype)};
    case Op::kSqrt:
    case Op::kLeakyRelu:
    case Op::kMul:
    case Op::kDiv:
    case Op::kDequantize:
      return {.kind = Rounding::kOnce};
    case Op::kAdd:
    case Op::kSub:
      return {.kind = Rounding::kAdd, .keeps_integers = true};
    case Op::kElu:
      return {.kind = Rounding::kFunction, .absolute = std::fabs(node.attrs().Float("alpha"))};
    case Op::kSoftplus:
    case Op::kGelu:
      return {.kind = Rounding::kFunction, .absolute = 1};
    case Op::kExp:
    case Op::kLog:
    case Op::kSin:
    case Op::kCos:
    case Op::kTan:
    case Op::kAsin:
    case Op::kAcos:
    case Op::kAtan:
    case Op::kSinh:
    case Op::kCosh:
    case Op::kTanh:
    case Op::kAsinh:
    case Op::kAcosh:
    case Op::kAtanh:
    case Op::kErf:
    case Op::kSigmoid:
    case Op::kSilu:
    case Op::kHardSigmoid:
    case Op::kHardSwish:
    case Op::kPow:
    case Op::kBatchNorm:
      return {.kind = Rounding::kFunction};
    case Op::kScatterElements:
    case Op::kScatterNd:
      return ModelScatter(node);
    case Op::kGridSample:
      return ModelGridSample(node);
    case Op::kRoiAlign:
      return ModelRoiAlign(node);
    case Op::kConv:
    case Op::kDeformConv:
    case Op::kConvTranspose:
    case Op::kMatMul:
    case Op::kAttention:
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceProd:
    case Op::kCumSum:
    case Op::kCumProd:
    case Op::kSoftmax:
    case Op::kLogSoftmax:
    case Op::kAvgPool:
    case Op::kCol2Im:
    case Op::kLrn:
    case Op::kLayerNorm:
    case Op::kRmsNorm:
    case Op::kGroupNorm:
    case Op::kResize:
    case Op::kDet:
      return Sum(node);
    default:
      return {};
  }
}

bool StaysInteger(const RoundingModel& model, const std::vector<Tensor>& inputs) {
  if (!model.keeps_integers) return false;
  constexpr double kLargest = 1 << 24;
  double product = model.terms;
  for (const Tensor& input : inputs) {
    if (input.data() == nullptr || !IsFloat(input.dtype())) continue;
    double largest = 1;
    if (input.dtype() != DType::kF64) return false;
    for (const double value : input.as<double>()) {
      if (value != std::trunc(value)) return false;
      largest = std::max(largest, std::fabs(value));
    }
    product = model.kind == Rounding::kAdd ? std::max(product, 2 * largest) : product * largest;
    if (!(product <= kLargest)) return false;
  }
  return true;
}

}  // namespace attune::reference
