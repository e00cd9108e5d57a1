#include "graph/demand.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "base/dtype.h"
#include "graph/flops.h"

namespace attune {
namespace {

// 0 if the type is dynamic.
double LeastElements(const Value* value) {
  return value->type().is_static() ? static_cast<double>(value->type().num_elements()) : 0;
}

double SizeOf(const Value* value, int64_t axis) {
  return static_cast<double>(value->type().dims[static_cast<size_t>(axis)].size);
}

// How a window that slides along one axis meets the positions of the axis.
struct AxisUse {
  double touched = 0;     // positions that any window meets
  double used_taps = 0;   // taps of the window that meet a position anywhere
  double pairs = 0;       // of window and tap that meet a position
  double least_taps = 0;  // of one window
};

AxisUse UseOfAxis(int64_t size, int64_t windows, int64_t taps, int64_t stride, int64_t pad,
                  int64_t dilation) {
  constexpr int64_t kMostPairs = 10'000'000;
  AxisUse use;
  if (size <= 0 || windows <= 0 || taps <= 0 || windows > kMostPairs / taps) return use;
  std::vector<bool> is_touched(static_cast<size_t>(size)), is_used(static_cast<size_t>(taps));
  use.least_taps = static_cast<double>(taps);
  for (int64_t window = 0; window < windows; ++window) {
    double met = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t at = window * stride - pad + tap * dilation;
      if (at < 0 || at >= size) continue;
      ++met;
      is_touched[static_cast<size_t>(at)] = is_used[static_cast<size_t>(tap)] = true;
    }
    use.pairs += met;
    use.least_taps = std::min(use.least_taps, met);
  }
  use.touched = static_cast<double>(std::ranges::count(is_touched, true));
  use.used_taps = static_cast<double>(std::ranges::count(is_used, true));
  return use;
}

// The product over all axes.
AxisUse UseOfWindow(const Node& node, const Shape& from, const Shape& to, const Shape& kernel) {
  const size_t axes = kernel.size();
  const auto item = [&](const char* name, size_t axis, int64_t otherwise) {
    const Ints list = node.attrs().IntList(name, {});
    return axis < list.size() ? list[axis] : otherwise;
  };
  AxisUse all = {.touched = 1, .used_taps = 1, .pairs = 1, .least_taps = 1};
  for (size_t axis = 0; axis < axes; ++axis) {
    const AxisUse use = UseOfAxis(from[2 + axis], to[2 + axis], kernel[axis], item("strides", axis, 1),
                                  item("pads", axis, 0), item("dilations", axis, 1));
    all.touched *= use.touched;
    all.used_taps *= use.used_taps;
    all.pairs *= use.pairs;
    all.least_taps *= use.least_taps;
  }
  return all;
}

Shape KernelOf(const Value* weights) {
  const Shape shape = weights->type().shape();
  return Shape(shape.begin() + 2, shape.end());
}

double Product(const Shape& shape) {
  double product = 1;
  for (const int64_t size : shape) product *= static_cast<double>(size);
  return product;
}

// The demands of one node for the needed elements of its results.
class NodeDemand {
 public:
  // `needed`: of output 0, of `all` elements.
  NodeDemand(const Node& node, double needed, double all) : node_(node), needed_(needed), all_(all) {}

  double OfInput(int i) const {
    const Value* input = node_.input(i);
    const double most = LeastElements(input);
    if (needed_ <= 0 || most <= 0 || MayBeConstant()) return 0;
    return std::clamp(std::ceil(OfOperand(i, most) * (1 - 1e-12)), 0.0, most);
  }

  double ContractionFlops() const {
    if (GetOpInfo(node_.op()).category != OpCategory::kContraction || needed_ <= 0) return 0;
    constexpr double kOfMultiplyAdd = 2;
    return kOfMultiplyAdd * MultiplyAdds();
  }

  double OtherFlops() const {
    const OpInfo& info = GetOpInfo(node_.op());
    double flops = 0;
    if (MayBeConstant()) return 0;
    if (IsElementwise(node_.op()) && node_.op() != Op::kIdentity)
      flops = needed_ * info.flops;
    else if (info.category == OpCategory::kNormalization)
      flops = needed_ * info.flops;
    else if (info.category == OpCategory::kReduction)
      flops = std::max(0.0, OfInput(0) - needed_);
    return flops * Width();
  }

