#include "service/queue/job_desk.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/json_at.h"
#include "base/log.h"
#include "base/status.h"
#include "service/queue/submitted_job.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr int kMostJobs = 10'000;
constexpr size_t kMostKeyBytes = 256;

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

constexpr char kCostModelSetting[] = "cost_model", kRecordsSetting[] = "start_records";

// Whether a tuning job may be given what this setting names, unless the other setting says that it is to know
// nothing of others.
bool Lacks(const JobRecord& job, const char* setting, const char* unless_not) {
  const nlohmann::json& settings = job.spec.settings;
  const bool has_own = settings.contains(setting) && !settings[setting].is_null();
  return job.spec.kind == "tuning" && !has_own && FlagAt(settings, unless_not, true);
}
bool LacksCostModel(const JobRecord& job) { return Lacks(job, kCostModelSetting, "/use_model"); }
bool LacksRecords(const JobRecord& job) { return Lacks(job, kRecordsSetting, "/transfer_runs"); }

}  // namespace

absl::StatusOr<std::vector<JobRecord>> JobDesk::Checked(const std::string& owner, const std::string& key,
                                                        const proto::Submission& submission) const {
  if (submission.key().empty() || submission.key().size() > kMostKeyBytes)
    return InvalidInput("a submission without a key, or with one that is too long");
  if (submission.jobs_size() == 0 || submission.jobs_size() > kMostJobs)
    return InvalidInput("a submission has 1 to ", kMostJobs, " jobs, and this one ", submission.jobs_size());
  std::vector<JobRecord> jobs;
  for (const proto::SubmittedJob& submitted : submission.jobs()) {
    ASSIGN_OR_RETURN(JobRecord job, CheckSubmittedJob(submitted, owner));
    if (!job.spec.on.empty())
      RETURN_IF_ERROR(Annotate(parts_.devices.CheckKey(job.spec.on, owner), job.spec.id));
    job.spec.base = absl::StrCat(key, "/", jobs.size());
    jobs.push_back(std::move(job));
  }
  return jobs;
}

absl::StatusOr<std::vector<proto::Job>> JobDesk::Submit(const std::string& owner, const std::string& by,
                                                        const proto::Submission& submission, BlobStore& sent,
                                                        const std::string& records) {
  const std::string key = KeyOf(owner, submission.key());
  ASSIGN_OR_RETURN(std::vector<JobRecord> jobs, Checked(owner, key, submission));
  // One at a time, since the same may come again while the first is still being taken.
  const std::lock_guard<std::mutex> lock(submit_mutex_);
  RETURN_IF_ERROR(GiveWhatIsKnown(key, records, jobs));
  jobs = WithParts(jobs);
  const absl::Status kept = KeepAll(owner, jobs, sent);
  using Jobs = absl::StatusOr<std::vector<proto::Job>>;
  Jobs added = kept.ok() ? schedule_.Submit(key, jobs) : Jobs(kept);
  if (!added.ok() && !absl::IsUnavailable(added.status())) ForgetAll(jobs);
  Log(LogLevel::kInfo, "jobs are submitted", "owner", owner, "by", by, "jobs", submission.jobs_size(),
      "result", added.status().ToString());
  return added;
}

absl::StatusOr<std::vector<proto::Job>> JobDesk::SubmitKnown(const std::string& owner, const std::string& by,
                                                             const proto::Submission& submission,
                                                             const KnownResult& known) {
  const std::string key = KeyOf(owner, submission.key());
  ASSIGN_OR_RETURN(std::vector<JobRecord> jobs, Checked(owner, key, submission));
  JobRecord& job = jobs.front();
  job.state = JobState::kDone;
  job.spec.parts = 1;
  job.result = known.result;
  job.files = {known.file};
  RETURN_IF_ERROR(schedule_.files().Share(known.files_owner, job.spec.base, known.file.digest));
  absl::StatusOr<std::vector<proto::Job>> added = schedule_.Submit(key, jobs);
  if (!added.ok() && !absl::IsUnavailable(added.status())) ForgetAll(jobs);
  Log(LogLevel::kInfo, "a job is answered at once", "owner", owner, "by", by, "result",
      added.status().ToString());
  return added;
}

absl::StatusOr<std::optional<proto::Job>> JobDesk::FindSubmitted(const std::string& owner,
                                                                 const std::string& key) {
  // A submission that is known gives its jobs, and one without jobs leaves nothing.
  ASSIGN_OR_RETURN(const auto known, schedule_.Submit(KeyOf(owner, key), {}));
  if (known.empty()) return std::nullopt;
  return known.front();
}

