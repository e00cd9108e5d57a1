#include "cli/records_view.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace attune {
namespace {

using Row = std::vector<std::string>;

constexpr size_t kDigestDigits = 12;
constexpr size_t kDescriptionBytes = 72;

std::string Age(int64_t time_ms, int64_t now_ms) {
  constexpr int64_t kMinute = 60, kHour = 3600, kDay = 86400;
  const int64_t seconds = std::max<int64_t>(0, (now_ms - time_ms) / 1000);
  if (seconds < 2 * kMinute) return absl::StrCat(seconds, " s");
  if (seconds < 2 * kHour) return absl::StrCat(seconds / kMinute, " min");
  if (seconds < 2 * kDay) return absl::StrCat(seconds / kHour, " h");
  return absl::StrCat(seconds / kDay, " d");
}

std::string Microseconds(double seconds) { return seconds > 0 ? absl::StrFormat("%.1f", seconds * 1e6) : ""; }
std::string Milliseconds(double seconds) { return seconds > 0 ? absl::StrFormat("%.3f", seconds * 1e3) : ""; }
double GflopsPerSecond(double flops, double seconds) { return seconds > 0 ? flops / seconds * 1e-9 : 0; }
std::string Gflops(double flops, double seconds) {
  const double value = GflopsPerSecond(flops, seconds);
  return value > 0 ? absl::StrFormat("%.1f", value) : "";
}
std::string ConfigText(const RecordConfig& config) {
  return absl::StrJoin(config, " ", absl::PairFormatter("="));
}

// One table per device, sorted by the device's name, which is its heading.
std::string Tables(const std::map<std::string, std::vector<Row>>& rows_by_device, const Row& header,
                   const std::vector<bool>& right) {
  std::string text;
  for (const auto& [device, rows] : rows_by_device) {
    std::vector<Row> table = {header};
    table.insert(table.end(), rows.begin(), rows.end());
    absl::StrAppend(&text, text.empty() ? "" : "\n", device, "\n\n", FormatTable(table, right));
  }
  return text.empty() ? "no records\n" : text;
}

}  // namespace

std::string TasksTable(std::span<const TaskEntry> tasks, int64_t now_ms) {
  std::map<std::string, std::vector<Row>> rows;
  for (const TaskEntry& task : tasks) {
    rows[task.device].push_back({task.digest.substr(0, kDigestDigits), absl::StrCat(task.threads),
                                 absl::StrCat(task.records), absl::StrCat(task.failed),
                                 Microseconds(task.best_seconds), Gflops(task.flops, task.best_seconds),
                                 Age(task.last_ms, now_ms), DescribeTask(task.text, kDescriptionBytes)});
  }
  return Tables(rows, {"task", "threads", "records", "failed", "best µs", "GFLOP/s", "age", "what it is"},
                {false, true, true, true, true, true, true, false});
}

std::string BestTable(std::span<const BestRecord> best, int64_t now_ms) {
  std::map<std::string, std::vector<Row>> rows;
  for (const auto& [record, prior] : best) {
    rows[record.device].push_back(
        {TaskDigest(record.task).substr(0, kDigestDigits), absl::StrCat(record.threads),
         Microseconds(record.timing.seconds), Gflops(record.flops, record.timing.seconds),
         Age(record.time_ms, now_ms),
         prior ? absl::StrCat(record.strategy, " (version ", record.strategy_version, ")") : record.strategy,
         ConfigText(record.config), DescribeTask(record.task, kDescriptionBytes)});
  }
  return Tables(rows, {"task", "threads", "best µs", "GFLOP/s", "age", "strategy", "config", "what it is"},
                {false, true, true, true, true, false, false, false});
}

std::string MeasurementsTable(std::span<const Record> records, int64_t now_ms) {
  std::map<std::string, std::vector<Row>> rows;
  for (const Record& record : records) {
    const bool ok = record.outcome == TrialOutcome::kOk;
    rows[record.device].push_back(
        {TaskDigest(record.task).substr(0, kDigestDigits), record.run, absl::StrCat(record.trial),
         absl::StrCat(record.threads),
         ok ? Microseconds(record.timing.seconds) : std::string(Name(record.outcome)),
         Gflops(record.flops, record.timing.seconds), Age(record.time_ms, now_ms), record.strategy,
         ConfigText(record.config)});
  }
  return Tables(rows, {"task", "run", "trial", "threads", "µs", "GFLOP/s", "age", "strategy", "config"},
                {false, false, true, true, true, true, true, false, false});
}

std::string RunsTable(std::span<const TuningRun> runs, int64_t now_ms) {
  std::map<std::string, std::vector<Row>> rows;
  for (const TuningRun& run : runs) {
    rows[run.device].push_back({run.id, absl::StrCat(run.threads), std::string(Name(run.state)),
                                Milliseconds(run.untuned_seconds), Milliseconds(run.tuned_seconds),
                                Age(run.start_ms, now_ms), run.model});
  }
  if (rows.empty()) return "no runs\n";
  return Tables(rows, {"run", "threads", "state", "untuned ms", "tuned ms", "begun", "model"},
                {false, true, false, true, true, true, false});
}

Json ToJson(const TaskEntry& task) {
  return {{"task_digest", task.digest},
          {"description", DescribeTask(task.text, kDescriptionBytes)},
          {"device", task.device},
          {"threads", task.threads},
          {"records", task.records},
          {"failed", task.failed},
          {"best_seconds", task.best_seconds > 0 ? Json(task.best_seconds) : Json()},
          {"flops", task.flops},
          {"gflops_per_s", GflopsPerSecond(task.flops, task.best_seconds)},
          {"last_ms", task.last_ms}};
}

Json ToJson(const BestRecord& best) {
  Json json = ToJson(best.record);
  json["prior"] = best.prior;
  json["gflops_per_s"] = GflopsPerSecond(best.record.flops, best.record.timing.seconds);
  return json;
}

Json ToJson(const Record& record) {
  Json json = Json::parse(ToJsonLine(record), nullptr, /*allow_exceptions=*/false);
  json["task_digest"] = TaskDigest(record.task);
  return json;
}

Json ToJson(const TuningRun& run) {
  return Json::parse(ToJsonLine(run), nullptr, /*allow_exceptions=*/false);
}

}  // namespace attune
