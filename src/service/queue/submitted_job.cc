#include "service/queue/submitted_job.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "kinds/kinds.h"
#include "service/wire/job_files.h"
#include "work/report/schedule_json.h"
#include "work/sched/priority_class.h"

namespace attune {
namespace {

constexpr int kMostJobs = 10'000;
constexpr size_t kMostKeyBytes = 256;
constexpr size_t kMostNameBytes = 64;
constexpr double kMostSeconds = 1e9;

// Whether the name is that of a file of the job, or of a folder with some of them.
bool IsAmong(const std::vector<JobFile>& files, const std::string& name) {
  const std::string folder = absl::StrCat(name, "/");
  return name.starts_with(kInputsFolder) && std::ranges::any_of(files, [&](const JobFile& file) {
           return file.name == name || file.name.starts_with(folder);
         });
}

// A setting's texts: one, or those of a list.
std::vector<std::string> TextsOf(const nlohmann::json& value) {
  std::vector<std::string> texts;
  if (value.is_string()) texts.push_back(value.get<std::string>());
  if (!value.is_array()) return texts;
  for (const nlohmann::json& item : value)
    if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

absl::Status CheckPaths(const JobRecord& job, const JobKind& kind) {
  const nlohmann::json& settings = job.spec.settings;
  for (const InputSetting& input : kind.inputs) {
    const auto found = settings.find(std::string(input.name));
    if (found == settings.end()) continue;
    for (const std::string& name : TextsOf(*found)) {
      const bool names_none = !input.none.empty() && name == input.none;
      if (!names_none && !IsAmong(job.files, name))
        return InvalidInput(input.name, ": \"", Printable(name), "\" is not a file that was submitted");
    }
  }
  for (const OutputSetting& output : kind.outputs) {
    const auto found = settings.find(std::string(output.name));
    if (found == settings.end()) continue;
    for (const std::string& name : TextsOf(*found)) {
      if (!name.starts_with(kOutputsFolder) || !CheckJobFileName(name).ok())
        return InvalidInput(output.name, ": \"", Printable(name), "\" is not below ", kOutputsFolder);
    }
  }
  return absl::OkStatus();
}

// A job that measures needs to say where.
absl::Status CheckDevice(const JobRecord& job, const JobKind& kind) {
  if (kind.foreseen == nullptr)
    return job.spec.on.empty() ? absl::OkStatus()
                               : InvalidInput("a ", kind.name, " job measures on no device");
  if (!job.spec.on.empty()) return absl::OkStatus();
  const JobPlace place = {.id = job.spec.id, .folder = {}, .devices = {}};
  for (const JobStage& stage : kind.foreseen(job.spec, place)) {
    if (std::ranges::any_of(stage.needs, &ResourceNeed::exclusive))
      return InvalidInput("measures on a device; name its key with --on");
  }
  return absl::OkStatus();
}

// More parts may have more devices at a time, so that the class says how many there may be.
absl::Status TakeParts(const jobs_service_proto::SubmittedJob& submitted, JobSpec& job) {
  const JobKind* kind = AllJobKinds().Find(job.kind);
  const PriorityClass& its_class = ClassOfPriority(job.priority);
  job.parts = std::max(submitted.parts(), 1);
  if (submitted.parts() < 0 || job.parts > its_class.most_parts)
    return InvalidInput("parts: a job of class \"", its_class.name, "\" has 1 to ", its_class.most_parts,
                        ", and not ", submitted.parts());
  if (job.parts > 1 && kind != nullptr && !kind->can_be_split)
    return InvalidInput("parts: a ", kind->name, " job cannot be split");
  return absl::OkStatus();
}

absl::Status CheckJob(const JobRecord& job) {
  const JobKind& kind = *AllJobKinds().Find(job.spec.kind);
  RETURN_IF_ERROR(CheckJobFiles(job.files));
  for (const JobFile& file : job.files)
    if (!file.name.starts_with(kInputsFolder))
      return InvalidInput(file.name, ": is not below ", kInputsFolder);
  RETURN_IF_ERROR(CheckPaths(job, kind));
  return CheckDevice(job, kind);
}

}  // namespace

absl::StatusOr<JobRecord> CheckSubmittedJob(const jobs_service_proto::SubmittedJob& submitted,
                                            const std::string& owner) {
  JobRecord job;
  job.spec.id = submitted.name();
  job.spec.kind = submitted.kind();
  job.spec.owner = owner;
  job.spec.priority = submitted.priority();
  job.spec.on = submitted.on();
  job.spec.agreement = submitted.agreement();
  job.files = FromWire(submitted.inputs());
  const std::string name = absl::StrCat("job \"", Printable(submitted.name()), "\"");
  const bool is_name = !submitted.name().empty() && submitted.name().size() <= kMostNameBytes &&
                       WithoutControls(submitted.name()) == submitted.name();
  if (!is_name) return InvalidInput(name, ": its name is not one line of at most ", kMostNameBytes, " bytes");
  if (submitted.priority() > kMostJobPriority || submitted.priority() < -kMostJobPriority)
    return InvalidInput(name, ": its priority is beyond ", kMostJobPriority);
  RETURN_IF_ERROR(Annotate(TakeParts(submitted, job.spec), name));
  const double deadline = submitted.deadline_seconds();
  if (!(deadline >= 0 && deadline <= kMostSeconds)) return InvalidInput(name, ": its deadline is not a time");
  if (deadline > 0) job.spec.deadline_seconds = deadline;
  absl::StatusOr<nlohmann::json> settings = ParseJson(submitted.settings());
  if (!settings.ok()) return Annotate(settings.status(), name);
  if (!settings->is_object()) return InvalidInput(name, ": its settings are not an object");
  job.spec.settings = *std::move(settings);
  RETURN_IF_ERROR(AllJobKinds().Check(job.spec));
  RETURN_IF_ERROR(AllJobKinds().CheckForServer(job.spec));
  RETURN_IF_ERROR(Annotate(CheckJob(job), name));
  return job;
}

absl::StatusOr<std::vector<JobRecord>> CheckSubmission(const jobs_service_proto::Submission& submission,
                                                       const std::string& owner, const std::string& key,
                                                       const DeviceDirectory& devices) {
  if (submission.key().empty() || submission.key().size() > kMostKeyBytes)
    return InvalidInput("a submission without a key, or with one that is too long");
  if (submission.jobs_size() == 0 || submission.jobs_size() > kMostJobs)
    return InvalidInput("a submission has 1 to ", kMostJobs, " jobs, and this one ", submission.jobs_size());
  std::vector<JobRecord> jobs;
  for (const jobs_service_proto::SubmittedJob& submitted : submission.jobs()) {
    ASSIGN_OR_RETURN(JobRecord job, CheckSubmittedJob(submitted, owner));
    if (!job.spec.on.empty()) RETURN_IF_ERROR(Annotate(devices.CheckKey(job.spec.on, owner), job.spec.id));
    job.spec.base = absl::StrCat(key, "/", jobs.size());
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace attune
