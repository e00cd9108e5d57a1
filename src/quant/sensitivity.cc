#include "quant/sensitivity.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "quant/layers.h"
#include "quant/quantize.h"

namespace attune::quant {
namespace {

absl::StatusOr<NetworkAgreement> AgreementOf(const Graph& graph, const QuantizationPlan& plan,
                                             const HeldBack& data, const Executor& executor,
                                             const Agreement& agreement, double least = 0) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> quantized, Quantize(graph, plan));
  return MeasureAgreement(*quantized, data, executor, agreement, least);
}

// A layer and the precisions that it may get.
struct Candidate {
  LayerSensitivity sensitivity;
  std::vector<Precision> levels;  // the plan's precision, then the fallbacks
  LayerSeconds::mapped_type seconds;
  size_t level = 0;
  std::string refused;  // why it is not one level lower; empty if its own cost is the reason

  // The level to use: the first from `level` on such that no later level is faster.
  size_t Taken() const { return UsefulFrom(level); }

  std::string WhyNotLess() const {
    constexpr double kMilli = 1e3;
    if (level == 0) {
      return absl::StrFormat("%s is no faster: %.3g ms instead of %.3g", PrecisionName(levels[0]),
                             seconds.at(levels[0]) * kMilli, seconds.at(levels[Taken()]) * kMilli);
    }
    const std::string own =
        absl::StrFormat("alone it costs %.2g of the agreement in %s, and 1 - cosine is %.2g",
                        sensitivity.drop, PrecisionName(levels[0]), sensitivity.distance);
    return refused.empty() ? own : absl::StrCat(own, "; ", refused);
  }

 private:
  size_t UsefulFrom(size_t first) const {
    for (size_t later = first + 1; later < levels.size(); ++later) {
      if (IsFaster(levels[later], levels[first])) return UsefulFrom(later);
    }
    return first;
  }
  bool IsFaster(Precision precise, Precision coarse) const {
    constexpr double kResolution = 1e-6;  // of the measured times
    const auto a = seconds.find(precise), b = seconds.find(coarse);
    return a != seconds.end() && b != seconds.end() && a->second + kResolution <= b->second;
  }
};

// Searches the precision of each layer.
class PrecisionSearch {
 public:
  PrecisionSearch(const Graph& graph, const QuantizationPlan& plan,
                  std::vector<LayerSensitivity> sensitivities, const HeldBack& data, const Executor& executor,
                  const SearchOptions& options)
      : graph_(graph), plan_(plan), data_(data), executor_(executor), options_(options) {
    std::ranges::sort(sensitivities, [](const LayerSensitivity& a, const LayerSensitivity& b) {
      return std::pair(a.Rate(), a.layer) < std::pair(b.Rate(), b.layer);
    });
    for (LayerSensitivity& layer : sensitivities) {
      Candidate candidate;
      candidate.sensitivity = std::move(layer);
      candidate.levels = {plan.PrecisionOf(candidate.sensitivity.layer)};
      candidate.levels.insert(candidate.levels.end(), options.fallbacks.begin(), options.fallbacks.end());
      const auto seconds = options.seconds.find(candidate.sensitivity.layer);
      if (seconds != options.seconds.end()) candidate.seconds = seconds->second;
      candidates_.push_back(std::move(candidate));
    }
  }

  absl::StatusOr<SearchResult> Run() {
    ASSIGN_OR_RETURN(best_, Measure());
    // Find the first level at which all layers together stay within the budget.
    size_t level = 0;
    while (level < options_.fallbacks.size() && !IsGood(best_)) {
      ++level;
      for (Candidate& candidate : candidates_) candidate.level = level;
      ASSIGN_OR_RETURN(best_, Measure());
    }
    while (level > 0 && IsGood(best_)) RETURN_IF_ERROR(LowerTo(--level));
    return SearchResult{Planned(), best_};
  }

 private:
  using Group = std::span<Candidate* const>;

  bool IsGood(const NetworkAgreement& measured) const { return 1 - measured.agreement <= options_.max_drop; }

  // The plan for the current levels of the candidates.
  QuantizationPlan Planned() const {
    QuantizationPlan plan = plan_;
    for (const Candidate& candidate : candidates_) {
      if (candidate.Taken() == 0) continue;
      LayerPlan& layer = *std::ranges::find(plan.layers, candidate.sensitivity.layer, &LayerPlan::layer);
      layer.precision = candidate.levels[candidate.Taken()];
      layer.reason = candidate.WhyNotLess();
    }
    return plan;
  }

  absl::StatusOr<NetworkAgreement> Measure() const {
    return AgreementOf(graph_, Planned(), data_, executor_, options_.agreement, 1 - options_.max_drop);
  }

