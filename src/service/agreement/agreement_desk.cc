#include "service/agreement/agreement_desk.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/guarded.h"
#include "base/json_object.h"
#include "base/log.h"
#include "base/status.h"
#include "compile/compile.h"
#include "device/codec.h"
#include "service/agreement/promises_of_job.h"
#include "service/agreement/size_model.h"
#include "work/job/job_id.h"
#include "work/job/settings.h"

namespace attune {
namespace {

using Json = nlohmann::json;
namespace proto = jobs_service_proto;

constexpr size_t kMostFacts = 512;
constexpr int64_t kMostAhead = 10'000, kMostToCatchUp = 1000;
constexpr double kImportSeconds = 30;
constexpr std::chrono::milliseconds kImportLook(20);
// Requests that wait for an import each hold a thread that answers requests.
constexpr int kMostWaiting = 4;

// A place among a few, until the end of its scope.
class WaitingPlace {
 public:
  WaitingPlace(std::atomic<int>& taken, int most) : taken_(taken), is_taken_(taken.fetch_add(1) < most) {}
  ~WaitingPlace() { taken_.fetch_sub(1); }
  WaitingPlace(const WaitingPlace&) = delete;
  WaitingPlace& operator=(const WaitingPlace&) = delete;
  bool is_taken() const { return is_taken_; }

 private:
  std::atomic<int>& taken_;
  const bool is_taken_;
};

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

// How many 8-bit integers a processor multiplies for one number of f32.
double IntegersForFloat(const Target& target) {
  constexpr double kTiles = 16, kDotProducts = 4, kPairs = 2;
  if (target.Has("amx_int8")) return kTiles;
  return target.Has("avx512_vnni") || target.Has("avx_vnni") ? kDotProducts : kPairs;
}

// The rates that the processor's kind lets expect, until some were measured.
Peaks UsualPeaks(const Target& target) {
  constexpr double kOperations = 2, kNarrow = 2;
  const double gflops = target.clock_ghz * kOperations * target.Lanes(sizeof(float)) * target.fma_per_cycle;
  return {.gflops_per_core = gflops,
          .bf16_gflops_per_core = kNarrow * gflops,
          .int8_gops_per_core = IntegersForFloat(target) * gflops,
          .l2_gb_per_s = target.clock_ghz * target.l2_bytes_per_cycle,
          .l3_gb_per_s = target.clock_ghz * target.l3_bytes_per_cycle,
          .memory_gb_per_s = target.clock_ghz * target.dram_bytes_per_cycle,
          .l2_bytes = target.l2_bytes};
}

// The rates that a device may have whose best measured ones these are: on a busy machine, all measurements
// may have been disturbed.
Peaks WithMargin(Peaks peaks) {
  constexpr double kMargin = 1.2;
  for (double Peaks::* rate :
       {&Peaks::gflops_per_core, &Peaks::bf16_gflops_per_core, &Peaks::int8_gops_per_core,
        &Peaks::l2_gb_per_s, &Peaks::l3_gb_per_s, &Peaks::memory_gb_per_s})
    peaks.*rate *= kMargin;
  return peaks;
}

int ThreadsOf(const Json& settings) {
  int threads = 1;
  SettingsReader(settings, "").Read("threads", threads, 1, 1024);
  return threads;
}

NetworkToPredict NetworkOf(const ModelFacts& facts, const Peaks& peaks, const std::string& device,
                           int threads, const Json& settings) {
  NetworkToPredict network = {.network = facts.network, .device = device, .threads = threads};
  for (const TaskFacts& task : facts.tasks) {
    constexpr double kAtOnce = 0;
    const double roofline = RooflineOf(task.work, kAtOnce, peaks, threads).seconds;
    network.tasks.push_back({.task = task.digest,
                             .kind = KindOfTask(task.description),
                             .uses = task.uses,
                             .flops = task.work.flops,
                             .bound = std::max(roofline, kLeastTaskSeconds)});
  }
  network.plan = PlanOfSettings(settings, network.tasks.size());
  return network;
}

// The job's own forecast counts from its first stage on; before that, the prediction for it.
double RemainingOf(const proto::Job& job) {
  constexpr double kUnknown = 30;
  const double usual = job.remaining_seconds() > 0 ? job.remaining_seconds() : kUnknown;
  const absl::StatusOr<KeptAgreement> kept = KeptAgreement::FromText(job.agreement());
  return kept.ok() && kept->finish_seconds > 0 ? std::min(usual, kept->finish_seconds) : usual;
}

// Nothing can be promised before there is a machine. One that is away may be back in a moment.
Outlook OutlookWith(const MachineLack& lack, Outlook outlook) {
  if (lack.waits_for.empty()) return outlook;
  if (lack.is_away) {
    if (outlook.reason.empty()) outlook.reason = absl::StrCat("the job would wait for ", lack.waits_for);
    return outlook;
  }
  outlook.verdict = Verdict::kRefused;
  outlook.reason = absl::StrCat("the server cannot promise anything before there is ", lack.waits_for);
  outlook.offers.clear();
  for (Promise& promise : outlook.promises) {
    promise.probability = 0;
    promise.state = PromiseState::kAtRisk;
  }
  return outlook;
}

Outlook About(const ModelFacts& facts, Outlook outlook) {
  outlook.network = facts.network;
  outlook.interface = facts.interface;
  return outlook;
}

// Says that a job will begin with what another tenant has measured.
void TakeShared(std::shared_ptr<const Observation> shared, Outlook& outlook) {
  outlook.shared = std::move(shared);
  if (outlook.shared == nullptr) return;
  for (Promise& promise : outlook.promises) {
    if (promise.name == kLatencyMean || promise.name == kLatencyP99)
      promise.evidence.emplace_back(
          "records: another tenant shares those of this network; the job tries their kernels first");
  }
}

}  // namespace

AgreementDesk::AgreementDesk(AgreementStore& store, Models& models, JobDesk& jobs,
                             const DeviceDirectory& devices, SharingTenants sharing)
    : models_(models), jobs_(jobs), devices_(devices), known_(store, std::move(sharing)) {}

absl::Status AgreementDesk::Begin() {
  jobs_.TellEnded([this](const std::string& job) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended_.push_back({.job = {.id = job}});
    }
    loop_.Wake();
  });
  return loop_.Start();
}

