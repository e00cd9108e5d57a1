#include "service/records/job_records.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_at.h"
#include "base/output_file.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/blobs/blob_piece.h"
#include "tune/records/record_json.h"

namespace attune {
namespace {

constexpr char kRecordsSetting[] = "/records", kUsualRecords[] = "records.db";
// More kernels than a network has; what a job has beyond that stays with it.
constexpr size_t kMostShared = 10'000, kMostSharedBytes = size_t{16} << 20;
// A database of records that is larger is no network's. Others wait while it is read.
constexpr int64_t kMostDatabaseBytes = int64_t{256} << 20;
// The run that records for others seem to come from.
constexpr char kSharedRun[] = "shared";

// The job's database of records, and what SQLite has written beside it.
std::vector<JobFile> RecordFiles(const JobRecord& job) {
  const std::string name = TextAt(job.spec.settings, kRecordsSetting, kUsualRecords);
  std::vector<JobFile> files;
  for (JobFile file : job.files) {
    if (!file.name.starts_with(name)) continue;
    const std::string ending = file.name.substr(name.size());
    if (!ending.empty() && ending != "-wal") continue;
    file.name = absl::StrCat(kUsualRecords, ending);
    files.push_back(std::move(file));
  }
  return files;
}

absl::Status CopyTo(const std::pair<FileDescriptor, int64_t>& blob, const std::string& path) {
  const auto& [file, bytes] = blob;
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> copy, OutputFile::Create(path));
  std::string piece;
  for (int64_t offset = 0; offset < bytes; offset += std::ssize(piece)) {
    RETURN_IF_ERROR(ReadPiece(file.get(), bytes, offset, piece));
    RETURN_IF_ERROR(copy->Write(piece));
  }
  return copy->Finish();
}

// Only what a job needs to build the kernel and to try it first.
Record ForStranger(const Record& record, int64_t number) {
  return {.task = record.task,
          .flops = record.flops,
          .strategy = record.strategy,
          .strategy_version = record.strategy_version,
          .config = record.config,
          .device = record.device,
          .threads = record.threads,
          .outcome = record.outcome,
          .timing = record.timing,
          .reason = {},
          .run = kSharedRun,
          .trial = number,
          .search = record.search,
          .compiler_version = record.compiler_version,
          .code_digest = record.code_digest,
          .cache = record.cache};
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobRecords>> JobRecords::Open(const JobRecord& job, BlobStore& files,
                                                             const std::string& folder) {
  const std::vector<JobFile> kept = RecordFiles(job);
  if (kept.empty()) return absl::NotFoundError(absl::StrCat(job.spec.id, ": has left no records"));
  int64_t bytes = 0;
  for (const JobFile& file : kept) bytes += file.bytes;
  if (bytes > kMostDatabaseBytes)
    return absl::OutOfRangeError(absl::StrCat(job.spec.id, ": its records have more than ",
                                              kMostDatabaseBytes, " bytes, and are not looked at"));
  std::unique_ptr<JobRecords> records(new JobRecords(folder));
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  RETURN_IF_ERROR(MakeStateFolder(folder));
  for (const JobFile& file : kept) {
    ASSIGN_OR_RETURN(const auto blob, files.Read(job.spec.base, file.digest));
    RETURN_IF_ERROR(CopyTo(blob, absl::StrCat(folder, "/", file.name)));
  }
  ASSIGN_OR_RETURN(records->database_, RecordDatabase::Open(absl::StrCat(folder, "/", kUsualRecords)));
  RETURN_IF_ERROR(records->database_->Prune({.which = {.run = kSharedRun}}).status());
  return records;
}

JobRecords::~JobRecords() {
  database_.reset();
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

absl::StatusOr<std::string> JobRecords::ForOthers(const std::string& device, int threads) {
  ASSIGN_OR_RETURN(std::vector<BestRecord> best, database_->Best({.device = device, .threads = threads}));
  if (best.size() > kMostShared) best.resize(kMostShared);
  std::string lines;
  int64_t number = 0;
  for (const BestRecord& one : best) {
    const std::string line = ToJsonLine(ForStranger(one.record, number++));
    if (lines.size() + line.size() >= kMostSharedBytes) break;
    absl::StrAppend(&lines, line, "\n");
  }
  return lines;
}

}  // namespace attune
