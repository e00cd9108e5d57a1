#include "service/server/job_schedule.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/log.h"
#include "base/private_file.h"
#include "base/status.h"
#include "base/threads.h"
#include "fleet/blobs/sql_blob_store.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/credentials.h"
#include "jobs/kind.h"
#include "jobs/schedule_summary.h"
#include "jobs/sql_job_store.h"
#include "service/job_files.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr double kStepSeconds = 0.1;
constexpr double kUpdateSeconds = 0.5;  // between two looks at the fleet's devices
constexpr std::chrono::seconds kRetryPause(5);
constexpr int64_t kMostStages = 1000;  // that a client is shown
constexpr char kScheduleKey[] = "server";
constexpr char kJobIdentity[] = "job";  // the ids of identities that jobs measure by begin so

std::vector<std::string> SlotsOf(const JobSpec& job) {
  std::vector<std::string> slots = {OwnerSlot(job.owner)};
  if (job.settings.is_object() && job.settings.contains("program") && job.settings["program"].is_string())
    slots.push_back(ProgramSlot(job.settings["program"].get<std::string>()));
  return slots;
}

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

// At a time, so that the schedule goes on in between.
constexpr int64_t kJobsAtOnce = 300;

bool UsesDevice(const StageRecord& stage) {
  return std::ranges::any_of(stage.stage.needs, [](const ResourceNeed& need) {
    return need.key.starts_with("device/") || need.key.starts_with("elsewhere/");
  });
}

}  // namespace

struct JobSchedule::Serving {
  // A device of the fleet that the schedule has.
  struct Device {
    int number = 0;  // with the driver
    std::set<std::string> keys;
  };

  std::unique_ptr<SqlJobStore> store;
  std::string schedule;
  std::unique_ptr<ScheduleDriver> driver;
  std::map<int64_t, int> hosts;           // by connection
  std::map<std::string, Device> devices;  // by id
  absl::Status broken;                    // why the driver and the store may differ
  Stopwatch since_update;

  proto::Job Describe(size_t number, const JobRecord& job) const {
    const auto found = driver->jobs().find(number);
    const JobManager* live = found == driver->jobs().end() ? nullptr : &found->second;
    proto::Job wire;
    wire.set_id(job.spec.id);
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
    if (const auto parts = driver->UnfinishedPartsOf(number); !parts.empty()) {
      DescribeParts(parts, job.spec.parts, wire);
      return wire;
    }
    wire.set_stage(live->stage().name);
    wire.set_waits_for(driver->WaitsFor(number));
    wire.set_runner(live->place());
    wire.set_remaining_seconds(live->remaining());
    wire.set_figures(live->record().figures);
    return wire;
  }

  // A whole job whose parts have not all ended: what they do.
  void DescribeParts(const std::vector<size_t>& unfinished, int parts, proto::Job& wire) const {
    std::set<std::string> stages, runners;
    std::vector<std::string> progress = {
        absl::StrCat(parts - std::ssize(unfinished), " of ", parts, " parts have ended")};
    double remaining = 0;
    for (const size_t number : unfinished) {
      const JobManager& part = driver->jobs().at(number);
      if (part.runs()) wire.set_state("running");
      if (!part.stage().name.empty()) stages.insert(part.stage().name);
      if (!part.place().empty()) runners.insert(part.place());
      if (const std::string why = driver->WaitsFor(number); !why.empty()) wire.set_waits_for(why);
      remaining = std::max(remaining, part.remaining());
      if (!part.record().progress.empty()) progress.push_back(part.record().progress);
    }
    wire.set_stage(absl::StrJoin(stages, ", "));
    wire.set_runner(absl::StrJoin(runners, ", "));
    wire.set_progress(absl::StrJoin(progress, "; "));
    wire.set_remaining_seconds(remaining);
  }

