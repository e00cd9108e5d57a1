#include "service/queue/job_schedule.h"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/blobs/sql_blob_store.h"
#include "kinds/kinds.h"
#include "service/queue/schedule_hosts.h"
#include "service/queue/submitted_files.h"

namespace attune {
namespace {

std::vector<std::string> SlotsOf(const JobSpec& job) {
  std::vector<std::string> slots = {OwnerSlot(job.owner)};
  if (job.settings.is_object() && job.settings.contains("program") && job.settings["program"].is_string())
    slots.push_back(ProgramSlot(job.owner, job.settings["program"].get<std::string>()));
  return slots;
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobSchedule>> JobSchedule::Open(const JobScheduleOptions& options,
                                                               const FleetParts& parts) {
  RETURN_IF_ERROR(MakeStateFolder(options.folder));
  // Files go with their jobs, and never because others need the room.
  ASSIGN_OR_RETURN(std::unique_ptr<BlobStore> files,
                   OpenLastingBlobs(parts.location, "jobs", options.folder + "/files", {}));
  ASSIGN_OR_RETURN(ArtifactSigner signer, ArtifactSigner::OpenOrCreate(options.folder));
  ASSIGN_OR_RETURN(std::unique_ptr<SharedLearning> learning,
                   SharedLearning::Open({.folder = options.folder + "/learning",
                                         .owners = options.trusted_owners,
                                         .consents = options.teaches_cost_model},
                                        parts.location, *files, parts.devices));
  return std::unique_ptr<JobSchedule>(
      new JobSchedule(options, parts, std::move(files), std::move(signer), std::move(learning)));
}

JobSchedule::JobSchedule(const JobScheduleOptions& options, const FleetParts& parts,
                         std::unique_ptr<BlobStore> files, ArtifactSigner signer,
                         std::unique_ptr<SharedLearning> learning)
    : files_(std::move(files)),
      signer_(std::move(signer)),
      learning_(std::move(learning)),
      hub_(
          *files_, [this](const std::string& job) { return loop_.Supply(job); }, &signer_, SystemClock(),
          [this](const std::string& job, const std::string& owner) { cleaner_.ForgetLate(job, owner); }),
      submissions_(commit_, *files_, parts.devices, [this] { return learning_->Current(); }),
      reader_(queue_, *files_, options.folder + "/sharing"),
      sent_(options.storage_quota, [this](const std::string& owner) { return reader_.StoredBytes(owner); }),
      quotas_(options.device_quota, options.on_device_used),
      loop_(parts, Driving(options), hub_, queue_, quotas_, counters_) {}

absl::Status JobSchedule::Begin() {
  RETURN_IF_ERROR(learning_->Begin());
  return loop_.Start();
}

void JobSchedule::Stop() {
  loop_.Stop();
  learning_->Stop();
}

ScheduleDriverOptions JobSchedule::Driving(const JobScheduleOptions& options) {
  return {.strategy = options.strategy,
          .kinds = AllJobKinds(),
          .jobs_at_once = options.jobs_at_once,
          .is_endless = true,
          .slots_of = SlotsOf,
          .device_key = DeviceKeyOf,
          .gather =
              [this](const JobRecord& whole, const std::map<size_t, JobRecord>& parts) {
                return GatherPartFiles(whole, parts, *files_);
              },
          .on_stored = [this](const JobRecord& job, const StageRecord& stage) { OnStored(job, stage); },
          .on_over = [this](const JobRecord& job) { cleaner_.ForgetAllBut(job.files, job.spec.base); }};
}

void JobSchedule::OnStored(const JobRecord& job, const StageRecord& stage) {
  // For a job that is over, files may come until it has no runner.
  if (job.state == JobState::kUnfinished) cleaner_.ForgetAllBut(job.files, job.spec.base);
  quotas_.Count(job.spec.owner, stage);
  learning_->Offer(job);
  counters_.CountStage();
  if (job.state != JobState::kUnfinished && job.spec.part == 0) ended_.Tell(job.spec.id);
}

}  // namespace attune
