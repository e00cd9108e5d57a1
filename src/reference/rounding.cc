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

RoundingModel ModelScatter(const Node& node, const RoundingModel& sum) {
  const std::string reduction = node.attrs().String("reduction", "none");
  return reduction == "add" || reduction == "mul" ? sum : RoundingModel();
}

}  // namespace

RoundingModel ModelRounding(const Node& node) {
  const OpInfo& info = GetOpInfo(node.op());
  RoundingModel model = info.rounds == Rounding::kSum ? Sum(node) : RoundingModel{.kind = info.rounds};
  model.jumps = info.jumps;
  switch (node.op()) {
    case Op::kMaxPool:
      model.jumps = node.num_outputs() > 1;
      return model;
    case Op::kCast:
      model.jumps = !IsFloat(node.output()->type().dtype);
      return model;
    case Op::kGridSample:
      // Nearest-neighbour interpolation may choose another element if a position is halfway between two.
      model.jumps = node.attrs().String("mode", "linear") == "nearest";
      return model;
    case Op::kAdd:
    case Op::kSub:
      model.keeps_integers = true;
      return model;
    case Op::kElu:
      model.absolute = std::fabs(node.attrs().Float("alpha"));
      return model;
    case Op::kSoftplus:
    case Op::kGelu:
      model.absolute = 1;
      return model;
    case Op::kScatterElements:
    case Op::kScatterNd:
      return ModelScatter(node, model);
    default:
      return model;
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
