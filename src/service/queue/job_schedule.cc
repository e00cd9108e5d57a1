#include "service/queue/job_schedule.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/blobs/sql_blob_store.h"
#include "kinds/kinds.h"
#include "service/queue/job_schedule_serving.h"
#include "service/wire/job_files.h"
#include "work/report/schedule_summary.h"

namespace attune {
namespace {

constexpr double kStepSeconds = 0.1;
constexpr double kUpdateSeconds = 0.5;  // between two looks at the fleet's devices
constexpr double kQuotaSeconds = 5;     // between two looks at what owners have used
constexpr double kRetrySeconds = 5;
constexpr char kScheduleKey[] = "server";

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

absl::Status JobSchedule::Begin() {
  RETURN_IF_ERROR(learning_->Begin());
  return loop_.Start();
}

JobSchedule::JobSchedule(const JobScheduleOptions& options, const FleetParts& parts,
                         std::unique_ptr<BlobStore> files, ArtifactSigner signer,
                         std::unique_ptr<SharedLearning> learning)
    : options_(options),
      parts_(parts),
      files_(std::move(files)),
      signer_(std::move(signer)),
      learning_(std::move(learning)),
      hub_(
          *files_, [this](const std::string& job) { return Supply(job); }, &signer_, SystemClock(),
          [this](const std::string& job, const std::string& files_owner) { ForgetLate(job, files_owner); }),
      sent_(options.storage_quota, [this](const std::string& owner) { return StoredBytes(owner); }),
      credentials_(parts) {}

JobSchedule::~JobSchedule() { Stop(); }

void JobSchedule::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  hub_.Wake();
  loop_.Stop();
  RunTasks(absl::UnavailableError("the server is ending"));
  learning_->Stop();
}

double JobSchedule::Step() {
  const absl::Status ended = Serve();
  serving_ = nullptr;
  hub_.EndAll();
  Rest(ended);
  RunTasks(absl::UnavailableError(absl::StrCat("jobs cannot be stored now: ", ended.message())));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_ending_) Log(LogLevel::kError, "jobs wait until they can be kept", "reason", ended.message());
  return kRetrySeconds;
}

// Whatever else has happened, the store is opened anew.
void JobSchedule::Rest(const absl::Status& ended) {
  const std::lock_guard<std::mutex> lock(mutex_);
  broken_ = ended;
  if (absl::IsResourceExhausted(ended)) return;
  resting_ = nullptr;
  store_ = nullptr;
}

ScheduleDriverOptions JobSchedule::Driving() {
  return {.strategy = options_.strategy,
          .kinds = AllJobKinds(),
          .jobs_at_once = options_.jobs_at_once,
          .is_endless = true,
          .slots_of = SlotsOf,
          .device_key = DeviceKeyOf,
          .gather = [this](const JobRecord& whole,
                           const std::map<size_t, JobRecord>& parts) { return Gather(whole, parts); },
          .on_stored =
              [this](const JobRecord& job, const StageRecord& stage) {
                // For a job that is over, files may come until it has no runner.
                if (job.state == JobState::kUnfinished) ForgetAllBut(job.files, job.spec.base);
                if (options_.on_device_used && UsesDevice(stage.stage))
                  options_.on_device_used(job.spec.owner, stage.end - stage.start);
                learning_->Offer(job);
                const std::lock_guard<std::mutex> lock(mutex_);
                ++counts_.stages;
                if (job.state != JobState::kUnfinished && job.spec.part == 0 && on_ended_)
                  on_ended_(job.spec.id);
              },
          .on_over = [this](const JobRecord& job) { ForgetAllBut(job.files, job.spec.base); }};
}

absl::Status JobSchedule::Serve() {
  if (store_ == nullptr) {
    ASSIGN_OR_RETURN(store_, SqlJobStore::Open(parts_.location, AllJobKinds()));
  }
  ASSIGN_OR_RETURN(ScheduleRecord record, store_->ResumeOrBeginEndless(kScheduleKey));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    resting_ = std::make_shared<const Resting>(store_, record.id);
  }
  Serving serving(store_, std::move(record), Driving(), parts_, hub_);
  ASSIGN_OR_RETURN(auto unfinished, serving.store->Jobs(serving.schedule, {.state = JobState::kUnfinished,
                                                                           .with_parts = true}));
  for (auto& [number, job] : unfinished) serving.Add(number, std::move(job));
  RETURN_IF_ERROR(credentials_.RevokeAll());
  serving.hosts.UpdateDevices();
  serving_ = &serving;
  for (;;) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_ending_) break;
      broken_ = absl::OkStatus();
    }
    RETURN_IF_ERROR(serving.hosts.UpdateMachines());
    if (serving.since_update.Seconds() > kUpdateSeconds) {
      serving.since_update.Lap();
      serving.hosts.UpdateDevices();
      RETURN_IF_ERROR(RevokeOld(serving));
      Count(serving);
    }
    if (options_.device_quota && serving.since_quotas.Seconds() > kQuotaSeconds) {
      serving.since_quotas.Lap();
      RETURN_IF_ERROR(HoldToQuotas(options_.device_quota, serving.driver));
    }
    RunTasks(&serving);
    RETURN_IF_ERROR(serving.broken);
    if (serving.hosts.is_out_of_date()) serving.hosts.UpdateDevices();
    RETURN_IF_ERROR(serving.driver.Step(kStepSeconds));
  }
  return serving.driver.StopAll();
}

