#include "service/agreement/outlook.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kinds/loss_judgement.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kNames = {"known", "accepted", "renegotiated", "refused"};

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
    outlook_.slowest_ms = Slowest().Range();
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
    if (!sight_.quantization.has_value()) return f32;
    const LogPrediction& ratio = sight_.quantization->latency_ratio;
    return f32.Times(ratio.Quantile(0.5)).Widened(ratio.Spread()).AtLeast(sight_.latency.bound_ms);
  }
  // Each quantile is at least that of the mean.
  LogPrediction Slowest() const { return Latency(sight_.latency.mean).TimesAnyOf(sight_.latency.slowest); }

  void AddLatency() {
    const std::pair<const char*, std::pair<std::optional<double>, LogPrediction>> rows[] = {
        {kLatencyMean, {agreement_.mean_ms, Latency(sight_.latency.mean)}},
        {kLatencyP99, {agreement_.p99_ms, Slowest()}}};
    for (const auto& [name, row] : rows) {
      if (!AddPromise(name, row.first, row.second, LatencyEvidence())) continue;
      const Promise& promise = outlook_.promises.back();
      if (promise.limit >= sight_.latency.bound_ms) continue;
      CallImpossible(absl::StrCat(TextOf(name, promise.limit), " is below the roofline's bound of ",
                                  TextOf(name, sight_.latency.bound_ms),
                                  "; no kernels reach it on this device"));
    }
  }

  // Marks the promise that was added last as impossible; the first such sentence becomes the reason.
  void CallImpossible(const std::string& why) {
    Promise& promise = outlook_.promises.back();
    promise.state = PromiseState::kImpossible;
    promise.probability = 0;
    if (impossible_.empty()) impossible_ = absl::StrCat(promise.name, ": ", why);
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
    if (sight_.quantization.has_value()) return AddLoss(*agreement_.accuracy_loss, *sight_.quantization);
    outlook_.promises.push_back(
        {.name = kAccuracyLoss,
         .limit = *agreement_.accuracy_loss,
         .state = PromiseState::kExpected,
         .probability = 1,
         .evidence = {"tuning changes no result: every kernel is checked against the reference"}});
  }

  void AddLoss(double limit, const QuantizationForecast& quantization) {
    const JudgingPlan& plan = quantization.plan;
    const double probability = ProbabilityToShow(quantization.loss, plan, limit);
    Promise promise = {.name = kAccuracyLoss,
                       .limit = limit,
                       .state = StateOfProbability(probability),
                       .probability = probability,
                       .range = AsShare(quantization.loss.Range()),
                       .evidence = {LossEvidence(quantization), SamplesEvidence(limit, plan)}};
    outlook_.promises.push_back(std::move(promise));
    const std::optional<int64_t> needed = SamplesToShow(limit, plan.variants);
    if (!needed.has_value()) {
      CallImpossible("no number of samples shows that nothing is lost");
    } else if (plan.Judged() < *needed) {
      CallImpossible(absl::StrCat(TextOf(kAccuracyLoss, limit), " ", NeededText(*needed, plan),
                                  "; the job has ", plan.samples));
    } else if (probability < kEnough) {
      const double offered = OfferedLoss(quantization.loss, plan, kEnough);
      if (offered < 1) outlook_.offers.push_back({kAccuracyLoss, offered});
    }
  }

  static PromiseRange AsShare(const PromiseRange& range) {
    return {std::min(range.low, 1.0), std::min(range.median, 1.0), std::min(range.high, 1.0)};
  }

  static std::string NeededText(int64_t needed, const JudgingPlan& plan) {
    std::string text = absl::StrCat("needs ", needed * plan.period, " samples: ", needed,
                                    " must be judged without an error");
    if (plan.variants > 1)
      absl::StrAppend(&text, ", since the best of ", plan.variants, " variants is taken");
    absl::StrAppend(&text, ", and one of ", plan.period, " judges");
    return text;
  }

  static std::string SamplesEvidence(double limit, const JudgingPlan& plan) {
    const std::optional<int64_t> needed = SamplesToShow(limit, plan.variants);
    if (!needed.has_value()) return "samples: no number of them shows that nothing is lost";
    return absl::StrCat("samples: this limit ", NeededText(*needed, plan), "; the job has ", plan.samples,
                        ", of which ", plan.Judged(), " judge");
  }

  static std::string LossEvidence(const QuantizationForecast& quantization) {
    if (quantization.jobs == 0) return "prior: loss of quantized networks on samples outside the calibration";
    return absl::StrCat("records: loss of ", quantization.jobs, " earlier quantizations");
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
    std::vector<std::string> evidence;
    if (latency.measurements > 0)
      evidence.push_back(absl::StrFormat(
          "measured: this network took %.4g to %.4g ms%s on such a device, in %d job%s", latency.measured.low,
          latency.measured.high, sight_.quantization.has_value() ? " in f32" : "", latency.measurements,
          latency.measurements == 1 ? "" : "s"));
    evidence.push_back(
        absl::StrFormat("roofline: no kernels bring it below %.4g ms%s", latency.bound_ms,
                        sight_.are_peaks_measured ? "" : " on the fastest possible processor of that kind"));
    const PromiseRange prior = Latency(latency.prior).Range();
    evidence.push_back(
        absl::StrFormat("prior: %.4g to %.4g ms by the roofline alone", prior.low, prior.high));
    if (sight_.quantization.has_value()) {
      const PromiseRange ratio = sight_.quantization->latency_ratio.Range();
      evidence.push_back(absl::StrFormat(
          "quantized: %.2f to %.2f of the time in f32, by %s", ratio.low, ratio.high,
          sight_.quantization->jobs > 0 ? absl::StrCat(sight_.quantization->jobs, " quantizations before")
                                        : "the processor's rates for 8-bit integers and f32"));
    }
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
            absl::StrCat("records: ", sight_.finish.jobs, " earlier jobs")};
  }

  void Decide() {
    if (!impossible_.empty()) {
      outlook_.verdict = Verdict::kRefused;
      outlook_.reason = impossible_;
      return;
    }
    for (const Promise& promise : outlook_.promises) {
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
  std::string impossible_;  // why a promise is
  Outlook outlook_;
};

}  // namespace

std::string_view Name(Verdict verdict) { return kNames[static_cast<size_t>(verdict)]; }

Outlook MakeOutlook(const Agreement& agreement, const Foresight& foresight) {
  return Maker(agreement, foresight).Make();
}

Outlook OutlookOfKnown(const Agreement& agreement, std::shared_ptr<const Observation> known) {
  Outlook outlook = {.verdict = Verdict::kKnown, .latency_ms = known->mean_ms, .slowest_ms = known->p99_ms};
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

Json ToJson(const Outlook& outlook) {
  Json offers = Json::array();
  for (const Offer& offer : outlook.offers)
    offers.push_back({{"name", offer.name}, {"limit", offer.limit}, {"probability", kEnough}});
  return {{"verdict", Name(outlook.verdict)},
          {"reason", outlook.reason},
          {"promises", ToJson(outlook.promises)},
          {"offers", std::move(offers)},
          {"latency_ms", attune::ToJson(outlook.latency_ms)},
          {"latency_prior_ms", attune::ToJson(outlook.latency_prior_ms)},
          {"bound_ms", outlook.bound_ms},
          {"finish_seconds", attune::ToJson(outlook.finish_seconds)},
          {"finish_prior_seconds", attune::ToJson(outlook.finish_prior_seconds)},
          {"queue_seconds", outlook.queue_seconds}};
}

}  // namespace attune
