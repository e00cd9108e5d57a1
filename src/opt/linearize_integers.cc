// Turns sums and products of 8-bit feature maps in fixed point into a line that is rounded once.
//
// Problem: in fixed point, each feature map of a sum is rescaled to an integer of its own and rounded, and
// so is their sum: a dozen instructions with doubles, though inputs and outputs have 8 bits. Idea: there
// are only 256 values, or 65,536 pairs of them. All are tried, and where round(Σ aᵢ xᵢ + b), in f32 or else
// in f64, is the right integer for every one, this line replaces the formula. The factors are the products
// of the scales; each value sets bounds for b, and b is in the middle of them. The orders in which code
// generation may add up, with one rounding for a product and a sum or with two, are all tried.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "graph/fixed_point.h"
#include "opt/passes.h"
#include "opt/quantization.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

constexpr size_t kMaxMaps = 2;
constexpr size_t kBytes = 256;  // the values of a byte
using Point = std::array<int64_t, kMaxMaps>;

// Numbers by channel, or one for all of them.
template <typename T>
const T& At(const std::vector<T>& numbers, size_t channel) {
  return numbers[numbers.size() == 1 ? 0 : channel];
}

// Integer arithmetic with constants that computes a requantization's result from 8-bit feature maps.
class Formula {
 public:
  // Nothing where the result is computed in another way.
  static std::optional<Formula> Of(const Node& requantize) {
    Formula formula(requantize.output()->type());
    const int last = formula.Requantized(requantize);
    if (last < 0 || formula.maps_.empty()) return std::nullopt;
    return formula;
  }

  const std::vector<Value*>& maps() const { return maps_; }
  int64_t axis() const { return axis_; }
  size_t channels() const { return channels_; }

  // The exact result, before it saturates; nothing where an i32 overflows on the way.
  std::optional<int64_t> Exact(const Point& point, size_t channel) const {
    std::vector<int64_t> values;
    values.reserve(steps_.size());
    for (const Step& step : steps_) {
      values.push_back(step.Of(values, point, channel));
      if (values.back() != static_cast<int32_t>(values.back())) return std::nullopt;
    }
    return values.back();
  }

  // The result without any rounding.
  double Ideal(const Point& point, size_t channel) const {
    std::vector<double> values;
    for (const Step& step : steps_) values.push_back(step.Of(values, point, channel));
    return values.back();
  }

 private:
  struct Step {
    Op op;                             // kIdentity: a feature map; kConstant; kAdd, kSub, kMul; kRequantize
    size_t left = 0, right = 0;        // steps before it, or the feature map's number
    std::vector<double> numbers = {};  // constants, or the zero point
    std::vector<QuantizedMultiplier> multipliers = {};

    // The step's number, from those of the steps before it: exact as an integer, unrounded as a double.
    template <typename Number>
    Number Of(const std::vector<Number>& values, const Point& point, size_t channel) const {
      switch (op) {
        case Op::kIdentity:
          return static_cast<Number>(point[left]);
        case Op::kConstant:
          return static_cast<Number>(At(numbers, channel));
        case Op::kAdd:
          return values[left] + values[right];
        case Op::kSub:
          return values[left] - values[right];
        case Op::kMul:
          return values[left] * values[right];
        default:
          return Scaled(values[left], At(multipliers, channel)) + static_cast<Number>(numbers[0]);
      }
    }
    static int64_t Scaled(int64_t value, const QuantizedMultiplier& by) { return by.Times(value); }
    static double Scaled(double value, const QuantizedMultiplier& by) { return by.value() * value; }
  };

  explicit Formula(TensorType type) : type_(std::move(type)) {}

  int Add(Step step) {
    steps_.push_back(std::move(step));
    return static_cast<int>(steps_.size()) - 1;
  }

  // The step that computes `value`, or -1.
  int Of(Value* value) {
    constexpr size_t kMaxValues = 32;
    if (const auto known = known_.find(value); known != known_.end()) return known->second;
    if (known_.size() >= kMaxValues) return -1;
    known_[value] = -1;  // counts on the way down already, which bounds the depth
    const int step = value->constant() != nullptr         ? Constant(*value->constant())
                     : Is8Bit(value->type().dtype)        ? Map(value)
                     : value->type().dtype == DType::kI32 ? Computed(value->producer())
                                                          : -1;
    known_[value] = step;
    return step;
  }

