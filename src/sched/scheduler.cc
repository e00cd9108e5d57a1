#include "sched/scheduler.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"

namespace attune {

std::vector<int64_t> Scheduler::RemoveHost(int host, double now) {
  ledger_.RemoveHost(host);
  std::vector<int64_t> lost;
  for (auto& [number, job] : jobs_) {
    if (job.host == host) job.host = -1;
    if (job.holding && job.holding->host == host) lost.push_back(number);
  }
  dedicated_.erase(host);
  for (const int64_t number : lost) Lost(number, now);
  return lost;
}

void Scheduler::Use(const SchedulingStrategy& strategy) {
  std::vector<int64_t> waiting;
  for (auto& [number, job] : jobs_) {
    if (job.holding) continue;
    Withdraw(number);
    waiting.push_back(number);
  }
  strategy_ = &strategy;
  dedicated_.clear();
  for (auto& [number, job] : jobs_) job.host = -1;
  for (const int64_t number : waiting) Ask(number);
}

absl::StatusOr<int64_t> Scheduler::Submit(JobFacts facts, NextStage first, double now) {
  if (numbers_.contains(facts.id))
    return absl::AlreadyExistsError(absl::StrCat("job ", facts.id, " runs already"));
  RETURN_IF_ERROR(CheckGrantable(facts, first.stage, -1));
  const int64_t number = num_submitted_++;
  ScheduledJob& job = jobs_[number];
  numbers_[facts.id] = number;
  job.facts = std::move(facts);
  job.next = std::move(first);
  job.request.job = number;
  job.request.since = now;
  job.request.remaining = job.next.remaining;
  used_.try_emplace(job.facts.owner, 0);
  rounds_.insert(0);
  Ask(number);
  return number;
}

absl::Status Scheduler::Done(int64_t number, std::optional<NextStage> next, double now) {
  ScheduledJob& job = jobs_.at(number);
  Release(job, now);
  if (!next) {
    End(number);
    return absl::OkStatus();
  }
  return AskFor(number, *std::move(next), job.request.round + 1, now);
}

absl::Status Scheduler::Change(int64_t number, NextStage next, double now) {
  Withdraw(number);
  return AskFor(number, std::move(next), jobs_.at(number).request.round, now);
}

void Scheduler::Drop(int64_t number) {
  Withdraw(number);
  End(number);
}

absl::Status Scheduler::AskFor(int64_t number, NextStage next, int64_t round, double now) {
  ScheduledJob& job = jobs_.at(number);
  if (const absl::Status status = CheckGrantable(job.facts, next.stage, job.host); !status.ok()) {
    End(number);
    return status;
  }
  rounds_.erase(rounds_.find(job.request.round));
  rounds_.insert(round);
  const bool continues = round > job.request.round && job.next.stage.needs == next.stage.needs;
  job.next = std::move(next);
  job.request = {
      .job = number, .since = now, .round = round, .remaining = job.next.remaining, .continues = continues};
  Ask(number);
  return absl::OkStatus();
}

void Scheduler::Lost(int64_t number, double now) {
  ScheduledJob& job = jobs_.at(number);
  Release(job, now);
  Ask(number);
}

absl::Status Scheduler::CheckGrantable(const JobFacts& facts, const JobStage& stage, int host) const {
  if (ledger_.HostThatCouldGrant(StageNeeds::Of(stage), host) >= 0) return absl::OkStatus();
  const auto one = [](std::string* out, const ResourceNeed& need) {
    absl::StrAppend(out, need.amount, " of \"", need.key, "\"", need.exclusive ? " for itself" : "");
  };
  std::string needs = absl::StrJoin(stage.needs, ", ", one);
  if (stage.memory_bytes > 0)
    absl::StrAppend(&needs, needs.empty() ? "" : ", ", stage.memory_bytes, " bytes of memory");
  return absl::FailedPreconditionError(absl::StrCat(
      "job \"", facts.id, "\": no host can ever grant what its stage \"", stage.name, "\" needs: ", needs));
}

std::vector<int64_t> Scheduler::Ungrantable() const {
  std::vector<int64_t> jobs;
  for (const auto& [name, group] : groups_) {
    if (ledger_.HostThatCouldGrant(group.needs) >= 0) continue;
    for (const auto& [owner, requests] : group.requests)
      for (const auto& [key, job] : requests) jobs.push_back(job);
  }
  return jobs;
}

void Scheduler::Release(ScheduledJob& job, double now) {
  ledger_.Release(*job.holding);
  job.holding.reset();
  AddUsed(job.facts.owner, now - job.start);
}

void Scheduler::End(int64_t number) {
  const ScheduledJob& job = jobs_.at(number);
  dedicated_.erase(job.host);
  rounds_.erase(rounds_.find(job.request.round));
  numbers_.erase(job.facts.id);
  jobs_.erase(number);
}

std::string Scheduler::GroupOf(const ScheduledJob& job) const {
  std::string name = StageNeeds::Of(job.next.stage).Name();
  // Jobs with hosts of their own have nothing in common.
  if (strategy_->dedicates_hosts) absl::StrAppend(&name, " for ", job.request.job);
  return name;
}

std::string Scheduler::OwnerOf(const ScheduledJob& job) const {
  return strategy_->is_fair_to_owners ? job.facts.owner : "";
}

Scheduler::Order Scheduler::HeadOf(const std::string& owner,
                                   const std::set<std::pair<double, int64_t>>& requests) const {
  const auto& [key, job] = *requests.begin();
  return {strategy_->is_fair_to_owners ? used_.at(owner) : 0, key, job};
}

void Scheduler::Ask(int64_t number) {
  const ScheduledJob& job = jobs_.at(number);
  Group& group = groups_[GroupOf(job)];
  group.needs = strategy_->is_coordinated ? StageNeeds::Of(job.next.stage) : StageNeeds{};
  const std::string owner = OwnerOf(job);
  auto& requests = group.requests[owner];
  if (!requests.empty()) group.heads.erase(HeadOf(owner, requests));
  requests.emplace(strategy_->key(job.request, job.facts), number);
  group.heads.insert(HeadOf(owner, requests));
}

void Scheduler::Withdraw(int64_t number) {
  const ScheduledJob& job = jobs_.at(number);
  const auto group = groups_.find(GroupOf(job));
  const auto owner = group->second.requests.find(OwnerOf(job));
  group->second.heads.erase(HeadOf(owner->first, owner->second));
  owner->second.erase({strategy_->key(job.request, job.facts), number});
  if (owner->second.empty()) {
    group->second.requests.erase(owner);
  } else {
    group->second.heads.insert(HeadOf(owner->first, owner->second));
  }
  if (group->second.requests.empty()) groups_.erase(group);
}

void Scheduler::AddUsed(const std::string& owner, double seconds) {
  double& used = used_[owner];
  for (auto& [name, group] : groups_) {
    const auto requests = strategy_->is_fair_to_owners ? group.requests.find(owner) : group.requests.end();
    if (requests == group.requests.end()) continue;
    Order head = HeadOf(owner, requests->second);
    group.heads.erase(head);
    std::get<0>(head) += seconds;
    group.heads.insert(head);
  }
  used += seconds;
}

ScheduleState Scheduler::State() const {
  if (jobs_.empty()) return {};
  return {.first_job = jobs_.begin()->first, .least_round = *rounds_.begin()};
}

std::optional<Holding> Scheduler::Grant(ScheduledJob& job, const StageNeeds& needs) {
  if (!strategy_->dedicates_hosts || job.host >= 0) return ledger_.Take(needs, job.host);
  for (int host = 0; host < ledger_.num_hosts(); ++host) {
    if (dedicated_.contains(host)) continue;
    std::optional<Holding> holding = ledger_.Take(needs, host);
    if (!holding) continue;
    job.host = host;
    dedicated_.insert(host);
    return holding;
  }
  return std::nullopt;
}

std::vector<StageStart> Scheduler::Decide(double now) {
  std::vector<StageStart> starts;
  std::vector<Holding> reserved;
  // The first request of each group that may still be granted something.
  std::set<std::pair<Order, std::string>> heads;
  for (const auto& [name, group] : groups_) heads.emplace(*group.heads.begin(), name);
  const ScheduleState state = State();
  while (!heads.empty()) {
    const auto [order, name] = *heads.begin();
    heads.erase(heads.begin());
    const int64_t number = std::get<2>(order);
    ScheduledJob& job = jobs_.at(number);
    if (strategy_->may_start != nullptr && !strategy_->may_start(job.request, state)) continue;
    const StageNeeds& needs = groups_.at(name).needs;
    std::optional<Holding> holding = Grant(job, needs);
    if (!holding) {
      // On hosts that are dedicated, nobody else is in the way.
      std::optional<Holding> parts;
      if (!strategy_->dedicates_hosts) parts = ledger_.TakeFreeParts(needs);
      if (parts) reserved.push_back(*std::move(parts));
      continue;
    }
    Withdraw(number);
    job.holding = holding;
    job.start = now;
    starts.push_back({number, *std::move(holding)});
    if (const auto group = groups_.find(name); group != groups_.end())
      heads.emplace(*group->second.heads.begin(), name);
  }
  for (const Holding& parts : reserved) ledger_.Release(parts);
  return starts;
}

}  // namespace attune
