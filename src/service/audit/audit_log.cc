#include "service/audit/audit_log.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/threads.h"
#include "service/access/access.h"

namespace attune {
namespace {

constexpr std::chrono::milliseconds kPause(100);
constexpr double kForgetSeconds = 3600;
constexpr size_t kMostWaiting = 10'000;  // while the database is away

}  // namespace

AuditLog::~AuditLog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  changes_.notify_all();
  if (thread_.joinable()) thread_.join();
  std::unique_lock<std::mutex> lock(mutex_);
  if (!waiting_.empty()) Write(lock);
}

absl::Status AuditLog::Begin() {
  if (StartThread(thread_, [this] { Run(); })) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no more threads");
}

void AuditLog::Write(std::unique_lock<std::mutex>& lock) {
  is_writing_ = true;
  const std::vector<std::shared_ptr<Waiting>> batch = std::exchange(waiting_, {});
  lock.unlock();
  std::vector<AuditEntry> entries;
  entries.reserve(batch.size());
  for (const auto& one : batch) entries.push_back(one->entry);
  const absl::Status written = store_.Append(entries);
  if (!written.ok())
    Log(LogLevel::kError, "the audit log cannot be written", "entries", entries.size(), "reason",
        written.message());
  lock.lock();
  for (const auto& one : batch) one->is_over = true, one->written = written;
  is_writing_ = false;
  changes_.notify_all();
}

absl::Status AuditLog::Announce(AuditEntry entry) {
  entry.time_ms = clock_.WallMillis();
  const auto mine = std::make_shared<Waiting>(Waiting{.entry = std::move(entry)});
  std::unique_lock<std::mutex> lock(mutex_);
  waiting_.push_back(mine);
  while (!mine->is_over) {
    if (is_writing_) {
      changes_.wait(lock);
    } else {
      Write(lock);
    }
  }
  return mine->written;
}

void AuditLog::Add(AuditEntry entry) {
  entry.time_ms = clock_.WallMillis();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_.size() < kMostWaiting)
    waiting_.push_back(std::make_shared<Waiting>(Waiting{.entry = std::move(entry)}));
}

void AuditLog::Run() {
  double forgotten_at = -kForgetSeconds;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!is_ending_) {
    if (!waiting_.empty() && !is_writing_) Write(lock);
    if (clock_.Now() > forgotten_at + kForgetSeconds) {
      forgotten_at = clock_.Now();
      lock.unlock();
      const absl::Status forgotten = store_.ForgetBefore(clock_.WallMillis() - days_ * kDayMs);
      if (!forgotten.ok())
        Log(LogLevel::kWarning, "old entries stay in the audit log", "reason", forgotten.message());
      lock.lock();
    }
    changes_.wait_for(lock, kPause, [&] { return is_ending_; });
  }
}

}  // namespace attune