  // The job's latest stages, and those of its parts, in the order of their ends.
  absl::StatusOr<std::multimap<int64_t, proto::StageOfJob>> StagesOf(size_t number,
                                                                     const JobRecord& job) const {
    std::map<size_t, int> jobs = {{number, job.spec.part}};
    if (job.spec.parts > 1 && job.spec.part == 0) {
      ASSIGN_OR_RETURN(const auto parts, store->Jobs(schedule, {.parts_of = number}));
      for (const auto& [part, record] : parts) jobs[part] = record.spec.part;
    }
    std::multimap<int64_t, proto::StageOfJob> all;
    for (const auto& [one, part] : jobs) {
      ASSIGN_OR_RETURN(const auto stages, store->Stages(schedule, one, kMostStages));
      for (const StageRecord& stage : stages) all.emplace(stage.end_ms, ToWire(stage, part));
    }
    while (std::ssize(all) > kMostStages) all.erase(all.begin());
    return all;
  }

  // Looks into the store only if the job is over.
  absl::StatusOr<proto::Job> Describe(JobMark& mark) const {
    const auto live = driver->jobs().find(mark.number);
    if (mark.number > 0 && live != driver->jobs().end()) return Describe(mark.number, live->second.record());
    ASSIGN_OR_RETURN(const auto found, Find(mark.query));
    mark.number = found.first;
    return Describe(found.first, found.second);
  }

  // The one job that the query finds.
  absl::StatusOr<std::pair<size_t, JobRecord>> Find(const JobQuery& query) const {
    if (query.id.empty()) return NoSuchJob(query);
    ASSIGN_OR_RETURN(auto found, store->Jobs(schedule, query));
    if (found.empty()) return NoSuchJob(query);
    return *found.begin();
  }
};

absl::StatusOr<std::unique_ptr<JobSchedule>> JobSchedule::Open(const JobScheduleOptions& options,
                                                               const FleetServerParts& parts) {
  RETURN_IF_ERROR(MakePrivateFolder(options.folder));
  // Files go with their jobs, and never because others need the room.
  ASSIGN_OR_RETURN(std::unique_ptr<BlobStore> files,
                   OpenLastingBlobs(parts.location, "jobs", options.folder + "/files", {}));
  ASSIGN_OR_RETURN(ArtifactSigner signer, ArtifactSigner::OpenOrCreate(options.folder));
  return std::unique_ptr<JobSchedule>(new JobSchedule(options, parts, std::move(files), std::move(signer)));
}

absl::Status JobSchedule::Begin() {
  if (StartThread(thread_, [this] { Run(); })) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no more threads");
}

JobSchedule::JobSchedule(const JobScheduleOptions& options, const FleetServerParts& parts,
                         std::unique_ptr<BlobStore> files, ArtifactSigner signer)
    : options_(options),
      parts_(parts),
      files_(std::move(files)),
      signer_(std::move(signer)),
      hub_(*files_, [this](const std::string& job) { return Supply(job); }, &signer_) {}

JobSchedule::~JobSchedule() { Stop(); }

void JobSchedule::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  ends_.notify_all();
  hub_.Wake();
  if (thread_.joinable()) thread_.join();
}

void JobSchedule::Run() {
  for (;;) {
    const absl::Status ended = Serve();
    serving_ = nullptr;
    hub_.EndAll();
    RunTasks(absl::UnavailableError(absl::StrCat("jobs cannot be kept now: ", ended.message())));
    std::unique_lock<std::mutex> lock(mutex_);
    if (is_ending_) break;
    broken_ = ended;
    Log(LogLevel::kError, "jobs wait until they can be kept", "reason", ended.message());
    if (ends_.wait_for(lock, kRetryPause, [&] { return is_ending_; })) break;
  }
  RunTasks(absl::UnavailableError("the server is ending"));
}

