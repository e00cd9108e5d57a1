#include "service/models/import_queue.h"

#include <algorithm>
#include <iterator>

namespace attune {

absl::Status ImportQueue::Begin() {
  if (threads_.Start(workers_, [this] { Run(); }) > 0) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no more threads");
}

void ImportQueue::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  threads_.Join();
}

bool ImportQueue::Add(const std::string& tenant, const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_ending_) return false;
  const auto found = waiting_.find(tenant);
  if (found != waiting_.end()) {
    if (std::ranges::find(found->second, id) != found->second.end()) return true;
    if (found->second.size() >= most_waiting_) return false;
  }
  waiting_[tenant].push_back(id);
  changed_.notify_one();
  return true;
}

ImportQueue::Counts ImportQueue::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Counts counts = {.running = running_};
  for (const auto& [tenant, ids] : waiting_) counts.waiting += std::ssize(ids);
  return counts;
}

std::pair<std::string, std::string> ImportQueue::TakeNext() {
  auto turn = waiting_.upper_bound(last_tenant_);
  if (turn == waiting_.end()) turn = waiting_.begin();
  last_tenant_ = turn->first;
  std::pair<std::string, std::string> next = {turn->first, std::move(turn->second.front())};
  turn->second.pop_front();
  if (turn->second.empty()) waiting_.erase(turn);
  return next;
}

void ImportQueue::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
    if (is_ending_) return;
    const auto next = TakeNext();
    ++running_;
    lock.unlock();
    import_(next.first, next.second);
    lock.lock();
    --running_;
  }
}

}  // namespace attune
