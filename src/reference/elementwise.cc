// Elementwise operators with one input.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numbers>

#include "base/status.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

double Clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double Silu(double x) { return std::isinf(x) && x < 0 ? -0.0 : x * Sigmoid(x); }  // the limit at -infinity

// Uses erfc(-x) for 1 + erf(x), which stays accurate for x far below zero.
double GeluByErf(double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); }

// Hendrycks and Gimpel: Gaussian error linear units, 2016.
double GeluByTanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

double Sign(double x) {
  if (std::isnan(x)) return x;
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

using RealFunction = std::function<double(double)>;

// Functions of one argument and without attributes.
struct PlainFunction {
  Op op;
  double (*function)(double x);
};

constexpr PlainFunction kPlainFunctions[] = {
    {Op::kNeg, [](double x) { return -x; }},
    {Op::kAbs, [](double x) { return std::fabs(x); }},
    {Op::kSign, Sign},
    {Op::kFloor, [](double x) { return std::floor(x); }},
    {Op::kCeil, [](double x) { return std::ceil(x); }},
    {Op::kRound, [](double x) { return std::nearbyint(x); }},
    {Op::kSqrt, [](double x) { return std::sqrt(x); }},
    {Op::kExp, [](double x) { return std::exp(x); }},
    {Op::kLog, [](double x) { return std::log(x); }},
    {Op::kSin, [](double x) { return std::sin(x); }},
    {Op::kCos, [](double x) { return std::cos(x); }},
    {Op::kTan, [](double x) { return std::tan(x); }},
    {Op::kAsin, [](double x) { return std::asin(x); }},
    {Op::kAcos, [](double x) { return std::acos(x); }},
    {Op::kAtan, [](double x) { return std::atan(x); }},
    {Op::kSinh, [](double x) { return std::sinh(x); }},
    {Op::kCosh, [](double x) { return std::cosh(x); }},
    {Op::kTanh, [](double x) { return std::tanh(x); }},
    {Op::kAsinh, [](double x) { return std::asinh(x); }},
    {Op::kAcosh, [](double x) { return std::acosh(x); }},
    {Op::kAtanh, [](double x) { return std::atanh(x); }},
    {Op::kErf, [](double x) { return std::erf(x); }},
    {Op::kSigmoid, Sigmoid},
    {Op::kRelu, [](double x) { return x < 0 ? 0 : x; }},
    {Op::kSoftplus, [](double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }},
    {Op::kSilu, Silu},
    {Op::kHardSwish, [](double x) { return x * Clamp01(x / 6 + 0.5); }},
};

RealFunction FunctionOf(const Node& node) {
  const Attributes& attrs = node.attrs();
  switch (node.op()) {
    case Op::kLeakyRelu:
      return [alpha = attrs.Float("alpha")](double x) { return x < 0 ? alpha * x : x; };
    case Op::kElu:
      return [alpha = attrs.Float("alpha")](double x) { return x < 0 ? alpha * std::expm1(x) : x; };
    case Op::kHardSigmoid:
      return [alpha = attrs.Float("alpha"), beta = attrs.Float("beta")](double x) {
        return Clamp01(alpha * x + beta);
      };
    case Op::kGelu:
      return attrs.String("approximate", "none") == "tanh" ? GeluByTanh : GeluByErf;
    default:
      break;
  }
  const auto* plain = std::ranges::find(kPlainFunctions, node.op(), &PlainFunction::op);
  return plain != std::end(kPlainFunctions) ? plain->function : RealFunction();
}

// The operators that also take integers.
template <typename Wide>
Wide ApplyToInteger(Op op, Wide x) {
  switch (op) {
    case Op::kNeg:
      return WrappingSub(Wide{0}, x);
    case Op::kAbs:
      return x < 0 ? WrappingSub(Wide{0}, x) : x;
    case Op::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    case Op::kRelu:
      return x < 0 ? 0 : x;
    case Op::kNot:
      return ~x;
    default:  // floor, ceil and round do nothing
      return x;
  }
}

template <typename Wide, typename F>
Outputs Map(const Tensor& x, DType to, F f) {
  std::vector<Wide> values = Load<Wide>(x);
  for (Wide& value : values) value = f(value);
  return One(Store(values, to, x.shape()));
}

}  // namespace

Outputs EvaluateConstant(const Node& node, Inputs) { return One(node.attrs().TensorValue("value")); }

// The interpreter ignores layouts and stores values row-major, so a layout transform is an identity, too.
Outputs EvaluateIdentity(const Node&, Inputs inputs) { return One(inputs[0]); }

Outputs EvaluateUnary(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  if (IsFloat(x.dtype())) return Map<double>(x, x.dtype(), FunctionOf(node));
  if (x.dtype() == DType::kBool) {
    return Map<uint64_t>(x, x.dtype(), [](uint64_t value) { return uint64_t{value == 0}; });
  }
  return WithWide(x.dtype(), [&](auto wide) {
    using Wide = decltype(wide);
    return Map<Wide>(x, x.dtype(), [&](Wide value) {
      if constexpr (std::is_integral_v<Wide>) return ApplyToInteger(node.op(), value);
      return value;
    });
  });
}

Outputs EvaluateTest(const Node& node, Inputs inputs) {
  if (node.op() == Op::kIsNan) {
    return Map<double>(inputs[0], DType::kBool, [](double x) { return std::isnan(x); });
  }
  const bool positive = node.attrs().Int("positive", 1) != 0;
  const bool negative = node.attrs().Int("negative", 1) != 0;
  return Map<double>(inputs[0], DType::kBool,
                     [&](double x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}

Outputs EvaluateClip(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  return WithWide(x.dtype(), [&](auto wide) {
    using Wide = decltype(wide);
    const Attributes& attrs = node.attrs();
    // Fractional limits are rounded inwards for integers.
    const auto as_wide = [](const ExactNumber& value) {
      if constexpr (std::is_integral_v<Wide>) return value.To<Wide>();
      return static_cast<Wide>(value.ToDouble());
    };
    const Wide low = attrs.Has("min") ? as_wide(std::is_integral_v<Wide> ? attrs.Number("min").Ceil()
                                                                         : attrs.Number("min"))
                                      : LowestOf<Wide>(x.dtype());
    const Wide high = attrs.Has("max") ? as_wide(std::is_integral_v<Wide> ? attrs.Number("max").Floor()
                                                                          : attrs.Number("max"))
                                       : HighestOf<Wide>(x.dtype());
    return Map<Wide>(x, x.dtype(), [&](Wide value) {
      const Wide raised = value < low ? low : value;
      return raised > high ? high : raised;
    });
  });
}

Outputs EvaluateCast(const Node& node, Inputs inputs) {
  const DType to = node.attrs().Type("to");
  if (to == inputs[0].dtype()) return One(inputs[0]);
  return WithWide(inputs[0].dtype(), [&](auto wide) {
    return One(Store(Load<decltype(wide)>(inputs[0]), to, inputs[0].shape()));
  });
}

}  // namespace attune::reference