  int Constant(const Tensor& constant) {
    if (!IsInt(constant.dtype()) || DTypeSize(constant.dtype()) > 4) return -1;
    if (constant.num_elements() == 1) return Add({.op = Op::kConstant, .numbers = {constant.ToDouble(0)}});
    for (int64_t axis = 0; axis < type_.rank(); ++axis) {
      std::optional<std::vector<double>> numbers = ValuesAlong(constant, type_, static_cast<int>(axis));
      if (!numbers || !TakeAxis(axis, numbers->size())) continue;
      return Add({.op = Op::kConstant, .numbers = *std::move(numbers)});
    }
    return -1;
  }

  int Map(Value* value) {
    if (value->type().dims != type_.dims || maps_.size() == kMaxMaps) return -1;
    maps_.push_back(value);
    return Add({.op = Op::kIdentity, .left = maps_.size() - 1});
  }

  int Computed(const Node* node) {
    if (node == nullptr) return -1;
    switch (node->op()) {
      case Op::kCast:
        return Of(node->input(0));
      case Op::kAdd:
      case Op::kSub:
      case Op::kMul: {
        const int left = Of(node->input(0)), right = left < 0 ? -1 : Of(node->input(1));
        if (right < 0) return -1;
        return Add(
            {.op = node->op(), .left = static_cast<size_t>(left), .right = static_cast<size_t>(right)});
      }
      case Op::kRequantize:
        return Requantized(*node);
      default:
        return -1;
    }
  }

  int Requantized(const Node& node) {
    const Tensor* scale = node.input(1)->constant();
    const std::optional<int64_t> zero = ZeroPointOf(node, 2);
    const bool in_fixed_point = node.attrs().String("rounding", "half_even") == "fixed_point";
    if (scale == nullptr || !in_fixed_point || node.input(0)->type().dtype != DType::kI32 || !zero) return -1;
    const int64_t axis = node.attrs().Int("axis", 1);
    const auto count = static_cast<size_t>(scale->num_elements());
    if (count != 1 && !TakeAxis(axis, count)) return -1;
    const int x = Of(node.input(0));
    if (x < 0) return -1;
    Step step{.op = Op::kRequantize, .left = static_cast<size_t>(x), .numbers = {static_cast<double>(*zero)}};
    for (const double number : ToDoubles(*scale)) step.multipliers.push_back(QuantizedMultiplier::Of(number));
    return Add(std::move(step));
  }

  // Whether all numbers that differ by channel do so along one axis.
  bool TakeAxis(int64_t axis, size_t channels) {
    if (channels_ > 1) return axis == axis_ && channels == channels_;
    axis_ = axis;
    channels_ = channels;
    return true;
  }

  TensorType type_;
  std::vector<Step> steps_;
  std::map<const Value*, int> known_;
  std::vector<Value*> maps_;
  int64_t axis_ = 1;
  size_t channels_ = 1;
};

struct Limits {
  int64_t low, high;

  explicit Limits(DType dtype) : low(dtype == DType::kI8 ? -128 : 0), high(low + 255) {}
  template <typename Number>
  Number Clamp(Number number) const {
    return std::clamp(number, static_cast<Number>(low), static_cast<Number>(high));
  }
};

// One value of each feature map, and the result for them.
struct Case {
  Point point;
  int64_t result;  // saturated
};

// The number of cases of one channel.
size_t CountCases(const Formula& formula) { return formula.maps().size() == 1 ? kBytes : kBytes * kBytes; }

// All cases of one channel; nothing where an i32 overflows.
std::optional<std::vector<Case>> CasesOf(const Formula& formula, size_t channel, const Limits& results) {
  std::array<int64_t, kMaxMaps> lows = {};
  for (size_t i = 0; i < formula.maps().size(); ++i) lows[i] = Limits(formula.maps()[i]->type().dtype).low;
  std::vector<Case> cases;
  cases.reserve(CountCases(formula));
  for (size_t i = 0; i < CountCases(formula); ++i) {
    const Point point = {lows[0] + static_cast<int64_t>(i % kBytes),
                         lows[1] + static_cast<int64_t>(i / kBytes)};
    const std::optional<int64_t> exact = formula.Exact(point, channel);
    if (!exact) return std::nullopt;
    cases.push_back({point, results.Clamp(*exact)});
  }
  return cases;
}

template <typename T>
struct Line {
  std::array<T, kMaxMaps> factors = {};
  T offset = 0;

  // The value at `point` in each order, and with each rounding, in which it may be computed.
  std::array<T, 4> ComputedAt(const Point& point) const {
    const T x = static_cast<T>(point[0]), y = static_cast<T>(point[1]);
    const auto [a, b] = factors;
    return {std::fma(b, y, std::fma(a, x, offset)), b * y + (a * x + offset), std::fma(a, x, b * y) + offset,
            (a * x + b * y) + offset};
  }
  bool Gives(const Case& one, const Limits& results) const {
    return std::ranges::all_of(ComputedAt(one.point), [&](T computed) {
      return results.Clamp(std::nearbyint(static_cast<double>(computed))) == static_cast<double>(one.result);
    });
  }
};

