// Elementwise operators with two or three inputs.
#include <cmath>
#include <optional>

#include "base/status.h"
#include "reference/broadcast.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

// Applies f to two tensors of the same dtype, broadcast to a common shape.
template <typename Wide, typename F>
Outputs Zip(const Tensor& a, const Tensor& b, DType to, F f) {
  ASSIGN_OR_RETURN(Shape shape, BroadcastShape(a.shape(), b.shape()));
  ASSIGN_OR_RETURN(const Tensor left, BroadcastTo(a, shape));
  ASSIGN_OR_RETURN(const Tensor right, BroadcastTo(b, shape));
  std::vector<Wide> x = Load<Wide>(left);
  const std::vector<Wide> y = Load<Wide>(right);
  for (size_t i = 0; i < x.size(); ++i) x[i] = f(x[i], y[i]);
  return One(Store(x, to, std::move(shape)));
}

template <typename Wide>
Wide Divide(Wide a, Wide b) {
  if constexpr (std::is_integral_v<Wide>) {
    if (b == 0) return 0;
    // The smallest integer cannot be negated.
    if (std::is_signed_v<Wide> && b == static_cast<Wide>(-1)) return WrappingSub(Wide{0}, a);
  }
  return a / b;
}

// The remainder with the sign of the dividend, or of the divisor if not `truncate`. Division by an integer
// zero gives zero.
template <typename Wide>
Wide Modulo(Wide a, Wide b, bool truncate) {
  Wide rest;
  if constexpr (std::is_floating_point_v<Wide>) {
    rest = std::fmod(a, b);
  } else {
    if (b == 0) return 0;
    if (std::is_signed_v<Wide> && b == static_cast<Wide>(-1)) return 0;
    rest = a % b;
  }
  if (truncate || rest == 0 || (rest < 0) == (b < 0)) return rest;
  return rest + b;
}

template <typename Wide>
Wide Arithmetic(Op op, Wide a, Wide b, bool truncate) {
  switch (op) {
    case Op::kAdd:
      return WrappingAdd(a, b);
    case Op::kSub:
      return WrappingSub(a, b);
    case Op::kMul:
      return WrappingMul(a, b);
    case Op::kDiv:
      return Divide(a, b);
    case Op::kMod:
      return Modulo(a, b, truncate);
    case Op::kMin:
      return Minimum(a, b);
    default:
      return Maximum(a, b);
  }
}

// baseᵉ of integers: wraps, and truncates towards zero if the exponent is negative.
template <typename Wide>
Wide IntegerPower(Wide base, Wide exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (std::is_signed_v<Wide> && base == static_cast<Wide>(-1)) return exponent % 2 == 0 ? 1 : base;
    return 0;
  }
  Wide power = 1;
  for (; exponent != 0; exponent /= 2) {
    if (exponent % 2 != 0) power = WrappingMul(power, base);
    base = WrappingMul(base, base);
  }
  return power;
}

uint64_t Bitwise(Op op, uint64_t a, uint64_t b, int width) {
  switch (op) {
    case Op::kAnd:
      return a & b;
    case Op::kOr:
      return a | b;
    case Op::kXor:
      return a ^ b;
    case Op::kShiftLeft:
      return b >= static_cast<uint64_t>(width) ? 0 : a << b;
    default:
      return b >= static_cast<uint64_t>(width) ? 0 : a >> b;
  }
}

