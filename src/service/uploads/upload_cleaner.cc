#include "service/uploads/upload_cleaner.h"

#include <chrono>

#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"

namespace attune {
namespace {

constexpr std::chrono::minutes kPause(10);

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

absl::Status UploadCleaner::Look() { return uploads_.RemoveResting(needed_); }

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