// The line through all cases with these factors, if there is one.
template <typename T>
std::optional<Line<T>> LineThrough(const std::vector<Case>& cases,
                                   const std::array<double, kMaxMaps>& factors, const Limits& results) {
  Line<T> line;
  for (size_t i = 0; i < kMaxMaps; ++i) line.factors[i] = static_cast<T>(factors[i]);
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  for (const Case& one : cases) {
    double sum = 0;
    for (size_t i = 0; i < kMaxMaps; ++i)
      sum += static_cast<double>(line.factors[i]) * static_cast<double>(one.point[i]);
    const auto result = static_cast<double>(one.result);
    if (one.result > results.low) low = std::max(low, result - 0.5 - sum);
    if (one.result < results.high) high = std::min(high, result + 0.5 - sum);
  }
  if (!(low < high) || !std::isfinite(low) || !std::isfinite(high)) return std::nullopt;
  line.offset = static_cast<T>(low + (high - low) / 2);
  const bool is_right = std::ranges::all_of(cases, [&](const Case& one) { return line.Gives(one, results); });
  return is_right ? std::optional(line) : std::nullopt;
}

template <typename T>
using Lines = std::vector<Line<T>>;  // one, or one a channel

// The line of each channel, or nothing where a channel has none.
template <typename T>
std::optional<Lines<T>> LinesThrough(const Formula& formula, const Limits& results) {
  Lines<T> lines;
  for (size_t channel = 0; channel < formula.channels(); ++channel) {
    const double at_zero = formula.Ideal({0, 0}, channel);
    std::array<double, kMaxMaps> factors = {formula.Ideal({1, 0}, channel) - at_zero, 0};
    if (formula.maps().size() > 1) factors[1] = formula.Ideal({0, 1}, channel) - at_zero;
    const std::optional<std::vector<Case>> cases = CasesOf(formula, channel, results);
    std::optional<Line<T>> line;
    if (cases) line = LineThrough<T>(*cases, factors, results);
    if (!line) return std::nullopt;
    lines.push_back(*line);
  }
  return lines;
}

template <typename T>
Value* Computed(Graph& graph, Node* node, const Formula& formula, const Lines<T>& lines) {
  const DType dtype = sizeof(T) == sizeof(float) ? DType::kF32 : DType::kF64;
  const auto along = [&](const auto& number_of) {
    std::vector<double> numbers;
    for (const Line<T>& line : lines) numbers.push_back(static_cast<double>(number_of(line)));
    return AddAlong(graph, node, dtype, numbers, node->output()->type().rank(), formula.axis());
  };
  Value* sum = along([](const Line<T>& line) { return line.offset; });
  for (size_t i = 0; i < formula.maps().size(); ++i) {
    Value* number = AddBefore(graph, node, Op::kCast, {formula.maps()[i]}, {{"to", dtype}});
    Value* factor = along([&](const Line<T>& line) { return line.factors[i]; });
    sum = AddBefore(graph, node, Op::kAdd, {AddBefore(graph, node, Op::kMul, {number, factor}), sum});
  }
  Value* rounded = AddBefore(graph, node, Op::kRound, {sum});
  // Doubles become integers of 8 bits through floats, which saturates.
  if (dtype == DType::kF64) rounded = AddBefore(graph, node, Op::kCast, {rounded}, {{"to", DType::kF32}});
  return AddBefore(graph, node, Op::kCast, {rounded}, {{"to", node->attrs().Type("to")}});
}

bool Linearize(Graph& graph, Node* node) {
  if (node->op() != Op::kRequantize || !Is8Bit(node->attrs().Type("to"))) return false;
  const std::optional<Formula> formula = Formula::Of(*node);
  if (!formula) return false;
  constexpr size_t kMaxCases = 1 << 20;
  if (formula->channels() > kMaxCases / CountCases(*formula)) return false;
  const Limits results(node->attrs().Type("to"));
  Value* computed = nullptr;
  if (const auto floats = LinesThrough<float>(*formula, results)) {
    computed = Computed(graph, node, *formula, *floats);
  } else if (const auto doubles = LinesThrough<double>(*formula, results)) {
    computed = Computed(graph, node, *formula, *doubles);
  }
  if (computed == nullptr || computed->type() != node->output()->type()) return false;
  ReplaceNode(graph, node, computed);
  return true;
}

}  // namespace

absl::StatusOr<bool> LinearizeIntegersPass(Graph& graph, const PassContext&) {
  return ForEachNode(graph, Linearize);
}

}  // namespace attune
