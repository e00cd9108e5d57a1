#include "service/queue/job_submissions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status.h"
#include "service/queue/submitted_job.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

// Two owners may choose the same key.
std::string KeyOf(const std::string& owner, const std::string& key) {
  return Sha256Hex(absl::StrCat(owner, "\n", key));
}

// The jobs, each followed by its parts, which are jobs of their own with files of their own.
std::vector<JobRecord> WithParts(const std::vector<JobRecord>& jobs) {
  std::vector<JobRecord> all;
  for (const JobRecord& job : jobs) {
    all.push_back(job);
    for (int part = 1; job.spec.parts > 1 && part <= job.spec.parts; ++part) {
      JobRecord& added = all.emplace_back(job);
      added.spec.part = part;
      absl::StrAppend(&added.spec.base, kPartEnding, part);
    }
  }
  return all;
}

}  // namespace

JobSubmissions::Jobs JobSubmissions::Submit(const std::string& owner, const std::string& by,
                                            const proto::Submission& submission, BlobStore& sent,
                                            const std::string& records) {
  const std::string key = KeyOf(owner, submission.key());
  ASSIGN_OR_RETURN(std::vector<JobRecord> jobs, CheckSubmission(submission, owner, key, devices_));
  // One at a time, since the same may come again while the first is still being taken.
  const std::lock_guard<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(AddLearned(key, records, jobs));
  jobs = WithParts(jobs);
  Jobs added = Store(key, files_.TakeAll(owner, jobs, sent), jobs);
  Log(LogLevel::kInfo, "jobs are submitted", "owner", owner, "by", by, "jobs", submission.jobs_size(),
      "result", added.status().ToString());
  return added;
}

JobSubmissions::Jobs JobSubmissions::SubmitKnown(const std::string& owner, const std::string& by,
                                                 const proto::Submission& submission,
                                                 const KnownResult& known) {
  const std::string key = KeyOf(owner, submission.key());
  ASSIGN_OR_RETURN(std::vector<JobRecord> jobs, CheckSubmission(submission, owner, key, devices_));
  JobRecord& job = jobs.front();
  job.state = JobState::kDone;
  job.spec.parts = 1;
  job.result = known.result;
  job.files = {known.file};
  RETURN_IF_ERROR(store_.Share(known.files_owner, job.spec.base, known.file.digest));
  Jobs added = Store(key, absl::OkStatus(), jobs);
  Log(LogLevel::kInfo, "a job is answered at once", "owner", owner, "by", by, "result",
      added.status().ToString());
  return added;
}

JobSubmissions::Jobs JobSubmissions::Store(const std::string& key, const absl::Status& taken,
                                           const std::vector<JobRecord>& jobs) {
  Jobs added = taken.ok() ? commit_.Submit(key, jobs) : Jobs(taken);
  // If the store fails, they may be there nevertheless.
  if (!added.ok() && !absl::IsUnavailable(added.status())) files_.ForgetAll(jobs);
  return added;
}

absl::StatusOr<std::optional<proto::Job>> JobSubmissions::Find(const std::string& owner,
                                                               const std::string& key) {
  // A submission that is known gives its jobs, and one without jobs leaves nothing.
  ASSIGN_OR_RETURN(const auto known, commit_.Submit(KeyOf(owner, key), {}));
  if (known.empty()) return std::nullopt;
  return known.front();
}

absl::Status JobSubmissions::AddLearned(const std::string& key, const std::string& records,
                                        std::vector<JobRecord>& jobs) {
  StartInputs inputs = {.records = records};
  if (std::ranges::any_of(jobs, WantsCostModel)) {
    ASSIGN_OR_RETURN(inputs.cost_model, cost_model_());
  }
  if (!inputs.cost_model && records.empty()) return absl::OkStatus();
  // Jobs that are known have what was known at their time.
  ASSIGN_OR_RETURN(const auto known, commit_.Submit(key, {}));
  if (!known.empty()) return absl::OkStatus();
  for (JobRecord& job : jobs) RETURN_IF_ERROR(AddStartInputs(inputs, files_, job));
  return absl::OkStatus();
}

}  // namespace attune