absl::Status JobSchedule::Serve() {
  Serving serving;
  ASSIGN_OR_RETURN(serving.store, SqlJobStore::Open(parts_.location));
  ASSIGN_OR_RETURN(ScheduleRecord record, serving.store->ResumeOrBeginEndless(kScheduleKey));
  serving.schedule = record.id;
  ScheduleDriverOptions driving = {
      .strategy = options_.strategy,
      .jobs_at_once = options_.jobs_at_once,
      .is_endless = true,
      .slots_of = SlotsOf,
      .gather = [this](const JobRecord& whole,
                       const std::map<size_t, JobRecord>& parts) { return Gather(whole, parts); },
      .on_stored =
          [this](const JobRecord& job, const StageRecord& stage, const std::vector<JobFile>& before) {
            ForgetFiles(job, before);
            if (options_.on_device_used && UsesDevice(stage))
              options_.on_device_used(job.spec.owner, stage.end - stage.start);
            const std::lock_guard<std::mutex> lock(mutex_);
            ++counts_.stages;
            if (job.state != JobState::kUnfinished && job.spec.part == 0 && on_ended_) on_ended_(job.spec.id);
          }};
  serving.driver =
      std::make_unique<ScheduleDriver>(std::move(record), std::move(driving), *serving.store, hub_);
  ASSIGN_OR_RETURN(auto unfinished, serving.store->Jobs(serving.schedule, {.state = JobState::kUnfinished,
                                                                           .with_parts = true}));
  for (auto& [number, job] : unfinished) serving.driver->Add(number, std::move(job));
  RETURN_IF_ERROR(RevokeAll());
  UpdateDevices(serving);
  serving_ = &serving;
  for (;;) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_ending_) break;
      broken_ = absl::OkStatus();
    }
    RETURN_IF_ERROR(UpdateMachines(serving));
    if (serving.since_update.Seconds() > kUpdateSeconds) {
      serving.since_update.Lap();
      UpdateDevices(serving);
      RETURN_IF_ERROR(RevokeOld(serving));
      Count(serving);
    }
    RunTasks(&serving);
    RETURN_IF_ERROR(serving.broken);
    RETURN_IF_ERROR(serving.driver->Step(kStepSeconds));
  }
  return serving.driver->StopAll();
}

void JobSchedule::RunTasks(const absl::StatusOr<Serving*>& serving) {
  std::deque<Task> tasks;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const Task& task : tasks) task(serving);
}

template <typename Answer>
absl::StatusOr<Answer> JobSchedule::Ask(const std::function<absl::StatusOr<Answer>(Serving&)>& question) {
  std::promise<absl::StatusOr<Answer>> promise;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_ending_) return absl::UnavailableError("the server is ending");
    if (!broken_.ok())
      return absl::UnavailableError(absl::StrCat("jobs cannot be kept now: ", broken_.message()));
    tasks_.push_back([&](const absl::StatusOr<Serving*>& serving) {
      promise.set_value(serving.ok() ? question(**serving) : serving.status());
    });
  }
  hub_.Wake();
  return promise.get_future().get();
}

absl::Status JobSchedule::UpdateMachines(Serving& serving) {
  const auto changed = hub_.TakeChangedMachines();
  if (!changed) return absl::OkStatus();
  const std::map<int64_t, RunnerMachine>& machines = *changed;
  for (auto known = serving.hosts.begin(); known != serving.hosts.end();) {
    if (machines.contains(known->first)) {
      ++known;
      continue;
    }
    const int host = known->second;
    known = serving.hosts.erase(known);
    RETURN_IF_ERROR(serving.driver->RemoveHost(host));
  }
  for (const auto& [connection, machine] : machines) {
    if (serving.hosts.contains(connection)) continue;
    const int host = serving.driver->AddHost(machine.host, machine.id);
    serving.hosts[connection] = host;
    hub_.SetHost(connection, host);
  }
  return absl::OkStatus();
}

void JobSchedule::UpdateDevices(Serving& serving) {
  std::map<std::string, std::set<std::string>> there;
  for (const fleet_proto::Device& device : parts_.dispatcher.Devices("")) {
    if (!device.is_there() || !device.drained().empty()) continue;
    there[device.id()].insert(device.keys().begin(), device.keys().end());
  }
  std::erase_if(serving.devices, [&](const auto& known) {
    const auto& [id, device] = known;
    const auto now = there.find(id);
    if (now != there.end() && now->second == device.keys) return false;
    serving.driver->RemoveDevice(device.number);
    return true;
  });
  for (const auto& [id, keys] : there) {
    if (!serving.devices.contains(id)) serving.devices[id] = {serving.driver->AddDevice(keys), keys};
  }
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
  for (const auto& [number, job] : serving.driver->jobs()) running += job.runs() ? 1 : 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  counts_.running = running;
  counts_.waiting = std::ssize(serving.driver->jobs()) - running;
  counts_.runners = std::ssize(serving.hosts);
}