 private:
  bool IsWhole() const { return needed_ >= all_; }
  // Whether the result may follow without the operands: as of x · 0, which is exact of integers alone.
  bool MayBeConstant() const {
    const Op op = node_.op();
    if (op == Op::kIsInf)
      return node_.attrs().Int("positive", 1) == 0 && node_.attrs().Int("negative", 1) == 0;
    if (GetOpInfo(op).category != OpCategory::kBinary || IsFloat(node_.input(0)->type().dtype)) return false;
    const bool has_constant = node_.input(0)->constant() != nullptr || node_.input(1)->constant() != nullptr;
    return has_constant && op != Op::kAdd && op != Op::kSub && op != Op::kXor;
  }
  // Each element of the operand serves as many elements of the result.
  double Evenly(double most) const { return needed_ * most / all_; }
  // Each element of the result reads at most one of the operand, and `whole` of these are read for all.
  double AllButSpared(double whole) const { return whole - (all_ - needed_); }
  double IfWhole(double whole) const { return IsWhole() ? whole : 0; }

  // The share of 32 bits that the narrowest number takes that the node reads or makes.
  double Width() const {
    constexpr double kFull = 4;
    double bytes = kFull;
    for (const Value* input : node_.inputs())
      if (input != nullptr) bytes = std::min(bytes, static_cast<double>(DTypeSize(input->type().dtype)));
    return std::min(bytes, static_cast<double>(DTypeSize(node_.output()->type().dtype))) / kFull;
  }

  double OfOperand(int i, double most) const {
    const OpInfo& info = GetOpInfo(node_.op());
    switch (info.category) {
      case OpCategory::kUnary:
      case OpCategory::kBinary:
        return Evenly(most);
      case OpCategory::kTernary:
        return i == 0 ? Evenly(most) : 0;  // either of the others may be taken everywhere
      case OpCategory::kQuantized:
        return i == 0 ? needed_ : IfWhole(most);
      case OpCategory::kMovement:
        return OfMoved(i, most);
      case OpCategory::kIndexed:
        return OfIndexed(i, most);
      case OpCategory::kReduction:
        // One truth value may decide the result.
        return node_.output()->type().dtype == DType::kBool ? 0 : Evenly(most);
      case OpCategory::kScan:
        return node_.attrs().Int("exclusive", 0) == 0 ? needed_ : 0;
      case OpCategory::kContraction:
        return OfContraction(i, most);
      case OpCategory::kWindow:
        return OfWindow(most);
      case OpCategory::kNormalization:
        return i == 0 ? needed_ : IfWhole(most);
      default:
        return node_.op() == Op::kIdentity ? needed_ : 0;
    }
  }

  double OfMoved(int i, double most) const {
    switch (node_.op()) {
      case Op::kBroadcast:
        return Evenly(most);
      case Op::kConcat:
      case Op::kPad:
        return AllButSpared(most);
      default:
        return i == 0 ? needed_ : 0;
    }
  }

  // Indices may all be the same.
  double OfIndexed(int i, double most) const {
    const auto size = [](const Value* value) { return static_cast<double>(value->type().num_elements()); };
    switch (node_.op()) {
      case Op::kGather:
        return i == 0 ? needed_ / size(node_.input(1)) : Evenly(most);
      case Op::kGatherElements:
        return i == 0 ? needed_ / SizeOf(node_.output(), node_.attrs().Int("axis")) : needed_;
      case Op::kGatherNd: {
        double lookups = 1;  // in one batch
        const int64_t batch = node_.attrs().Int("batch_dims", 0);
        for (int64_t axis = batch; axis + 1 < node_.input(1)->type().rank(); ++axis)
          lookups *= SizeOf(node_.input(1), axis);
        return i == 0 ? needed_ / lookups : Evenly(most);
      }
      case Op::kCheckIndex:
        return needed_;
      default:
        return 0;  // a scatter may happen in place, and one update hide another
    }
  }

