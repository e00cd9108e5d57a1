#include "quant/sensitivity.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "quant/quantize.h"

namespace attune::quant {
namespace {

absl::StatusOr<NetworkAgreement> AgreementOf(const Graph& graph, const QuantizationPlan& plan,
                                             const HeldBack& data, const Executor& executor,
                                             const Agreement& agreement) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> quantized, Quantize(graph, plan));
  return MeasureAgreement(*quantized, data, executor, agreement);
}

// A layer with what may become of it.
struct Candidate {
  LayerSensitivity sensitivity;
  std::vector<Precision> levels;  // the plan's, then the fallbacks
  LayerSeconds::mapped_type seconds;

  // The first level from `level` on that no later one is as fast as.
  size_t UsefulFrom(size_t level) const {
    for (size_t later = level + 1; later < levels.size(); ++later) {
      if (IsAsFast(levels[later], levels[level])) return UsefulFrom(later);
    }
    return level;
  }

  std::string WhyNot(size_t level) const {
    if (level > 0) {
      return absl::StrFormat("alone it costs %.2g of the agreement, and 1 - cosine is %.2g", sensitivity.drop,
                             sensitivity.distance);
    }
    constexpr double kMilli = 1e3;
    const Precision taken = levels[UsefulFrom(level)];
    return absl::StrFormat("%s is no faster: %.3g ms instead of %.3g", PrecisionName(levels[level]),
                           seconds.at(levels[level]) * kMilli, seconds.at(taken) * kMilli);
  }

 private:
  bool IsAsFast(Precision precise, Precision coarse) const {
    const auto a = seconds.find(precise), b = seconds.find(coarse);
    return a != seconds.end() && b != seconds.end() && a->second <= b->second;
  }
};

// How many of the layers get which precision.
class PrecisionSearch {
 public:
  PrecisionSearch(const Graph& graph, const QuantizationPlan& plan,
                  std::vector<LayerSensitivity> sensitivities, const HeldBack& data, const Executor& executor,
                  const SearchOptions& options)
      : graph_(graph), plan_(plan), data_(data), executor_(executor), options_(options) {
    std::ranges::sort(sensitivities, [](const LayerSensitivity& a, const LayerSensitivity& b) {
      return std::tie(b.drop, b.distance, b.layer) < std::tie(a.drop, a.distance, a.layer);
    });
    for (LayerSensitivity& layer : sensitivities) {
      Candidate candidate{std::move(layer), {}, {}};
      candidate.levels = {plan.PrecisionOf(candidate.sensitivity.layer)};
      candidate.levels.insert(candidate.levels.end(), options.fallbacks.begin(), options.fallbacks.end());
      const auto seconds = options.seconds.find(candidate.sensitivity.layer);
      if (seconds != options.seconds.end()) candidate.seconds = seconds->second;
      candidates_.push_back(std::move(candidate));
    }
    beyond_.resize(options.fallbacks.size(), 0);
  }

  absl::StatusOr<SearchResult> Run() {
    ASSIGN_OR_RETURN(SearchResult best, Measure());
    // The first fallback by which all layers together keep the budget.
    size_t last = 0;
    for (; last < beyond_.size() && !IsGood(best); ++last) {
      beyond_[last] = candidates_.size();
      ASSIGN_OR_RETURN(best, Measure());
    }
    for (size_t level = last; level-- > 0 && IsGood(best);) RETURN_IF_ERROR(Lower(level, best));
    return best;
  }

 private:
  bool IsGood(const SearchResult& result) const {
    return 1 - result.agreement.agreement <= options_.max_drop;
  }

  // What comes of it with beyond_ as it is.
  absl::StatusOr<SearchResult> Measure() const {
    SearchResult result{plan_, {}};
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const auto level =
          static_cast<size_t>(std::ranges::count_if(beyond_, [&](size_t count) { return i < count; }));
      const size_t taken = candidates_[i].UsefulFrom(level);
      if (taken == 0) continue;
      for (LayerPlan& layer : result.plan.layers) {
        if (layer.layer != candidates_[i].sensitivity.layer) continue;
        layer.precision = candidates_[i].levels[taken];
        layer.reason = candidates_[i].WhyNot(level);
      }
    }
    ASSIGN_OR_RETURN(result.agreement,
                     AgreementOf(graph_, result.plan, data_, executor_, options_.agreement));
    return result;
  }

  // As few layers beyond `level` as keep the budget, the more precise levels as they are. `best` is of
  // beyond_, and keeps it.
  absl::Status Lower(size_t level, SearchResult& best) {
    // With `too_few` the budget is broken, or there is one less than may be asked for.
    int64_t too_few = level + 1 < beyond_.size() ? static_cast<int64_t>(beyond_[level + 1]) - 1 : -1;
    auto enough = static_cast<int64_t>(beyond_[level]);
    while (enough - too_few > 1) {
      const int64_t middle = too_few + (enough - too_few) / 2;
      beyond_[level] = static_cast<size_t>(middle);
      ASSIGN_OR_RETURN(SearchResult result, Measure());
      if (IsGood(result)) {
        best = std::move(result);
        enough = middle;
      } else {
        too_few = middle;
      }
    }
    beyond_[level] = static_cast<size_t>(enough);
    return absl::OkStatus();
  }

  const Graph& graph_;
  const QuantizationPlan& plan_;
  const HeldBack& data_;
  const Executor& executor_;
  const SearchOptions& options_;
  std::vector<Candidate> candidates_;  // those that cost most first
  std::vector<size_t> beyond_;         // for each fallback, how many of them have it or a more precise one
};

}  // namespace

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
                                              const std::vector<LayerSensitivity>& sensitivities,
                                              const HeldBack& data, const Executor& executor,
                                              const SearchOptions& options) {
  return PrecisionSearch(graph, plan, sensitivities, data, executor, options).Run();
}

}  // namespace attune::quant
