#include "work/store/job_rows.h"

#include "absl/strings/str_cat.h"
#include "base/json_numbers.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

using Json = nlohmann::json;

// JSON has texts in UTF-8 alone, and reasons may come from anywhere.
std::string Dump(const Json& json) {
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

constexpr char kDamaged[] = "the database holds what attune has not stored: ";

std::vector<int> ProcessorsOf(const Json& list) {
  std::vector<int> processors;
  for (const Json& processor : list)
    processors.push_back(static_cast<int>(IntegerOf(processor, 0, INT32_MAX)));
  return processors;
}

// Returns whether the text is what DetailOf() writes. If not, another program has changed the database.
bool ReadDetail(const std::string& text, StageRecord& record) {
  try {
    const Json detail = Json::parse(text);
    for (const Json& need : detail.at("needs")) {
      record.stage.needs.push_back(
          {need.at("key"), IntegerOf(need.at("amount"), 0, kMaxJsonInteger), need.at("exclusive")});
    }
    record.stage.memory_bytes = IntegerOf(detail.at("memory_bytes"), 0, kMaxJsonInteger);
    const Json& seconds = detail.at("seconds");
    record.stage.seconds = {NumberOf(seconds.at(0)), NumberOf(seconds.at(1)), NumberOf(seconds.at(2))};
    record.processors = ProcessorsOf(detail.at("processors"));
    record.held = ProcessorsOf(detail.at("held"));
    record.place = detail.value("place", "");
    record.reason = detail.value("reason", "");
    if (detail.contains("end_ms")) record.end_ms = IntegerOf(detail["end_ms"], 0, kMaxJsonInteger);
  } catch (const Json::exception&) {
    return false;
  }
  return true;
}

bool ReadFiles(const std::string& text, std::vector<JobFile>& files) {
  try {
    for (const Json& file : Json::parse(text))
      files.push_back({file.at(0), file.at(1), IntegerOf(file.at(2), 0, kMaxJsonInteger)});
  } catch (const Json::exception&) {
    files.clear();
    return false;
  }
  return true;
}

template <typename Enum>
bool Read(int64_t value, Enum last, Enum& to) {
  if (value < 0 || value > static_cast<int64_t>(last)) return false;
  to = static_cast<Enum>(value);
  return true;
}

}  // namespace

std::string DetailOf(const StageRecord& record) {
  Json needs = Json::array();
  for (const ResourceNeed& need : record.stage.needs)
    needs.push_back({{"key", need.key}, {"amount", need.amount}, {"exclusive", need.exclusive}});
  const SecondsPrediction& seconds = record.stage.seconds;
  Json detail = {{"needs", std::move(needs)},
                 {"memory_bytes", record.stage.memory_bytes},
                 {"seconds", {seconds.low, seconds.median, seconds.high}},
                 {"processors", record.processors},
                 {"held", record.held},
                 {"end_ms", record.end_ms}};
  if (!record.place.empty()) detail["place"] = record.place;
  if (!record.reason.empty()) detail["reason"] = record.reason;
  return Dump(detail);
}

std::string FilesText(const std::vector<JobFile>& files) {
  Json list = Json::array();
  for (const JobFile& file : files) list.push_back({file.name, file.digest, file.bytes});
  return Dump(list);
}

absl::StatusOr<JobRecord> ReadJob(const SqlRow& row) {
  int column = 1;
  JobRecord job;
  job.spec.id = row.Text(column++);
  job.spec.kind = row.Text(column++);
  job.spec.owner = row.Text(column++);
  job.spec.priority = static_cast<int>(row.Integer(column++));
  if (const double deadline = row.Real(column++); deadline > 0) job.spec.deadline_seconds = deadline;
  // A damaged row affects its own job alone, which reports the damage.
  std::string damage;
  job.spec.settings = Json::parse(row.Text(column++), nullptr, /*allow_exceptions=*/false);
  if (!job.spec.settings.is_object() && !job.spec.settings.is_null()) {
    damage = "settings";
    job.spec.settings = Json::object();
  }
  job.spec.base = row.Text(column++);
  job.spec.on = row.Text(column++);
  if (!Read(row.Integer(column++), JobState::kCancelled, job.state)) {
    damage = "a state";
    job.state = JobState::kFailed;
  }
  job.position = row.Integer(column++);
  job.progress = row.Text(column++);
  job.result = row.Text(column++);
  job.error = row.Text(column++);
  if (!ReadFiles(row.Text(column++), job.files)) damage = "files";
  job.submitted_ms = row.Integer(column++);
  job.ended_ms = row.Integer(column++);
  job.spec.agreement = row.Text(column++);
  job.spec.parts = static_cast<int>(row.Integer(column++));
  job.spec.part = static_cast<int>(row.Integer(column++));
  job.whole = static_cast<size_t>(row.Integer(column++));
  if (!damage.empty()) job.error = absl::StrCat(kDamaged, damage);
  return job;
}

absl::StatusOr<StageRecord> ReadStage(const SqlRow& row) {
  StageRecord stage;
  stage.job = row.Text(0);
  stage.stage.name = row.Text(1);
  const bool has_outcome = Read(row.Integer(2), StageOutcome::kLost, stage.outcome);
  stage.asked = row.Real(3);
  stage.start = row.Real(4);
  stage.end = row.Real(5);
  stage.own = {row.Real(6), row.Real(7), row.Real(8)};
  if (ReadDetail(row.Text(9), stage) && has_outcome) return stage;
  stage.outcome = StageOutcome::kLost;
  stage.reason = absl::StrCat(kDamaged, "a stage");
  return stage;
}

}  // namespace attune
