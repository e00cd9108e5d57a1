#include "sweep/sweep_folder.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/json_object.h"
#include "base/sqlite/active_lock.h"
#include "base/status.h"
#include "sweep/result_file.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostPlanBytes = int64_t{256} << 20;
constexpr int64_t kMostFailureBytes = 1 << 20;
constexpr char kPlanName[] = "/sweep.json", kLockName[] = "/sweep", kFailureName[] = "failure.json",
               kEventsName[] = "events.jsonl";

absl::Status FolderError(const std::string& path, const char* what, const std::error_code& error) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", what, ": ", error.message()));
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? FolderError(path, "cannot make the folder", error) : absl::OkStatus();
}

// Ok also if there is no such file.
absl::Status Remove(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  return error ? FolderError(path, "cannot be removed", error) : absl::OkStatus();
}

// Ok if there are only the first files of a sweep that was killed.
absl::Status CheckIsNew(const std::string& path) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with("sweep"))
      return InvalidInput(path,
                          ": is not a folder of a sweep, and not empty; name another one with --output");
  }
  return error ? FolderError(path, "cannot read the folder", error) : absl::OkStatus();
}

absl::StatusOr<SweepPlan> ReadPlan(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path + kPlanName, kMostPlanBytes));
  absl::StatusOr<SweepPlan> plan = ParseSweepPlan(text);
  if (!plan.ok()) return Annotate(plan.status(), path + kPlanName);
  return plan;
}

absl::Status CheckHasPlan(const std::string& path, const SweepPlan& begun, const SweepPlan& wanted) {
  const absl::Status same = CheckIsSamePlan(begun, wanted);
  if (same.ok()) return same;
  return InvalidInput(path, ": ", same.message(),
                      "; name another folder with --output, or remove this one to begin anew");
}

}  // namespace

absl::StatusOr<SweepFolder> SweepFolder::BeginOrResume(const std::string& path, const SweepPlan& wanted) {
  RETURN_IF_ERROR(MakeFolder(path));
  ASSIGN_OR_RETURN(FileDescriptor lock, LockActive(path + kLockName, "sweep"));
  if (lock.get() < 0)
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": another process runs this sweep; wait for it, or name another folder with --output"));
  if (!std::filesystem::exists(path + kPlanName)) {
    RETURN_IF_ERROR(CheckIsNew(path));
    RETURN_IF_ERROR(WriteFileAtomically(path + kPlanName, ToJson(wanted).dump(1) + "\n"));
    return SweepFolder(path, wanted, std::move(lock), /*is_resumed=*/false);
  }
  ASSIGN_OR_RETURN(SweepPlan begun, ReadPlan(path));
  RETURN_IF_ERROR(CheckHasPlan(path, begun, wanted));
  return SweepFolder(path, std::move(begun), std::move(lock), /*is_resumed=*/true);
}

absl::StatusOr<SweepFolder> SweepFolder::Preview(const std::string& path, const SweepPlan& wanted) {
  if (!std::filesystem::exists(path + kPlanName))
    return SweepFolder(path, wanted, FileDescriptor(), /*is_resumed=*/false);
  ASSIGN_OR_RETURN(SweepFolder begun, Open(path));
  RETURN_IF_ERROR(CheckHasPlan(path, begun.plan(), wanted));
  return begun;
}

absl::StatusOr<SweepFolder> SweepFolder::Open(const std::string& path) {
  if (!std::filesystem::exists(path + kPlanName))
    return absl::NotFoundError(absl::StrCat(path, ": is not a folder of a sweep, as attune sweep makes it"));
  ASSIGN_OR_RETURN(SweepPlan plan, ReadPlan(path));
  return SweepFolder(path, std::move(plan), FileDescriptor(), /*is_resumed=*/true);
}

std::string SweepFolder::FileOf(const SweepRun& run, const std::string& name) const {
  return absl::StrCat(path_, "/runs/", run.id, "/", name);
}

std::string SweepFolder::RecordsOf(const SweepRun& run) const {
  if (plan_.records == kOwnRecords) return FileOf(run, "records.db");
  return plan_.records == kSharedRecords ? path_ + "/records.db" : plan_.records;
}

std::string SweepFolder::ResultOf(const SweepRun& run, const std::string& command) const {
  return FileOf(run, command + ".json");
}

bool SweepFolder::IsDone(const SweepRun& run, const std::string& command) const {
  const std::string path = ResultOf(run, command);
  if (!std::filesystem::exists(path)) return false;
  // The user has stopped it: its output is not the result.
  return command != "tune" || !WasTuningStopped(path);
}

std::optional<size_t> SweepFolder::NextCommand(const SweepRun& run) const {
  for (size_t i = 0; i < plan_.commands.size(); ++i)
    if (!IsDone(run, plan_.commands[i])) return i;
  return std::nullopt;
}

std::optional<SweepFailure> SweepFolder::FailureOf(const SweepRun& run) const {
  const absl::StatusOr<std::string> text = ReadFile(FileOf(run, kFailureName), kMostFailureBytes);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  const absl::StatusOr<Json> json = text.ok() ? ParseJsonObject<Json>(*text) : text.status();
  if (!json.ok()) return SweepFailure{"", std::string(json.status().message())};
  return SweepFailure{TextIn(*json, "command"), TextIn(*json, "reason")};
}

absl::Status SweepFolder::Prepare(const SweepRun& run, const std::string& command) const {
  RETURN_IF_ERROR(MakeFolder(FileOf(run, "")));
  RETURN_IF_ERROR(Remove(ResultOf(run, command)));
  if (command != "tune") return absl::OkStatus();
  bool has_finished = false;
  ForEachStage(FileOf(run, kEventsName),
               [&](const std::string& stage, double /*seconds*/) { has_finished |= stage == "finish"; });
  if (!has_finished) return absl::OkStatus();
  RETURN_IF_ERROR(Remove(FileOf(run, kEventsName)));
  if (plan_.records != kOwnRecords) return absl::OkStatus();
  for (const char* end : {"", "-wal", "-shm", "-runs"}) RETURN_IF_ERROR(Remove(RecordsOf(run) + end));
  return absl::OkStatus();
}

absl::Status SweepFolder::Fail(const SweepRun& run, const SweepFailure& failure) const {
  const Json json = {{"command", failure.command}, {"reason", failure.reason}};
  return WriteFileAtomically(FileOf(run, kFailureName),
                             json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

absl::Status SweepFolder::ForgetFailure(const SweepRun& run) const {
  return Remove(FileOf(run, kFailureName));
}

}  // namespace attune
