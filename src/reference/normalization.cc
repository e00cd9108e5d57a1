// Normalizations: mean and variance in two passes.
#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

// Element i of optional input `index`; `absent` if there is no such input.
class Parameter {
 public:
  Parameter(Inputs inputs, int index, double absent) : absent_(absent) {
    if (IsPresent(inputs, index)) values_ = Load<double>(inputs[index]);
  }
  double operator[](int64_t i) const { return values_.empty() ? absent_ : values_[i]; }

 private:
  double absent_;
  std::vector<double> values_;
};

double NoError(double, double) { return 0; }

double MeanSquare(const double* values, int64_t size, double mean) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i)
    sum += (values[i] - mean) * (values[i] - mean) / static_cast<double>(size);
  return sum;
}

// Subtracts the mean, plus its error, from `size` values and divides by their standard deviation. Without a
// function for the error, no mean is subtracted.
void Standardize(double* values, int64_t size, const MeanError& mean_error, double epsilon) {
  double mean = 0;
  for (int64_t i = 0; i < size && mean_error; ++i) mean += values[i] / static_cast<double>(size);
  double variance = MeanSquare(values, size, mean);
  if (const double error = mean_error ? mean_error(mean, std::sqrt(variance)) : 0; error != 0) {
    mean += error;
    variance = MeanSquare(values, size, mean);
  }
  const double deviation = std::sqrt(variance + epsilon);
  for (int64_t i = 0; i < size; ++i) values[i] = (values[i] - mean) / deviation;
}

// Standardizes over the axes from attribute `axis` on, then applies scale and bias with the shape of these
// axes.
Outputs NormalizeTail(const Node& node, Inputs inputs, const MeanError& mean_error) {
  const Tensor& x = inputs[0];
  const int64_t size = CountElements(x.shape(), static_cast<int>(node.attrs().Int("axis")), x.rank());
  const Parameter scale(inputs, 1, 1);
  const Parameter bias(inputs, 2, 0);
  std::vector<double> values = Load<double>(x);
  for (int64_t start = 0; start < x.num_elements(); start += size) {
    Standardize(values.data() + start, size, mean_error, node.attrs().Float("epsilon"));
    for (int64_t i = 0; i < size; ++i) values[start + i] = values[start + i] * scale[i] + bias[i];
  }
  return One(Store(values, x.dtype(), x.shape()));
}

// Standardizes each group of channels, then applies scale and bias, which each channel has.
Outputs NormalizeGroups(const Node& node, Inputs inputs, const MeanError& mean_error) {
  const Tensor& x = inputs[0];
  const AxisView channels(x.shape(), 1);
  const int64_t size = channels.size / node.attrs().Int("groups") * channels.inner;
  const std::vector<double> scale = Load<double>(inputs[1]);
  const std::vector<double> bias = Load<double>(inputs[2]);
  std::vector<double> values = Load<double>(x);
  for (int64_t start = 0; start < x.num_elements(); start += size) {
    Standardize(values.data() + start, size, mean_error, node.attrs().Float("epsilon"));
  }
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const int64_t c = i / channels.inner % channels.size;
    values[i] = values[i] * scale[c] + bias[c];
  }
  return One(Store(values, x.dtype(), x.shape()));
}

}  // namespace

Outputs EvaluateBatchNorm(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const double epsilon = node.attrs().Float("epsilon");
  const std::vector<double> scale = Load<double>(inputs[1]);
  const std::vector<double> bias = Load<double>(inputs[2]);
  const std::vector<double> mean = Load<double>(inputs[3]);
  const std::vector<double> variance = Load<double>(inputs[4]);
  const AxisView view(x.shape(), 1);
  std::vector<double> values = Load<double>(x);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const int64_t c = i / view.inner % view.size;
    values[i] = (values[i] - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c];
  }
  return One(Store(values, x.dtype(), x.shape()));
}

Outputs EvaluateLayerNorm(const Node& node, Inputs inputs) { return NormalizeTail(node, inputs, NoError); }

Outputs EvaluateRmsNorm(const Node& node, Inputs inputs) { return NormalizeTail(node, inputs, MeanError()); }

Outputs EvaluateGroupNorm(const Node& node, Inputs inputs) { return NormalizeGroups(node, inputs, NoError); }

Outputs EvaluateOffCenter(const Node& node, Inputs inputs, const MeanError& mean_error) {
  return (node.op() == Op::kLayerNorm ? NormalizeTail : NormalizeGroups)(node, inputs, mean_error);
}

// softmax and log_softmax; the largest element is subtracted first.
Outputs EvaluateSoftmax(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const bool logarithm = node.op() == Op::kLogSoftmax;
  const AxisView view(x.shape(), node.attrs().Int("axis"));
  std::vector<double> values = Load<double>(x);
  for (int64_t i = 0; i < view.outer * view.inner && view.size > 0; ++i) {
    double* line = values.data() + i / view.inner * view.size * view.inner + i % view.inner;
    double largest = line[0];
    for (int64_t k = 1; k < view.size; ++k) largest = Maximum(largest, line[k * view.inner]);
    double sum = 0;
    for (int64_t k = 0; k < view.size; ++k) sum += std::exp(line[k * view.inner] - largest);
    for (int64_t k = 0; k < view.size; ++k) {
      double& value = line[k * view.inner];
      value = logarithm ? value - largest - std::log(sum) : std::exp(value - largest) / sum;
    }
  }
  return One(Store(values, x.dtype(), x.shape()));
}

}  // namespace attune::reference
