#include "jobs/job_rows.h"

#include "base/status.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

using Json = nlohmann::json;

// JSON has texts in UTF-8 alone, and reasons may come from anywhere.
std::string Dump(const Json& json) {
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

// Fails if the text is not what DetailOf() writes: somebody else has changed the file.
absl::Status ReadDetail(const std::string& text, StageRecord& record) {
  try {
    const Json detail = Json::parse(text);
    for (const Json& need : detail.at("needs"))
      record.stage.needs.push_back({need.at("key"), need.at("amount"), need.at("exclusive")});
    record.stage.memory_bytes = detail.at("memory_bytes");
    const Json& seconds = detail.at("seconds");
    record.stage.seconds = {seconds.at(0), seconds.at(1), seconds.at(2)};
    record.processors = detail.at("processors").get<std::vector<int>>();
    record.held = detail.at("held").get<std::vector<int>>();
    record.place = detail.value("place", "");
    record.reason = detail.value("reason", "");
    record.end_ms = detail.value("end_ms", int64_t{0});
  } catch (const Json::exception&) {
    return absl::DataLossError("holds a stage that it cannot have got from attune");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<JobFile>> ReadFiles(const std::string& text) {
  std::vector<JobFile> files;
  try {
    for (const Json& file : Json::parse(text)) files.push_back({file.at(0), file.at(1), file.at(2)});
  } catch (const Json::exception&) {
    return absl::DataLossError("holds files of a job that it cannot have got from attune");
  }
  return files;
}

template <typename Enum>
absl::StatusOr<Enum> Read(int64_t value, Enum last) {
  if (value >= 0 && value <= static_cast<int64_t>(last)) return static_cast<Enum>(value);
  return absl::DataLossError("holds a state that it cannot have got from attune");
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
  job.spec.settings = Json::parse(row.Text(column++), nullptr, /*allow_exceptions=*/false);
  if (job.spec.settings.is_discarded())
    return absl::DataLossError("holds settings that it cannot have got from attune");
  job.spec.base = row.Text(column++);
  job.spec.on = row.Text(column++);
  ASSIGN_OR_RETURN(job.state, Read(row.Integer(column++), JobState::kCancelled));
  job.position = row.Integer(column++);
  job.progress = row.Text(column++);
  job.result = row.Text(column++);
  job.error = row.Text(column++);
  ASSIGN_OR_RETURN(job.files, ReadFiles(row.Text(column++)));
  job.submitted_ms = row.Integer(column++);
  job.ended_ms = row.Integer(column++);
  job.spec.agreement = row.Text(column++);
  job.spec.parts = static_cast<int>(row.Integer(column++));
  job.spec.part = static_cast<int>(row.Integer(column++));
  job.whole = static_cast<size_t>(row.Integer(column++));
  return job;
}

absl::StatusOr<StageRecord> ReadStage(const SqlRow& row) {
  StageRecord stage;
  stage.job = row.Text(0);
  stage.stage.name = row.Text(1);
  ASSIGN_OR_RETURN(stage.outcome, Read(row.Integer(2), StageOutcome::kLost));
  stage.asked = row.Real(3);
  stage.start = row.Real(4);
  stage.end = row.Real(5);
  stage.own = {row.Real(6), row.Real(7), row.Real(8)};
  RETURN_IF_ERROR(ReadDetail(row.Text(9), stage));
  return stage;
}

}  // namespace attune
