#include "service/rest/upload_cleaner.h"

#include <chrono>
#include <set>
#include <string>

#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"

namespace attune {
namespace {

constexpr std::chrono::minutes kPause(10);

// Digests of all files that the tenant's models consist of.
absl::StatusOr<std::set<std::string>> FilesOfModels(Models& models, const std::string& tenant) {
  ASSIGN_OR_RETURN(const auto known, models.List(tenant, {}, kMostModels));
  std::set<std::string> digests;
  for (const KnownModel& model : known)
    for (const auto& file : model.source.files) digests.insert(file.digest);
  return digests;
}

}  // namespace

absl::Status UploadCleaner::Begin() {
  if (StartThread(thread_, [this] { Run(); })) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no more threads");
}

void UploadCleaner::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  ends_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::Status UploadCleaner::Look() {
  return uploads_.RemoveResting([this](const std::string& tenant) { return FilesOfModels(models_, tenant); });
}

void UploadCleaner::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!is_ending_) {
    lock.unlock();
    const absl::Status looked = Look();
    if (!looked.ok()) Log(LogLevel::kWarning, "uploads that rest stay", "reason", looked.message());
    lock.lock();
    ends_.wait_for(lock, kPause, [&] { return is_ending_; });
  }
}

}  // namespace attune
