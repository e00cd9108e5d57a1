#include "sweep/results_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "sweep/sweep_value.h"
#include "tune/job/stage.h"

namespace attune {
namespace {

using Json = nlohmann::json;

Json PositiveOrNull(double value) { return value > 0 ? Json(value) : Json(); }

// A column of the table, beside those of the options.
struct ResultColumn {
  std::string name;
  Json value;
};

void AddInference(const std::optional<InferenceTimes>& times, std::vector<ResultColumn>& columns) {
  const InferenceTimes t = times.value_or(InferenceTimes());
  columns.push_back({"median_ms", PositiveOrNull(t.median.median)});
  columns.push_back({"median_low_ms", PositiveOrNull(t.median.low)});
  columns.push_back({"median_high_ms", PositiveOrNull(t.median.high)});
  columns.push_back({"mean_ms", PositiveOrNull(t.mean)});
  columns.push_back({"p95_ms", PositiveOrNull(t.p95)});
  columns.push_back({"fastest_ms", PositiveOrNull(t.fastest)});
  columns.push_back({"num_inferences", times ? Json(t.count) : Json()});
}

void AddTuning(const std::optional<TuningTimes>& times, std::vector<ResultColumn>& columns) {
  const TuningTimes t = times.value_or(TuningTimes());
  const bool is_faster_known = t.untuned_ms > 0 && t.tuned_ms > 0;
  columns.push_back({"tuning_seconds", times ? Json(t.seconds) : Json()});
  columns.push_back(
      {"mean_task_seconds", t.tasks > 0 ? Json(t.seconds / static_cast<double>(t.tasks)) : Json()});
  columns.push_back({"num_tasks", times ? Json(t.tasks) : Json()});
  columns.push_back({"num_trials", times ? Json(t.trials) : Json()});
  columns.push_back({"untuned_ms", PositiveOrNull(t.untuned_ms)});
  columns.push_back({"tuned_ms", PositiveOrNull(t.tuned_ms)});
  columns.push_back({"speedup", is_faster_known ? Json(t.untuned_ms / t.tuned_ms) : Json()});
  for (size_t kind = 0; kind < kNumStageKinds; ++kind) {
    const std::string stage(Name(static_cast<StageKind>(kind)));
    const auto found = t.mean_stage_seconds.find(stage);
    columns.push_back({absl::StrCat("mean_", stage, "_seconds"),
                       found == t.mean_stage_seconds.end() ? Json() : Json(found->second)});
  }
}

std::vector<ResultColumn> ColumnsOf(const SweepPlan& plan, const SweepResult& result) {
  std::vector<ResultColumn> columns = {{"state", Name(result.state)},
                                       {"error", result.error.empty() ? Json() : Json(result.error)}};
  if (plan.Has("bench")) AddInference(result.inference, columns);
  if (plan.Has("tune")) AddTuning(result.tuning, columns);
  if (plan.Has("quantize"))
    columns.push_back({"agreement", result.agreement ? Json(*result.agreement) : Json()});
  columns.push_back({"artifact_bytes", result.artifact_bytes > 0 ? Json(result.artifact_bytes) : Json()});
  columns.push_back({"device_fingerprint", result.device.empty() ? Json() : Json(result.device)});
  columns.push_back({"attune_version", plan.version});
  return columns;
}

}  // namespace

std::vector<std::string> ResultColumns(const SweepPlan& plan) {
  std::vector<std::string> names = {"run", "repeat"};
  names.insert(names.end(), plan.options.begin(), plan.options.end());
  for (const ResultColumn& column : ColumnsOf(plan, SweepResult())) names.push_back(column.name);
  return names;
}

std::vector<Json> ResultRow(const SweepPlan& plan, const SweepRun& run, const SweepResult& result) {
  std::vector<Json> row = {run.id, run.repeat};
  row.insert(row.end(), run.values.begin(), run.values.end());
  for (ResultColumn& column : ColumnsOf(plan, result)) row.push_back(std::move(column.value));
  return row;
}

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string ResultsCsv(const SweepPlan& plan, const std::vector<SweepResult>& results) {
  std::string csv;
  const auto add_line = [&](const auto& cells, const auto& text) {
    std::string_view separator;
    for (const auto& cell : cells) {
      absl::StrAppend(&csv, separator, CsvField(text(cell)));
      separator = ",";
    }
    absl::StrAppend(&csv, "\r\n");
  };
  add_line(ResultColumns(plan), [](const std::string& name) { return name; });
  for (size_t i = 0; i < plan.runs.size(); ++i)
    add_line(ResultRow(plan, plan.runs[i], results[i]), SweepValueText);
  return csv;
}

nlohmann::ordered_json ResultsJson(const SweepPlan& plan, const std::vector<SweepResult>& results) {
  using Ordered = nlohmann::ordered_json;
  const std::vector<std::string> columns = ResultColumns(plan);
  Ordered runs = Ordered::array();
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const std::vector<Json> row = ResultRow(plan, plan.runs[i], results[i]);
    Ordered run = Ordered::object();
    for (size_t c = 0; c < columns.size(); ++c) run[columns[c]] = row[c];
    runs.push_back(std::move(run));
  }
  return {{"sweep", plan.id}, {"commands", plan.commands}, {"runs", std::move(runs)}};
}

}  // namespace attune