void AgreementDesk::Stop() {
  jobs_.TellEnded(nullptr);
  loop_.Stop();
}

double AgreementDesk::Step() {
  if (!std::exchange(has_caught_up_, true)) CatchUp();
  EndedJob job;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ended_.empty()) return BackgroundLoop::kUntilWoken;
    job = std::move(ended_.front());
    ended_.pop_front();
  }
  const absl::Status worked = Guarded([&] {
    if (job.is_new) CountPromises(job.job);
    Learn(job.job);
  });
  if (!worked.ok())
    Log(LogLevel::kError, "the model does not learn from a job", "job", job.job.id, "reason",
        worked.message());
  return 0;
}

// Jobs that an earlier process of the server has not learned from. The same twice does no harm.
void AgreementDesk::CatchUp() {
  const auto refreshed = known_.Refresh();
  const auto jobs = jobs_.List({.state = JobState::kDone, .most = kMostToCatchUp});
  if (!refreshed.ok() || !jobs.ok()) {
    Log(LogLevel::kWarning, "the model does not learn from earlier jobs", "reason",
        (refreshed.ok() ? jobs.status() : refreshed).message());
    return;
  }
  const std::set<std::string> learned = known_.Jobs();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const proto::Job& job : *jobs)
    if (job.kind() == "quantization" || (job.kind() == "tuning" && !learned.contains(job.id()) &&
                                         !learned.contains(StoredJobId(job.id(), job.owner()))))
      ended_.push_front({.job = {.id = job.id(), .owner = job.owner()}, .is_new = false});
}

void AgreementDesk::CountPromises(const JobQuery& job) {
  const absl::StatusOr<JobRecord> record = jobs_.Find(job);
  if (!record.ok()) return;  // Learn() says so
  promises_.Count(PromisesOf({.kind = record->spec.kind,
                              .state = std::string(Name(record->state)),
                              .agreement = record->spec.agreement,
                              .result = record->result,
                              .submitted_ms = record->submitted_ms,
                              .ended_ms = record->ended_ms}));
}

