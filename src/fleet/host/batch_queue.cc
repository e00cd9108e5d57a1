#include "fleet/host/batch_queue.h"

#include <utility>

namespace attune {

void BatchQueue::Add(RunBatch batch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_closed_) waiting_.push_back({std::move(batch)});
  changed_.notify_all();
}

void BatchQueue::Cancel(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_cancelled_ |= current_ == number;
  for (Entry& entry : waiting_) entry.is_cancelled |= entry.batch.number == number;
  changed_.notify_all();
}

void BatchQueue::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_closed_ = is_cancelled_ = true;
  waiting_.clear();
  changed_.notify_all();
}

bool BatchQueue::is_closed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_closed_;
}

std::optional<RunBatch> BatchQueue::Take(Deadline deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  current_.reset();
  changed_.wait_until(lock, deadline, [&] { return is_closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return std::nullopt;
  Entry entry = std::move(waiting_.front());
  waiting_.pop_front();
  current_ = entry.batch.number;
  is_cancelled_ = entry.is_cancelled;
  return std::move(entry.batch);
}

bool BatchQueue::IsCancelled() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_cancelled_;
}

bool BatchQueue::AwaitCancellation(Deadline deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return is_cancelled_; });
}

}  // namespace attune
