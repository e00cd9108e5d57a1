// The measurements that a tuning job has made: its tasks, and the trials of each.
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "service/access/texts.h"
#include "service/models/models.h"
#include "service/rest/operation.h"
#include "service/rest/operations.h"
#include "tune/records/database.h"
#include "tune/task/task_text.h"

namespace attune {
namespace {

constexpr size_t kDescriptionBytes = 160;
constexpr PageSize kPage = {.by_default = 100, .max = 1000};
constexpr int64_t kMostDatabaseBytes = int64_t{1} << 30;
constexpr std::string_view kEnding = ".db";

const JsonFields<TaskEntry>& TaskFields() {
  static const JsonFields<TaskEntry> fields = {
      {"task", DigestSchema(), &TaskEntry::digest},
      {"description", TextSchema(),
       [](const TaskEntry& entry) { return DescribeTask(entry.text, kDescriptionBytes); }},
      {"device", TextSchema(), &TaskEntry::device},
      {"threads", IntegerSchema(), &TaskEntry::threads},
      {"records", IntegerSchema(), &TaskEntry::records},
      {"failed", IntegerSchema(), &TaskEntry::failed},
      {"best_ms", NumberSchema(), [](const TaskEntry& entry) { return entry.best_seconds * 1e3; }},
      {"last", TimeSchema(), [](const TaskEntry& entry) { return TimeText(entry.last_ms); }}};
  return fields;
}

JsonSchema ToJson(const TaskEntry& entry) { return JsonOf(entry, TaskFields()); }

const JsonFields<Record>& RecordFields() {
  static const JsonFields<Record> fields = {
      {"trial", IntegerSchema(), &Record::trial},
      {"strategy", TextSchema(), &Record::strategy},
      {"config", JsonSchema{{"type", "object"}},
       [](const Record& record) { return JsonSchema(record.config); }},
      {"search", TextSchema(), &Record::search},
      {"outcome", TextSchema(), [](const Record& record) { return Name(record.outcome); }},
      {"reason", TextSchema(), &Record::reason},
      {"ms", NumberSchema(), [](const Record& record) { return record.timing.seconds * 1e3; }},
      {"low_ms", NumberSchema(), [](const Record& record) { return record.timing.low * 1e3; }},
      {"high_ms", NumberSchema(), [](const Record& record) { return record.timing.high * 1e3; }},
      {"kernel", TextSchema(), &Record::code_digest},
      {"time", TimeSchema(), [](const Record& record) { return TimeText(record.time_ms); }}};
  return fields;
}

JsonSchema ToJson(const Record& record) { return JsonOf(record, RecordFields()); }

// A copy of a job's database, since opening a database also writes beside it.
class CopiedDatabase {
 public:
  CopiedDatabase() = default;
  ~CopiedDatabase() {
    database_.reset();
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  CopiedDatabase(const CopiedDatabase&) = delete;
  CopiedDatabase& operator=(const CopiedDatabase&) = delete;

  // Null if the job has measured nothing that the server has.
  absl::StatusOr<RecordDatabase*> Open(JobReader& jobs, const JobQuery& query) {
    ASSIGN_OR_RETURN(const auto detail, jobs.Show(query));
    const auto file = std::ranges::find_if(
        detail.files(), [](const auto& one) { return std::string_view(one.name()).ends_with(kEnding); });
    if (file == detail.files().end()) return nullptr;
    std::string folder = (std::filesystem::temp_directory_path() / "attune-records-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return absl::UnavailableError("the disk has no room for a copy");
    folder_ = folder;
    const std::string path = folder_ + "/records.db";
    for (const char* part : {"", "-wal"}) {
      const auto opened = jobs.OpenFile(query, absl::StrCat(file->name(), part));
      if (absl::IsNotFound(opened.status())) continue;
      RETURN_IF_ERROR(opened.status());
      if (opened->file.bytes > kMostDatabaseBytes)
        return absl::FailedPreconditionError(
            "the job's records are too large for this view; download its file");
      RETURN_IF_ERROR(CopyTo(opened->file.descriptor, opened->file.bytes, path + part));
    }
    auto opened = RecordDatabase::Open(path);
    // The client knows the file by the name that it has in the job.
    if (!opened.ok())
      return absl::Status(opened.status().code(),
                          absl::StrReplaceAll(opened.status().message(), {{path, file->name()}}));
    database_ = *std::move(opened);
    return database_.get();
  }

 private:
  std::string folder_;
  std::unique_ptr<RecordDatabase> database_;
};

absl::StatusOr<HttpResponse> Tasks(JobReader& jobs, const RestCall& call) {
  CopiedDatabase copy;
  ASSIGN_OR_RETURN(RecordDatabase * database,
                   copy.Open(jobs, {.id = call.Text("id"), .owner = call.caller.tenant}));
  JsonSchema list = JsonSchema::array();
  if (database != nullptr) {
    ASSIGN_OR_RETURN(const std::vector<TaskEntry> tasks, database->Tasks({}));
    for (const TaskEntry& entry : tasks) list.push_back(ToJson(entry));
  }
  return JsonResponse({{"tasks", list}});
}

absl::StatusOr<HttpResponse> Records(JobReader& jobs, const RestCall& call) {
  ASSIGN_OR_RETURN(const int64_t begin, NumericCursor(call, 0));
  if (begin < 0) return UnknownCursor();
  const int64_t most = MostOf(call, kPage);
  CopiedDatabase copy;
  ASSIGN_OR_RETURN(RecordDatabase * database,
                   copy.Open(jobs, {.id = call.Text("id"), .owner = call.caller.tenant}));
  JsonSchema list = JsonSchema::array();
  int64_t index = 0;
  if (database != nullptr) {
    RETURN_IF_ERROR(database->ForEachRecord({.task = call.Text("task")}, [&](const Record& record) {
      if (index >= begin && index < begin + most) list.push_back(ToJson(record));
      ++index;
      return absl::OkStatus();
    }));
  }
  JsonSchema next = nullptr;
  if (index > begin + most) next = absl::StrCat(begin + most);
  return PageOf("records", std::move(list), std::move(next));
}

}  // namespace

void AddJobRecordOperations(JobReader& jobs, RestApi& api) {
  api.schemas["RecordTask"] = SchemaOf(TaskFields());
  api.schemas["Record"] = SchemaOf(RecordFields());
  const RestParameter id = {.name = "id", .place = "path", .help = "The id of the job"};
  api.operations.push_back(
      {.id = "listJobTasks",
       .route = {"GET", "/v1/jobs/{id}/tasks"},
       .summary = "Lists the kernels that a job has measured, with the best time of each.",
       .parameters = {id},
       .answers = {{.help = "In the order of their first measurement",
                    .schema = ItemsSchema("tasks", "RecordTask")}},
       .problems = {404, 409, 422},
       .handler = [&jobs](const RestCall& call) { return Tasks(jobs, call); }});
  api.operations.push_back(
      {.id = "listJobRecords",
       .route = {"GET", "/v1/jobs/{id}/records"},
       .summary = "Lists the measurements of one of a job's tasks, in the order in which they were made.",
       .parameters = {id,
                      {.name = "task",
                       .place = "query",
                       .help = "The task's digest",
                       .schema = DigestSchema(),
                       .is_required = true},
                      CursorParameter(),
                      MostParameter(kPage)},
       .answers = {{.help = "A page of measurements", .schema = PageSchema("records", "Record")}},
       .problems = {404, 409, 422},
       .handler = [&jobs](const RestCall& call) { return Records(jobs, call); }});
}

}  // namespace attune
