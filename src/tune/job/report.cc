#include "tune/job/report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/svg.h"

namespace attune {
namespace {

constexpr char kStyle[] = R"(
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top; }
th:first-child, td:first-child, td.config { text-align: left; }
td.config { font-family: ui-monospace, monospace; font-size: 11px; }
svg { width: 100%; max-width: 44rem; display: block; margin: 1rem 0; }
svg text { font-size: 11px; fill: #444; } svg .grid { stroke: #e5e5e5; } svg .line { fill: none; stroke: #0a6; stroke-width: 1.8; }
.big { font-size: 1.25rem; }
)";

std::string Milliseconds(double seconds) {
  return seconds <= 0 ? "–" : absl::StrFormat("%.4f", 1e3 * seconds);
}

std::string Ratio(double before, double after) {
  return before <= 0 || after <= 0 ? "–" : absl::StrFormat("%.3f×", before / after);
}

std::string Headline(const TuningSummary& s) {
  std::string text =
      absl::StrFormat("<h1>%s</h1><p>Tuned for %d thread%s of %s in %.1f minutes by %s, run %s.</p>",
                      Escaped(s.model), s.threads, s.threads == 1 ? "" : "s", Escaped(s.device),
                      s.elapsed_seconds / 60, Escaped(s.search), Escaped(s.run));
  if (s.untuned_seconds > 0 && s.tuned_seconds > 0) {
    absl::StrAppendFormat(&text,
                          "<p class='big'>One inference, interleaved: <b>%.3f ms</b> untuned, <b>%.3f "
                          "ms</b> tuned, %s.</p>",
                          1e3 * s.untuned_seconds, 1e3 * s.tuned_seconds,
                          Ratio(s.untuned_seconds, s.tuned_seconds));
  }
  return text;
}

std::string Curves(const TuningSummary& s) {
  LinePlot latency{.title = "Latency during tuning",
                   .x_label = "seconds of tuning",
                   .y_label = "ms, the sum of all tasks' best",
                   .points = {},
                   .steps = true};
  for (const CurvePoint& point : s.curve) {
    latency.points.emplace_back(point.elapsed_seconds, 1e3 * point.network_seconds);
  }
  LinePlot ranks{.title = "How the cost model ranked candidates before they were measured",
                 .x_label = "trials",
                 .y_label = "rank correlation",
                 .points = {},
                 .y_min = -1,
                 .y_max = 1};
  for (const RankPoint& point : s.ranks) {
    ranks.points.emplace_back(static_cast<double>(point.trials), point.correlation);
  }
  return absl::StrCat("<h2>Over time</h2>", ToSvg(latency), ToSvg(ranks));
}

std::string TaskRow(const TaskSummary& task) {
  const double share = task.best_seconds <= 0 ? 0 : task.bound_seconds / task.best_seconds;
  return absl::StrFormat(
      "<tr><td>%s<br><small>%s</small></td><td>%d</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%d%s</"
      "td>"
      "<td class='config'>%s<br>%s</td></tr>\n",
      Escaped(task.description), Escaped(task.digest.substr(0, 12)), task.uses,
      Milliseconds(task.default_seconds), Milliseconds(task.best_seconds),
      Ratio(task.default_seconds, task.best_seconds),
      share <= 0 ? "–" : absl::StrFormat("%.0f %%", 100 * share), task.trials,
      task.failed == 0 ? "" : absl::StrFormat(" (%d failed)", task.failed), Escaped(task.default_config),
      Escaped(task.best_config));
}

// The time of a task in the whole network.
double Weight(const TaskSummary& task) {
  return task.uses * std::max(task.default_seconds, task.best_seconds);
}

std::string Tasks(const TuningSummary& s) {
  std::vector<const TaskSummary*> tasks;
  for (const TaskSummary& task : s.tasks) tasks.push_back(&task);
  std::ranges::sort(tasks, [](const TaskSummary* a, const TaskSummary* b) {
    return Weight(*a) != Weight(*b) ? Weight(*a) > Weight(*b) : a->digest < b->digest;
  });
  std::string rows;
  for (const TaskSummary* task : tasks) absl::StrAppend(&rows, TaskRow(*task));
  return absl::StrCat(
      "<h2>Tasks</h2><table><thead><tr><th>task</th><th>uses</th><th>default, ms</th><th>best, ms</th>"
      "<th>gain</th><th>of its bound</th><th>trials</th><th>config before, after</th></tr></thead><tbody>\n",
      rows, "</tbody></table>");
}

std::string Learned(const TuningSummary& s) {
  int64_t transferred = 0, trials = 0;
  for (const TaskSummary& task : s.tasks) {
    transferred += task.transferred;
    trials += task.trials;
  }
  std::string text = absl::StrFormat(
      "<h2>Where the time went, and what was known before</h2><p>%d trials were measured; %d records of "
      "earlier runs counted as trials without being measured again.</p><table><tbody>",
      trials, transferred);
  for (const auto& [stage, seconds] : s.stage_seconds) {
    absl::StrAppendFormat(&text, "<tr><td>%s</td><td>%.1f s</td></tr>\n", Escaped(stage), seconds);
  }
  return absl::StrCat(text, "</tbody></table>");
}

}  // namespace

Nearness NearnessOf(const TuningSummary& summary) {
  double best = 0, least = 0, bound = 0;
  for (const TaskSummary& task : summary.tasks) {
    best += task.uses * task.best_seconds;
    least += task.uses * (task.least_seconds > 0 ? task.least_seconds : task.best_seconds);
    bound += task.uses * task.bound_seconds;
  }
  if (!(best > 0)) return {};
  return {.of_least = least / best, .of_roofline = bound / best};
}

std::string ReportHtml(const TuningSummary& summary) {
  return absl::StrCat("<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>",
                      Escaped(summary.model), ": tuning report</title><style>", kStyle,
                      "</style></head><body>", Headline(summary), Curves(summary), Tasks(summary),
                      Learned(summary), "</body></html>\n");
}

}  // namespace attune
