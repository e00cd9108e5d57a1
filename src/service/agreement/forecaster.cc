#include "service/agreement/forecaster.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "compile/compile.h"
#include "kinds/option_settings.h"
#include "work/job/settings.h"

namespace attune {
namespace {

constexpr int64_t kMostAhead = 10'000;

int ThreadsOf(const nlohmann::json& settings) {
  int threads = 1;
  SettingsReader(settings, "").Read("threads", threads, 1, 1024);
  return threads;
}

// Nothing can be promised before there is a machine. One that is away may be back in a moment.
AgreementForecast WithLack(const MachineLack& lack, AgreementForecast forecast) {
  if (lack.waits_for.empty()) return forecast;
  if (lack.is_away) {
    if (forecast.reason.empty()) forecast.reason = absl::StrCat("the job would wait for ", lack.waits_for);
    return forecast;
  }
  forecast.verdict = Verdict::kRefused;
  forecast.reason = absl::StrCat("the server cannot promise anything before there is ", lack.waits_for);
  forecast.offers.clear();
  for (Promise& promise : forecast.promises) {
    promise.probability = 0;
    promise.state = PromiseState::kAtRisk;
  }
  return forecast;
}

AgreementForecast About(const ModelFacts& facts, AgreementForecast forecast) {
  forecast.network = facts.network;
  forecast.interface = facts.interface;
  return forecast;
}

// Says that a job will begin with what another tenant has measured.
void TakeShared(std::shared_ptr<const Observation> shared, AgreementForecast& forecast) {
  forecast.shared = std::move(shared);
  if (forecast.shared == nullptr) return;
  for (Promise& promise : forecast.promises) {
    if (promise.name == kLatencyMean || promise.name == kLatencyP99)
      promise.evidence.emplace_back(
          "records: another tenant shares those of this network; the job tries their kernels first");
  }
}

bool IsAccepted(const AgreementForecast& forecast) {
  return forecast.verdict != Verdict::kRefused && forecast.verdict != Verdict::kRenegotiated;
}

}  // namespace

absl::StatusOr<AgreementForecast> Forecaster::Forecast(const AskedJob& job) {
  if (job.kind != "tuning" && job.kind != "quantization")
    return InvalidInput("/agreement: promises are made for tuning and quantization, and not for ", job.kind);
  ASSIGN_OR_RETURN(const DeviceOfKey device, FindDeviceOfKey(devices_, job.tenant, job.on));
  if (!job.model.has_value()) return InvalidInput("/agreement: the job has no model among its inputs");
  ASSIGN_OR_RETURN(const std::shared_ptr<const ModelFacts> facts, facts_.Of(job.tenant, *job.model));
  RETURN_IF_ERROR(known_.Refresh());
  const int threads = ThreadsOf(job.settings);
  const bool may_be_known = job.kind == "tuning" && device.is_one_kind && !ChangeArtifact(job.settings);
  const AnswerQuery query = {.tenant = job.tenant,
                             .network = facts->network,
                             .interface = facts->interface,
                             .device = device.info.fingerprint,
                             .threads = threads,
                             .compiler = std::string(kCompilerVersion)};
  if (auto known = may_be_known ? known_.Find(query, job.agreement) : nullptr)
    return About(*facts, ForecastOfKnown(job.agreement, std::move(known)));
  ASSIGN_OR_RETURN(AgreementForecast predicted, Predict(job, *facts, device, threads));
  AgreementForecast forecast = About(*facts, std::move(predicted));
  if (may_be_known) TakeShared(known_.FindShared(query), forecast);
  return forecast;
}

absl::StatusOr<AgreementForecast> Forecaster::Predict(const AskedJob& job, const ModelFacts& facts,
                                                      const DeviceOfKey& device, int threads) {
  ASSIGN_OR_RETURN(const auto unfinished, jobs_.List({.state = JobState::kUnfinished, .most = kMostAhead}));
  const std::vector<JobAhead> ahead = JobsAheadOf(job.tenant, job.on, unfinished, devices_);
  const double alone = NominalSeconds(PlanOfSettings(SettingsWithin(job, 0), facts.tasks.size()));
  AskedJob limited = job;
  limited.settings = SettingsWithin(job, QueueSeconds(ahead, alone, device.count));
  ASSIGN_OR_RETURN(
      AgreementForecast forecast,
      PredictWithin({.job = limited, .facts = facts, .device = device, .threads = threads, .ahead = ahead}));
  ASSIGN_OR_RETURN(const MachineLack lack, jobs_.LackOf(job.tenant));
  return WithLack(lack, std::move(forecast));
}

absl::StatusOr<AgreementForecast> Forecaster::PredictWithin(const JobToPredict& asked) {
  const auto forecast_by = [&](Observers observers) -> absl::StatusOr<AgreementForecast> {
    ASSIGN_OR_RETURN(const JobForecast job, PredictJob(asked, observers, known_, quantizations_));
    return MakeForecast(asked.job.agreement, job);
  };
  ASSIGN_OR_RETURN(AgreementForecast by_all, forecast_by(Observers::kOwnAndSharing));
  if (IsAccepted(by_all)) return by_all;
  ASSIGN_OR_RETURN(AgreementForecast by_own, forecast_by(Observers::kOwn));
  return IsAccepted(by_own) ? by_own : by_all;
}

std::string Forecaster::RecordsFor(const AgreementForecast& forecast) {
  if (forecast.shared == nullptr) return "";
  const Observation& shared = *forecast.shared;
  absl::StatusOr<std::string> records =
      jobs_.RecordsForOthers({.id = shared.job, .owner = shared.tenant}, shared.device, shared.threads);
  if (records.ok()) return *std::move(records);
  // The job does without.
  Log(LogLevel::kWarning, "records are not shared", "job", shared.job, "reason", records.status().message());
  return "";
}

}  // namespace attune
