#include "rounding.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/float16.h"
#include "base/random.h"
#include "base/status.h"
#include "reference/broadcast.h"
#include "reference/compare.h"
#include "reference/interpreter.h"

namespace attune::graph_fuzz {
namespace {

// Multiples of kExactStep up to kExactLimit are exact in f32, and so are sums of their products up to
// kExactSumLimit.
constexpr double kExactStep = 1.0 / 16;
constexpr double kExactLimit = 256;
constexpr double kExactSumLimit = 1 << 14;

bool HasExactNumbers(const Tensor& tensor, double step, double limit) {
  if (tensor.dtype() != DType::kF32 && tensor.dtype() != DType::kF64) return !IsFloat(tensor.dtype());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double x = tensor.ToDouble(i) / step;
    if (!(std::abs(x) <= limit / step) || x != std::round(x)) return false;
  }
  return true;
}

// Whether Winograd may compute the convolution; its transformed numbers are not exact.
bool MayTransform(const Node& node) {
  if (node.op() != Op::kConv && node.op() != Op::kConvTranspose) return false;
  const std::vector<Dim>& kernel = node.input(1)->type().dims;
  return node.op() == Op::kConvTranspose || (kernel.back() == Dim(3) && kernel[kernel.size() - 2] == Dim(3));
}

// Whether an operator gives exact results for exact numbers, in whatever order it computes.
bool KeepsExact(const Node& node) {
  switch (GetOpInfo(node.op()).category) {
    case OpCategory::kMovement:
    case OpCategory::kIndexed:
    case OpCategory::kDynamic:
    case OpCategory::kTernary:
    case OpCategory::kSort:
    case OpCategory::kData:
      return true;
    case OpCategory::kUnary:
      return node.op() == Op::kNeg || node.op() == Op::kAbs || node.op() == Op::kSign ||
             node.op() == Op::kFloor || node.op() == Op::kCeil || node.op() == Op::kRound ||
             node.op() == Op::kRelu || node.op() == Op::kClip || node.op() == Op::kCast ||
             node.op() == Op::kIsNan || node.op() == Op::kIsInf || node.op() == Op::kNot;
    case OpCategory::kBinary:
      return node.op() != Op::kDiv && node.op() != Op::kMod && node.op() != Op::kPow;
    case OpCategory::kReduction:
    case OpCategory::kScan:
      return node.op() != Op::kReduceMean && node.op() != Op::kReduceProd && node.op() != Op::kCumProd;
    case OpCategory::kContraction:
      return node.op() != Op::kAttention && node.op() != Op::kDeformConv && !MayTransform(node);
    case OpCategory::kWindow:
      return node.op() == Op::kMaxPool;
    default:
      return false;
  }
}

// For an activation that is a difference or product of numbers that may be much larger than its result: the
// size of those numbers. The result is exact to a few roundoffs of this size
// (docs/decisions/floating-point.md). Empty for other operators.
Tensor InsideOf(const Node& node, const Tensor& x) {
  constexpr double kZeroBelow = 6;  // the result of gelu at -6 or less
  const auto each = [&](auto magnitude) {
    Tensor inside(DType::kF64, x.shape());
    for (int64_t i = 0; i < x.num_elements(); ++i) inside.SetDouble(i, magnitude(x.ToDouble(i)));
    return inside;
  };
  switch (node.op()) {
    case Op::kGelu:
      return each([&](double at) { return std::min(std::abs(at), kZeroBelow); });
    case Op::kSoftplus:
      return each([](double) { return 1.0; });
    case Op::kElu:
      return each([&](double) { return std::abs(node.attrs().Float("alpha")); });
    default:
      return Tensor();
  }
}

// Every error may be as large as this: activations may turn numbers this small into 0 or into other small
// ones (codegen/elementary.cc), and f16 has no finer spacing.
double LeastErrorOf(DType dtype) {
  return dtype == DType::kF64 ? 0 : dtype == DType::kF16 ? 0x1p-25 : 0x1p-118;
}

double LargestOf(const Tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    largest = std::max(largest, std::abs(tensor.ToDouble(i)));
  return largest;
}

// If a dequantized number is summed up, the zero point's share is one of the terms of the sum.
bool IsSummed(const Graph& graph, const Node& node) {
  return node.op() == Op::kDequantize && !node.output()->users().empty() && !graph.IsOutput(node.output()) &&
         std::ranges::all_of(node.output()->users(), [](const Node* user) {
           return user->op() == Op::kAdd || user->op() == Op::kSub || user->op() == Op::kQuantize;
         });
}

class Perturbation {
 public:
  Perturbation(const Graph& graph, const RoundingModel& model, uint64_t seed)
      : graph_(graph),
        model_(model),
        random_(seed),
        rounds_(model.precision == DType::kBF16 && seed % 4 == 0),
        merges_(seed % 4 == 2),
        cancels_(seed % 4 == 1) {}