  AxisUse Window() const {
    const Shape from = node_.input(0)->type().shape(), to = node_.output()->type().shape();
    if (node_.op() == Op::kMaxPool || node_.op() == Op::kAvgPool)
      return UseOfWindow(node_, from, to, node_.attrs().IntList("kernel"));
    const Shape kernel = KernelOf(node_.input(1));
    return node_.op() == Op::kConvTranspose ? UseOfWindow(node_, to, from, kernel)
                                            : UseOfWindow(node_, from, to, kernel);
  }

  double OfContraction(int i, double most) const {
    if (IsMatMul(node_.op())) return i < 2 ? Evenly(most) : IfWhole(most);
    if (node_.op() == Op::kAttention) return i == 0 ? Evenly(most) : IfWhole(most);
    if (!IsConv(node_.op())) return 0;
    const AxisUse use = Window();
    const Shape x = node_.input(0)->type().shape(), w = node_.input(1)->type().shape();
    const double taps = Product(KernelOf(node_.input(1)));
    const auto channels = static_cast<double>(w[1]), makes = static_cast<double>(w[0]);
    const auto groups = static_cast<double>(node_.attrs().Int("group", 1));
    // One element of the result reads at least this many of each operand.
    const double reads = channels * use.least_taps;
    if (i == 0)
      return IsWhole() ? static_cast<double>(x[0] * x[1]) * use.touched
                       : needed_ * reads / (makes / groups * taps);
    if (i == 1) return IsWhole() ? makes * channels * use.used_taps : needed_ * reads * makes / all_;
    return IfWhole(most);
  }

  double OfWindow(double most) const {
    if (node_.op() == Op::kLrn) return needed_;
    if (node_.op() != Op::kMaxPool && node_.op() != Op::kAvgPool) return 0;
    const AxisUse use = Window();
    const Shape x = node_.input(0)->type().shape(), kernel = node_.attrs().IntList("kernel");
    if (IsWhole()) return std::min(most, static_cast<double>(x[0] * x[1]) * use.touched);
    return needed_ * use.least_taps / Product(kernel);
  }

  double MultiplyAdds() const {
    const Value* a = node_.input(0);
    if (!a->type().is_static() || !node_.input(1)->type().is_static()) return 0;
    if (IsMatMul(node_.op()) && all_ > 0)
      return static_cast<double>(CountMultiplyAdds(node_)) * needed_ / all_;
    if (node_.op() == Op::kAttention) return IfWhole(static_cast<double>(CountMultiplyAdds(node_)));
    if (!IsConv(node_.op()) && node_.op() != Op::kConvTranspose) return 0;
    // Taps in the padding multiply nothing.
    const Shape x = a->type().shape(), w = node_.input(1)->type().shape();
    const AxisUse use = Window();
    if (node_.op() == Op::kConvTranspose) return IfWhole(static_cast<double>(x[0] * x[1] * w[1]) * use.pairs);
    const auto channels = static_cast<double>(w[1]);
    return IsWhole() ? static_cast<double>(x[0] * w[0]) * channels * use.pairs
                     : needed_ * channels * use.least_taps;
  }

  const Node& node_;
  const double needed_, all_;
};

}  // namespace

Demand DemandOf(const Graph& graph) {
  std::map<const Value*, double> needed;
  for (const Graph::Output& output : graph.outputs()) needed[output.value] = LeastElements(output.value);
  Demand demand;
  for (const auto& node : graph.nodes() | std::views::reverse) {
    if (node->op() == Op::kConstant || node->num_outputs() == 0 || node->num_regions() > 0) continue;
    const Value* result = node->output();
    const NodeDemand of(*node, needed[result], static_cast<double>(result->type().num_elements()));
    demand.contraction_flops += of.ContractionFlops();
    demand.other_flops += of.OtherFlops();
    for (int i = 0; i < node->num_inputs(); ++i) {
      if (node->input(i) == nullptr) continue;
      double& of_input = needed[node->input(i)];
      of_input = std::max(of_input, of.OfInput(i));
    }
  }
  for (const auto& input : graph.inputs()) demand.elements_read.push_back(needed[input.get()]);
  for (const Graph::Output& output : graph.outputs()) {
    const Node* producer = output.value->producer();
    const bool is_in_place =
        producer != nullptr && (producer->op() == Op::kScatterElements || producer->op() == Op::kScatterNd);
    demand.elements_written.push_back(is_in_place ? 0 : LeastElements(output.value));
  }
  return demand;
}

}  // namespace attune
