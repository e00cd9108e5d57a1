#include "work/driver/scheduled_jobs.h"

#include "base/status.h"

namespace attune {

void ScheduledJobs::SetSlots(int host, std::map<std::string, int64_t> slots) {
  scheduler_.SetSlots(host, std::move(slots));
}

absl::Status ScheduledJobs::Submit(size_t job, JobFacts facts, NextStage next, double now) {
  ASSIGN_OR_RETURN(const int64_t number, scheduler_.Submit(std::move(facts), std::move(next), now));
  numbers_[job] = number;
  jobs_[number] = job;
  return absl::OkStatus();
}

absl::Status ScheduledJobs::Done(size_t job, std::optional<NextStage> next, double now) {
  const bool has_next = next.has_value();
  const absl::Status status = scheduler_.Done(numbers_.at(job), std::move(next), now);
  if (!has_next || !status.ok()) Leave(job);
  return status;
}

absl::Status ScheduledJobs::Change(size_t job, NextStage next, double now) {
  const absl::Status status = scheduler_.Change(numbers_.at(job), std::move(next), now);
  if (!status.ok()) Leave(job);
  return status;
}

void ScheduledJobs::Withdraw(size_t job) {
  const auto number = numbers_.find(job);
  if (number == numbers_.end()) return;
  scheduler_.Drop(number->second);
  Leave(job);
}

std::vector<std::pair<size_t, std::string>> ScheduledJobs::WithdrawUngrantable() {
  std::vector<std::pair<size_t, std::string>> withdrawn;
  for (const int64_t number : scheduler_.Ungrantable()) {
    const size_t job = jobs_.at(number);
    const absl::Status why = scheduler_.CheckGrantable(scheduler_.facts(number), scheduler_.stage(number));
    withdrawn.emplace_back(job, why.message());
    Withdraw(job);
  }
  return withdrawn;
}

std::vector<std::pair<size_t, Holding>> ScheduledJobs::Decide(double now) {
  std::vector<std::pair<size_t, Holding>> starts;
  for (StageStart& start : scheduler_.Decide(now))
    starts.emplace_back(jobs_.at(start.job), std::move(start.holding));
  return starts;
}

std::vector<size_t> ScheduledJobs::Jobs() const {
  std::vector<size_t> jobs;
  for (const auto& [job, number] : numbers_) jobs.push_back(job);
  return jobs;
}

void ScheduledJobs::Leave(size_t job) {
  jobs_.erase(numbers_.at(job));
  numbers_.erase(job);
}

}  // namespace attune
