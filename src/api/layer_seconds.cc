#include "api/layer_seconds.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/network.h"
#include "base/status.h"
#include "quant/layers.h"
#include "quant/quantize.h"

namespace attune {
namespace {

constexpr int kRounds = 30;

// Seconds of one inference, by the name of the layer that the kernel is named after.
using KernelSeconds = std::map<std::string, double>;

absl::StatusOr<KernelSeconds> TimeKernels(const Graph& graph, int threads) {
  CompileOptions options;
  options.jobs = threads;
  const Network network = Network::FromGraph(graph, "the network").Optimize().Compile(options);
  ASSIGN_OR_RETURN(const ProfileReport report, network.Profile(threads, kRounds));
  KernelSeconds seconds;
  for (const KernelProfile& kernel : report.kernels) {
    // Layers that share a kernel take the same time.
    const auto share = kernel.seconds / static_cast<double>(std::max<size_t>(kernel.labels.size(), 1));
    for (const std::string& label : kernel.labels) seconds[label] += share;
  }
  return seconds;
}

// Consecutive layers up to one that has a kernel named after it in every precision.
struct Group {
  std::vector<const Node*> layers;

  double TimeIn(const KernelSeconds& seconds, const quant::GraphNames& names) const {
    double sum = 0;
    for (const Node* layer : layers) {
      if (const auto found = seconds.find(names.Of(layer)); found != seconds.end()) sum += found->second;
    }
    return sum;
  }
};

}  // namespace

absl::StatusOr<quant::LayerSeconds> MeasureLayerSeconds(const Graph& graph,
                                                        const quant::QuantizationPlan& plan,
                                                        std::span<const quant::Precision> precisions,
                                                        int threads) {
  std::map<quant::Precision, KernelSeconds> kernels;
  for (const quant::Precision precision : precisions) {
    quant::QuantizationPlan uniform = quant::UniformPlan(graph, precision);
    uniform.ranges = plan.ranges;
    ASSIGN_OR_RETURN(const std::unique_ptr<Graph> quantized, quant::Quantize(graph, uniform));
    ASSIGN_OR_RETURN(kernels[precision], TimeKernels(*quantized, threads));
  }
  const quant::GraphNames names(graph);
  quant::LayerSeconds seconds;
  Group group;
  for (const Node* layer : quant::LayersOf(graph)) {
    group.layers.push_back(layer);
    const bool ends = std::ranges::all_of(
        kernels, [&](const auto& timed) { return timed.second.contains(names.Of(layer)); });
    if (!ends) continue;
    double multiply_adds = 0;
    for (const Node* member : group.layers)
      multiply_adds += static_cast<double>(quant::MultiplyAdds(*member));
    for (const auto& [precision, timed] : kernels) {
      const double whole = group.TimeIn(timed, names);
      for (const Node* member : group.layers) {
        const double share = static_cast<double>(quant::MultiplyAdds(*member)) / std::max(multiply_adds, 1.0);
        seconds[names.Of(member)][precision] = whole * share;
      }
    }
    group.layers.clear();
  }
  return seconds;
}

}  // namespace attune
