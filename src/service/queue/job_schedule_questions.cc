// The questions that JobSchedule answers.
#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "service/queue/job_schedule.h"
#include "service/queue/job_schedule_serving.h"
#include "service/queue/known_jobs.h"
#include "service/records/job_records.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

// At a time, so that the schedule continues in between.
constexpr int64_t kJobsAtOnce = 300;

}  // namespace

struct JobSchedule::Submitted {
  JobSubmission submission = {};
  std::promise<absl::StatusOr<std::vector<proto::Job>>> jobs = {};
};

absl::StatusOr<std::vector<proto::Job>> JobSchedule::Submit(const std::string& key,
                                                            std::vector<JobRecord> jobs) {
  Submitted submitted = {.submission = {.key = key, .jobs = std::move(jobs)}};
  RETURN_IF_ERROR(Enqueue(submitted_, &submitted));
  return submitted.jobs.get_future().get();
}

void JobSchedule::Keep(const absl::StatusOr<Serving*>& serving, const std::vector<Submitted*>& all) {
  if (!serving.ok()) {
    for (Submitted* one : all) one->jobs.set_value(serving.status());
    return;
  }
  const auto add = [&](const std::vector<JobSubmission>& submissions) {
    auto added = (*serving)->store->AddJobs((*serving)->schedule, submissions);
    // They may be there although the caller was told otherwise: the schedule starts again with the stored
    // jobs.
    if (absl::IsUnavailable(added.status())) (*serving)->broken = added.status();
    return added;
  };
  std::vector<JobSubmission> submissions;
  for (Submitted* one : all) {
    JobSubmission& submission = submissions.emplace_back(std::move(one->submission));
    for (JobRecord& job : submission.jobs)
      if (job.spec.deadline_seconds) *job.spec.deadline_seconds += (*serving)->driver.Now();
  }
  const auto added = add(submissions);
  for (size_t i = 0; i < all.size(); ++i) {
    if (added.ok()) {
      all[i]->jobs.set_value(Kept(**serving, (*added)[i]));
    } else if (absl::IsUnavailable(added.status()) || all.size() == 1) {
      all[i]->jobs.set_value(added.status());
    } else {
      // One that is refused is not to harm those that have come with it.
      const auto alone = add({submissions[i]});
      all[i]->jobs.set_value(alone.ok() ? Kept(**serving, alone->front()) : alone.status());
    }
  }
}

absl::StatusOr<std::vector<proto::Job>> JobSchedule::Kept(Serving& serving,
                                                          const std::map<size_t, JobRecord>& jobs) {
  std::vector<proto::Job> described;
  for (const auto& [number, job] : jobs) {
    // One that comes twice is known.
    if (job.state == JobState::kUnfinished && !serving.driver.jobs().contains(number))
      serving.Add(number, job);
  }
  // With all its parts.
  for (const auto& [number, job] : jobs)
    if (job.spec.part == 0) described.push_back(serving.known.Describe(number, job));
  return described;
}

absl::StatusOr<std::vector<proto::Job>> JobSchedule::List(JobQuery query, bool with_judged) {
  using Jobs = std::vector<proto::Job>;
  query.with_files = false;
  query.results = with_judged ? ResultsWanted::kOfAgreements : ResultsWanted::kNone;
  return Read<Jobs>([&](const Reading& from) -> absl::StatusOr<Jobs> {
    ASSIGN_OR_RETURN(const auto found, from.store.Jobs(from.schedule, query));
    Jobs described;
    for (const auto& [number, job] : found) described.push_back(from.known.Describe(number, job));
    std::ranges::reverse(described);
    return described;
  });
}

absl::StatusOr<proto::JobDetail> JobSchedule::Show(const JobQuery& query) {
  return Read<proto::JobDetail>([&](const Reading& from) -> absl::StatusOr<proto::JobDetail> {
    ASSIGN_OR_RETURN(const auto found, from.known.Find(query));
    return from.known.Detail(found.first, found.second);
  });
}

absl::StatusOr<std::vector<proto::Job>> JobSchedule::Changes(std::vector<JobMark>& marks) {
  using Jobs = std::vector<proto::Job>;
  return Read<Jobs>([&](const Reading& from) -> absl::StatusOr<Jobs> {
    Jobs changed;
    for (JobMark& mark : marks) {
      absl::StatusOr<proto::Job> job = from.known.Describe(mark);
      mark.is_gone = absl::IsNotFound(job.status());
      if (mark.is_gone) continue;
      RETURN_IF_ERROR(job.status());
      const size_t digest = std::max<size_t>(1, std::hash<std::string>()(job->SerializeAsString()));
      if (digest != std::exchange(mark.digest, digest)) changed.push_back(*std::move(job));
    }
    return changed;
  });
}