// The text becomes an input, so that all parts of a job have the same version, wherever they continue.
absl::Status JobDesk::GiveWhatIsKnown(const std::string& key, const std::string& records,
                                      std::vector<JobRecord>& jobs) {
  std::optional<std::string> cost_model;
  if (std::ranges::any_of(jobs, LacksCostModel)) {
    ASSIGN_OR_RETURN(cost_model, schedule_.learning().Current());
  }
  if (!cost_model && records.empty()) return absl::OkStatus();
  // Jobs that are known have what was known at their time.
  ASSIGN_OR_RETURN(const auto known, schedule_.Submit(key, {}));
  if (!known.empty()) return absl::OkStatus();
  for (JobRecord& job : jobs) {
    if (cost_model && LacksCostModel(job))
      RETURN_IF_ERROR(Give(kCostModelSetting, "shared-cost-model.txt", *cost_model, job));
    if (!records.empty() && LacksRecords(job))
      RETURN_IF_ERROR(Give(kRecordsSetting, "shared-records.jsonl", records, job));
  }
  return absl::OkStatus();
}

absl::Status JobDesk::Give(const std::string& setting, const std::string& file, const std::string& text,
                           JobRecord& job) {
  const JobFile given = {
      .name = absl::StrCat(kInputsFolder, file), .digest = Sha256Hex(text), .bytes = std::ssize(text)};
  // One that the owner has sent under this name stays what it is.
  if (std::ranges::find(job.files, given.name, &JobFile::name) != job.files.end()) return absl::OkStatus();
  RETURN_IF_ERROR(KeepText(job.spec.base, given.digest, text));
  job.files.push_back(given);
  job.spec.settings[setting] = given.name;
  return absl::OkStatus();
}

absl::Status JobDesk::KeepText(const std::string& job, const std::string& digest, std::string_view text) {
  BlobStore& files = schedule_.files();
  if (files.Has(job, digest)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t sent, files.Sent(job, digest));
  RETURN_IF_ERROR(files.Append(job, digest, sent, text.substr(static_cast<size_t>(sent))));
  return files.Finish(job, digest);
}

absl::Status JobDesk::KeepAll(const std::string& owner, const std::vector<JobRecord>& jobs, BlobStore& sent) {
  std::map<std::string, std::string> having;  // by digest: a job of this submission that has the file
  for (const JobRecord& job : jobs) {
    for (const JobFile& file : job.files) {
      const auto [other, is_first] = having.try_emplace(file.digest, job.spec.base);
      if (is_first) {
        RETURN_IF_ERROR(Keep(owner, job, file, sent));
      } else {
        RETURN_IF_ERROR(schedule_.files().Share(other->second, job.spec.base, file.digest));
      }
    }
  }
  return absl::OkStatus();
}

// A submission that has failed leaves nothing.
void JobDesk::ForgetAll(const std::vector<JobRecord>& jobs) {
  for (const JobRecord& job : jobs) {
    for (const JobFile& file : job.files) {
      const absl::Status forgotten = schedule_.files().Forget(job.spec.base, file.digest);
      if (!forgotten.ok()) Log(LogLevel::kWarning, "an input stays", "reason", forgotten.message());
    }
  }
}

// Takes a file from what the owner has sent: that may be evicted, and a job's files may not.
absl::Status JobDesk::Keep(const std::string& owner, const JobRecord& job, const JobFile& file,
                           BlobStore& sent) {
  const std::string name = absl::StrCat(job.spec.id, ": ", file.name);
  BlobStore& files = schedule_.files();
  if (files.Has(job.spec.base, file.digest)) return absl::OkStatus();
  RETURN_IF_ERROR(Annotate(files.Take(sent, owner, job.spec.base, file.digest), name));
  ASSIGN_OR_RETURN(const int64_t bytes, files.Sent(job.spec.base, file.digest));
  if (bytes == file.bytes) return absl::OkStatus();
  return InvalidInput(name, ": has ", bytes, " bytes, and not ", file.bytes);
}

absl::StatusOr<proto::Job> JobDesk::Cancel(const JobQuery& query, const std::string& by) {
  absl::StatusOr<proto::Job> cancelled = schedule_.Cancel(query);
  Log(LogLevel::kInfo, "job is cancelled", "job", query.id, "by", by, "result",
      cancelled.status().ToString());
  return cancelled;
}

absl::StatusOr<OpenedJobFile> JobDesk::OpenFile(const JobQuery& query, const std::string& name) {
  ASSIGN_OR_RETURN(const JobRecord job, schedule_.Find(query));
  const auto file = std::ranges::find(job.files, name, &JobFile::name);
  if (file == job.files.end())
    return absl::NotFoundError(absl::StrCat(query.id, ": has no file \"", name, "\""));
  ASSIGN_OR_RETURN(auto blob, schedule_.files().Read(job.spec.base, file->digest));
  return OpenedJobFile{.file = {std::move(blob.first), blob.second}, .digest = file->digest};
}

}  // namespace attune