void JobSchedule::ForgetFiles(const JobRecord& job, const std::vector<JobFile>& before) {
  std::set<std::string_view> now;
  for (const JobFile& file : job.files) now.insert(file.digest);
  for (const JobFile& file : before) {
    if (now.contains(file.digest)) continue;
    const absl::Status forgotten = files_->Forget(job.spec.base, file.digest);
    if (!forgotten.ok()) Log(LogLevel::kWarning, "an old file stays", "reason", forgotten.message());
  }
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

absl::Status JobSchedule::Revoke(const std::string& identity) {
  parts_.dispatcher.ForgetPriority(identity);
  return parts_.store.RevokeIdentity(
      identity, {.reason = "its job is elsewhere or over", .time_ms = SystemClock().WallMillis()});
}

absl::Status JobSchedule::RevokeAll() {
  identities_.clear();
  ASSIGN_OR_RETURN(const std::vector<IssuedCertificate> issued, parts_.store.Certificates());
  const int64_t now_ms = SystemClock().WallMillis();
  for (const IssuedCertificate& certificate : issued) {
    const CertificateFacts& facts = certificate.facts;
    if (facts.who.id.starts_with(kJobIdentity) && !certificate.revocation && facts.end_ms > now_ms)
      RETURN_IF_ERROR(Revoke(facts.who.id));
  }
  return absl::OkStatus();
}

absl::Status JobSchedule::RevokeOld(const Serving& serving) {
  std::set<std::string_view> live;
  for (const auto& [number, job] : serving.driver->jobs()) live.insert(job.record().spec.id);
  for (auto entry = identities_.begin(); entry != identities_.end();) {
    if (live.contains(entry->first)) {
      ++entry;
      continue;
    }
    RETURN_IF_ERROR(Revoke(entry->second));
    entry = identities_.erase(entry);
  }
  return absl::OkStatus();
}

absl::StatusOr<JobSupplies> JobSchedule::Supply(const std::string& job) {
  ASSIGN_OR_RETURN(const auto found, serving_->Find({.id = job}));
  const JobRecord& record = found.second;
  JobSupplies supplies = {.files = record.files, .files_owner = record.spec.base};
  if (record.spec.on.empty()) return supplies;
  if (const auto before = identities_.find(job); before != identities_.end())
    RETURN_IF_ERROR(Revoke(before->second));
  ASSIGN_OR_RETURN(const FleetCredentials credentials,
                   parts_.admission.NewCredentials(
                       {.role = FleetRole::kClient, .owner = record.spec.owner, .id = kJobIdentity}));
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(credentials.certificate_pem));
  identities_[job] = facts.who.id;
  parts_.dispatcher.SetPriority(facts.who.id, record.spec.priority);
  supplies.credentials = FormatCredentials(credentials);
  return supplies;
}

absl::StatusOr<std::vector<proto::Job>> JobSchedule::Submit(const std::string& submission,
                                                            std::vector<JobRecord> jobs) {
  using Jobs = std::vector<proto::Job>;
  return Ask<Jobs>([&](Serving& serving) -> absl::StatusOr<Jobs> {
    for (JobRecord& job : jobs)
      if (job.spec.deadline_seconds) *job.spec.deadline_seconds += serving.driver->Now();
    const auto added = serving.store->AddJobs(serving.schedule, submission, jobs);
    // They may be there, although nobody has heard of it: the schedule begins again with what is.
    if (absl::IsUnavailable(added.status())) serving.broken = added.status();
    RETURN_IF_ERROR(added.status());
    Jobs described;
    for (const auto& [number, job] : *added) {
      // One that comes twice is known.
      if (job.state == JobState::kUnfinished && !serving.driver->jobs().contains(number))
        serving.driver->Add(number, job);
    }
    // With all its parts.
    for (const auto& [number, job] : *added)
      if (job.spec.part == 0) described.push_back(serving.Describe(number, job));
    return described;
  });
}

