#include "sweep/comparison.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "sweep/result_file.h"
#include "sweep/sweep_folder.h"
#include "sweep/sweep_value.h"

namespace attune {
namespace {

constexpr char kNotGiven[] = "not given";

std::set<std::string> SweptOf(const SweepPlan& plan) {
  return {plan.options.begin(), plan.options.begin() + static_cast<std::ptrdiff_t>(plan.NumSwept())};
}

// Null if the plan does not have the option.
SweepValue ValueOf(const SweepPlan& plan, const SweepRun& run, const std::string& option) {
  const size_t index = plan.IndexOf(option);
  return index < run.values.size() ? run.values[index] : SweepValue();
}

// By what a run is paired, beside its repeat.
std::vector<SweepValue> KeyOf(const SweepPlan& plan, const SweepRun& run,
                              const std::set<std::string>& options) {
  std::vector<SweepValue> key;
  for (const std::string& option : options) key.push_back(ValueOf(plan, run, option));
  return key;
}

std::vector<SweepDifference> DifferencesOf(const SweepPlan& first, const SweepPlan& second,
                                           const std::set<std::string>& swept) {
  std::vector<SweepDifference> differences;
  const auto add = [&](const std::string& what, const std::string& of_first, const std::string& of_second) {
    if (of_first != of_second) differences.push_back({what, of_first, of_second});
  };
  add("attune", first.version, second.version);
  add("machine", first.fingerprint, second.fingerprint);
  add("commands", absl::StrJoin(first.commands, ", "), absl::StrJoin(second.commands, ", "));
  add("records", first.records, second.records);
  std::set<std::string> options(first.options.begin(), first.options.end());
  options.insert(second.options.begin(), second.options.end());
  const auto text = [](const SweepPlan& plan, const std::string& option) {
    const SweepValue value = ValueOf(plan, plan.runs.front(), option);
    return value.is_null() ? kNotGiven : SweepValueText(value);
  };
  for (const std::string& option : options)
    if (!swept.contains(option)) add(option, text(first, option), text(second, option));
  return differences;
}

}  // namespace

absl::StatusOr<ComparedSweep> ReadComparedSweep(const std::string& path) {
  ASSIGN_OR_RETURN(const SweepFolder folder, SweepFolder::Open(path));
  ComparedSweep sweep = {folder.plan(), {}};
  if (!sweep.plan.Has("bench"))
    return InvalidInput(path, ": has no inference times, since bench is none of its commands");
  for (const SweepRun& run : sweep.plan.runs) {
    std::optional<MedianInterval>& median = sweep.medians.emplace_back();
    if (!folder.IsDone(run, "bench")) continue;
    ASSIGN_OR_RETURN(const std::vector<double> latencies, ReadLatencies(folder.ResultOf(run, "bench")));
    const MedianInterval found = FindMedian(latencies, kPairConfidence);
    if (found.low > 0) median = found;
  }
  return sweep;
}

RatioInterval RatioOfMedians(const MedianInterval& first, const MedianInterval& second) {
  return {.ratio = second.median / first.median,
          .low = second.low / first.high,
          .high = second.high / first.low,
          .has_confidence = first.is_significant && second.is_significant};
}

RatioInterval MeanOfRatios(const std::vector<RatioInterval>& ratios) {
  if (ratios.size() == 1) return ratios.front();
  const auto count = static_cast<double>(ratios.size());
  double sum = 0, squares = 0;
  for (const RatioInterval& ratio : ratios) sum += std::log(ratio.ratio);
  const double mean = sum / count;
  for (const RatioInterval& ratio : ratios) squares += std::pow(std::log(ratio.ratio) - mean, 2);
  const boost::math::students_t student(count - 1);
  const double quantile = boost::math::quantile(student, (1 + kSweepConfidence) / 2);
  const double half = quantile * std::sqrt(squares / (count - 1) / count);
  return {.ratio = std::exp(mean),
          .low = std::exp(mean - half),
          .high = std::exp(mean + half),
          .has_confidence = true};
}

absl::StatusOr<SweepComparison> CompareSweeps(const ComparedSweep& first, const ComparedSweep& second) {
  std::set<std::string> swept = SweptOf(first.plan);
  swept.merge(SweptOf(second.plan));
  std::map<std::pair<std::vector<SweepValue>, int64_t>, size_t> of_second;
  for (size_t i = 0; i < second.plan.runs.size(); ++i) {
    const SweepRun& run = second.plan.runs[i];
    if (second.medians[i]) of_second.emplace(std::pair(KeyOf(second.plan, run, swept), run.repeat), i);
  }

  SweepComparison comparison;
  std::map<std::vector<SweepValue>, std::vector<RatioInterval>> ratios;  // of the repeats of each combination
  for (size_t i = 0; i < first.plan.runs.size(); ++i) {
    if (!first.medians[i]) continue;
    const SweepRun& run = first.plan.runs[i];
    std::vector<SweepValue> key = KeyOf(first.plan, run, swept);
    const auto found = of_second.find(std::pair(key, run.repeat));
    if (found == of_second.end()) continue;
    const RatioInterval ratio = RatioOfMedians(*first.medians[i], *second.medians[found->second]);
    comparison.pairs.push_back({i, found->second, first.plan.DescribeRun(run), ratio});
    ratios[std::move(key)].push_back(ratio);
  }
  if (ratios.empty())
    return InvalidInput(
        "no run of one sweep has the same values as a run of the other that is measured; they are "
        "paired by ",
        swept.empty() ? "repeat" : absl::StrJoin(swept, ", "));
  comparison.differences = DifferencesOf(first.plan, second.plan, swept);
  comparison.num_unpaired = first.plan.runs.size() + second.plan.runs.size() - 2 * comparison.pairs.size();
  comparison.num_combinations = ratios.size();
  std::vector<RatioInterval> means;
  for (const auto& [key, repeats] : ratios) means.push_back(MeanOfRatios(repeats));
  comparison.mean = MeanOfRatios(means);
  return comparison;
}

}  // namespace attune