template <typename Wide>
bool Compares(Op op, Wide a, Wide b) {
  switch (op) {
    case Op::kEqual:
      return a == b;
    case Op::kLess:
      return a < b;
    case Op::kLessEqual:
      return a <= b;
    case Op::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

// `exponent` as 64-bit integers with the signedness of `base`; nullopt if either is a float, so that the
// power is one of real numbers.
absl::StatusOr<std::optional<Tensor>> IntegerExponent(const Tensor& base, const Tensor& exponent) {
  if (IsFloat(base.dtype()) || IsFloat(exponent.dtype())) return std::nullopt;
  const DType wide = IsSignedInt(base.dtype()) ? DType::kI64 : DType::kU64;
  ASSIGN_OR_RETURN(Tensor widened, WithWide(exponent.dtype(), [&](auto type) {
                     return Store(Load<decltype(type)>(exponent), wide, exponent.shape());
                   }));
  return widened;
}

}  // namespace

Outputs EvaluateArithmetic(const Node& node, Inputs inputs) {
  const DType dtype = inputs[0].dtype();
  const bool truncate = node.attrs().Bool("truncate");
  return WithWide(dtype, [&](auto wide) {
    using Wide = decltype(wide);
    return Zip<Wide>(inputs[0], inputs[1], dtype,
                     [&](Wide a, Wide b) { return Arithmetic(node.op(), a, b, truncate); });
  });
}

Outputs EvaluatePow(const Node&, Inputs inputs) {
  const DType dtype = inputs[0].dtype();
  ASSIGN_OR_RETURN(const std::optional<Tensor> exponent, IntegerExponent(inputs[0], inputs[1]));
  if (!exponent) {
    return Zip<double>(inputs[0], inputs[1], dtype, [](double a, double b) { return std::pow(a, b); });
  }
  if (IsSignedInt(dtype)) return Zip<int64_t>(inputs[0], *exponent, dtype, IntegerPower<int64_t>);
  return Zip<uint64_t>(inputs[0], *exponent, dtype, IntegerPower<uint64_t>);
}

Outputs EvaluateBitwise(const Node& node, Inputs inputs) {
  const DType dtype = inputs[0].dtype();
  const int width = 8 * DTypeSize(dtype);
  if (node.op() == Op::kShiftRight && IsSignedInt(dtype)) {
    return Zip<int64_t>(inputs[0], inputs[1], dtype,
                        [&](int64_t a, int64_t b) { return a >> (b >= 0 && b < width ? b : width - 1); });
  }
  return Zip<uint64_t>(inputs[0], inputs[1], dtype,
                       [&](uint64_t a, uint64_t b) { return Bitwise(node.op(), a, b, width); });
}

Outputs EvaluateMulHigh(const Node&, Inputs inputs) {
  constexpr int64_t kHalf = int64_t{1} << 31;
  return Zip<int64_t>(inputs[0], inputs[1], DType::kI32,
                      [](int64_t a, int64_t b) { return (a * b + kHalf) >> 32; });
}

Outputs EvaluateComparison(const Node& node, Inputs inputs) {
  return WithWide(inputs[0].dtype(), [&](auto wide) {
    using Wide = decltype(wide);
    return Zip<Wide>(inputs[0], inputs[1], DType::kBool,
                     [&](Wide a, Wide b) { return Compares(node.op(), a, b); });
  });
}

Outputs EvaluateWhere(const Node&, Inputs inputs) {
  ASSIGN_OR_RETURN(Shape branches, BroadcastShape(inputs[1].shape(), inputs[2].shape()));
  ASSIGN_OR_RETURN(Shape shape, BroadcastShape(inputs[0].shape(), branches));
  ASSIGN_OR_RETURN(const Tensor condition, BroadcastTo(inputs[0], shape));
  ASSIGN_OR_RETURN(const Tensor then, BroadcastTo(inputs[1], shape));
  ASSIGN_OR_RETURN(const Tensor otherwise, BroadcastTo(inputs[2], shape));
  ASSIGN_OR_RETURN(Tensor out, NewTensor(inputs[1].dtype(), std::move(shape)));
  WithStorage(out.dtype(), [&](auto storage) {
    using T = decltype(storage);
    const auto choose = condition.as<uint8_t>();
    const auto a = then.as<T>();
    const auto b = otherwise.as<T>();
    const auto to = out.as_mutable<T>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = choose[i] != 0 ? a[i] : b[i];
  });
  return One(std::move(out));
}

}  // namespace attune::reference
