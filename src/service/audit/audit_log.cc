#include "service/audit/audit_log.h"

#include <utility>

#include "base/log.h"
#include "service/access/access.h"

namespace attune {
namespace {

constexpr double kPauseSeconds = 0.1, kForgetSeconds = 3600;
constexpr size_t kMostWaiting = 10'000;  // while the database is away

}  // namespace

AuditLog::~AuditLog() {
  loop_.Stop();
  std::unique_lock<std::mutex> lock(mutex_);
  if (!waiting_.empty()) Write(lock);
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

double AuditLog::Step() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!waiting_.empty() && !is_writing_) Write(lock);
  }
  if (!since_forgetting_ || since_forgetting_->Seconds() > kForgetSeconds) {
    since_forgetting_.emplace(clock_);
    const absl::Status forgotten = store_.ForgetBefore(clock_.WallMillis() - days_ * kDayMs);
    if (!forgotten.ok())
      Log(LogLevel::kWarning, "old entries stay in the audit log", "reason", forgotten.message());
  }
  return kPauseSeconds;
}

}  // namespace attune
