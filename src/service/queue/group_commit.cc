#include "service/queue/group_commit.h"

#include <cstddef>
#include <future>
#include <map>
#include <utility>

namespace attune {
namespace {

StoredSubmission Described(const std::map<size_t, JobRecord>& jobs, const KnownJobs& known) {
  std::vector<jobs_service_proto::Job> described;
  for (const auto& [number, job] : jobs)
    if (job.spec.part == 0) described.push_back(known.Describe(number, job));
  return described;
}

}  // namespace

struct GroupCommit::Waiting {
  JobSubmission submission = {};
  std::promise<StoredSubmission> stored = {};
};

std::vector<StoredSubmission> StoreGroup(std::vector<JobSubmission> submissions, LiveSchedule& schedule) {
  for (JobSubmission& submission : submissions)
    for (JobRecord& job : submission.jobs)
      if (job.spec.deadline_seconds) *job.spec.deadline_seconds += schedule.driver().Now();
  std::vector<StoredSubmission> stored;
  const auto together = schedule.AddJobs(submissions);
  if (together.ok()) {
    for (const auto& jobs : *together) stored.push_back(Described(jobs, schedule.view()));
    return stored;
  }
  for (const JobSubmission& submission : submissions) {
    if (absl::IsUnavailable(together.status()) || submissions.size() == 1) {
      stored.emplace_back(together.status());
      continue;
    }
    // One that is refused is not to harm those that have come with it.
    const auto alone = schedule.AddJobs({submission});
    stored.push_back(alone.ok() ? Described(alone->front(), schedule.view())
                                : StoredSubmission(alone.status()));
  }
  return stored;
}

StoredSubmission GroupCommit::Submit(const std::string& key, std::vector<JobRecord> jobs) {
  Waiting waiting = {.submission = {.key = key, .jobs = std::move(jobs)}};
  std::future<StoredSubmission> stored = waiting.stored.get_future();
  bool is_first = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_first = waiting_.empty();
    waiting_.push_back(&waiting);
  }
  // Later submissions rely on this task until it runs.
  if (is_first) {
    const absl::Status posted =
        queue_.Post([this](const absl::StatusOr<LiveSchedule*>& schedule) { Commit(schedule); });
    if (!posted.ok()) Commit(posted);
  }
  return stored.get();
}

void GroupCommit::Commit(const absl::StatusOr<LiveSchedule*>& schedule) {
  std::vector<Waiting*> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    all.swap(waiting_);
  }
  if (!schedule.ok()) {
    for (Waiting* one : all) one->stored.set_value(schedule.status());
    return;
  }
  std::vector<JobSubmission> submissions;
  for (Waiting* one : all) submissions.push_back(std::move(one->submission));
  std::vector<StoredSubmission> stored = StoreGroup(std::move(submissions), **schedule);
  for (size_t i = 0; i < all.size(); ++i) all[i]->stored.set_value(std::move(stored[i]));
}

}  // namespace attune
