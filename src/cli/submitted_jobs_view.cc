#include "cli/submitted_jobs_view.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/printable.h"
#include "cli/live_text.h"
#include "jobs/json_object.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

std::string SecondsText(double seconds) { return absl::StrFormat("%.1f", seconds); }

// A result comes from a runner, and may be no JSON at all.
Json ResultOf(const proto::Job& job) {
  const absl::StatusOr<Json> result = ParseJsonObject<Json>(job.result());
  if (result.ok()) return *result;
  return job.result().empty() ? Json() : Json(job.result());
}

Json TimeJson(int64_t time_ms) { return time_ms > 0 ? Json(time_ms) : Json(); }

std::string CellOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_structured()) return absl::StrCat(value.size(), value.size() == 1 ? " entry" : " entries");
  return value.dump();
}

std::string StagesTable(const proto::JobDetail& detail) {
  if (detail.stages().empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"ended", "stage", "outcome", "waited", "seconds", "runner", "reason"}};
  for (const proto::StageOfJob& stage : detail.stages())
    rows.push_back({FormatTime(stage.end_ms()), stage.name(), stage.outcome(),
                    SecondsText(stage.waited_seconds()), SecondsText(stage.seconds()), stage.runner(),
                    stage.reason()});
  return absl::StrCat("\n", FormatTable(rows, {false, false, false, true, true, false, false}));
}

}  // namespace

std::string DoingText(const proto::Job& job) {
  if (IsOver(job)) return WithoutControls(job.state());
  if (job.state() == "running" || job.waits_for().empty())
    return WithoutControls(job.stage().empty() ? job.state() : job.stage());
  return WithoutControls(
      absl::StrCat(job.stage(), job.stage().empty() ? "" : ", ", "waits for ", job.waits_for()));
}

std::string EndText(const proto::Job& job) {
  if (job.state() == "failed") return absl::StrCat(job.id(), " has failed: ", job.error());
  if (job.state() == "cancelled") return absl::StrCat(job.id(), " was cancelled");
  return absl::StrCat(job.id(), " is ", job.state(), job.progress().empty() ? "" : ": ", job.progress());
}

Json JobJson(const proto::Job& job) {
  return {{"id", job.id()},
          {"kind", job.kind()},
          {"owner", job.owner()},
          {"priority", job.priority()},
          {"on", job.on()},
          {"state", job.state()},
          {"stage", job.stage()},
          {"waits_for", job.waits_for()},
          {"runner", job.runner()},
          {"progress", job.progress()},
          {"error", job.error()},
          {"result", ResultOf(job)},
          {"remaining_seconds", job.remaining_seconds()},
          {"submitted_ms", TimeJson(job.submitted_ms())},
          {"ended_ms", TimeJson(job.ended_ms())}};
}

Json JobsJson(const std::vector<proto::Job>& jobs) {
  Json list = Json::array();
  for (const proto::Job& job : jobs) list.push_back(JobJson(job));
  return {{"jobs", std::move(list)}};
}

Json JobDetailJson(const proto::JobDetail& detail) {
  Json json = JobJson(detail.job());
  json["stages"] = Json::array();
  for (const proto::StageOfJob& stage : detail.stages())
    json["stages"].push_back({{"name", stage.name()},
                              {"outcome", stage.outcome()},
                              {"runner", stage.runner()},
                              {"reason", stage.reason()},
                              {"waited_seconds", stage.waited_seconds()},
                              {"seconds", stage.seconds()},
                              {"end_ms", stage.end_ms()}});
  json["files"] = Json::array();
  for (const proto::JobFile& file : detail.files())
    json["files"].push_back({{"name", file.name()}, {"digest", file.digest()}, {"bytes", file.bytes()}});
  return json;
}

std::string JobsTable(const std::vector<proto::Job>& jobs) {
  std::vector<std::vector<std::string>> rows = {
      {"job", "kind", "owner", "state", "does", "runner", "progress"}};
  for (const proto::Job& job : jobs) {
    const bool has_failed = job.state() == "failed";
    rows.push_back({job.id(), job.kind(), job.owner(), job.state(), IsOver(job) ? "" : DoingText(job),
                    job.runner(), has_failed ? job.error() : job.progress()});
  }
  return FormatTable(rows, {false, false, false, false, false, false, false});
}

std::string JobDetailText(const proto::JobDetail& detail) {
  const proto::Job& job = detail.job();
  std::vector<std::vector<std::string>> rows = {{"job", job.id()}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows.push_back({name, value});
  };
  add("kind", job.kind());
  add("owner", job.owner());
  add("state", job.state());
  add("stage", job.stage());
  add("waits for", job.waits_for());
  add("priority", absl::StrCat(job.priority()));
  add("measures on", job.on());
  add("runner", job.runner());
  add("progress", job.progress());
  add("left", job.remaining_seconds() > 0 ? FormatDuration(job.remaining_seconds()) : "");
  add("error", job.error());
  add("submitted", FormatTime(job.submitted_ms()));
  add("ended", job.ended_ms() > 0 ? FormatTime(job.ended_ms()) : "");
  std::string text = absl::StrCat(FormatTable(rows, {false, false}), StagesTable(detail));
  if (!detail.files().empty())
    absl::StrAppend(&text, "\n", FilesTable({detail.files().begin(), detail.files().end()}));
  return text;
}

std::string StageLine(const proto::StageOfJob& stage) {
  std::string line = absl::StrFormat("%s  %-16s %-6s %9.1f s  %s", FormatTime(stage.end_ms()), stage.name(),
                                     stage.outcome(), stage.seconds(), stage.runner());
  if (!stage.reason().empty()) absl::StrAppend(&line, "  ", stage.reason());
  return absl::StrCat(WithoutControls(line), "\n");
}

std::string ResultText(const proto::Job& job) {
  std::vector<std::vector<std::string>> rows = {{"job", job.id()}};
  if (!job.progress().empty()) rows.push_back({"progress", job.progress()});
  const Json result = ResultOf(job);
  for (const auto& [key, value] : result.items())
    if (!value.is_null()) rows.push_back({result.is_object() ? key : "result", CellOf(value)});
  return FormatTable(rows, {false, false});
}

std::string FilesTable(const std::vector<proto::JobFile>& files) {
  std::vector<std::vector<std::string>> rows = {{"file", "size"}};
  for (const proto::JobFile& file : files)
    rows.push_back({file.name(), FormatBytes(static_cast<uint64_t>(std::max<int64_t>(file.bytes(), 0)))});
  return FormatTable(rows, {false, true});
}

}  // namespace attune
