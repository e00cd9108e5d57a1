#include "api/quantize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/compiled_executor.h"
#include "api/layer_seconds.h"
#include "api/network_seconds.h"
#include "base/status.h"
#include "device/host.h"
#include "export/onnx/export.h"
#include "opt/driver.h"
#include "quant/calibration.h"
#include "quant/equalize.h"
#include "quant/layer_error.h"
#include "quant/layers.h"
#include "quant/quantize.h"

namespace attune {
namespace {

using quant::Sample;

// Samples with their inputs in the graph's order: one part for calibration, one for comparison.
struct Data {
  std::vector<Sample> calibration, held_back;
};

absl::StatusOr<Sample> InOrder(const Graph& graph, const std::vector<NamedTensor>& given, size_t number) {
  Sample sample;
  for (const auto& input : graph.inputs()) {
    const auto found =
        std::ranges::find_if(given, [&](const NamedTensor& t) { return t.name == input->name(); });
    if (found == given.end()) {
      return InvalidInput("sample ", number, " has no value for input \"", input->name(), "\"");
    }
    const TensorType& type = input->type();
    if (found->tensor.dtype() != type.dtype || found->tensor.shape() != type.shape()) {
      return InvalidInput("sample ", number, ": input \"", input->name(), "\" must be ", ToString(type),
                          ", not ", DescribeType(found->tensor.dtype(), found->tensor.shape()));
    }
    sample.push_back(found->tensor);
  }
  return sample;
}

absl::StatusOr<Data> Split(const Graph& graph, const std::vector<std::vector<NamedTensor>>& samples,
                           int period) {
  if (samples.empty()) return InvalidInput("there are no samples to calibrate with");
  Data data;
  for (size_t i = 0; i < samples.size(); ++i) {
    ASSIGN_OR_RETURN(Sample sample, InOrder(graph, samples[i], i + 1));
    const bool is_held_back = (i + 1) % static_cast<size_t>(std::max(period, 2)) == 0;
    (is_held_back ? data.held_back : data.calibration).push_back(std::move(sample));
  }
  if (data.held_back.empty()) {
    data.held_back.push_back(data.calibration.back());
    if (data.calibration.size() > 1) data.calibration.pop_back();
  }
  return data;
}

std::set<std::string> IntegerLayers(const quant::QuantizationPlan& plan) {
  std::set<std::string> names;
  for (const quant::LayerPlan& layer : plan.layers) {
    if (layer.precision == quant::Precision::kInt8) names.insert(layer.layer);
  }
  return names;
}

// To order the layers, the network is run once for each layer; few samples are enough to find the costly
// ones.
constexpr size_t kOrderingSamples = 32;

quant::HeldBack FirstOf(const quant::HeldBack& data, size_t count) {
  count = std::min(count, data.inputs.size());
  const auto end = static_cast<std::ptrdiff_t>(count);
  return {{data.inputs.begin(), data.inputs.begin() + end},
          {data.outputs.begin(), data.outputs.begin() + end}};
}

// Quantizes one graph, step by step.
class Quantizer {
 public:
  Quantizer(const Graph& graph, const Executor& executor, const QuantizeOptions& options)
      : graph_(graph.Clone()), executor_(executor), options_(options) {}

  absl::StatusOr<QuantizedModel> Run(Data data) {
    RunOptions preparing;
    preparing.control = options_.control;
    RETURN_IF_ERROR(RunPlan(*graph_, quant::PreparingPasses(), preparing).status());
    NameLayers();
    if (quant::LayersOf(*graph_).empty()) {
      return InvalidInput(
          "there is no convolution or matrix product of f32 with constant weights to quantize");
    }
    QuantizedModel model;
    model.report.calibration_samples = std::ssize(data.calibration);
    model.report.held_back_samples = std::ssize(data.held_back);
    RETURN_IF_ERROR(Begin("running the network in f32"));
    ASSIGN_OR_RETURN(held_back_, quant::RunFloat(*graph_, std::move(data.held_back), executor_));
    if (options_.equalizes) {
      RETURN_IF_ERROR(Begin("equalizing"));
      ASSIGN_OR_RETURN(model.report.equalized_pairs,
                       quant::EqualizeLayers(*graph_, data.calibration, executor_));
    }
    ASSIGN_OR_RETURN(model.plan, Plan(data.calibration));
    if (options_.clusters > 0) {
      quant::ClusterWeights(*graph_, options_.clusters, IntegerLayers(model.plan));
      ASSIGN_OR_RETURN(model.clustered, quant::ClusteredLayers(*graph_, model.plan));
    }
    ASSIGN_OR_RETURN(model.graph, quant::Quantize(*graph_, model.plan));
    RETURN_IF_ERROR(Begin("comparing with f32"));
    ASSIGN_OR_RETURN(model.report.agreement, Agree(*model.graph));
    ASSIGN_OR_RETURN(const auto errors,
                     quant::MeasureLayerErrors(*graph_, model.plan, data.calibration, executor_));
    model.report.layers = quant::ReportLayers(*graph_, model.plan, errors, model.clustered, seconds_);
    if (options_.corrects_biases) RETURN_IF_ERROR(CorrectBiases(errors, model));
    if (options_.measures_seconds) RETURN_IF_ERROR(TimeNetwork(model));
    return model;
  }

