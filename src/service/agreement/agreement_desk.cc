#include "service/agreement/agreement_desk.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"
#include "compile/compile.h"
#include "device/codec.h"
#include "jobs/json_object.h"
#include "jobs/settings.h"
#include "service/agreement/promises_of_job.h"

namespace attune {
namespace {

using Json = nlohmann::json;
namespace proto = jobs_service_proto;

constexpr size_t kMostFacts = 512;
constexpr int64_t kMostAhead = 10'000, kMostToCatchUp = 1000;
constexpr double kImportSeconds = 30;
constexpr std::chrono::milliseconds kImportLook(20);

// The rates of the fastest processor of the kind that there can be: more than that, CheckPeaks() refuses.
Peaks MostOf(const Target& target) {
  constexpr double kMostGhz = 8, kOperations = 2, kNarrow = 16, kGigabytes = 1e6;
  const double gflops = kMostGhz * kOperations * target.Lanes(sizeof(float)) * target.fma_per_cycle;
  return {.gflops_per_core = gflops,
          .bf16_gflops_per_core = kNarrow * gflops,
          .int8_gops_per_core = kNarrow * gflops,
          .l2_gb_per_s = kGigabytes,
          .l3_gb_per_s = kGigabytes,
          .memory_gb_per_s = kGigabytes,
          .l2_bytes = target.l2_bytes};
}

// The rates that the processor's kind lets expect, until some were measured.
Peaks UsualPeaks(const Target& target) {
  constexpr double kOperations = 2, kNarrow = 2;
  const double gflops = target.clock_ghz * kOperations * target.Lanes(sizeof(float)) * target.fma_per_cycle;
  return {.gflops_per_core = gflops,
          .bf16_gflops_per_core = kNarrow * gflops,
          .int8_gops_per_core = kNarrow * kNarrow * gflops,
          .l2_gb_per_s = target.clock_ghz * target.l2_bytes_per_cycle,
          .l3_gb_per_s = target.clock_ghz * target.l3_bytes_per_cycle,
          .memory_gb_per_s = target.clock_ghz * target.dram_bytes_per_cycle,
          .l2_bytes = target.l2_bytes};
}

int ThreadsOf(const Json& settings) {
  int threads = 1;
  SettingsReader(settings, "").Read("threads", threads, 1, 1024);
  return threads;
}

NetworkToPredict NetworkOf(const ModelFacts& facts, const Peaks& peaks, const std::string& device,
                           int threads, const Json& settings) {
  NetworkToPredict network = {.device = device, .threads = threads};
  for (const TaskFacts& task : facts.tasks) {
    constexpr double kAtOnce = 0;
    const double bound = RooflineOf(task.work, kAtOnce, peaks, threads).seconds;
    if (bound <= 0) continue;
    network.tasks.push_back({.task = task.digest,
                             .kind = KindOfTask(task.description),
                             .uses = task.uses,
                             .flops = task.work.flops,
                             .bound = bound});
  }
  network.plan = PlanOfSettings(settings, network.tasks.size());
  return network;
}

// What a job itself says counts from its first stage on; before that, what was predicted for it.
double RemainingOf(const proto::Job& job) {
  constexpr double kUnknown = 30;
  const double usual = job.remaining_seconds() > 0 ? job.remaining_seconds() : kUnknown;
  const absl::StatusOr<KeptAgreement> kept = KeptAgreement::FromText(job.agreement());
  return kept.ok() && kept->finish_seconds > 0 ? std::min(usual, kept->finish_seconds) : usual;
}

}  // namespace

AgreementDesk::AgreementDesk(AgreementStore& store, Models& models, JobDesk& jobs,
                             const Dispatcher& dispatcher)
    : models_(models), jobs_(jobs), dispatcher_(dispatcher), known_(store) {}

absl::Status AgreementDesk::Begin() {
  jobs_.TellEnded([this](const std::string& job) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended_.push_back({.id = job});
    }
    changed_.notify_one();
  });
  if (StartThread(thread_, [this] { Run(); })) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no more threads");
}

void AgreementDesk::Stop() {
  jobs_.TellEnded(nullptr);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void AgreementDesk::Run() {
  CatchUp();
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_ending_ || !ended_.empty(); });
    if (is_ending_) return;
    const EndedJob job = std::move(ended_.front());
    ended_.pop_front();
    lock.unlock();
    if (job.is_new) CountPromises(job.id);
    Learn(job.id);
    lock.lock();
  }
}

