#include "work/report/schedule_report.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/html.h"
#include "base/svg.h"
#include "work/report/gantt.h"
#include "work/report/schedule_summary.h"

namespace attune {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kMostRowsOfTable = 2000, kMostBroken = 200;

// The share within the predicted interval; a dash if nothing was predicted.
std::string WithinText(const PredictionCounts& counts) {
  return counts.predicted == 0 ? "–" : PercentText(counts.Share());
}

std::string Headline(const ScheduleRecord& record, const ScheduleSummary& summary) {
  const auto count = [&](JobState state) {
    return std::ranges::count(record.jobs, state, &JobRecord::state);
  };
  std::string html = absl::StrFormat(
      "<h1>Schedule %s</h1><p>%s by strategy %s on %s and %s.</p><p class='big'>%d done, %d failed, %d "
      "unfinished after <b>%s</b>; processors were idle <b>%s</b> of the time",
      Escaped(record.id), CountText(std::ssize(record.jobs), "job"), Escaped(record.strategy),
      CountText(record.host.processors, "processor"), CountText(std::ssize(record.host.devices), "device"),
      count(JobState::kDone), count(JobState::kFailed), count(JobState::kUnfinished),
      SecondsText(summary.makespan), PercentText(summary.IdleShare(/*of_devices=*/false)));
  if (!record.host.devices.empty())
    absl::StrAppend(&html, ", devices <b>", PercentText(summary.IdleShare(/*of_devices=*/true)), "</b>");
  absl::StrAppendFormat(&html, ".</p><p>Stages waited %s in the median, %s at the 99th percentile.",
                        SecondsText(summary.waiting_p50), SecondsText(summary.waiting_p99));
  if (summary.predictions.predicted > 0)
    absl::StrAppendFormat(&html, " Of %s with a prediction, %s ended within its 80 %% interval.",
                          CountText(summary.predictions.predicted, "stage"), WithinText(summary.predictions));
  if (summary.missed_deadlines > 0)
    absl::StrAppend(&html, " ", CountText(summary.missed_deadlines, "deadline"), " missed.");
  return absl::StrCat(html, "</p>\n");
}

std::string TitleOf(const StageRecord& stage) {
  std::string title =
      absl::StrFormat("%s: %s\n%s to %s, took %s", stage.job, stage.stage.name, SecondsText(stage.start),
                      SecondsText(stage.end), SecondsText(stage.end - stage.start));
  const SecondsPrediction& predicted = stage.stage.seconds;
  if (predicted.median > 0)
    absl::StrAppendFormat(&title, "\npredicted %s (%s to %s)", SecondsText(predicted.median),
                          SecondsText(predicted.low), SecondsText(predicted.high));
  if (stage.start > stage.asked)
    absl::StrAppend(&title, "\nhad waited ", SecondsText(stage.start - stage.asked));
  if (stage.outcome != StageOutcome::kDone) absl::StrAppend(&title, "\n", Name(stage.outcome));
  return title;
}

// `item` is the stage's index.
GanttBar BarOf(const StageRecord& stage, size_t item, size_t color) {
  return {.start = stage.start,
          .end = stage.end,
          .color = color,
          .is_broken = stage.outcome != StageOutcome::kDone,
          .item = item};
}

// A chart of the record's stages without rows.
GanttChart ChartOf(const ScheduleRecord& record, const ScheduleSummary& summary, std::string title) {
  return {.title = std::move(title),
          .seconds = summary.makespan,
          .rows = {},
          .colors = {},
          .describe = [&record](size_t item) { return TitleOf(record.stages[item]); }};
}

using JobIndices = std::unordered_map<std::string, size_t>;

JobIndices IndicesOf(const ScheduleRecord& record) {
  JobIndices indices;
  for (size_t job = 0; job < record.jobs.size(); ++job) indices.emplace(record.jobs[job].spec.id, job);
  return indices;
}

std::string ResourceChart(const ScheduleRecord& record, const ScheduleSummary& summary,
                          const JobIndices& indices) {
  GanttChart chart = ChartOf(record, summary, "Resources, coloured by job");
  for (const ResourceUse& use : summary.resources)
    chart.rows.push_back({absl::StrCat(use.name, ", idle ", PercentText(use.idle_share)), {}});
  for (const JobRecord& job : record.jobs) chart.colors.push_back(job.spec.id);
  const auto processors = static_cast<size_t>(record.host.processors);
  for (size_t item = 0; item < record.stages.size(); ++item) {
    const StageRecord& stage = record.stages[item];
    const auto job = indices.find(stage.job);
    if (job == indices.end()) continue;
    const GanttBar bar = BarOf(stage, item, job->second);
    for (const int processor : HeldProcessors(stage)) {
      const auto row = static_cast<size_t>(processor);
      if (row < processors) chart.rows[row].bars.push_back(bar);
    }
    for (size_t d = 0; d < record.host.devices.size(); ++d) {
      if (HoldsDevice(stage, record.host, record.host.devices[d]))
        chart.rows[processors + d].bars.push_back(bar);
    }
  }
  return GanttHtml(chart);
}

std::string JobChart(const ScheduleRecord& record, const ScheduleSummary& summary,
                     const JobIndices& indices) {
  GanttChart chart = ChartOf(record, summary, "Jobs, coloured by stage; a thin grey bar is waiting");
  for (const JobRecord& job : record.jobs) chart.rows.push_back({job.spec.id, {}});
  std::map<std::string, size_t> colors;
  for (size_t item = 0; item < record.stages.size(); ++item) {
    const StageRecord& stage = record.stages[item];
    const auto job = indices.find(stage.job);
    if (job == indices.end()) continue;
    const auto [color, is_new] = colors.emplace(stage.stage.name, colors.size());
    if (is_new) chart.colors.push_back(stage.stage.name);
    std::vector<GanttBar>& bars = chart.rows[job->second].bars;
    if (stage.start > stage.asked)
      bars.push_back({.start = stage.asked, .end = stage.start, .is_waiting = true, .item = item});
    bars.push_back(BarOf(stage, item, color->second));
  }
  return GanttHtml(chart);
}

// Returns the table, cut to `most` rows without its header, and a note if that was too few.
std::string Section(std::string_view title, Rows rows, size_t num_texts, size_t most = kMostRowsOfTable) {
  std::string note;
  if (rows.size() > most + 1) {
    note = absl::StrCat("<p class='note'>", rows.size() - most - 1, " more are not shown.</p>\n");
    rows.resize(most + 1);
  }
  return absl::StrCat("<h2>", Escaped(title), "</h2>\n", HtmlTable(rows, num_texts), note);
}

std::string JobsTable(const ScheduleRecord& record, const ScheduleSummary& summary) {
  Rows rows = {{"job", "kind", "owner", "state", "progress", "stages", "took", "waited", "ended after"}};
  for (size_t i = 0; i < record.jobs.size(); ++i) {
    const JobRecord& job = record.jobs[i];
    const JobSummary& sums = summary.jobs[i];
    std::string state(Name(job.state));
    if (sums.missed_deadline) absl::StrAppend(&state, ", too late");
    rows.push_back({job.spec.id, job.spec.kind, job.spec.owner, std::move(state),
                    job.error.empty() ? job.progress : job.error, absl::StrCat(sums.done),
                    SecondsText(sums.seconds), SecondsText(sums.waited), SecondsText(sums.end)});
  }
  return Section("Jobs", std::move(rows), 5);
}

std::string IdleTable(const ScheduleSummary& summary) {
  Rows rows = {{"resource", "busy", "idle"}};
  for (const ResourceUse& use : summary.resources)
    rows.push_back({use.name, SecondsText(use.busy_seconds), PercentText(use.idle_share)});
  return Section("Idle time", std::move(rows), 1);
}

std::string StageTables(const ScheduleSummary& summary) {
  Rows waiting = {{"kind of job", "stage", "runs", "waited in all", "waited in the mean"}};
  Rows predicted = {
      {"kind of job", "stage", "done", "predicted", "predicted in all", "took in all", "within 80 %"}};
  for (const StageKindSummary& kind : summary.kinds) {
    const int64_t runs = kind.done + kind.failed + kind.lost;
    waiting.push_back({kind.job_kind, kind.name, absl::StrCat(runs), SecondsText(kind.waited),
                       SecondsText(kind.waited / static_cast<double>(std::max<int64_t>(runs, 1)))});
    const bool is_predicted = kind.predictions.predicted > 0;
    predicted.push_back(
        {kind.job_kind, kind.name, absl::StrCat(kind.done), absl::StrCat(kind.predictions.predicted),
         is_predicted ? SecondsText(kind.predicted_seconds) : "–",
         SecondsText(is_predicted ? kind.real_seconds : kind.seconds), WithinText(kind.predictions)});
  }
  return absl::StrCat(Section("Waiting", std::move(waiting), 2),
                      Section("Predicted and real durations", std::move(predicted), 2));
}

std::string BrokenTable(const ScheduleRecord& record) {
  Rows rows = {{"job", "stage", "outcome", "started at", "took"}};
  for (const StageRecord& stage : record.stages) {
    if (stage.outcome == StageOutcome::kDone) continue;
    rows.push_back({stage.job, stage.stage.name, std::string(Name(stage.outcome)), SecondsText(stage.start),
                    SecondsText(stage.end - stage.start)});
  }
  if (rows.size() == 1) return "<h2>Failed and lost stages</h2>\n<p>None.</p>\n";
  return Section("Failed and lost stages", std::move(rows), 3, kMostBroken);
}

}  // namespace

std::string ScheduleHtml(const ScheduleRecord& record) {
  const ScheduleSummary summary = Summarize(record);
  const JobIndices indices = IndicesOf(record);
  return HtmlPage(absl::StrCat("Schedule ", record.id),
                  absl::StrCat(Headline(record, summary), ResourceChart(record, summary, indices),
                               JobChart(record, summary, indices), JobsTable(record, summary),
                               IdleTable(summary), StageTables(summary), BrokenTable(record)));
}

}  // namespace attune
