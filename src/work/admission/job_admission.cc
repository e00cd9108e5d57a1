#include "work/admission/job_admission.h"

#include <algorithm>
#include <limits>

namespace attune {

void JobAdmission::Wait(size_t job, const JobGroup& group, double key) {
  refused_.erase(job);
  group_of_[job] = group;
  Group& own = groups_[group];
  const bool has_begun = own.begun.contains(job);
  own.waiting.emplace(has_begun ? -std::numeric_limits<double>::infinity() : key, job);
}

std::optional<size_t> JobAdmission::Take(const std::function<int64_t(const JobGroup&)>& most) {
  for (auto& [name, group] : groups_) {
    if (group.waiting.empty()) continue;
    const size_t job = group.waiting.begin()->second;
    if (!group.begun.contains(job) && std::ssize(group.begun) >= most(name)) continue;
    group.waiting.erase(group.waiting.begin());
    group.begun.insert(job);
    return job;
  }
  return std::nullopt;
}

void JobAdmission::Refuse(size_t job, std::string why, bool is_in_memory) {
  Group* own = GroupOf(job);
  if (!is_in_memory && own != nullptr) own->begun.erase(job);
  refused_[job] = std::move(why);
}

std::vector<size_t> JobAdmission::TakeRefused() {
  std::vector<size_t> jobs;
  for (const auto& [job, why] : std::exchange(refused_, {})) jobs.push_back(job);
  return jobs;
}

void JobAdmission::Withdraw(size_t job) {
  refused_.erase(job);
  if (Group* own = GroupOf(job))
    std::erase_if(own->waiting, [&](const auto& entry) { return entry.second == job; });
}

JobAdmission::Group* JobAdmission::GroupOf(size_t job) {
  const auto group = group_of_.find(job);
  if (group == group_of_.end()) return nullptr;
  const auto own = groups_.find(group->second);
  return own == groups_.end() ? nullptr : &own->second;
}

void JobAdmission::Forget(size_t job) {
  Withdraw(job);
  if (Group* own = GroupOf(job)) {
    own->begun.erase(job);
    if (own->begun.empty() && own->waiting.empty()) groups_.erase(group_of_.at(job));
  }
  group_of_.erase(job);
}

std::string JobAdmission::RefusalOf(size_t job) const {
  const auto refused = refused_.find(job);
  return refused == refused_.end() ? "" : refused->second;
}

bool JobAdmission::is_empty() const {
  return std::ranges::all_of(groups_, [](const auto& entry) { return entry.second.waiting.empty(); });
}

}  // namespace attune
