#include "service/runner/job_here.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/state_file.h"
#include "base/status.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

absl::Status MakeFoldersOf(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path.string(), ": cannot be made: ", error.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobHere>> JobHere::Begin(std::string id, std::string folder,
                                                        std::vector<JobFile> files,
                                                        std::shared_ptr<JobFilesClient> client,
                                                        std::function<void(FilesEvent)> done) {
  RETURN_IF_ERROR(CheckJobFiles(files));
  std::unique_ptr<JobHere> job(
      new JobHere(std::move(id), std::move(folder), std::move(files), std::move(client), std::move(done)));
  if (const absl::Status begun = job->loop_.Start(); !begun.ok())
    return absl::UnavailableError(begun.message());
  return job;
}

JobHere::JobHere(std::string id, std::string folder, std::vector<JobFile> files,
                 std::shared_ptr<JobFilesClient> client, std::function<void(FilesEvent)> done)
    : id_(std::move(id)),
      folder_(std::move(folder)),
      files_(std::move(files)),
      client_(std::move(client)),
      done_(std::move(done)),
      kept_(folder_) {
  for (const JobFile& file : files_) sent_.insert(file.digest);
}

JobHere::~JobHere() {
  cancellation_.Cancel();
  loop_.Stop();
  std::error_code error;
  fs::remove_all(folder_, error);
  if (error) Log(LogLevel::kWarning, "a job's folder stays", "folder", folder_, "reason", error.message());
}

void JobHere::Keep(RunnerStageEnded report) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    reports_.push_back(std::move(report));
  }
  loop_.Wake();
}

double JobHere::Step() {
  if (!std::exchange(has_fetched_, true)) {
    absl::StatusOr<std::vector<JobFile>> fetched = Fetch();
    const bool is_damaged = absl::IsDataLoss(fetched.status()) || absl::IsNotFound(fetched.status());
    done_({.job = id_, .files = std::move(fetched), .report = std::nullopt, .is_jobs_fault = is_damaged});
    return 0;
  }
  RunnerStageEnded report;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (reports_.empty()) return BackgroundLoop::kUntilWoken;
    report = std::move(reports_.front());
    reports_.pop_front();
  }
  // A job may have left files that are unreadable, or have no name.
  absl::StatusOr<std::vector<JobFile>> files = kept_.Look();
  const bool is_readable = files.ok();
  if (is_readable) files = Send(*files);
  const bool is_jobs_fault = !is_readable || IsRefusedFile(files.status());
  done_({.job = id_, .files = std::move(files), .report = std::move(report), .is_jobs_fault = is_jobs_fault});
  return 0;
}

absl::StatusOr<std::vector<JobFile>> JobHere::Fetch() {
  std::error_code error;
  fs::remove_all(folder_, error);
  RETURN_IF_ERROR(MakeStateFolder(folder_));
  RETURN_IF_ERROR(MakeFoldersOf(fs::path(folder_) / kOutputsFolder));
  for (const JobFile& file : files_) {
    const fs::path path = fs::path(folder_) / file.name;
    RETURN_IF_ERROR(MakeFoldersOf(path));
    RETURN_IF_ERROR(client_->ReadFile(id_, file, path.string(), {.cancellation = &cancellation_}));
    if (file.name.starts_with(kInputsFolder)) continue;  // it never changes
    ASSIGN_OR_RETURN(const InputFile here, OpenInputFile(path.string()));
    ASSIGN_OR_RETURN(content_[file.name], SentFileOf(here, file.digest));
  }
  return files_;
}

absl::StatusOr<std::vector<JobFile>> JobHere::Send(const std::vector<JobFile>& files) {
  for (const JobFile& file : files) {
    if (sent_.contains(file.digest)) continue;
    const std::string path = (fs::path(folder_) / file.name).string();
    SentFile& content = content_[file.name];
    ASSIGN_OR_RETURN(content, client_->WriteFile(id_, file, path, content, {.cancellation = &cancellation_}));
  }
  // The server forgets what is no file of the job any more.
  sent_.clear();
  for (const JobFile& file : files) sent_.insert(file.digest);
  return files;
}

}  // namespace attune
