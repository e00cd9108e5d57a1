#include "work/sched/scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "work/sched/priority_class.h"

namespace attune {

std::string NeedsText(const JobStage& stage) {
  std::vector<std::string> needs;
  for (const ResourceNeed& need : stage.needs) {
    const bool are_processors = need.key == kProcessorsKey;
    std::string text = are_processors    ? absl::StrCat(need.amount, " processors")
                       : need.amount > 1 ? absl::StrCat(need.amount, " of \"", need.key, "\"")
                                         : absl::StrCat("\"", need.key, "\"");
    if (need.exclusive) absl::StrAppend(&text, " for itself");
    needs.push_back(std::move(text));
  }
  constexpr double kGigabyte = 1e9;
  if (stage.memory_bytes > 0)
    needs.push_back(
        absl::StrFormat("%.2g GB of memory", static_cast<double>(stage.memory_bytes) / kGigabyte));
  return absl::StrJoin(needs, ", ");
}

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
  Join(job.facts.owner);
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
  return absl::FailedPreconditionError(absl::StrCat("job \"", facts.id,
                                                    "\": no machine has what its stage \"", stage.name,
                                                    "\" needs: ", NeedsText(stage)));
}

std::optional<int> Scheduler::FreeHost(const JobStage& stage) {
  const std::optional<Holding> holding = ledger_.Take(StageNeeds::Of(stage));
  if (!holding) return std::nullopt;
  ledger_.Release(*holding);
  return holding->host;
}

std::vector<int64_t> Scheduler::Ungrantable() const {
  std::vector<int64_t> jobs;
  for (const auto& [name, group] : groups_) {
    if (group.requests.empty() || ledger_.HostThatCouldGrant(group.needs) >= 0) continue;
    for (const auto& [asker, requests] : group.requests)
      for (const auto& [key, job] : requests) jobs.push_back(job);
  }
  return jobs;
}

void Scheduler::Release(ScheduledJob& job, double now) {
  ledger_.Release(*job.holding);
  job.holding.reset();
  AddUsed(job.facts.owner, now - job.start - job.charged);
  AddHeld(job, job.group, -1);
}

void Scheduler::End(int64_t number) {
  const ScheduledJob& job = jobs_.at(number);
  --owners_.at(job.facts.owner).jobs;
  dedicated_.erase(job.host);
  rounds_.erase(rounds_.find(job.request.round));
  numbers_.erase(job.facts.id);
  jobs_.erase(number);
}

// An owner who comes, or comes again, starts level with the one who has had the least: else it would go first
// for as long as the others have worked before.
void Scheduler::Join(const std::string& name) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [other, owner] : owners_)
    if (owner.jobs > 0) least = std::min(least, owner.used);
  Owner& owner = owners_[name];
  if (owner.jobs++ == 0 && std::isfinite(least)) owner.used = std::max(owner.used, least);
}

std::string Scheduler::GroupOf(const ScheduledJob& job) const {
  std::string name = StageNeeds::Of(job.next.stage).Name();
  // Jobs with hosts of their own have nothing in common.
  if (strategy_->dedicates_hosts) absl::StrAppend(&name, " for ", job.request.job);
  return name;
}

Scheduler::Asker Scheduler::AskerOf(const ScheduledJob& job) const {
  return strategy_->is_fair_to_owners ? Asker{job.facts.owner, job.facts.whole} : Asker();
}

Scheduler::Order Scheduler::HeadOf(const Group& group, const Asker& asker) const {
  const auto& [key, number] = *group.requests.at(asker).begin();
  if (!strategy_->is_fair_to_owners) return {0, 0, key, number};
  double share = 0;
  if (const auto held = group.held.find(asker.whole); held != group.held.end()) {
    const JobFacts& facts = jobs_.at(number).facts;
    share = static_cast<double>(held->second) / ClassOfPriority(facts.priority).weight;
  }
  return {owners_.at(asker.owner).used, share, key, number};
}

template <typename Change>
void Scheduler::Move(Group& group, const Asker& asker, const Change& change) {
  if (group.requests.contains(asker)) group.heads.erase(HeadOf(group, asker));
  change();
  if (group.requests.contains(asker)) group.heads.insert(HeadOf(group, asker));
}