  absl::StatusOr<std::vector<Tensor>> Evaluate(const Node& node, std::vector<Tensor> given) {
    bool exact = model_.keeps_exact && KeepsExact(node);
    for (const Tensor& input : given)
      exact = exact && (input.data() == nullptr || HasExactNumbers(input, kExactStep, kExactLimit));
    if (!exact) {
      for (Tensor& tensor : given) tensor = WithErrors(tensor, nullptr);
    }
    if (merges_ && MayMultiplyByReciprocal(node, given[0]))
      RETURN_IF_ERROR(MultiplyByReciprocal(node, given[0], given[1]));
    ASSIGN_OR_RETURN(std::vector<Tensor> results, EvaluateNode(node, given));
    if (merges_ && !exact && node.op() == Op::kEqual && IsFloat(given[0].dtype()))
      Merge(node, given, results[0]);
    if (cancels_ && !exact && node.op() == Op::kTan) LoseAngles(given[0], results[0]);
    if (cancels_ && node.op() == Op::kReduceProd && IsFloat(given[0].dtype()))
      RETURN_IF_ERROR(ReorderProduct(node, given, results[0]));
    Tensor magnitude = InsideOf(node, given[0]);
    if (IsSummed(graph_, node) && node.num_inputs() > 2) {
      magnitude = Tensor(DType::kF64, results[0].shape());
      std::ranges::fill(magnitude.as_mutable<double>(), LargestOf(given[1]) * LargestOf(given[2]));
    }
    // The result for a number near the mean is a difference of larger numbers.
    if (node.op() == Op::kLayerNorm || node.op() == Op::kGroupNorm) {
      magnitude = Tensor(DType::kF64, results[0].shape());
      std::ranges::fill(magnitude.as_mutable<double>(), LargestOf(results[0]));
    }
    if (IsContraction(node.op()) && IsFloat(results[0].dtype())) {
      ASSIGN_OR_RETURN(magnitude, EvaluateMagnitude(node, given));
      // Transformed numbers carry the roundings of their neighbours.
      if (MayTransform(node)) std::ranges::fill(magnitude.as_mutable<double>(), LargestOf(magnitude));
      exact = exact && HasExactNumbers(magnitude, kExactStep * kExactStep, kExactSumLimit);
    }
    for (int i = 0; i < node.num_outputs(); ++i) {
      Tensor& result = results[static_cast<size_t>(i)];
      exact = exact && HasExactNumbers(result, kExactStep * kExactStep, kExactSumLimit);
      const bool moves = GetOpInfo(node.op()).category == OpCategory::kMovement || node.op() == Op::kConstant;
      const Tensor* summed = magnitude.num_elements() > 0 ? &magnitude : nullptr;
      if (!exact && !moves) result = WithErrors(result, summed);
      if (merges_ && IsFloat(result.dtype()))
        errors_[node.output(i)] = ErrorOfInputs(node) + (exact || moves ? 0 : LargestError(result, summed));
    }
    return results;
  }

 private:
  // The largest error of a value of `dtype`, relative to the value. Types with few bits are computed in
  // f32, and rounded to `dtype` once or not at all.
  double UnitOf(DType dtype) const {
    const bool narrow = dtype == DType::kF16 || dtype == DType::kBF16;
    const bool rounds = rounds_ && dtype == DType::kF32;
    const double ulps = rounds ? 1 : narrow ? std::min(model_.ulps, 4.0) : model_.ulps;
    return UnitRoundoff(dtype == DType::kF32 ? model_.precision : dtype) * ulps;
  }

  // The most by which an element may be off, which is `x`, or a sum of numbers of this magnitude.
  double MostError(DType dtype, double x, double magnitude) const {
    const bool narrow = dtype == DType::kF16 || dtype == DType::kBF16;
    const double computed_unit = narrow ? UnitRoundoff(DType::kF32) * model_.ulps : UnitOf(dtype);
    return UnitOf(dtype) * std::abs(x) + computed_unit * std::abs(magnitude) +
           (x != 0 ? LeastErrorOf(dtype) : 0);
  }

  double LargestError(const Tensor& exact, const Tensor* magnitude) const {
    double largest = 0;
    for (int64_t i = 0; i < exact.num_elements(); ++i) {
      const double most =
          MostError(exact.dtype(), exact.ToDouble(i), magnitude != nullptr ? magnitude->ToDouble(i) : 0);
      if (std::isfinite(most)) largest = std::max(largest, most);
    }
    return largest;
  }

  double ErrorOfInputs(const Node& node) const {
    double largest = 0;
    for (const Value* input : node.inputs())
      if (const auto found = errors_.find(input); found != errors_.end())
        largest = std::max(largest, found->second);
    return largest;
  }

  // Numbers count as equal if errors can make them equal: their own, and those of larger numbers of which
  // they are sums.
  void Merge(const Node& node, const std::vector<Tensor>& given, Tensor& equal) const {
    const absl::StatusOr<Tensor> left = reference::BroadcastTo(given[0], equal.shape());
    const absl::StatusOr<Tensor> right = reference::BroadcastTo(given[1], equal.shape());
    if (!left.ok() || !right.ok()) return;
    const double unit = UnitOf(given[0].dtype()), before = ErrorOfInputs(node);
    for (int64_t i = 0; i < equal.num_elements(); ++i) {
      const double x = left->ToDouble(i), y = right->ToDouble(i);
      if (std::abs(x - y) <= unit * (std::abs(x) + std::abs(y)) + before) equal.SetInt(i, 1);
    }
  }