absl::StatusOr<JobRecord> JobSchedule::Find(const JobQuery& query) {
  return Read<JobRecord>([&](const Reading& from) -> absl::StatusOr<JobRecord> {
    ASSIGN_OR_RETURN(auto found, from.known.Find(query));
    return std::move(found.second);
  });
}

absl::StatusOr<std::string> JobSchedule::RecordsForOthers(const JobQuery& query, const std::string& device,
                                                          int threads) {
  ASSIGN_OR_RETURN(const JobRecord job, Find(query));
  const std::lock_guard<std::mutex> lock(records_mutex_);
  ASSIGN_OR_RETURN(const std::unique_ptr<JobRecords> records,
                   JobRecords::Open(job, *files_, options_.folder + "/sharing"));
  return records->ForOthers(device, threads);
}

absl::StatusOr<proto::Job> JobSchedule::Cancel(const JobQuery& query) {
  return Ask<proto::Job>([&](Serving& serving) -> absl::StatusOr<proto::Job> {
    ASSIGN_OR_RETURN(const auto found, serving.known.Find(query));
    serving.broken = serving.driver.Cancel(found.first);
    RETURN_IF_ERROR(serving.broken);
    ASSIGN_OR_RETURN(const auto now, serving.known.Find(query));
    return serving.known.Describe(now.first, now.second);
  });
}

absl::StatusOr<int64_t> JobSchedule::Unfinished(const std::string& owner) {
  return Read<int64_t>(
      [&](const Reading& from) -> absl::StatusOr<int64_t> { return from.known.Unfinished(owner); });
}

absl::StatusOr<MachineLack> JobSchedule::LackOf(const std::string& owner) {
  return Ask<MachineLack>(
      [&](Serving& serving) -> absl::StatusOr<MachineLack> { return serving.hosts.LackOf(owner); });
}

absl::StatusOr<int64_t> JobSchedule::StoredBytes(const std::string& owner) {
  constexpr size_t kTellingDigits = 15;  // hexadecimal; a short string needs no memory of its own
  JobQuery query = {.owner = owner, .with_parts = true, .most = kJobsAtOnce, .results = ResultsWanted::kNone};
  // The store has each content once, however many jobs and parts of jobs share it.
  std::unordered_set<std::string> counted;
  int64_t bytes = 0;
  for (bool is_last = false; !is_last;) {
    RETURN_IF_ERROR(Read<bool>([&](const Reading& from) -> absl::StatusOr<bool> {
                      ASSIGN_OR_RETURN(const auto found, from.store.Jobs(from.schedule, query));
                      for (const auto& [number, job] : found)
                        for (const JobFile& file : job.files)
                          if (counted.insert(file.digest.substr(0, kTellingDigits)).second)
                            bytes += file.bytes;
                      is_last = std::ssize(found) < kJobsAtOnce;
                      if (!is_last) query.before = found.begin()->second.spec.id;
                      return true;
                    }).status());
  }
  return bytes;
}

absl::StatusOr<bool> JobSchedule::RemoveJobs(const std::string& owner) {
  return Ask<bool>([&](Serving& serving) -> absl::StatusOr<bool> {
    const JobQuery going = {
        .owner = owner, .state = JobState::kUnfinished, .with_parts = true, .most = kJobsAtOnce};
    ASSIGN_OR_RETURN(const auto unfinished, serving.store->Jobs(serving.schedule, going));
    for (const auto& [number, job] : unfinished) {
      serving.broken = serving.driver.Cancel(number);
      RETURN_IF_ERROR(serving.broken);
    }
    if (!unfinished.empty()) return false;
    ASSIGN_OR_RETURN(
        const auto over,
        serving.store->Jobs(serving.schedule, {.owner = owner, .with_parts = true, .most = kJobsAtOnce}));
    std::vector<size_t> numbers;
    for (const auto& [number, job] : over) {
      RETURN_IF_ERROR(files_->ForgetAllBut(job.spec.base, {}));
      numbers.push_back(number);
    }
    RETURN_IF_ERROR(serving.store->RemoveJobs(serving.schedule, numbers));
    return over.empty();
  });
}

}  // namespace attune
