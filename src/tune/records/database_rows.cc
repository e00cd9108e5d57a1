#include "tune/records/database_rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tune/records/record_json.h"

namespace attune {

std::optional<Record> RecordOfRow(const SqliteStatement& row) {
  int column = 0;
  const auto text = [&] { return row.Text(column++); };
  const auto real = [&] { return row.Real(column++); };
  const auto integer = [&] { return row.Integer(column++); };
  // Values out of range become ones that Normalize refuses.
  const auto small = [&] { return static_cast<int>(std::clamp<int64_t>(integer(), -1, INT32_MAX)); };
  Record record;
  record.task = text();
  record.flops = real();
  record.strategy = text();
  record.strategy_version = small();
  absl::StatusOr<RecordConfig> config = ParseConfig(text());
  record.device = text();
  record.threads = small();
  const std::optional<TrialOutcome> outcome = ParseTrialOutcome(text());
  // In separate statements, since the order of evaluation matters.
  record.timing.seconds = real();
  record.timing.low = real();
  record.timing.high = real();
  record.timing.repetitions = integer();
  record.reason = text();
  record.run = text();
  record.trial = integer();
  record.search = text();
  record.compiler_version = text();
  record.code_digest = text();
  const std::optional<CacheMode> cache = ParseCacheMode(text());
  record.time_ms = integer();
  record.build_seconds = real();
  record.measure_seconds = real();
  if (!config.ok() || !outcome || !cache) return std::nullopt;
  record.config = *std::move(config);
  record.outcome = *outcome;
  record.cache = *cache;
  if (!Normalize(record).ok()) return std::nullopt;
  return record;
}

std::optional<TuningRun> RunOfRow(const SqliteStatement& row) {
  TuningRun run;
  run.id = row.Text(0);
  run.model = row.Text(1);
  run.model_digest = row.Text(2);
  run.device = row.Text(3);
  run.threads = static_cast<int>(std::clamp<int64_t>(row.Integer(4), -1, INT32_MAX));
  run.options = row.Text(5);
  run.start_ms = row.Integer(6);
  run.end_ms = row.Integer(7);
  const std::optional<RunState> state = ParseRunState(row.Text(8));
  run.untuned_seconds = row.Real(9);
  run.tuned_seconds = row.Real(10);
  run.stage_seconds = row.Text(11);
  if (!state) return std::nullopt;
  run.state = *state;
  if (!Normalize(run).ok()) return std::nullopt;
  return run;
}

void WhereClause::BindTo(SqliteStatement& statement) const {
  for (const auto& value : values) {
    std::visit([&](const auto& v) { statement.Bind(v); }, value);
  }
}

absl::StatusOr<WhereClause> Where(const RecordFilter& filter) {
  WhereClause where{" WHERE 1", {}};
  const auto add = [&](std::string_view condition, std::variant<int64_t, std::string> value) {
    absl::StrAppend(&where.sql, " AND ", condition);
    where.values.push_back(std::move(value));
  };
  if (!filter.task.empty()) {
    if (filter.task.find_first_not_of("0123456789abcdef") != std::string::npos) {
      return InvalidInput(
          "\"", filter.task,
          "\" is not the beginning of a task's digest, which has the digits 0 to 9 and a to f");
    }
    add("t.digest GLOB ?", filter.task + "*");
  }
  if (!filter.device.empty()) add("r.device = ?", filter.device);
  if (filter.threads != 0) add("r.threads = ?", int64_t{filter.threads});
  if (!filter.run.empty()) add("r.run = ?", filter.run);
  if (filter.cache) add("r.cache = ?", std::string(Name(*filter.cache)));
  return where;
}

}  // namespace attune