absl::StatusOr<std::vector<proto::Job>> JobSchedule::List(const JobQuery& query, bool with_judged) {
  using Jobs = std::vector<proto::Job>;
  return Ask<Jobs>([&](Serving& serving) -> absl::StatusOr<Jobs> {
    ASSIGN_OR_RETURN(const auto found, serving.store->Jobs(serving.schedule, query));
    Jobs described;
    for (const auto& [number, job] : found) {
      described.push_back(serving.Describe(number, job));
      // All together they may be larger than a message.
      if (!with_judged || job.spec.agreement.empty()) described.back().clear_result();
    }
    std::ranges::reverse(described);
    return described;
  });
}

absl::StatusOr<proto::JobDetail> JobSchedule::Show(const JobQuery& query) {
  return Ask<proto::JobDetail>([&](Serving& serving) -> absl::StatusOr<proto::JobDetail> {
    ASSIGN_OR_RETURN(const auto found, serving.Find(query));
    const auto& [number, job] = found;
    ASSIGN_OR_RETURN(auto stages, serving.StagesOf(number, job));
    proto::JobDetail detail;
    *detail.mutable_job() = serving.Describe(number, job);
    for (auto& [end_ms, stage] : stages) *detail.add_stages() = std::move(stage);
    *detail.mutable_files() = attune::ToWire(job.files);
    return detail;
  });
}

absl::StatusOr<std::vector<proto::Job>> JobSchedule::Changes(std::vector<JobMark>& marks) {
  using Jobs = std::vector<proto::Job>;
  return Ask<Jobs>([&](Serving& serving) -> absl::StatusOr<Jobs> {
    Jobs changed;
    for (JobMark& mark : marks) {
      absl::StatusOr<proto::Job> job = serving.Describe(mark);
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
  return Ask<JobRecord>([&](Serving& serving) -> absl::StatusOr<JobRecord> {
    ASSIGN_OR_RETURN(auto found, serving.Find(query));
    return std::move(found.second);
  });
}

absl::StatusOr<proto::Job> JobSchedule::Cancel(const JobQuery& query) {
  return Ask<proto::Job>([&](Serving& serving) -> absl::StatusOr<proto::Job> {
    ASSIGN_OR_RETURN(const auto found, serving.Find(query));
    serving.broken = serving.driver->Cancel(found.first);
    RETURN_IF_ERROR(serving.broken);
    ASSIGN_OR_RETURN(const auto now, serving.Find(query));
    return serving.Describe(now.first, now.second);
  });
}

absl::StatusOr<int64_t> JobSchedule::Unfinished(const std::string& owner) {
  return Ask<int64_t>([&](Serving& serving) -> absl::StatusOr<int64_t> {
    return std::ranges::count_if(serving.driver->jobs(), [&](const auto& numbered) {
      const JobManager& job = numbered.second;
      return !job.is_over() && job.record().spec.owner == owner;
    });
  });
}

absl::StatusOr<int64_t> JobSchedule::StoredBytes(const std::string& owner) {
  JobQuery query = {.owner = owner, .with_parts = true, .most = kJobsAtOnce};
  int64_t bytes = 0;
  for (bool is_last = false; !is_last;) {
    RETURN_IF_ERROR(Ask<bool>([&](Serving& serving) -> absl::StatusOr<bool> {
                      ASSIGN_OR_RETURN(const auto found, serving.store->Jobs(serving.schedule, query));
                      for (const auto& [number, job] : found)
                        for (const JobFile& file : job.files) bytes += file.bytes;
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
      serving.broken = serving.driver->Cancel(number);
      RETURN_IF_ERROR(serving.broken);
    }
    if (!unfinished.empty()) return false;
    ASSIGN_OR_RETURN(
        const auto over,
        serving.store->Jobs(serving.schedule, {.owner = owner, .with_parts = true, .most = kJobsAtOnce}));
    std::vector<size_t> numbers;
    for (const auto& [number, job] : over) {
      for (const JobFile& file : job.files) RETURN_IF_ERROR(files_->Forget(job.spec.base, file.digest));
      numbers.push_back(number);
    }
    RETURN_IF_ERROR(serving.store->RemoveJobs(serving.schedule, numbers));
    return over.empty();
  });
}

}  // namespace attune
