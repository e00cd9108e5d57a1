#include "service/agreement/outlook.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kNames = {"known", "accepted", "renegotiated", "refused"};

// The share of samples that int8 loses, of networks for images; and by how much it is faster.
const LogPrediction kQuantizationLoss(std::log(0.01), 1.1, 8);
constexpr double kQuantizationTime = 0.65, kQuantizationSpread = 0.4;

std::string Percent(double share) { return absl::StrFormat("%.0f %%", 100 * share); }

std::string TextOf(const std::string& name, double value) {
  if (name == kLatencyMean || name == kLatencyP99) return absl::StrFormat("%.4g ms", value);
  if (name == kSizeBytes) return absl::StrFormat("%.0f bytes", value);
  if (name == kAccuracyLoss) return absl::StrFormat("%.3g", value);
  return absl::StrFormat("%.4g s", value);
}

class Maker {
 public:
  Maker(const Agreement& agreement, const Foresight& foresight) : agreement_(agreement), sight_(foresight) {}

  Outlook Make() {
    AddLatency();
    AddPromise(kSizeBytes, agreement_.size_bytes, sight_.size_bytes, SizeEvidence());
    AddAccuracy();
    AddPromise(kDeadline, agreement_.deadline_seconds, sight_.finish.finish, FinishEvidence());
    AddBudget();
    outlook_.latency_ms = Latency(sight_.latency.mean).Range();
    outlook_.latency_prior_ms = Latency(sight_.latency.prior).Range();
    outlook_.finish_seconds = sight_.finish.finish.Range();
    outlook_.finish_prior_seconds = sight_.finish.prior.Range();
    outlook_.bound_ms = sight_.latency.bound_ms;
    outlook_.queue_seconds = sight_.finish.queue_seconds;
    Decide();
    return std::move(outlook_);
  }

 private:
  LogPrediction Latency(const LogPrediction& f32) const {
    return sight_.is_quantized ? f32.Times(kQuantizationTime).Widened(kQuantizationSpread) : f32;
  }

  void AddLatency() {
    const std::pair<const char*, std::pair<std::optional<double>, LogPrediction>> rows[] = {
        {kLatencyMean, {agreement_.mean_ms, sight_.latency.mean}},
        {kLatencyP99, {agreement_.p99_ms, sight_.latency.p99}}};
    for (const auto& [name, row] : rows) {
      if (!AddPromise(name, row.first, Latency(row.second), LatencyEvidence())) continue;
      Promise& promise = outlook_.promises.back();
      // The bound is that of the network as it is.
      if (sight_.is_quantized || promise.limit >= sight_.latency.bound_ms) continue;
      promise.state = PromiseState::kImpossible;
      promise.probability = 0;
    }
  }

  static constexpr double kOnTheSafeSide = 1.001;  // so that what is offered is promised

  bool AddPromise(const char* name, const std::optional<double>& limit, const LogPrediction& prediction,
                  std::vector<std::string> evidence) {
    if (!limit.has_value()) return false;
    const double probability = prediction.Probability(*limit);
    outlook_.promises.push_back({.name = name,
                                 .limit = *limit,
                                 .state = StateOfProbability(probability),
                                 .probability = probability,
                                 .range = prediction.Range(),
                                 .evidence = std::move(evidence)});
    if (probability < kEnough)
      outlook_.offers.push_back({name, kOnTheSafeSide * prediction.Quantile(kEnough)});
    return true;
  }

  void AddAccuracy() {
    if (!agreement_.accuracy_loss.has_value()) return;
    if (sight_.is_quantized) {
      AddPromise(kAccuracyLoss, agreement_.accuracy_loss, kQuantizationLoss,
                 {"prior: what int8 usually loses on samples that calibration did not see"});
      return;
    }
    outlook_.promises.push_back(
        {.name = kAccuracyLoss,
         .limit = *agreement_.accuracy_loss,
         .state = PromiseState::kExpected,
         .probability = 1,
         .evidence = {"tuning changes no result: every kernel is checked against the reference"}});
  }

  // The job's own limit of time is set by the budget, so that it is kept but for what a last stage may take
  // longer.
  void AddBudget() {
    if (!agreement_.device_seconds.has_value()) return;
    const LogPrediction used(std::log(sight_.finish.work_seconds), 0.25, 8);
    AddPromise(kDeviceSeconds, agreement_.device_seconds, used,
               {absl::StrFormat("plan: the job's stages take about %.0f s", sight_.finish.work_seconds)});
  }

  std::vector<std::string> LatencyEvidence() const {
    const LatencyForecast& latency = sight_.latency;
    std::vector<std::string> evidence = {absl::StrFormat(
        "roofline: no kernels bring it below %.4g ms%s", latency.bound_ms,
        sight_.are_peaks_measured ? "" : " on the fastest processor of that kind that there can be")};
    evidence.push_back(absl::StrFormat("prior: %.4g to %.4g ms by the roofline alone",
                                       latency.prior.Quantile(0.1), latency.prior.Quantile(0.9)));
    if (latency.networks > 0) {
      evidence.push_back(absl::StrCat("records: ", latency.networks, " networks tuned on this device, ",
                                      Percent(latency.share_known),
                                      " of this one's time in tasks among theirs"));
    }
    return evidence;
  }
  std::vector<std::string> SizeEvidence() const {
    return {absl::StrCat("constants of the model, and the artifacts of ", sight_.sizes, " networks")};
  }
  std::vector<std::string> FinishEvidence() const {
    return {absl::StrFormat("plan: about %.0f s of work", sight_.finish.work_seconds),
            absl::StrFormat("queue: about %.0f s of other jobs", sight_.finish.queue_seconds),
            absl::StrCat("records: ", sight_.finish.jobs, " jobs before")};
  }