 private:
  absl::Status Begin(std::string_view stage) const { return options_.control.Continue(stage); }

  // Names the layers that kernels are named after, including layers that have no name in the file or share
  // one.
  void NameLayers() {
    const quant::GraphNames names(*graph_);
    for (Node* layer : quant::LayersOf(*graph_)) layer->set_name(names.Of(layer));
  }

  absl::Status TimeLayers(const quant::QuantizationPlan& plan) {
    RETURN_IF_ERROR(Begin("timing layers"));
    std::set<quant::Precision> precisions = {quant::Precision::kInt8, quant::Precision::kF32};
    if (options_.is_mixed) precisions.insert(options_.fallbacks.begin(), options_.fallbacks.end());
    const std::vector<quant::Precision> each(precisions.begin(), precisions.end());
    ASSIGN_OR_RETURN(seconds_, MeasureLayerSeconds(*graph_, plan, each, options_.threads));
    return absl::OkStatus();
  }

  absl::Status TimeNetwork(QuantizedModel& model) const {
    RETURN_IF_ERROR(Begin("timing the network"));
    ASSIGN_OR_RETURN(const Target target, HostTarget());
    ASSIGN_OR_RETURN(const auto seconds,
                     CompareSeconds(*graph_, *model.graph, options_.threads, options_.control));
    model.report.float_seconds = seconds[0];
    model.report.seconds = seconds[1];
    model.report.missing_instructions = MissingForDotsOfInt8(target);
    return absl::OkStatus();
  }

  absl::StatusOr<quant::NetworkAgreement> Agree(const Graph& quantized) const {
    return quant::MeasureAgreement(quantized, held_back_, executor_, options_.criterion.value);
  }

  absl::StatusOr<quant::QuantizationPlan> Plan(const std::vector<Sample>& samples) {
    const quant::CalibrationOptions calibration = {
        .method = options_.calibration, .percentile = options_.percentile, .control = options_.control};
    ASSIGN_OR_RETURN(const auto histograms, quant::Observe(*graph_, samples, executor_, calibration));
    quant::QuantizationPlan plan = quant::UniformPlan(*graph_, quant::Precision::kInt8);
    plan.ranges = quant::ChooseRanges(histograms, calibration);
    plan.clusters = options_.clusters;
    if (options_.measures_seconds) RETURN_IF_ERROR(TimeLayers(plan));
    return options_.is_mixed ? Mix(plan) : plan;
  }

  absl::StatusOr<quant::QuantizationPlan> Mix(const quant::QuantizationPlan& plan) const {
    ASSIGN_OR_RETURN(const std::vector<quant::LayerSensitivity> sensitivities,
                     quant::MeasureSensitivity(*graph_, plan, FirstOf(held_back_, kOrderingSamples),
                                               executor_, options_.criterion.estimate, options_.control));
    RETURN_IF_ERROR(Begin("choosing precisions"));
    ASSIGN_OR_RETURN(quant::SearchResult result,
                     quant::SearchPrecisions(*graph_, plan, sensitivities, held_back_, executor_,
                                             {.max_drop = options_.max_drop,
                                              .fallbacks = options_.fallbacks,
                                              .agreement = options_.criterion.estimate,
                                              .seconds = seconds_}));
    return std::move(result.plan);
  }

  // Keeps the correction if it brings the network closer to f32.
  absl::Status CorrectBiases(const std::map<std::string, quant::LayerError>& errors, QuantizedModel& model) {
    RETURN_IF_ERROR(Begin("correcting biases"));
    const std::unique_ptr<Graph> corrected = graph_->Clone();
    const int count = quant::CorrectBiases(*corrected, model.plan, errors);
    if (count == 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(std::unique_ptr<Graph> quantized, quant::Quantize(*corrected, model.plan));
    ASSIGN_OR_RETURN(const quant::NetworkAgreement agreement, Agree(*quantized));
    const quant::NetworkAgreement& before = model.report.agreement;
    if (std::pair(agreement.agreement, agreement.cosine) < std::pair(before.agreement, before.cosine)) {
      return absl::OkStatus();
    }
    model.graph = std::move(quantized);
    model.report.agreement = agreement;
    model.report.corrected_biases = count;
    return absl::OkStatus();
  }

  std::unique_ptr<Graph> graph_;
  const Executor& executor_;
  const QuantizeOptions& options_;
  quant::HeldBack held_back_;
  quant::LayerSeconds seconds_;  // empty unless they were measured
};

}  // namespace

absl::StatusOr<QuantizedModel> QuantizeGraph(const Graph& graph,
                                             const std::vector<std::vector<NamedTensor>>& samples,
                                             const QuantizeOptions& options) {
  ASSIGN_OR_RETURN(Data data, Split(graph, samples, options.held_back_period));
  std::optional<CompiledExecutor> compiled;
  if (options.executor == nullptr) compiled.emplace(DefaultPlan(), options.threads);
  const Executor& executor = options.executor == nullptr ? *compiled : *options.executor;
  return Quantizer(graph, executor, options).Run(std::move(data));
}

}  // namespace attune
