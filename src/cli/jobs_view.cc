#include "cli/jobs_view.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/html.h"
#include "base/printable.h"
#include "cli/common/output.h"
#include "work/report/schedule_summary.h"

namespace attune {
namespace {

constexpr double kProgressSeconds = 30;  // between two lines about all jobs

std::string Headline(const ScheduleDriver& driver) {
  int64_t over = 0, running = 0;
  for (const auto& [number, job] : driver.jobs()) {
    over += job.is_over() ? 1 : 0;
    running += job.runs() ? 1 : 0;
  }
  return absl::StrCat(over, " of ", driver.jobs().size(), " jobs are over, ", running, " stages run, ",
                      driver.schedule().strategy, ", ", FormatDuration(driver.Now()));
}

// The stage that the job runs or waits for.
std::string Doing(const JobManager& job, double now) {
  if (job.is_over()) return std::string(Name(job.record().state));
  if (job.stage().name.empty()) return "has not begun";
  if (job.runs()) return absl::StrCat(job.stage().name, " for ", FormatDuration(now - job.start()));
  return absl::StrCat("waits for ", job.stage().name, ", ", FormatDuration(now - job.asked()));
}

std::vector<std::string> RowOf(const JobManager& job, double now) {
  const JobRecord& record = job.record();
  const bool is_known = !job.is_over() && job.remaining() > 0;
  return {record.spec.id, Doing(job, now), is_known ? FormatDuration(job.remaining()) : "–",
          record.state == JobState::kFailed ? record.error : record.progress};
}

}  // namespace

std::string DescribeLive(const ScheduleDriver& driver, size_t rows, size_t width) {
  std::vector<const JobManager*> jobs;
  for (const auto& [number, job] : driver.jobs()) jobs.push_back(&job);
  std::ranges::sort(jobs, {}, [](const JobManager* job) {
    return std::pair(job->is_over() ? 2 : job->runs() ? 0 : 1, job);
  });
  std::vector<std::vector<std::string>> cells = {{"job", "does", "left", "progress"}};
  for (size_t i = 0; i < std::min(rows, jobs.size()); ++i) cells.push_back(RowOf(*jobs[i], driver.Now()));
  std::string text = Cut(Headline(driver), width) + "\n";
  const std::string table = FormatTable(cells, {false, false, true, false});
  for (absl::string_view line : absl::StrSplit(table, '\n', absl::SkipEmpty()))
    absl::StrAppend(&text, Cut(std::string(line), width), "\n");
  if (jobs.size() > rows) absl::StrAppend(&text, "and ", jobs.size() - rows, " more jobs\n");
  return text;
}

std::string DescribeResult(const ScheduleRecord& schedule) {
  const ScheduleSummary summary = Summarize(schedule);
  std::vector<std::vector<std::string>> jobs = {{"job", "state", "stages", "seconds", "waited", "result"}};
  for (size_t i = 0; i < schedule.jobs.size(); ++i) {
    const JobRecord& job = schedule.jobs[i];
    const JobSummary& sums = summary.jobs[i];
    jobs.push_back({job.spec.id, std::string(Name(job.state)), absl::StrCat(sums.done),
                    absl::StrFormat("%.1f", sums.seconds), absl::StrFormat("%.1f", sums.waited),
                    job.state == JobState::kFailed ? job.error : job.progress});
  }
  std::vector<std::vector<std::string>> resources = {{"resource", "busy, s", "idle"}};
  for (const ResourceUse& use : summary.resources)
    resources.push_back({use.name, absl::StrFormat("%.1f", use.busy_seconds), PercentText(use.idle_share)});
  std::string text = absl::StrCat(
      FormatTable(jobs, {false, false, true, true, true, false}), FormatTable(resources, {false, true, true}),
      absl::StrFormat("%s in %.1f s by %s, schedule %s; a stage waited %.2f s (median), %.2f s (99 %%)\n",
                      CountText(std::ssize(schedule.jobs), "job"), summary.makespan, schedule.strategy,
                      schedule.id, summary.waiting_p50, summary.waiting_p99));
  if (summary.predictions.predicted > 0)
    absl::StrAppendFormat(&text, "of %s, %.0f %% ended within their interval of 80 %%\n",
                          CountText(summary.predictions.predicted, "predicted stage"),
                          100 * summary.predictions.Share());
  return text;
}

void JobsView::TellEnds(const ScheduleDriver& driver) {
  told_.resize(driver.jobs().size());
  for (size_t i = 0; i < told_.size(); ++i) {
    const JobManager& job = driver.jobs().at(i);
    if (told_[i] || !job.is_over()) continue;
    told_[i] = true;
    const JobRecord& record = job.record();
    const bool failed = record.state == JobState::kFailed;
    text_.Note(absl::StrCat(
        record.spec.id, failed ? " has failed: " : " is done: ", failed ? record.error : record.progress));
  }
}

void JobsView::Update(const ScheduleDriver& driver) {
  TellEnds(driver);
  if (text_.is_terminal()) {
    constexpr size_t kOtherLines = 4;
    const size_t rows = std::max(text_.rows(), kOtherLines + 1) - kOtherLines;
    if (text_.is_due()) text_.Draw(DescribeLive(driver, rows, text_.columns()));
    return;
  }
  if (driver.Now() - last_line_ < kProgressSeconds) return;
  last_line_ = driver.Now();
  std::fprintf(stderr, "%s\n", WithoutControls(Headline(driver)).c_str());
}

}  // namespace attune