  void Decide() {
    for (const Promise& promise : outlook_.promises) {
      if (promise.state == PromiseState::kImpossible) {
        outlook_.verdict = Verdict::kRefused;
        outlook_.reason = absl::StrCat(
            promise.name, ": ", TextOf(promise.name, promise.limit), " is below the roofline's bound of ",
            TextOf(promise.name, sight_.latency.bound_ms), "; no kernels reach it on this device");
        return;
      }
      if (promise.probability >= agreement_.least_probability || !outlook_.reason.empty()) continue;
      outlook_.verdict = Verdict::kRenegotiated;
      outlook_.reason = absl::StrCat(promise.name, ": ", TextOf(promise.name, promise.limit),
                                     " is met with a probability of ", Percent(promise.probability));
      const auto offer = std::ranges::find(outlook_.offers, promise.name, &Offer::name);
      if (offer != outlook_.offers.end())
        absl::StrAppend(&outlook_.reason, "; ", TextOf(offer->name, offer->limit), " is promised with ",
                        Percent(kEnough));
      absl::StrAppend(&outlook_.reason, ". Ask for that, or set least_probability to take the risk");
    }
  }

  const Agreement& agreement_;
  const Foresight& sight_;
  Outlook outlook_;
};

Json RangeJson(const PromiseRange& range) {
  return {{"low", range.low}, {"median", range.median}, {"high", range.high}};
}

}  // namespace

std::string_view Name(Verdict verdict) { return kNames[static_cast<size_t>(verdict)]; }

Outlook MakeOutlook(const Agreement& agreement, const Foresight& foresight) {
  return Maker(agreement, foresight).Make();
}

Outlook OutlookOfKnown(const Agreement& agreement, std::shared_ptr<const Observation> known) {
  Outlook outlook = {.verdict = Verdict::kKnown, .latency_ms = known->mean_ms};
  const std::string evidence = absl::StrCat("measured: ", known->runs,
                                            " runs of the whole network on this device, with these kernels");
  const auto add = [&](const char* name, const std::optional<double>& limit, const PromiseRange& range) {
    if (limit.has_value())
      outlook.promises.push_back(Judged({.name = name, .limit = *limit}, range, evidence));
  };
  const PromiseRange size = {known->artifact_bytes, known->artifact_bytes, known->artifact_bytes};
  add(kLatencyMean, agreement.mean_ms, known->mean_ms);
  add(kLatencyP99, agreement.p99_ms, known->p99_ms);
  add(kSizeBytes, agreement.size_bytes, size);
  add(kAccuracyLoss, agreement.accuracy_loss, {});
  add(kDeadline, agreement.deadline_seconds, {});
  add(kDeviceSeconds, agreement.device_seconds, {});
  outlook.known = std::move(known);
  return outlook;
}

LogPrediction PredictSize(double weight_bytes,
                          std::span<const std::shared_ptr<const Observation>> observations, int* networks) {
  // Code, and the manifest.
  constexpr double kBeside = 400e3;
  constexpr LogPrior kPrior = {.mean = 0, .spread = 0.3, .weight = 2, .degrees = 4};
  std::vector<double> log_ratios, weights;
  for (const auto& seen : observations) {
    if (seen->artifact_bytes <= 0 || seen->weight_bytes <= 0) continue;
    log_ratios.push_back(std::log(seen->artifact_bytes / (seen->weight_bytes + kBeside)));
    const double difference = std::log((seen->weight_bytes + kBeside) / (weight_bytes + kBeside));
    weights.push_back(std::exp(-difference * difference / 2));
  }
  *networks = static_cast<int>(log_ratios.size());
  return PredictNext(weight_bytes + kBeside, kPrior, log_ratios, weights);
}

Json ToJson(const Outlook& outlook) {
  Json offers = Json::array();
  for (const Offer& offer : outlook.offers)
    offers.push_back({{"name", offer.name}, {"limit", offer.limit}, {"probability", kEnough}});
  return {{"verdict", Name(outlook.verdict)},
          {"reason", outlook.reason},
          {"promises", ToJson(outlook.promises)},
          {"offers", std::move(offers)},
          {"latency_ms", RangeJson(outlook.latency_ms)},
          {"latency_prior_ms", RangeJson(outlook.latency_prior_ms)},
          {"bound_ms", outlook.bound_ms},
          {"finish_seconds", RangeJson(outlook.finish_seconds)},
          {"finish_prior_seconds", RangeJson(outlook.finish_prior_seconds)},
          {"queue_seconds", outlook.queue_seconds}};
}

}  // namespace attune