  // Lowers as many of the layers right above `level` as the budget allows; all layers together are known to
  // exceed it.
  absl::Status LowerTo(size_t level) {
    std::vector<Candidate*> above;
    for (Candidate& candidate : candidates_) {
      if (candidate.level == level + 1) above.push_back(&candidate);
    }
    tries_ = 0;
    return above.size() == candidates_.size() ? LowerHalves(above, level) : Lower(above, level);
  }

  absl::Status LowerHalves(Group group, size_t level) {
    if (group.size() < 2) return absl::OkStatus();
    const size_t half = group.size() / 2;
    RETURN_IF_ERROR(Lower(group.first(half), level));
    return Lower(group.subspan(half), level);
  }

  // Lowers the group, or as much of it as the budget allows.
  absl::Status Lower(Group group, size_t level) {
    if (group.empty() || tries_ == options_.most_tries) return absl::OkStatus();
    ++tries_;
    for (Candidate* candidate : group) candidate->level = level;
    ASSIGN_OR_RETURN(const NetworkAgreement measured, Measure());
    if (IsGood(measured)) {
      best_ = measured;
      for (Candidate* candidate : group) candidate->refused.clear();
      return absl::OkStatus();
    }
    for (Candidate* candidate : group) {
      candidate->level = level + 1;
      candidate->refused =
          absl::StrFormat("with %s in %s, at least %.2g is lost",
                          group.size() == 1 ? "it" : absl::StrCat("it and ", group.size() - 1, " more"),
                          PrecisionName(candidate->levels[level]), 1 - measured.agreement);
    }
    return LowerHalves(group, level);
  }

  const Graph& graph_;
  const QuantizationPlan& plan_;
  const HeldBack& data_;
  const Executor& executor_;
  const SearchOptions& options_;
  std::vector<Candidate> candidates_;  // ordered by cost per multiply-add, the least first
  NetworkAgreement best_;              // for the current levels of the candidates
  int tries_ = 0;                      // attempts to go one level lower
};

}  // namespace

std::pair<double, double> LayerSensitivity::Rate() const {
  const auto gain = static_cast<double>(std::max<int64_t>(multiply_adds, 1));
  return {drop / gain, distance / gain};
}

absl::StatusOr<HeldBack> RunFloat(const Graph& graph, std::vector<Sample> inputs, const Executor& executor) {
  HeldBack data{std::move(inputs), {}};
  for (const Sample& sample : data.inputs) {
    ASSIGN_OR_RETURN(data.outputs.emplace_back(), executor.Run(graph, sample));
  }
  return data;
}

absl::StatusOr<NetworkAgreement> MeasureAgreement(const Graph& graph, const HeldBack& data,
                                                  const Executor& executor, const Agreement& agreement,
                                                  double least) {
  if (data.inputs.empty()) return InvalidInput("there are no samples to compare by");
  const auto count = static_cast<double>(data.inputs.size());
  NetworkAgreement mean;
  for (size_t i = 0; i < data.inputs.size() && mean.agreement >= least; ++i) {
    ASSIGN_OR_RETURN(const Sample outputs, executor.Run(graph, data.inputs[i]));
    mean.agreement -= (1 - agreement(data.outputs[i], outputs)) / count;
    mean.cosine -= (1 - CosineAgreement(data.outputs[i], outputs)) / count;
  }
  return mean;
}

absl::StatusOr<std::vector<LayerSensitivity>> MeasureSensitivity(
    const Graph& graph, const QuantizationPlan& plan, const HeldBack& data, const Executor& executor,
    const Agreement& agreement, const WorkControl& control) {
  const GraphNames names(graph);
  std::vector<LayerSensitivity> sensitivities;
  int64_t done = 0;
  for (const LayerPlan& layer : plan.layers) {
    RETURN_IF_ERROR(control.Continue("measuring layers", done++, std::ssize(plan.layers)));
    if (layer.precision == Precision::kF32) continue;
    const QuantizationPlan alone{{layer}, plan.ranges};
    ASSIGN_OR_RETURN(const NetworkAgreement measured, AgreementOf(graph, alone, data, executor, agreement));
    const Node* node = names.FindLayer(layer.layer);
    sensitivities.push_back({layer.layer, 1 - measured.agreement, 1 - measured.cosine,
                             node == nullptr ? 0 : MultiplyAdds(*node)});
  }
  return sensitivities;
}

absl::StatusOr<SearchResult> SearchPrecisions(const Graph& graph, const QuantizationPlan& plan,
                                              const std::vector<LayerSensitivity>& sensitivities,
                                              const HeldBack& data, const Executor& executor,
                                              const SearchOptions& options) {
  return PrecisionSearch(graph, plan, sensitivities, data, executor, options).Run();
}

}  // namespace attune::quant