// Jobs that an earlier process of the server has not learned from. The same twice does no harm.
void AgreementDesk::CatchUp() {
  const auto refreshed = known_.Refresh();
  const auto jobs = jobs_.List({.state = JobState::kDone, .most = kMostToCatchUp});
  if (!refreshed.ok() || !jobs.ok()) {
    Log(LogLevel::kWarning, "earlier jobs are not learned from", "reason",
        (refreshed.ok() ? jobs.status() : refreshed).message());
    return;
  }
  const std::set<std::string> learned = known_.Jobs();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const proto::Job& job : *jobs)
    if (job.kind() == "tuning" && !learned.contains(job.id()))
      ended_.push_front({.id = job.id(), .is_new = false});
}

void AgreementDesk::CountPromises(const std::string& job) {
  const absl::StatusOr<JobRecord> record = jobs_.Find({.id = job});
  if (!record.ok()) return;  // Learn() says so
  promises_.Count(PromisesOf({.kind = record->spec.kind,
                              .state = std::string(Name(record->state)),
                              .agreement = record->spec.agreement,
                              .result = record->result,
                              .submitted_ms = record->submitted_ms,
                              .ended_ms = record->ended_ms}));
}

void AgreementDesk::Learn(const std::string& job) {
  const absl::StatusOr<JobRecord> record = jobs_.Find({.id = job});
  if (!record.ok()) {
    Log(LogLevel::kWarning, "a job is not learned from", "job", job, "reason", record.status().message());
    return;
  }
  const absl::StatusOr<Observation> observation = ObservationOf(*record);
  if (absl::IsNotFound(observation.status())) return;
  const absl::Status kept = observation.ok() ? known_.Add(*observation) : observation.status();
  if (!kept.ok()) Log(LogLevel::kWarning, "a job is not learned from", "job", job, "reason", kept.message());
}

absl::StatusOr<AgreementDesk::DeviceOfKey> AgreementDesk::DeviceFor(const std::string& key) const {
  DeviceOfKey device;
  for (const fleet_proto::Device& one : dispatcher_.Devices(key)) {
    const auto info = DecodeDevice(one.info());
    if (!one.is_there() || !info.ok()) continue;
    if (device.count++ == 0) device.info = *info;
    device.is_one_kind = device.is_one_kind && info->fingerprint == device.info.fingerprint;
  }
  if (key.empty() || device.count == 0)
    return absl::NotFoundError(
        absl::StrCat("/on: no device with the key \"", key, "\" is there, so that nothing can be promised"));
  return device;
}

absl::StatusOr<std::shared_ptr<const ModelFacts>> AgreementDesk::FactsOf(const AskedJob& job) {
  if (!job.model.has_value()) return InvalidInput("/agreement: the job has no model among its inputs");
  const std::string key = absl::StrCat(job.tenant, "\n", IdOfModel(*job.model));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = facts_.find(key); found != facts_.end()) return found->second;
  }
  ASSIGN_OR_RETURN(KnownModel model, models_.Add(job.tenant, job.model->files.front().name, *job.model));
  const Stopwatch watch;
  while (model.verdict.state == ModelState::kImporting) {
    if (watch.Seconds() > kImportSeconds)
      return absl::UnavailableError("the model is still being imported; ask again");
    std::this_thread::sleep_for(kImportLook);
    ASSIGN_OR_RETURN(model, models_.Find(job.tenant, model.id));
  }
  if (model.verdict.state == ModelState::kRefused)
    return absl::UnimplementedError(absl::StrCat("/settings/model: ", model.verdict.error));
  ASSIGN_OR_RETURN(const Json json, ParseJsonObject<Json>(model.verdict.facts));
  ASSIGN_OR_RETURN(ModelFacts facts, ModelFactsOfJson(json));
  auto kept = std::make_shared<const ModelFacts>(std::move(facts));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (facts_.size() >= kMostFacts) facts_.clear();
  facts_[key] = kept;
  return kept;
}