  static bool MayMultiplyByReciprocal(const Node& node, const Tensor& x) {
    return node.op() == Op::kQuantize && x.dtype() == DType::kF32 && node.attrs().Int("block_size", 0) == 0 &&
           node.attrs().String("rounding", "half_even") == "half_even";
  }

  // Quotients by way of the scale's reciprocal decide ties otherwise, but alike for equal numbers, as
  // independent errors hardly ever do. `scale` is divided out.
  static absl::Status MultiplyByReciprocal(const Node& node, Tensor& x, Tensor& scale) {
    Shape along(x.shape().size(), 1);
    if (scale.rank() != 0) along[static_cast<size_t>(node.attrs().Int("axis", 1))] = scale.num_elements();
    ASSIGN_OR_RETURN(const Tensor scales, reference::BroadcastTo(scale.Reshaped(along), x.shape()));
    Tensor quotients(x.dtype(), x.shape());
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const float reciprocal = 1 / static_cast<float>(scales.ToDouble(i));
      quotients.SetDouble(i, static_cast<float>(x.ToDouble(i)) * reciprocal);
    }
    x = std::move(quotients);
    Tensor one(scale.dtype(), scale.shape());
    for (int64_t i = 0; i < one.num_elements(); ++i) one.SetDouble(i, 1);
    scale = std::move(one);
    return absl::OkStatus();
  }

  // If the error of an angle is no longer small, its tangent may be infinite: the angle itself may be off.
  void LoseAngles(const Tensor& angles, Tensor& tangents) const {
    constexpr double kSmall = 0.25;
    const double unit = UnitOf(angles.dtype());
    for (int64_t i = 0; i < angles.num_elements(); ++i) {
      if (unit * std::abs(angles.ToDouble(i)) >= kSmall) tangents.SetDouble(i, HUGE_VAL);
    }
  }

  // A product that contains a 0 may be NaN if the other factors overflow before they meet the 0.
  static absl::Status ReorderProduct(const Node& node, const std::vector<Tensor>& given, Tensor& product) {
    std::vector<Tensor> others = given;
    Tensor factors(given[0].dtype(), given[0].shape());
    for (int64_t i = 0; i < factors.num_elements(); ++i) {
      const double x = given[0].ToDouble(i);
      factors.SetDouble(i, std::abs(x) > 1 ? x : 1);
    }
    others[0] = std::move(factors);
    ASSIGN_OR_RETURN(const std::vector<Tensor> largest, EvaluateNode(node, others));
    for (int64_t i = 0; i < product.num_elements(); ++i) {
      if (product.ToDouble(i) == 0 && !std::isfinite(largest[0].ToDouble(i))) product.SetDouble(i, HUGE_VAL);
    }
    return absl::OkStatus();
  }

  // The same tensor with an error on each element, relative to the element and to the numbers summed up for
  // it.
  Tensor WithErrors(const Tensor& exact, const Tensor* magnitude) {
    if (merges_ || !IsFloat(exact.dtype()) || exact.num_elements() == 0) return exact;
    const bool rounds = rounds_ && exact.dtype() == DType::kF32;
    Tensor result(exact.dtype(), exact.shape());
    for (int64_t i = 0; i < exact.num_elements(); ++i) {
      const double x = exact.ToDouble(i);
      const double most = MostError(exact.dtype(), x, magnitude != nullptr ? magnitude->ToDouble(i) : 0);
      double moved = x;
      if (std::isfinite(x))
        moved = cancels_ && std::abs(x) <= most ? 0 : x + (2 * random_.Uniform() - 1) * most;
      result.SetDouble(i, rounds ? BF16ToFloat(FloatToBF16(static_cast<float>(moved))) : moved);
    }
    return result;
  }

  const Graph& graph_;
  RoundingModel model_;
  Random random_;
  // Every fourth run in bf16 gives numbers that bf16 has, with errors of one roundoff: results may be
  // exactly 1 or 0.
  bool rounds_;
  // Roundings that make two numbers equal, or a sum 0, are more frequent in practice than random errors
  // that do so. So in every fourth run nothing has an error, but numbers count as equal if they differ by
  // no more than the errors, and are quantized as compiled code does; and in every fourth run, numbers no
  // larger than their error become 0.
  bool merges_, cancels_;
  // In a run that merges: how far the elements of a value may be off at most.
  std::map<const Value*, double> errors_;
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> RunPerturbed(const Graph& graph, const std::vector<Tensor>& inputs,
                                                 const RoundingModel& model, uint64_t seed) {
  Perturbation perturbation(graph, model, seed);
  return RunGraph(graph, inputs, [&](const Node& node, const std::vector<Tensor>& given) {
    return perturbation.Evaluate(node, given);
  });
}

}  // namespace attune::graph_fuzz
