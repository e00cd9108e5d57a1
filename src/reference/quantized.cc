// Quantization. Quotients and products are rounded to f32 before they are rounded to an integer, as in
// every implementation: otherwise values close to a tie could be rounded differently. As in a Cast, values
// beyond the integer type saturate, and NaN becomes 0, whatever the zero point.
#include <cmath>

#include "base/checked.h"
#include "base/status.h"
#include "graph/fixed_point.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

// Maps element i of x to its element of a parameter. The parameter is [], or [size] along `axis`, or has
// x's shape with one element per block along `axis`.
class ParameterMap {
 public:
  ParameterMap(const Node& node, const Tensor& x, const Tensor& parameter)
      : single_(parameter.rank() == 0),
        block_size_(node.attrs().Int("block_size", 0)),
        view_(x.shape(), single_ ? 0 : node.attrs().Int("axis", 1)) {}

  int64_t operator[](int64_t i) const {
    if (single_) return 0;
    const int64_t along = i / view_.inner % view_.size;
    if (block_size_ == 0) return along;
    const int64_t outer = i / view_.inner / view_.size;
    return (outer * CeilDiv(view_.size, block_size_) + along / block_size_) * view_.inner + i % view_.inner;
  }

 private:
  // A scalar x has no axis.
  struct View {
    int64_t size = 1;
    int64_t inner = 1;
    View(const Shape& shape, int64_t axis) {
      if (shape.empty()) return;
      const AxisView view(shape, axis);
      size = view.size;
      inner = view.inner;
    }
  };

  bool single_;
  int64_t block_size_;
  View view_;
};

std::vector<double> LoadZeros(Inputs inputs, int64_t count) {
  if (IsPresent(inputs, 2)) return Load<double>(inputs[2]);
  return std::vector<double>(static_cast<size_t>(count), 0.0);
}

bool RoundsHalfAway(const Node& node) { return node.attrs().String("rounding", "half_even") == "half_away"; }

}  // namespace

Outputs EvaluateQuantize(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const DType to = node.attrs().Type("to");
  const ParameterMap map(node, x, inputs[1]);
  const std::vector<double> scales = Load<double>(inputs[1]);
  const std::vector<double> zeros = LoadZeros(inputs, inputs[1].num_elements());
  const bool in_f64 = x.dtype() == DType::kF64, half_away = RoundsHalfAway(node);
  std::vector<double> values = Load<double>(x);
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t parameter = map[static_cast<int64_t>(i)];
    const double quotient = values[i] / scales[parameter];
    const double computed = in_f64 ? quotient : static_cast<double>(static_cast<float>(quotient));
    values[i] = (half_away ? std::round(computed) : std::nearbyint(computed)) + zeros[parameter];
  }
  return One(Store(values, to, x.shape()));
}

Outputs EvaluateDequantize(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const ParameterMap map(node, x, inputs[1]);
  const std::vector<double> scales = Load<double>(inputs[1]);
  const std::vector<double> zeros = LoadZeros(inputs, inputs[1].num_elements());
  std::vector<double> values = Load<double>(x);
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t parameter = map[static_cast<int64_t>(i)];
    values[i] = (values[i] - zeros[parameter]) * scales[parameter];
  }
  return One(Store(values, inputs[1].dtype(), x.shape()));
}

// The accumulator is converted to the scale's type and multiplied in it, except in fixed point.
Outputs EvaluateRequantize(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const DType to = node.attrs().Type("to");
  const bool half_away = RoundsHalfAway(node), in_f64 = inputs[1].dtype() == DType::kF64;
  const bool in_fixed_point = node.attrs().String("rounding", "half_even") == "fixed_point";
  const ParameterMap map(node, x, inputs[1]);
  const std::vector<double> scales = Load<double>(inputs[1]);
  const double zero = LoadZeros(inputs, 1)[0];
  std::vector<double> values = Load<double>(x);
  for (size_t i = 0; i < values.size(); ++i) {
    const double scale = scales[map[static_cast<int64_t>(i)]];
    if (in_fixed_point) {
      const QuantizedMultiplier by = QuantizedMultiplier::Of(scale);
      const auto sum = static_cast<int64_t>(values[i]);
      const int64_t product = x.dtype() == DType::kI64 ? by.TimesWide(sum) : by.Times(sum);
      values[i] = static_cast<double>(product) + zero;
      continue;
    }
    const double product = in_f64 ? values[i] * scale
                                  : static_cast<double>(static_cast<float>(
                                        static_cast<double>(static_cast<float>(values[i])) * scale));
    values[i] = (half_away ? std::round(product) : std::nearbyint(product)) + zero;
  }
  return One(Store(values, to, x.shape()));
}

}  // namespace attune::reference