absl::StatusOr<std::vector<JobAhead>> AgreementDesk::JobsAhead(const std::string& key) {
  ASSIGN_OR_RETURN(const auto jobs, jobs_.List({.state = JobState::kUnfinished, .most = kMostAhead}));
  std::vector<JobAhead> ahead;
  for (const proto::Job& job : jobs)
    if (job.on() == key) ahead.push_back({RemainingOf(job)});
  return ahead;
}

Foresight AgreementDesk::ForesightOf(const AskedJob& job, const ModelFacts& facts, const DeviceOfKey& device,
                                     int threads, std::span<const JobAhead> ahead) {
  const std::string& fingerprint = device.info.fingerprint;
  Peaks peaks = known_.PeaksOf(job.tenant, fingerprint, threads);
  Foresight sight = {.are_peaks_measured = peaks.gflops_per_core > 0,
                     .is_quantized = job.kind == "quantization"};
  // Rates that were measured beside other work are too low, and would forbid what is possible.
  const Peaks usual = UsualPeaks(device.info.target);
  const Peaks highest = sight.are_peaks_measured ? BetterOf(peaks, usual) : MostOf(device.info.target);
  const double bound = facts.BoundSeconds(highest, threads);
  if (!sight.are_peaks_measured) peaks = usual;
  const NetworkToPredict network = NetworkOf(facts, peaks, fingerprint, threads, job.settings);
  sight.latency = known_.ModelFor(job.tenant)->Predict(network);
  constexpr double kMillis = 1e3;
  sight.latency.bound_ms = kMillis * bound;
  const auto seen = known_.SeenBy(job.tenant);
  sight.finish = PredictFinish(network.plan, ahead, device.count, seen);
  sight.size_bytes = PredictSize(facts.weight_bytes, seen, &sight.sizes);
  return sight;
}

absl::StatusOr<Outlook> AgreementDesk::Foresee(const AskedJob& job) {
  if (job.kind != "tuning" && job.kind != "quantization")
    return InvalidInput("/agreement: promises are made for tuning and quantization, and not for ", job.kind);
  ASSIGN_OR_RETURN(const DeviceOfKey device, DeviceFor(job.on));
  ASSIGN_OR_RETURN(const std::shared_ptr<const ModelFacts> facts, FactsOf(job));
  RETURN_IF_ERROR(known_.Refresh());
  const int threads = ThreadsOf(job.settings);
  const bool may_be_known = job.kind == "tuning" && device.is_one_kind;
  const AnswerQuery query = {.tenant = job.tenant,
                             .network = facts->network,
                             .interface = facts->interface,
                             .device = device.info.fingerprint,
                             .threads = threads,
                             .compiler = std::string(kCompilerVersion)};
  if (auto known = may_be_known ? known_.Find(query, job.agreement) : nullptr)
    return OutlookOfKnown(job.agreement, std::move(known));
  ASSIGN_OR_RETURN(const std::vector<JobAhead> ahead, JobsAhead(job.on));
  const double alone = NominalSeconds(PlanOfSettings(WithinLimits(job, 0), facts->tasks.size()));
  AskedJob limited = job;
  limited.settings = WithinLimits(job, QueueSeconds(ahead, alone, device.count));
  return MakeOutlook(job.agreement, ForesightOf(limited, *facts, device, threads, ahead));
}

Json AgreementDesk::WithinLimits(const AskedJob& job, double queue_seconds) {
  Json settings = job.settings;
  // A quarter of the samples judges what the others have made.
  constexpr int kJudged = 4;
  if (job.kind == "quantization" && job.agreement.accuracy_loss.has_value() && !settings.contains("judged"))
    settings["judged"] = kJudged;
  if (job.kind != "tuning") return settings;
  // The time for opening the job, writing and judging its result; the least that is worth beginning with.
  constexpr double kAround = 12, kLeast = 5;
  double most = 0;
  SettingsReader(settings, "").ReadSeconds("time", most);
  const auto limit = [&](const std::optional<double>& asked, double besides) {
    if (!asked.has_value()) return;
    const double seconds = std::max(kLeast, *asked - kAround - besides);
    most = most > 0 ? std::min(most, seconds) : seconds;
  };
  limit(job.agreement.deadline_seconds, queue_seconds);
  limit(job.agreement.device_seconds, 0);
  if (most > 0) settings["time"] = most;
  return settings;
}

}  // namespace attune
