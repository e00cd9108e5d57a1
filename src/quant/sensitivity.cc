#include "quant/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "quant/quantize.h"

namespace attune::quant {
namespace {

// The place of the largest element of a row; the first of several.
int64_t ArgMax(const Tensor& tensor, int64_t row, int64_t size) {
  int64_t best = 0;
  for (int64_t i = 1; i < size; ++i) {
    if (tensor.ToDouble(row * size + i) > tensor.ToDouble(row * size + best)) best = i;
  }
  return best;
}

bool IsClassifier(const Sample& outputs) {
  return !outputs.empty() && outputs[0].rank() == 2 && outputs[0].num_elements() > 0;
}

// The layer's entry with another precision.
void SetPrecision(QuantizationPlan& plan, std::string_view layer, Precision precision, std::string reason) {
  for (LayerPlan& entry : plan.layers) {
    if (entry.layer != layer) continue;
    entry.precision = precision;
    entry.reason = std::move(reason);
  }
}

absl::StatusOr<NetworkAgreement> AgreementOf(const Graph& graph, const QuantizationPlan& plan,
                                             const HeldBack& data, const Executor& executor,
                                             const Agreement& agreement) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> quantized, Quantize(graph, plan));
  return MeasureAgreement(*quantized, data, executor, agreement);
}

// `plan` without its `count` most sensitive layers, which come last in `order`.
QuantizationPlan Without(QuantizationPlan plan, const std::vector<LayerSensitivity>& order, size_t count,
                         Precision otherwise) {
  for (size_t i = order.size() - count; i < order.size(); ++i) {
    SetPrecision(plan, order[i].layer, otherwise,
                 absl::StrFormat("alone it costs %.2g of the agreement, and 1 - cosine is %.2g",
                                 order[i].drop, order[i].distance));
  }
  return plan;
}

// Takes layers that gain nothing out of the plan and of the list.
void KeepSlowLayers(QuantizationPlan& plan, std::vector<LayerSensitivity>& layers,
                    const SearchOptions& options) {
  if (!options.seconds) return;
  std::erase_if(layers, [&](const LayerSensitivity& layer) {
    const double quantized = options.seconds(layer.layer, plan.PrecisionOf(layer.layer));
    const double otherwise = options.seconds(layer.layer, options.otherwise);
    if (quantized < otherwise) return false;
    SetPrecision(
        plan, layer.layer, options.otherwise,
        absl::StrFormat("it is no faster: %.3g ms instead of %.3g", quantized * 1e3, otherwise * 1e3));
    return true;
  });
}

}  // namespace

double CosineAgreement(const Sample& expected, const Sample& actual) {
  double mixed = 0, expected_squared = 0, actual_squared = 0;
  for (size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
    if (!IsFloat(expected[i].dtype()) || expected[i].shape() != actual[i].shape()) continue;
    for (int64_t j = 0; j < expected[i].num_elements(); ++j) {
      const double a = expected[i].ToDouble(j), b = actual[i].ToDouble(j);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      mixed += a * b;
      expected_squared += a * a;
      actual_squared += b * b;
    }
  }
  if (expected_squared == 0 && actual_squared == 0) return 1;
  if (expected_squared == 0 || actual_squared == 0) return 0;
  return std::clamp(mixed / std::sqrt(expected_squared) / std::sqrt(actual_squared), 0.0, 1.0);
}

double DefaultAgreement(const Sample& expected, const Sample& actual) {
  if (!IsClassifier(expected) || !IsClassifier(actual) || expected[0].shape() != actual[0].shape()) {
    return CosineAgreement(expected, actual);
  }
  const int64_t rows = expected[0].shape()[0], classes = expected[0].shape()[1];
  int64_t equal = 0;
  for (int64_t row = 0; row < rows; ++row) {
    equal += ArgMax(expected[0], row, classes) == ArgMax(actual[0], row, classes);
  }
  return static_cast<double>(equal) / static_cast<double>(rows);
}

absl::StatusOr<HeldBack> RunFloat(const Graph& graph, std::vector<Sample> inputs, const Executor& executor) {
  HeldBack data{std::move(inputs), {}};
  for (const Sample& sample : data.inputs) {
    ASSIGN_OR_RETURN(data.outputs.emplace_back(), executor.Run(graph, sample));
  }
  return data;
}

absl::StatusOr<NetworkAgreement> MeasureAgreement(const Graph& graph, const HeldBack& data,
                                                  const Executor& executor, const Agreement& agreement) {
  if (data.inputs.empty()) return InvalidInput("there are no samples to compare by");
  NetworkAgreement sum{0, 0};
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    ASSIGN_OR_RETURN(const Sample outputs, executor.Run(graph, data.inputs[i]));
    sum.agreement += agreement(data.outputs[i], outputs);
    sum.cosine += CosineAgreement(data.outputs[i], outputs);
  }
  const auto count = static_cast<double>(data.inputs.size());
  return NetworkAgreement{sum.agreement / count, sum.cosine / count};
}

absl::StatusOr<std::vector<LayerSensitivity>> MeasureSensitivity(
    const Graph& graph, const QuantizationPlan& plan, const HeldBack& data, const Executor& executor,
    const Agreement& agreement, const std::function<void(int64_t, int64_t)>& progress) {
  std::vector<LayerSensitivity> sensitivities;
  int64_t done = 0;
  for (const LayerPlan& layer : plan.layers) {
    if (progress) progress(done++, std::ssize(plan.layers));
    if (layer.precision == Precision::kF32) continue;
    const QuantizationPlan alone{{layer}, plan.ranges};
    ASSIGN_OR_RETURN(const NetworkAgreement measured, AgreementOf(graph, alone, data, executor, agreement));
    sensitivities.push_back({layer.layer, 1 - measured.agreement, 1 - measured.cosine});
  }
  return sensitivities;
}

absl::StatusOr<SearchResult> SearchPrecisions(const Graph& graph, const QuantizationPlan& plan,
                                              std::vector<LayerSensitivity> sensitivities,
                                              const HeldBack& data, const Executor& executor,
                                              const SearchOptions& options) {
  QuantizationPlan candidates = plan;
  KeepSlowLayers(candidates, sensitivities, options);
  std::ranges::sort(sensitivities, [](const LayerSensitivity& a, const LayerSensitivity& b) {
    return std::tie(a.drop, a.distance, a.layer) < std::tie(b.drop, b.distance, b.layer);
  });
  const auto measure = [&](size_t count) -> absl::StatusOr<SearchResult> {
    QuantizationPlan tried = Without(candidates, sensitivities, count, options.otherwise);
    ASSIGN_OR_RETURN(const NetworkAgreement agreement,
                     AgreementOf(graph, tried, data, executor, options.agreement));
    return SearchResult{std::move(tried), agreement};
  };
  const auto is_good = [&](const SearchResult& result) {
    return 1 - result.agreement.agreement <= options.max_drop;
  };
  ASSIGN_OR_RETURN(SearchResult best, measure(0));
  if (is_good(best)) return best;
  // Without `low` layers the loss is too large, without `high` it is not.
  size_t low = 0, high = sensitivities.size();
  ASSIGN_OR_RETURN(best, measure(high));
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    ASSIGN_OR_RETURN(SearchResult result, measure(middle));
    if (is_good(result)) {
      best = std::move(result);
      high = middle;
    } else {
      low = middle;
    }
  }
  return best;
}

}  // namespace attune::quant
