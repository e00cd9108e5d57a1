#include "service/queue/known_jobs.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "service/wire/job_files.h"
#include "work/job/job_id.h"
#include "work/report/schedule_summary.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr int64_t kMostStages = 1000;  // that a client is shown

std::string_view StateOf(const JobRecord& job, const JobManager* live) {
  if (job.state != JobState::kUnfinished) return Name(job.state);
  return live != nullptr && live->runs() ? "running" : "waiting";
}

proto::StageOfJob ToWire(const StageRecord& stage, int part) {
  proto::StageOfJob wire;
  wire.set_name(stage.stage.name);
  wire.set_outcome(std::string(Name(stage.outcome)));
  wire.set_runner(stage.place);
  wire.set_reason(stage.reason);
  wire.set_waited_seconds(stage.start - stage.asked);
  wire.set_seconds(stage.end - stage.start);
  wire.set_end_ms(stage.end_ms);
  wire.set_part(part);
  return wire;
}

absl::Status NoSuchJob(const JobQuery& query) {
  return absl::NotFoundError(absl::StrCat("there is no job \"", query.id, "\"; attune jobs list shows them"));
}

}  // namespace

const JobManager* KnownJobs::Live(size_t number) const {
  if (driver_ == nullptr) return nullptr;
  const auto found = driver_->jobs().find(number);
  return found == driver_->jobs().end() ? nullptr : &found->second;
}

proto::Job KnownJobs::Describe(size_t number, const JobRecord& job) const {
  const JobManager* live = Live(number);
  proto::Job wire;
  wire.set_id(OwnJobId(job.spec.id, job.spec.owner));
  wire.set_kind(job.spec.kind);
  wire.set_owner(job.spec.owner);
  wire.set_priority(job.spec.priority);
  wire.set_on(job.spec.on);
  wire.set_state(std::string(StateOf(job, live)));
  wire.set_progress(job.progress);
  wire.set_error(job.error);
  wire.set_result(job.result);
  wire.set_submitted_ms(job.submitted_ms);
  wire.set_ended_ms(job.ended_ms);
  wire.set_agreement(job.spec.agreement);
  wire.set_parts(job.spec.parts);
  if (live == nullptr || live->is_over()) return wire;
  if (const auto parts = driver_->UnfinishedPartsOf(number); !parts.empty()) {
    DescribeParts(parts, job.spec.parts, wire);
    return wire;
  }
  wire.set_stage(live->stage().name);
  wire.set_waits_for(WaitsFor(number));
  wire.set_runner(live->place());
  wire.set_remaining_seconds(live->remaining());
  wire.set_figures(live->record().figures);
  return wire;
}

std::string KnownJobs::WaitsFor(size_t number) const {
  const std::string why = driver_->WaitsFor(number);
  return why.empty() || hosts_ == nullptr ? why : hosts_->WhatFor(driver_->jobs().at(number));
}

absl::StatusOr<proto::Job> KnownJobs::Describe(JobMark& mark) const {
  const JobManager* live = mark.number > 0 ? Live(mark.number) : nullptr;
  if (live != nullptr) return Describe(mark.number, live->record());
  ASSIGN_OR_RETURN(const auto found, Find(mark.query));
  mark.number = found.first;
  return Describe(found.first, found.second);
}

void KnownJobs::DescribeParts(const std::vector<size_t>& unfinished, int parts, proto::Job& wire) const {
  std::set<std::string> stages, runners;
  std::vector<std::string> progress = {
      absl::StrCat(parts - std::ssize(unfinished), " of ", parts, " parts have ended")};
  double remaining = 0;
  for (const size_t number : unfinished) {
    const JobManager& part = driver_->jobs().at(number);
    if (part.runs()) wire.set_state("running");
    if (!part.stage().name.empty()) stages.insert(part.stage().name);
    if (!part.place().empty()) runners.insert(part.place());
    if (const std::string what = WaitsFor(number); !what.empty()) wire.set_waits_for(what);
    remaining = std::max(remaining, part.remaining());
    if (!part.record().progress.empty()) progress.push_back(part.record().progress);
  }
  wire.set_stage(absl::StrJoin(stages, ", "));
  wire.set_runner(absl::StrJoin(runners, ", "));
  wire.set_progress(absl::StrJoin(progress, "; "));
  wire.set_remaining_seconds(remaining);
}

absl::StatusOr<std::multimap<int64_t, proto::StageOfJob>> KnownJobs::StagesOf(size_t number,
                                                                              const JobRecord& job) const {
  std::map<size_t, int> jobs = {{number, job.spec.part}};
  if (job.spec.parts > 1 && job.spec.part == 0) {
    ASSIGN_OR_RETURN(const auto parts, store_.Jobs(schedule_, {.parts_of = number}));
    for (const auto& [part, record] : parts) jobs[part] = record.spec.part;
  }
  std::multimap<int64_t, proto::StageOfJob> all;
  for (const auto& [one, part] : jobs) {
    ASSIGN_OR_RETURN(const auto stages, store_.Stages(schedule_, one, kMostStages));
    for (const StageRecord& stage : stages) all.emplace(stage.end_ms, ToWire(stage, part));
  }
  while (std::ssize(all) > kMostStages) all.erase(all.begin());
  return all;
}

absl::StatusOr<std::pair<size_t, JobRecord>> KnownJobs::Find(const JobQuery& query) const {
  if (query.id.empty()) return NoSuchJob(query);
  ASSIGN_OR_RETURN(auto found, store_.Jobs(schedule_, query));
  if (found.empty()) return NoSuchJob(query);
  return *found.begin();
}

absl::StatusOr<int64_t> KnownJobs::Unfinished(const std::string& owner) const {
  if (driver_ == nullptr) {
    ASSIGN_OR_RETURN(const auto jobs,
                     store_.Jobs(schedule_, {.owner = owner, .state = JobState::kUnfinished}));
    return std::ssize(jobs);
  }
  return std::ranges::count_if(driver_->jobs(), [&](const auto& numbered) {
    const JobManager& job = numbered.second;
    return !job.is_over() && job.record().spec.owner == owner && job.record().spec.part == 0;
  });
}

absl::StatusOr<proto::JobDetail> KnownJobs::Detail(size_t number, const JobRecord& job) const {
  ASSIGN_OR_RETURN(auto stages, StagesOf(number, job));
  proto::JobDetail detail;
  *detail.mutable_job() = Describe(number, job);
  for (auto& [end_ms, stage] : stages) *detail.add_stages() = std::move(stage);
  *detail.mutable_files() = attune::ToWire(job.files);
  return detail;
}

}  // namespace attune
