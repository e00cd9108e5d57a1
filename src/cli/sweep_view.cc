#include "cli/sweep_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/html.h"
#include "sweep/sweep_value.h"

namespace attune {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string Milliseconds(const std::optional<InferenceTimes>& times) {
  return times ? absl::StrFormat("%.4g", times->median.median) : "–";
}

std::string SpeedupText(const TuningTimes& tuning) {
  return tuning.tuned_ms > 0 ? absl::StrFormat("%.3f", tuning.untuned_ms / tuning.tuned_ms) : "–";
}

std::string RatioText(const RatioInterval& ratio) {
  return absl::StrFormat("%.3f (%.3f to %.3f%s)", ratio.ratio, ratio.low, ratio.high,
                         ratio.has_confidence ? "" : ", too few times for an interval");
}

Json RatioJson(const RatioInterval& ratio) {
  return {{"ratio", ratio.ratio},
          {"low", ratio.low},
          {"high", ratio.high},
          {"has_confidence", ratio.has_confidence}};
}

}  // namespace

std::string SweepTable(const SweepPlan& plan, const std::vector<SweepResult>& results) {
  const size_t swept = plan.NumSwept();
  const bool is_repeated = std::ranges::any_of(plan.runs, [](const SweepRun& run) { return run.repeat > 1; });
  Rows rows = {{"run"}};
  rows[0].insert(rows[0].end(), plan.options.begin(),
                 plan.options.begin() + static_cast<std::ptrdiff_t>(swept));
  if (is_repeated) rows[0].emplace_back("repeat");
  rows[0].emplace_back("state");
  if (plan.Has("tune"))
    for (const char* column : {"tuning", "trials", "speedup"}) rows[0].emplace_back(column);
  if (plan.Has("bench")) rows[0].emplace_back("median, ms");
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const SweepRun& run = plan.runs[i];
    const SweepResult& result = results[i];
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(absl::StrCat(i + 1));
    for (size_t option = 0; option < swept; ++option) row.push_back(SweepValueText(run.values[option]));
    if (is_repeated) row.push_back(absl::StrCat(run.repeat));
    row.emplace_back(Name(result.state));
    if (plan.Has("tune")) {
      row.push_back(result.tuning ? SecondsText(result.tuning->seconds) : "–");
      row.push_back(result.tuning ? absl::StrCat(result.tuning->trials) : "–");
      row.push_back(result.tuning ? SpeedupText(*result.tuning) : "–");
    }
    if (plan.Has("bench")) row.push_back(Milliseconds(result.inference));
  }
  std::vector<bool> right(rows[0].size(), true);
  for (size_t option = 0; option < swept; ++option) right[1 + option] = false;
  return FormatTable(rows, right);
}

std::string DescribeSweepResult(const SweepResult& result) {
  if (!result.error.empty()) return result.error;
  std::vector<std::string> parts;
  if (result.tuning)
    parts.push_back(absl::StrCat(result.tuning->trials, " trials in ", SecondsText(result.tuning->seconds)));
  if (result.inference) parts.push_back(absl::StrCat("median ", Milliseconds(result.inference), " ms"));
  return absl::StrJoin(parts, ", ");
}

std::string ComparisonText(const SweepComparison& comparison, const std::string& first,
                           const std::string& second) {
  std::string text;
  for (const SweepDifference& difference : comparison.differences)
    absl::StrAppend(&text, difference.what, ": ", difference.first, " and ", difference.second, "\n");
  Rows rows = {{"run", absl::StrCat(second, " / ", first)}};
  for (const SweepPair& pair : comparison.pairs) rows.push_back({pair.description, RatioText(pair.ratio)});
  absl::StrAppend(&text, FormatTable(rows, {false, false}));
  absl::StrAppend(&text, "geometric mean of ",
                  CountText(static_cast<int64_t>(comparison.num_combinations), "combination"), ": ",
                  RatioText(comparison.mean), "\n");
  if (comparison.num_unpaired > 0)
    absl::StrAppend(&text, CountText(static_cast<int64_t>(comparison.num_unpaired), "run"),
                    " without a pair\n");
  return text;
}

Json ComparisonJson(const SweepComparison& comparison, const ComparedSweep& first,
                    const ComparedSweep& second) {
  Json differences = Json::array(), pairs = Json::array();
  for (const SweepDifference& difference : comparison.differences)
    differences.push_back(
        {{"what", difference.what}, {"first", difference.first}, {"second", difference.second}});
  for (const SweepPair& pair : comparison.pairs) {
    Json entry = {{"first", first.plan.runs[pair.first].id},
                  {"second", second.plan.runs[pair.second].id},
                  {"options", pair.description}};
    entry.update(RatioJson(pair.ratio));
    pairs.push_back(std::move(entry));
  }
  return {{"confidence", kSweepConfidence},
          {"differences", std::move(differences)},
          {"pairs", std::move(pairs)},
          {"unpaired", comparison.num_unpaired},
          {"combinations", comparison.num_combinations},
          {"geometric_mean", RatioJson(comparison.mean)}};
}

std::string SweepView::NameOf(size_t run) const {
  return absl::StrCat("run ", run + 1, " of ", plan_.runs.size());
}

void SweepView::OnCommand(size_t run, const std::string& command) {
  progress_.emplace();
  progress_->Show(absl::StrCat(NameOf(run), ", ", command, ": ", plan_.DescribeRun(plan_.runs[run])));
}

void SweepView::OnRunEnd(size_t run, const SweepResult& result) {
  progress_.reset();
  PrintNote(absl::StrCat(NameOf(run), " ", result.state == SweepRunState::kDone ? "is done" : "has failed",
                         ", ", plan_.DescribeRun(plan_.runs[run]), ": ", DescribeSweepResult(result)));
}

}  // namespace attune
