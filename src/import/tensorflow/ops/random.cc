// Random numbers differ between runtimes, so only results that are the same for all of them can be
// imported. Dropout that keeps everything is an example: it compares or rounds numbers that are all on one
// side.
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "import/common/listed_operator.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

constexpr char kReason[] = "it depends on random numbers";

// The result of comparing x from [low, high) with k, if it is the same for all x; otherwise nullopt.
std::optional<bool> Compare(Op op, const RandomNumbers& x, double k) {
  const auto decide = [](bool all, bool none) {
    return all ? std::optional<bool>(true) : none ? std::optional<bool>(false) : std::nullopt;
  };
  switch (op) {
    case Op::kGreaterEqual:
      return decide(x.low >= k, x.high <= k);
    case Op::kGreater:
      return decide(x.low > k, x.high <= k);
    case Op::kLess:
      return decide(x.high <= k, x.low >= k);
    case Op::kLessEqual:
      return decide(x.high <= k, x.low > k);
    default:
      return std::nullopt;
  }
}

// The range after an operation with k as the right operand (or, for sums and products, either operand).
std::optional<RandomNumbers> Move(Op op, RandomNumbers x, double k) {
  if (op == Op::kSub) k = -k;
  if (op == Op::kAdd || op == Op::kSub) {
    x.low += k;
    x.high += k;
    return x;
  }
  const double factor = op == Op::kDiv ? 1 / k : k;
  if ((op != Op::kMul && op != Op::kDiv) || !(factor > 0)) return std::nullopt;
  x.low *= factor;
  x.high *= factor;
  return x;
}

}  // namespace

Outputs RandomUniform(OpContext& c) {
  RandomNumbers numbers;
  numbers.dtype = c.TypeAttribute("dtype");
  numbers.shape = c.KnownInts(c.In(0), "shape");
  Binding binding;
  binding.random = std::make_shared<const RandomNumbers>(std::move(numbers));
  return {binding};
}

Outputs OtherRandomNumbers(OpContext&) { Unsupported(kMakesRandomNumbers); }

std::optional<Binding> OnRandomNumbers(OpContext& c, Op op) {
  const auto random = [&c](int i) { return i < c.num_inputs() ? c.BindingOf(i).random : nullptr; };
  const bool left = random(0) != nullptr;
  if (!left && random(1) == nullptr) return std::nullopt;
  const RandomNumbers& x = left ? *random(0) : *random(1);
  if (op == Op::kFloor) {
    const double floor = std::floor(x.low);
    if (std::ceil(x.high) - 1 != floor) Unsupported(kReason);
    return c.Filled(x.dtype, floor, x.shape);
  }
  const bool either_side = op == Op::kAdd || op == Op::kMul;
  if (c.num_inputs() != 2 || (left && random(1) != nullptr) || (!left && !either_side)) Unsupported(kReason);
  const double k = c.KnownScalar(c.In(left ? 1 : 0), "number beside random ones").ToDouble();
  if (const std::optional<bool> all = Compare(op, x, k)) return c.Filled(DType::kBool, *all ? 1 : 0, x.shape);
  std::optional<RandomNumbers> moved = Move(op, x, k);
  if (!moved) Unsupported(kReason);
  Binding binding;
  binding.random = std::make_shared<const RandomNumbers>(*std::move(moved));
  return binding;
}

}  // namespace attune::tensorflow
