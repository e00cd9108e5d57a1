#include "service/models/model_import.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/file_descriptor.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/process/message.h"
#include "base/process/worker_process.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "service/models/import_worker.h"
#include "service/models/model_facts.h"

namespace attune {
namespace {

constexpr double kStartSeconds = 60, kSendSeconds = 30, kEndSeconds = 2;
constexpr size_t kMostErrorBytes = 8000;

int64_t MemoryOf(const ImportLimits& limits) {
  constexpr int64_t kLeast = int64_t{2} << 30, kMost = int64_t{16} << 30, kShare = 4;
  if (limits.address_space_bytes > 0) return limits.address_space_bytes;
  return std::clamp(static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / kShare, kLeast,
                    kMost);
}

ImportedModel Unable(const absl::Status& why) {
  Log(LogLevel::kError, "models cannot be imported", "reason", why.message());
  return {.result = ImportResult::kUnable, .error = "this server cannot import models now; try again later"};
}

// Has the worker begin.
absl::Status Begin(WorkerProcess& worker, const FileDescriptor& folder, const ModelSource& source,
                   const Target& target, const ImportLimits& limits) {
  RETURN_IF_ERROR(worker.AwaitReady(After(kStartSeconds)));
  const ImportRequest request = {.model = PathOfModel(source),
                                 .shapes = source.shapes,
                                 .signature = source.signature,
                                 .target = target,
                                 .cpu_seconds = 2 * limits.seconds};
  RETURN_IF_ERROR(worker.Send(Encode(request), After(kSendSeconds)));
  return SendFile(worker.socket(), folder.get(), After(kSendSeconds));
}

// Why there is no answer. The worker's own words may be a stranger's, and go to the log alone.
ImportedModel Ended(const ProcessEnd& end, const std::string& model) {
  Log(LogLevel::kWarning, "the import of a model has ended early", "model", Printable(model), "how",
      WithoutControls(end.reason));
  const std::string name = Printable(model);
  // The system kills what takes too much of all memory.
  if (end.cause == ProcessEnd::Cause::kOutOfMemory ||
      (end.killed && end.cause == ProcessEnd::Cause::kCrashed))
    return {ImportResult::kOutOfMemory, "",
            absl::StrCat(name, ": importing it takes more memory than this server allows")};
  if (end.cause == ProcessEnd::Cause::kTimedOut)
    return {ImportResult::kTimedOut, "",
            absl::StrCat(name, ": importing it takes more time than this server allows")};
  return {ImportResult::kCrashed, "", absl::StrCat(name, ": the importer crashes on it; export it again")};
}

ImportedModel Told(const absl::StatusOr<ImportAnswer>& answer, const std::string& model) {
  const ImportedModel damaged = {
      ImportResult::kDamaged, "",
      absl::StrCat(Printable(model), ": the importer fails on it; export it again")};
  if (!answer.ok()) return damaged;
  if (absl::IsUnavailable(answer->status)) return Unable(answer->status);
  if (!answer->status.ok()) {
    const std::string error = WithoutControls(answer->status.message().substr(0, kMostErrorBytes), "\n");
    return error.empty() ? damaged : ImportedModel{ImportResult::kRefused, "", error};
  }
  const nlohmann::json facts = nlohmann::json::parse(answer->facts, nullptr, /*allow_exceptions=*/false);
  const auto found = facts.is_object() ? facts.find("format") : facts.end();
  const std::string format = found != facts.end() && found->is_string() ? found->get<std::string>() : "";
  if (std::ranges::find(kModelFormats, format) == kModelFormats.end() || !ModelFactsOfJson(facts).ok())
    return damaged;
  return {.result = ImportResult::kReady, .facts = answer->facts};
}

}  // namespace

ImportedModel ImportInProcess(const std::string& folder, const ModelSource& source, const Target& target,
                              const ImportLimits& limits, const std::string& program) {
  const FileDescriptor open_folder(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (open_folder.get() < 0)
    return Unable(absl::UnavailableError(absl::StrCat(folder, ": cannot be opened: ", std::strerror(errno))));
  const absl::StatusOr<std::string> found = FindWorkerProgram(program);
  if (!found.ok()) return Unable(found.status());
  auto worker = WorkerProcess::Start(*found, kImportWorkerKind, {.address_space_bytes = MemoryOf(limits)});
  if (!worker.ok()) return Unable(worker.status());
  if (const absl::Status begun = Begin(**worker, open_folder, source, target, limits); !begun.ok())
    return Unable(begun);
  const absl::StatusOr<std::string> message =
      ReceiveMessage((*worker)->socket(), After(limits.seconds), kMostAnswerBytes);
  const std::string& model = source.files.front().name;
  if (message.ok()) return Told(DecodeImportAnswer(*message), model);
  if (absl::IsDataLoss(message.status())) return Told(message.status(), model);
  const bool is_late = absl::IsDeadlineExceeded(message.status());
  ProcessEnd end = (*worker)->Stop(is_late ? 0 : kEndSeconds);
  if (is_late) end.cause = ProcessEnd::Cause::kTimedOut;
  return Ended(end, model);
}

}  // namespace attune