void AgreementDesk::Learn(const JobQuery& job) {
  const absl::StatusOr<JobRecord> record = jobs_.Find(job);
  if (!record.ok()) {
    Log(LogLevel::kWarning, "the model does not learn from a job", "job", job.id, "reason",
        record.status().message());
    return;
  }
  if (std::optional<Quantization> quantization = QuantizationOf(*record); quantization.has_value())
    quantizations_.Add(*std::move(quantization));
  const absl::StatusOr<Observation> observation = ObservationOf(*record);
  if (absl::IsNotFound(observation.status())) return;
  const absl::Status kept = observation.ok() ? known_.Add(*observation) : observation.status();
  if (!kept.ok())
    Log(LogLevel::kWarning, "the model does not learn from a job", "job", job.id, "reason", kept.message());
}

absl::StatusOr<AgreementDesk::DeviceOfKey> AgreementDesk::DeviceFor(const std::string& tenant,
                                                                    const std::string& key) const {
  DeviceOfKey device;
  for (const fleet_proto::Device& one : devices_.DevicesFor(tenant, key)) {
    const auto info = DecodeDevice(one.info());
    if (!one.is_there() || !info.ok()) continue;
    if (device.count++ == 0) device.info = *info;
    device.is_one_kind = device.is_one_kind && info->fingerprint == device.info.fingerprint;
  }
  if (const absl::Status served = devices_.CheckKey(key, tenant); !key.empty() && !served.ok())
    return Annotate(served, "/on");
  if (key.empty() || device.count == 0)
    return absl::NotFoundError(
        absl::StrCat("/on: no device has the key \"", key, "\", so that nothing can be promised"));
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
  std::optional<WaitingPlace> place;
  while (model.verdict.state == ModelState::kImporting) {
    if (!place) place.emplace(waiting_, kMostWaiting);
    if (watch.Seconds() > kImportSeconds || !place->is_taken())
      return absl::AbortedError("the model is still being imported; ask again");
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

absl::StatusOr<std::vector<JobAhead>> AgreementDesk::JobsAhead(const AskedJob& asked) {
  const std::set<std::string> devices = devices_.Meant(asked.tenant, asked.on);
  ASSIGN_OR_RETURN(const auto jobs, jobs_.List({.state = JobState::kUnfinished, .most = kMostAhead}));
  std::vector<JobAhead> ahead;
  for (const proto::Job& job : jobs)
    if (!job.on().empty() && devices_.Meant(job.owner(), job.on()) == devices)
      ahead.push_back({RemainingOf(job)});
  return ahead;
}

absl::StatusOr<QuantizationForecast> AgreementDesk::ForesightOfQuantization(const AskedJob& job,
                                                                            const ModelFacts& facts,
                                                                            const std::string& device,
                                                                            int threads,
                                                                            const Peaks& peaks) const {
  ASSIGN_OR_RETURN(const JudgingPlan plan, PlanOfJudging(job));
  return quantizations_.Predict({.tenant = job.tenant,
                                 .network = facts.network,
                                 .device = device,
                                 .threads = threads,
                                 .peaks = peaks,
                                 .weight_bytes = facts.weight_bytes,
                                 .plan = plan});
}

absl::StatusOr<Foresight> AgreementDesk::ForesightOf(const AskedJob& job, const ModelFacts& facts,
                                                     const DeviceOfKey& device, int threads,
                                                     std::span<const JobAhead> ahead, Observers observers) {
  const std::string& fingerprint = device.info.fingerprint;
  Peaks peaks = known_.PeaksOf(job.tenant, fingerprint, threads);
  Foresight sight = {.are_peaks_measured = peaks.gflops_per_core > 0};
  // Rates that were measured beside other work are too low, and would forbid what is possible.
  const Peaks usual = UsualPeaks(device.info.target);
  const Peaks highest =
      sight.are_peaks_measured ? WithMargin(BetterOf(peaks, usual)) : MostOf(device.info.target);
  if (!sight.are_peaks_measured) peaks = usual;
  constexpr double kMillis = 1e3;
  const CacheSizes caches = CachesOf(device.info.target);
  NetworkToPredict network = NetworkOf(facts, peaks, fingerprint, threads, job.settings);
  network.bound_ms = kMillis * facts.BoundSeconds(highest, caches, threads);
  sight.latency = known_.ModelFor(job.tenant, observers)->Predict(network);
  const auto seen = known_.SeenBy(job.tenant, observers);
  sight.finish = PredictFinish(network.plan, ahead, device.count, seen, facts.network);
  if (job.kind == "quantization") {
    ASSIGN_OR_RETURN(sight.quantization, ForesightOfQuantization(job, facts, fingerprint, threads, peaks));
    sight.latency.bound_ms = kMillis * facts.Quantized().BoundSeconds(highest, caches, threads);
    if (const double fastest = sight.quantization->fastest_ms; fastest > 0)
      sight.latency.bound_ms = std::min(sight.latency.bound_ms, fastest);
    sight.size_bytes = sight.quantization->bytes;
    sight.sizes = sight.quantization->jobs;
  } else {
    SizeForecast size = PredictSize(facts.network, facts.weight_bytes, seen);
    sight.size_bytes = std::move(size.bytes);
    sight.sizes = size.networks;
  }
  return sight;
}

absl::StatusOr<Outlook> AgreementDesk::OutlookFor(const AskedJob& job, const ModelFacts& facts,
                                                  const DeviceOfKey& device, int threads,
                                                  std::span<const JobAhead> ahead) {
  const auto outlook_by = [&](Observers observers) -> absl::StatusOr<Outlook> {
    ASSIGN_OR_RETURN(const Foresight sight, ForesightOf(job, facts, device, threads, ahead, observers));
    return MakeOutlook(job.agreement, sight);
  };
  ASSIGN_OR_RETURN(Outlook by_all, outlook_by(Observers::kOwnAndSharing));
  if (by_all.verdict != Verdict::kRefused && by_all.verdict != Verdict::kRenegotiated) return by_all;
  ASSIGN_OR_RETURN(Outlook by_own, outlook_by(Observers::kOwn));
  const bool is_better = by_own.verdict != Verdict::kRefused && by_own.verdict != Verdict::kRenegotiated;
  return is_better ? by_own : by_all;
}

absl::StatusOr<Outlook> AgreementDesk::Foresee(const AskedJob& job) {
  if (job.kind != "tuning" && job.kind != "quantization")
    return InvalidInput("/agreement: promises are made for tuning and quantization, and not for ", job.kind);
  ASSIGN_OR_RETURN(const DeviceOfKey device, DeviceFor(job.tenant, job.on));
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
    return About(*facts, OutlookOfKnown(job.agreement, std::move(known)));
  ASSIGN_OR_RETURN(const std::vector<JobAhead> ahead, JobsAhead(job));
  const double alone = NominalSeconds(PlanOfSettings(SettingsWithin(job, 0), facts->tasks.size()));
  AskedJob limited = job;
  limited.settings = SettingsWithin(job, QueueSeconds(ahead, alone, device.count));
  ASSIGN_OR_RETURN(Outlook foreseen, OutlookFor(limited, *facts, device, threads, ahead));
  ASSIGN_OR_RETURN(const MachineLack lack, jobs_.LackOf(job.tenant));
  Outlook outlook = About(*facts, OutlookWith(lack, std::move(foreseen)));
  if (may_be_known) TakeShared(known_.FindShared(query), outlook);
  return outlook;
}

std::string AgreementDesk::RecordsFor(const Outlook& outlook) {
  if (outlook.shared == nullptr) return "";
  const Observation& shared = *outlook.shared;
  absl::StatusOr<std::string> records =
      jobs_.RecordsForOthers({.id = shared.job, .owner = shared.tenant}, shared.device, shared.threads);
  if (records.ok()) return *std::move(records);
  // The job does without.
  Log(LogLevel::kWarning, "records are not shared", "job", shared.job, "reason", records.status().message());
  return "";
}

}  // namespace attune
