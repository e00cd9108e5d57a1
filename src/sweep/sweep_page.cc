#include "sweep/sweep_page.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/html.h"
#include "base/svg.h"
#include "sweep/sweep_value.h"

namespace attune {
namespace {

constexpr size_t kMostLines = 24, kMostNames = 40, kMostRows = 1000;

// The values of the options of one axis, or of all others.
using AxisValues = std::vector<SweepValue>;

std::string Described(const std::vector<std::string>& options, const AxisValues& values) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < options.size(); ++i)
    texts.push_back(absl::StrCat(options[i], "=", values[i].is_null() ? "~" : SweepValueText(values[i])));
  return texts.empty() ? "all" : absl::StrJoin(texts, " ");
}

std::string PointName(const AxisValues& values) {
  return absl::StrJoin(values, ", ", [](std::string* to, const SweepValue& value) {
    absl::StrAppend(to, value.is_null() ? "~" : SweepValueText(value));
  });
}

// Runs with the same values, which differ in their repeat: with several, how they scatter says more than the
// times of each.
MedianInterval IntervalOf(const std::vector<MedianInterval>& runs) {
  if (runs.size() == 1) return runs.front();
  std::vector<double> medians;
  for (const MedianInterval& run : runs) medians.push_back(run.median);
  return FindMedian(medians, kSweepConfidence);
}

// The plot of one axis.
class AxisPlot {
 public:
  // The options of the axis are those from `begin` on.
  AxisPlot(const SweepPlan& plan, const std::vector<SweepResult>& results,
           const std::vector<std::string>& axis, size_t begin)
      : axis_(axis) {
    for (size_t i = 0; i < plan.NumSwept(); ++i)
      if (i < begin || i >= begin + axis.size()) others_.push_back(plan.options[i]);
    for (size_t i = 0; i < plan.runs.size(); ++i) {
      if (!results[i].inference) continue;
      AxisValues x, other;
      for (size_t option = 0; option < plan.NumSwept(); ++option) {
        const bool is_x = option >= begin && option < begin + axis.size();
        (is_x ? x : other).push_back(plan.runs[i].values[option]);
      }
      if (std::ranges::find(points_, x) == points_.end()) points_.push_back(x);
      lines_[other][x].push_back(results[i].inference->median);
    }
  }

  std::string Html() const {
    const bool is_numeric = axis_.size() == 1 && std::ranges::all_of(points_, [](const AxisValues& x) {
                              return x[0].is_number();
                            });
    const std::string name = absl::StrJoin(axis_, ", ");
    SeriesPlot plot = {.title = absl::StrCat("Inference by ", name),
                       .x_label = name,
                       .y_label = "ms, median",
                       .x_names = {},
                       .series = {}};
    if (!is_numeric)
      for (const AxisValues& x : points_) plot.x_names.push_back(PointName(x));
    std::vector<std::string> names;
    for (const auto& [other, line] : lines_) {
      if (names.size() == kMostLines) break;
      names.push_back(Described(others_, other));
      std::vector<PlotPoint>& points = plot.series.emplace_back();
      for (const auto& [x, runs] : line) {
        const MedianInterval interval = IntervalOf(runs);
        points.push_back(
            {is_numeric ? x[0].get<double>() : IndexOf(x), interval.median, interval.low, interval.high});
      }
      std::ranges::sort(points, {}, &PlotPoint::x);
    }
    std::string html = absl::StrCat("<h2>", Escaped(name), "</h2>\n");
    if (plot.x_names.size() > kMostNames)
      return absl::StrCat(html, "<p class='note'>", plot.x_names.size(),
                          " values are too many to draw.</p>\n");
    absl::StrAppend(&html, "<div style='max-width:52rem'>", ToSvg(plot), "</div>\n");
    if (!names.empty()) absl::StrAppend(&html, HtmlLegend(names));
    if (lines_.size() > kMostLines)
      absl::StrAppend(&html, "<p class='note'>", lines_.size() - kMostLines,
                      " more lines are not drawn.</p>\n");
    return html;
  }

 private:
  double IndexOf(const AxisValues& x) const {
    return static_cast<double>(std::ranges::find(points_, x) - points_.begin());
  }

  const std::vector<std::string>& axis_;
  std::vector<std::string> others_;  // the options of the other axes
  std::vector<AxisValues> points_;   // in the order of the runs
  std::map<AxisValues, std::map<AxisValues, std::vector<MedianInterval>>> lines_;
};

std::string Milliseconds(double value) { return absl::StrFormat("%.4g", value); }

std::string ResultsTable(const SweepPlan& plan, const std::vector<SweepResult>& results) {
  std::vector<std::vector<std::string>> rows = {
      {"run", "options", "state", "median, ms", "from", "to", "tuning", "trials", "tuned"}};
  for (size_t i = 0; i < std::min(results.size(), kMostRows); ++i) {
    const SweepResult& result = results[i];
    std::vector<std::string>& row = rows.emplace_back();
    row = {plan.runs[i].id, plan.DescribeRun(plan.runs[i]),
           result.error.empty() ? std::string(Name(result.state)) : result.error};
    row.resize(rows[0].size(), "–");
    if (const auto& times = result.inference; times) {
      row[3] = Milliseconds(times->median.median);
      row[4] = Milliseconds(times->median.low);
      row[5] = Milliseconds(times->median.high);
    }
    if (!result.tuning) continue;
    row[6] = SecondsText(result.tuning->seconds);
    row[7] = absl::StrCat(result.tuning->trials);
    if (result.tuning->tuned_ms > 0)
      row[8] = absl::StrFormat("%.3f×", result.tuning->untuned_ms / result.tuning->tuned_ms);
  }
  constexpr size_t kTexts = 3;
  return absl::StrCat(
      "<h2>Runs</h2>\n", HtmlTable(rows, kTexts),
      results.size() > kMostRows ? "<p class='note'>The others are in results.csv.</p>\n" : "");
}

}  // namespace

std::string SweepHtml(const SweepPlan& plan, const std::vector<SweepResult>& results) {
  const auto count = [&](SweepRunState state) {
    return std::ranges::count(results, state, &SweepResult::state);
  };
  std::string body = absl::StrFormat(
      "<h1>Sweep %s</h1><p>%s of %s by attune %s on %s: %d done, %d failed, %d unfinished.</p><p "
      "class='note'>Error "
      "bars hold the median with a confidence of 95 %%, by order statistics; of runs that were repeated, the "
      "median of their medians.</p>\n",
      Escaped(plan.id), CountText(std::ssize(plan.runs), "run"), Escaped(absl::StrJoin(plan.commands, ", ")),
      Escaped(plan.version), Escaped(plan.fingerprint), count(SweepRunState::kDone),
      count(SweepRunState::kFailed), count(SweepRunState::kUnfinished));
  size_t begin = 0;
  for (const std::vector<std::string>& axis : plan.axes) {
    absl::StrAppend(&body, AxisPlot(plan, results, axis, begin).Html());
    begin += axis.size();
  }
  return HtmlPage(absl::StrCat("Sweep ", plan.id), absl::StrCat(body, ResultsTable(plan, results)));
}

}  // namespace attune
