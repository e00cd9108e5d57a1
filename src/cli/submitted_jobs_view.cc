#include "cli/submitted_jobs_view.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/json_at.h"
#include "base/printable.h"
#include "cli/live_text.h"

namespace attune {
namespace {

std::string TenthsOfSeconds(double seconds) { return absl::StrFormat("%.1f", seconds); }

// The time in the local time zone; as it is, if it is none.
std::string TimeText(const std::string& text) {
  absl::Time time;
  std::string error;
  return absl::ParseTime(absl::RFC3339_full, text, &time, &error) ? FormatTime(absl::ToUnixMillis(time))
                                                                  : text;
}

// With four digits, and never as 1e+07.
std::string ReadableNumber(double number) {
  constexpr int kDigits = 4, kMaxDecimals = 12;
  if (number == 0 || !std::isfinite(number)) return absl::StrCat(number);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(number))));
  const int decimals = std::clamp(kDigits - 1 - magnitude, 0, kMaxDecimals);
  std::string text = absl::StrFormat("%.*f", decimals, number);
  if (decimals == 0) return text;
  text.erase(text.find_last_not_of('0') + 1);
  return std::string(absl::StripSuffix(text, "."));
}

std::string NumberText(const std::optional<double>& number) { return number ? ReadableNumber(*number) : ""; }

std::string CellOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? ReadableNumber(value.get<double>()) : value.dump();
}

// The times of a network before and after tuning, which are 0 where nothing was measured.
constexpr std::string_view kTimes[] = {"untuned_ms", "tuned_ms"};

// The gain of tuning; empty if the result does not tell.
std::string GainText(const Json& result) {
  constexpr double kNotThere = -1;
  const double untuned = NumberAt(result, "/untuned_ms", kNotThere),
               tuned = NumberAt(result, "/tuned_ms", kNotThere);
  if (untuned == 0 && tuned == 0) return "nothing faster was found: the tuned network is the untuned one";
  if (untuned <= 0 || tuned <= 0) return "";
  return absl::StrFormat("%.2f times as fast: the kernels take %s ms together, and the baseline's %s ms",
                         untuned / tuned, ReadableNumber(tuned), ReadableNumber(untuned));
}

std::string StagesTable(const RemoteJobDetail& detail) {
  std::vector<std::vector<std::string>> rows = {
      {"ended", "stage", "outcome", "waited", "seconds", "runner", "reason"}};
  for (const RemoteStage& stage : detail.stages)
    rows.push_back({TimeText(stage.ended), stage.name, stage.outcome, TenthsOfSeconds(stage.waited_seconds),
                    TenthsOfSeconds(stage.seconds), stage.runner, stage.reason});
  return FormatTable(rows, {false, false, false, true, true, false, false});
}

// A line for all stages of a name and an outcome, in the order of their first ones.
std::string FoldedStages(const RemoteJobDetail& detail) {
  struct Sum {
    const RemoteStage* first = nullptr;
    int count = 0;
    double waited_seconds = 0, seconds = 0;
    std::string reason = {};  // the latest
  };
  std::vector<Sum> sums;
  for (const RemoteStage& stage : detail.stages) {
    auto sum = std::ranges::find_if(sums, [&](const Sum& one) {
      return one.first->name == stage.name && one.first->outcome == stage.outcome;
    });
    if (sum == sums.end()) sum = sums.insert(sums.end(), {.first = &stage});
    ++sum->count;
    sum->waited_seconds += stage.waited_seconds;
    sum->seconds += stage.seconds;
    if (!stage.reason.empty()) sum->reason = stage.reason;
  }
  std::vector<std::vector<std::string>> rows = {
      {"stages", "outcome", "count", "waited", "seconds", "reason"}};
  for (const Sum& sum : sums)
    rows.push_back({sum.first->name, sum.first->outcome, absl::StrCat(sum.count),
                    TenthsOfSeconds(sum.waited_seconds), TenthsOfSeconds(sum.seconds), sum.reason});
  const bool is_shorter = sums.size() < detail.stages.size();
  return absl::StrCat(FormatTable(rows, {false, false, true, true, true, false}),
                      is_shorter ? "--stages shows each of them\n" : "");
}

std::string PromisesTable(const std::vector<RemotePromise>& promises) {
  if (promises.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"promise", "limit", "state", "probability", "low", "median", "high"}};
  for (const RemotePromise& promise : promises)
    rows.push_back({promise.name, NumberText(promise.limit), promise.state, NumberText(promise.probability),
                    NumberText(promise.low), NumberText(promise.median), NumberText(promise.high)});
  std::string text = FormatTable(rows, {false, true, false, true, true, true, true});
  for (const RemotePromise& promise : promises)
    if (!promise.evidence.empty())
      absl::StrAppend(
          &text,
          WithoutControls(absl::StrCat("  ", promise.name, ": ", absl::StrJoin(promise.evidence, "; "))),
          "\n");
  return text;
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

std::string JobDetailText(const RemoteJobDetail& detail, bool all_stages) {
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
  add("gain", GainText(detail.result));
  add("left", job.remaining_seconds > 0 ? FormatDuration(job.remaining_seconds) : "");
  add("error", job.error);
  add("submitted", TimeText(job.submitted));
  add("ended", TimeText(job.ended));
  std::string text = FormatTable(rows, {false, false});
  if (!job.promises.empty()) absl::StrAppend(&text, "\n", PromisesTable(job.promises));
  if (!detail.stages.empty())
    absl::StrAppend(&text, "\n", all_stages ? StagesTable(detail) : FoldedStages(detail));
  if (!detail.files.empty()) absl::StrAppend(&text, "\n", FilesTable(detail.files));
  return text;
}

std::string PredictionText(const RemotePrediction& prediction) {
  const std::string verdict = prediction.verdict.empty() ? "predicted" : prediction.verdict;
  std::string text =
      WithoutControls(absl::StrCat(verdict, prediction.reason.empty() ? "" : ": ", prediction.reason));
  absl::StrAppend(&text, "\n", PromisesTable(prediction.promises));
  for (const RemotePromise& offer : prediction.offers)
    absl::StrAppend(
        &text,
        WithoutControls(absl::StrCat("would be promised: ", offer.name, " ", NumberText(offer.limit),
                                     ", with a probability of ", NumberText(offer.probability))),
        "\n");
  return text;
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
  std::vector<std::string> more;
  for (const auto& [key, value] : detail.result.items()) {
    const bool is_unmeasured = value == 0 && std::ranges::find(kTimes, key) != std::end(kTimes);
    if (value.is_structured())
      more.push_back(key);
    else if (!value.is_null() && !is_unmeasured)
      rows.push_back({detail.result.is_object() ? key : "result", CellOf(value)});
  }
  if (const std::string gain = GainText(detail.result); !gain.empty()) rows.push_back({"gain", gain});
  if (!more.empty())
    rows.push_back({"more", absl::StrCat(absl::StrJoin(more, ", "), " (--json FILE has them)")});
  return FormatTable(rows, {false, false});
}

std::string FilesTable(const std::vector<RemoteFile>& files) {
  std::vector<std::vector<std::string>> rows = {{"file", "size"}};
  for (const RemoteFile& file : files)
    rows.push_back({file.name, FormatBytes(static_cast<uint64_t>(std::max<int64_t>(file.bytes, 0)))});
  return FormatTable(rows, {false, true});
}

}  // namespace attune