void JobSchedule::RunTasks(const absl::StatusOr<Serving*>& serving) {
  std::vector<Task> tasks;
  std::vector<Submitted*> submitted;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks.swap(tasks_);
    submitted.swap(submitted_);
  }
  if (!submitted.empty()) Keep(serving, submitted);
  for (const Task& task : tasks) task(serving);
}

void JobSchedule::TellEnded(std::function<void(const std::string& job)> on_ended) {
  const std::lock_guard<std::mutex> lock(mutex_);
  on_ended_ = std::move(on_ended);
}

JobCounts JobSchedule::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  JobCounts counts = counts_;
  counts.are_kept = broken_.ok();
  return counts;
}

void JobSchedule::Count(const Serving& serving) {
  int64_t running = 0;
  for (const auto& [number, job] : serving.driver.jobs()) running += job.runs() ? 1 : 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  counts_.running = running;
  counts_.waiting = std::ssize(serving.driver.jobs()) - running;
  counts_.runners = serving.hosts.num_machines();
}

void JobSchedule::ForgetAllBut(const std::vector<JobFile>& files, const std::string& files_owner) {
  std::set<std::string> digests;
  for (const JobFile& file : files) digests.insert(file.digest);
  const absl::Status forgotten = files_->ForgetAllBut(files_owner, digests);
  if (!forgotten.ok()) Log(LogLevel::kWarning, "old files stay", "reason", forgotten.message());
  sent_.Forget(files_owner);
}

void JobSchedule::ForgetLate(const std::string& job, const std::string& files_owner) {
  const Task forget = [this, job, files_owner](const absl::StatusOr<Serving*>& serving) {
    if (!serving.ok()) return;
    const auto found = (*serving)->known.Find({.id = job});
    if (!found.ok() && !absl::IsNotFound(found.status())) return;
    const bool is_there = found.ok() && found->second.spec.base == files_owner;
    // If the job continues, another runner may be sending files, and the row changes in any case.
    if (is_there && found->second.state == JobState::kUnfinished) return;
    ForgetAllBut(is_there ? found->second.files : std::vector<JobFile>(), files_owner);
  };
  const absl::Status queued = Enqueue(tasks_, forget);
  if (!queued.ok()) Log(LogLevel::kWarning, "late files stay", "job", job, "reason", queued.message());
}

absl::StatusOr<std::vector<JobFile>> JobSchedule::Gather(const JobRecord& whole,
                                                         const std::map<size_t, JobRecord>& parts) {
  std::vector<JobFile> files = whole.files;
  std::erase_if(files, [](const JobFile& file) { return !file.name.starts_with(kInputsFolder); });
  for (const auto& [number, part] : parts) {
    for (JobFile file : part.files) {
      if (file.name.starts_with(kInputsFolder)) continue;
      RETURN_IF_ERROR(files_->Share(part.spec.base, whole.spec.base, file.digest));
      file.name.insert(0, PartFolder(part.spec.part));
      files.push_back(std::move(file));
    }
  }
  RETURN_IF_ERROR(CheckJobFiles(files));
  return files;
}

absl::StatusOr<JobSupplies> JobSchedule::Supply(const std::string& job) {
  ASSIGN_OR_RETURN(const auto found, serving_->known.Find({.id = job}));
  const JobRecord& record = found.second;
  JobSupplies supplies = {.spec = record.spec, .files = record.files, .files_owner = record.spec.base};
  if (record.spec.on.empty()) return supplies;
  ASSIGN_OR_RETURN(supplies.credentials, credentials_.New(record.spec));
  return supplies;
}

absl::Status JobSchedule::RevokeOld(const Serving& serving) {
  std::set<std::string_view> live;
  for (const auto& [number, job] : serving.driver.jobs()) live.insert(job.record().spec.id);
  return credentials_.KeepOnly(live);
}

}  // namespace attune
