#include "work/driver/job_runners.h"

#include "base/status.h"

namespace attune {

absl::StatusOr<int64_t> JobRunners::Start(size_t job, int host) {
  ASSIGN_OR_RETURN(const int64_t runner, runners_.Start(host));
  owners_[runner] = {.job = job, .host = host};
  moving_.erase(job);
  return runner;
}

void JobRunners::Cancel(int64_t runner, double grace_end) {
  runners_.Send(runner, CancelStage{});
  if (const std::optional<size_t> job = JobOf(runner)) grace_.Begin(*job, grace_end);
}

void JobRunners::End(int64_t runner) {
  if (!owners_.contains(runner)) return;
  Forget(runner);
  runners_.End(runner);
}

void JobRunners::EndAll() {
  while (!owners_.empty()) End(owners_.begin()->first);
}

void JobRunners::Forget(int64_t runner) {
  const auto owner = owners_.find(runner);
  if (owner == owners_.end()) return;
  grace_.End(owner->second.job);
  owners_.erase(owner);
}

void JobRunners::Move(int64_t runner, int host) {
  moving_[owners_.at(runner).job] = host;
  End(runner);
}

std::optional<size_t> JobRunners::JobOf(int64_t runner) const {
  const auto owner = owners_.find(runner);
  if (owner == owners_.end()) return std::nullopt;
  return owner->second.job;
}

std::vector<std::pair<int64_t, size_t>> JobRunners::RunnersOn(int host) const {
  std::vector<std::pair<int64_t, size_t>> runners;
  for (const auto& [runner, owner] : owners_)
    if (owner.host == host) runners.emplace_back(runner, owner.job);
  return runners;
}

std::map<int, int64_t> JobRunners::CountByHost() const {
  std::map<int, int64_t> counts;
  for (const auto& [runner, owner] : owners_) ++counts[owner.host];
  return counts;
}

std::optional<int> JobRunners::DestinationOf(size_t job) const {
  const auto found = moving_.find(job);
  if (found == moving_.end()) return std::nullopt;
  return found->second;
}

}  // namespace attune