void Scheduler::Ask(int64_t number) {
  const ScheduledJob& job = jobs_.at(number);
  Group& group = groups_[GroupOf(job)];
  group.needs = strategy_->is_coordinated ? StageNeeds::Of(job.next.stage) : StageNeeds{};
  const Asker asker = AskerOf(job);
  Move(group, asker, [&] { group.requests[asker].emplace(strategy_->key(job.request, job.facts), number); });
}

void Scheduler::Withdraw(int64_t number) {
  const ScheduledJob& job = jobs_.at(number);
  const std::string name = GroupOf(job);
  Group& group = groups_.at(name);
  const Asker asker = AskerOf(job);
  Move(group, asker, [&] {
    auto& requests = group.requests.at(asker);
    requests.erase({strategy_->key(job.request, job.facts), number});
    if (requests.empty()) group.requests.erase(asker);
  });
  DropIfUnused(name);
}

void Scheduler::DropIfUnused(const std::string& name) {
  const auto group = groups_.find(name);
  if (group->second.requests.empty() && group->second.held.empty()) groups_.erase(group);
}

void Scheduler::AddUsed(const std::string& owner, double seconds) {
  double& used = owners_.at(owner).used;
  if (!strategy_->is_fair_to_owners) {
    used += seconds;
    return;
  }
  // The heads of all jobs of this owner that ask move by the same.
  const auto each = [&](const auto& change) {
    for (auto& [name, group] : groups_) {
      for (auto asker = group.requests.lower_bound({owner, ""});
           asker != group.requests.end() && asker->first.owner == owner; ++asker)
        change(group, HeadOf(group, asker->first));
    }
  };
  each([](Group& group, const Order& head) { group.heads.erase(head); });
  used += seconds;
  each([](Group& group, const Order& head) { group.heads.insert(head); });
}

void Scheduler::AddHeld(const ScheduledJob& job, const std::string& name, int64_t stages) {
  const std::string& whole = job.facts.whole;
  if (whole.empty()) return;
  Group& group = groups_[name];
  Move(group, AskerOf(job), [&] {
    int64_t& held = group.held[whole];
    held += stages;
    if (held == 0) group.held.erase(whole);
  });
  DropIfUnused(name);
}

ScheduleState Scheduler::State() const {
  if (jobs_.empty()) return {};
  return {.first_job = jobs_.begin()->first, .least_round = *rounds_.begin()};
}

std::optional<Holding> Scheduler::Grant(ScheduledJob& job, const StageNeeds& needs) {
  if (!strategy_->dedicates_hosts || job.host >= 0) return ledger_.Take(needs, job.host);
  for (const int host : ledger_.Hosts()) {
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
  const auto add = [&](const std::string& name) {
    const auto group = groups_.find(name);
    if (group != groups_.end() && !group->second.heads.empty())
      heads.emplace(*group->second.heads.begin(), name);
  };
  for (const auto& [name, group] : groups_) add(name);
  const ScheduleState state = State();
  while (!heads.empty()) {
    const auto [order, name] = *heads.begin();
    heads.erase(heads.begin());
    if (*groups_.at(name).heads.begin() != order) {
      // Later grants have moved it.
      add(name);
      continue;
    }
    const int64_t number = std::get<3>(order);
    ScheduledJob& job = jobs_.at(number);
    if (strategy_->may_start != nullptr && !strategy_->may_start(job.request, state)) continue;
    const StageNeeds& needs = groups_.at(name).needs;
    std::optional<Holding> holding = Grant(job, needs);
    if (!holding) {
      // On dedicated hosts, no other job is in the way.
      std::optional<Holding> parts;
      if (!strategy_->dedicates_hosts) parts = ledger_.TakeFreeParts(needs);
      if (parts) reserved.push_back(*std::move(parts));
      continue;
    }
    Withdraw(number);
    job.holding = holding;
    job.group = name;
    job.start = now;
    job.charged = job.next.stage.seconds.median;
    AddUsed(job.facts.owner, job.charged);
    AddHeld(job, name, 1);
    starts.push_back({number, *std::move(holding)});
    add(name);
  }
  for (const Holding& parts : reserved) ledger_.Release(parts);
  return starts;
}

}  // namespace attune
