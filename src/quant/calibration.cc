#include "quant/calibration.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "quant/layers.h"
#include "quant/sites.h"

namespace attune::quant {
namespace {

using Histograms = std::map<std::string, Histogram>;

// Names of values, in slices that fit into memory. Inputs are left out, since their values are known
// without a run.
std::vector<std::vector<std::string>> Slices(const std::vector<Value*>& values, const GraphNames& names,
                                             int64_t max_bytes) {
  std::vector<std::vector<std::string>> slices;
  int64_t bytes = 0;
  for (const Value* value : values) {
    if (value->is_input()) continue;
    const int64_t own = value->type().num_physical_bytes();
    if (slices.empty() || bytes + own > max_bytes) {
      slices.emplace_back();
      bytes = 0;
    }
    slices.back().push_back(names.Of(value));
    bytes += own;
  }
  return slices;
}

}  // namespace

absl::Status ObserveEach(const Graph& graph, const std::vector<Value*>& values,
                         const std::vector<Sample>& samples, const Executor& executor,
                         const CalibrationOptions& options,
                         const std::function<void(const std::string&, const Tensor&)>& see) {
  if (samples.empty()) return InvalidInput("there are no samples to calibrate with");
  for (const Sample& sample : samples) {
    if (sample.size() == graph.inputs().size()) continue;
    return InvalidInput("a sample has ", sample.size(), " tensors, the network takes ",
                        graph.inputs().size());
  }
  const GraphNames names(graph);
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value* input = graph.inputs()[i].get();
    if (std::ranges::find(values, input) == values.end()) continue;
    for (const Sample& sample : samples) see(names.Of(input), sample[i]);
  }
  const std::vector<std::vector<std::string>> slices = Slices(values, names, options.slice_bytes);
  int64_t runs = 0;
  const auto all_runs = static_cast<int64_t>(slices.size() * samples.size());
  for (const std::vector<std::string>& slice : slices) {
    const std::unique_ptr<Graph> probe = graph.Clone();
    const GraphNames probe_names(*probe);
    const size_t own = probe->outputs().size();
    for (const std::string& name : slice) {
      probe->AddOutput(absl::StrCat("calibration.", probe->outputs().size()), probe_names.FindValue(name));
    }
    for (const Sample& sample : samples) {
      RETURN_IF_ERROR(options.control.Continue("calibrating", runs++, all_runs));
      ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, executor.Run(*probe, sample));
      for (size_t i = 0; i < slice.size(); ++i) see(slice[i], outputs[own + i]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Histograms> Observe(const Graph& graph, const std::vector<Sample>& samples,
                                   const Executor& executor, const CalibrationOptions& options) {
  Histograms histograms;
  RETURN_IF_ERROR(
      ObserveEach(graph, CandidateValues(graph), samples, executor, options,
                  [&](const std::string& name, const Tensor& value) { histograms[name].Add(value); }));
  return histograms;
}

std::map<std::string, Range> ChooseRanges(const Histograms& histograms, const CalibrationOptions& options) {
  std::map<std::string, Range> ranges;
  for (const auto& [name, histogram] : histograms) {
    ranges[name] = ChooseRange(histogram, options.method, options.percentile);
  }
  return ranges;
}

}  // namespace attune::quant
