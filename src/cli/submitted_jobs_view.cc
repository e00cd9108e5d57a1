#include "cli/submitted_jobs_view.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/printable.h"
#include "cli/live_text.h"

namespace attune {
namespace {

std::string SecondsText(double seconds) { return absl::StrFormat("%.1f", seconds); }

// The time in the local time zone; as it is, if it is none.
std::string TimeText(const std::string& text) {
  absl::Time time;
  std::string error;
  return absl::ParseTime(absl::RFC3339_full, text, &time, &error) ? FormatTime(absl::ToUnixMillis(time))
                                                                  : text;
}

std::string NumberText(const std::optional<double>& number) {
  return number ? absl::StrFormat("%.4g", *number) : "";
}

std::string CellOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_structured()) return absl::StrCat(value.size(), value.size() == 1 ? " entry" : " entries");
  return value.dump();
}

std::string StagesTable(const RemoteJobDetail& detail) {
  if (detail.stages.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"ended", "stage", "outcome", "waited", "seconds", "runner", "reason"}};
  for (const RemoteStage& stage : detail.stages)
    rows.push_back({TimeText(stage.ended), stage.name, stage.outcome, SecondsText(stage.waited_seconds),
                    SecondsText(stage.seconds), stage.runner, stage.reason});
  return absl::StrCat("\n", FormatTable(rows, {false, false, false, true, true, false, false}));
}

}  // namespace

std::string DoingText(const RemoteJob& job) {
  if (job.is_over()) return WithoutControls(job.state);
  if (job.state == "running" || job.waits_for.empty())
    return WithoutControls(job.stage.empty() ? job.state : job.stage);
  return WithoutControls(absl::StrCat(job.stage, job.stage.empty() ? "" : ", ", "waits for ", job.waits_for));
}

std::string EndText(const RemoteJob& job) {
  if (job.state == "failed") return absl::StrCat(job.id, " has failed: ", job.error);
  if (job.state == "cancelled") return absl::StrCat(job.id, " was cancelled");
  return absl::StrCat(job.id, " is ", job.state, job.progress.empty() ? "" : ": ", job.progress);
}

Json JobsJson(const std::vector<RemoteJob>& jobs) {
  Json list = Json::array();
  for (const RemoteJob& job : jobs) list.push_back(job.json);
  return {{"jobs", std::move(list)}};
}

std::string JobsTable(const std::vector<RemoteJob>& jobs) {
  std::vector<std::vector<std::string>> rows = {{"job", "kind", "state", "does", "runner", "progress"}};
  for (const RemoteJob& job : jobs) {
    const bool has_failed = job.state == "failed";
    rows.push_back({job.id, job.kind, job.state, job.is_over() ? "" : DoingText(job), job.runner,
                    has_failed ? job.error : job.progress});
  }
  return FormatTable(rows, {false, false, false, false, false, false});
}

std::string JobDetailText(const RemoteJobDetail& detail) {
  const RemoteJob& job = detail.job;
  std::vector<std::vector<std::string>> rows = {{"job", job.id}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows.push_back({name, value});
  };
  add("kind", job.kind);
  add("state", job.state);
  add("stage", job.stage);
  add("waits for", job.waits_for);
  add("priority", absl::StrCat(job.priority));
  add("measures on", job.on);
  add("runner", job.runner);
  add("progress", job.progress);
  add("left", job.remaining_seconds > 0 ? FormatDuration(job.remaining_seconds) : "");
  add("error", job.error);
  add("submitted", TimeText(job.submitted));
  add("ended", TimeText(job.ended));
  std::string text = FormatTable(rows, {false, false});
  if (!job.promises.empty()) absl::StrAppend(&text, "\n", PromisesTable(job.promises));
  absl::StrAppend(&text, StagesTable(detail));
  if (!detail.files.empty()) absl::StrAppend(&text, "\n", FilesTable(detail.files));
  return text;
}

std::string PromisesTable(const std::vector<RemotePromise>& promises) {
  if (promises.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"promise", "limit", "state", "probability", "low", "median", "high"}};
  for (const RemotePromise& promise : promises)
    rows.push_back({promise.name, NumberText(promise.limit), promise.state, NumberText(promise.probability),
                    NumberText(promise.low), NumberText(promise.median), NumberText(promise.high)});
  return FormatTable(rows, {false, true, false, true, true, true, true});
}

std::string StageLine(const RemoteStage& stage) {
  std::string line = absl::StrFormat("%s  %-16s %-6s %9.1f s  %s", TimeText(stage.ended), stage.name,
                                     stage.outcome, stage.seconds, stage.runner);
  if (!stage.reason.empty()) absl::StrAppend(&line, "  ", stage.reason);
  return absl::StrCat(WithoutControls(line), "\n");
}

std::string ResultText(const RemoteJobDetail& detail) {
  const RemoteJob& job = detail.job;
  std::vector<std::vector<std::string>> rows = {{"job", job.id}};
  if (!job.progress.empty()) rows.push_back({"progress", job.progress});
  for (const auto& [key, value] : detail.result.items())
    if (!value.is_null()) rows.push_back({detail.result.is_object() ? key : "result", CellOf(value)});
  return FormatTable(rows, {false, false});
}

std::string FilesTable(const std::vector<RemoteFile>& files) {
  std::vector<std::vector<std::string>> rows = {{"file", "size"}};
  for (const RemoteFile& file : files)
    rows.push_back({file.name, FormatBytes(static_cast<uint64_t>(std::max<int64_t>(file.bytes, 0)))});
  return FormatTable(rows, {false, true});
}

}  // namespace attune
