#include "service/agreement/promises_of_job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/json_at.h"
#include "base/json_numbers.h"
#include "base/json_object.h"
#include "base/status.h"
#include "kinds/loss_judgement.h"
#include "service/agreement/log_prediction.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr double kMillis = 1e3;

Json ParsedOrEmpty(const std::string& text) {
  absl::StatusOr<Json> json = ParseJsonObject<Json>(text);
  return json.ok() ? *std::move(json) : Json::object();
}

// [value, low, high] as kinds/latency_judgement.h writes it.
std::optional<PromiseRange> JudgedRange(const Json& result, const char* name) {
  const Json::json_pointer place = Json::json_pointer("/judged") / name;
  if (!result.contains(place) || !result[place].is_array() || result[place].size() != 3) return std::nullopt;
  const Json& judged = result[place];
  if (!judged[0].is_number() || !judged[1].is_number()) return std::nullopt;
  return PromiseRange{
      judged[1], judged[0],
      judged[2].is_number() ? judged[2].get<double>() : std::numeric_limits<double>::infinity()};
}

PromiseRange Exactly(double value) { return {value, value, value}; }

class Standing {
 public:
  Standing(const JobToday& job, const KeptAgreement& kept)
      : job_(job), kept_(kept), result_(ParsedOrEmpty(job.result)), figures_(ParsedOrEmpty(job.figures)) {}

  Promise Of(Promise promise) const {
    if (job_.state == "failed" || job_.state == "cancelled") return OfFailed(std::move(promise));
    return job_.state == "done" ? OfDone(std::move(promise)) : OfLive(std::move(promise));
  }

 private:
  double Elapsed() const {
    const int64_t until = job_.ended_ms > 0 ? job_.ended_ms : job_.now_ms;
    return std::max(0.0, static_cast<double>(until - job_.submitted_ms) / kMillis);
  }

  Promise OfFailed(Promise promise) const {
    promise.state = PromiseState::kBroken;
    promise.probability = 0;
    promise.evidence = {absl::StrCat("the job has ", job_.state == "failed" ? "failed" : "been cancelled")};
    return promise;
  }

  // Without a measurement, what was promised was not shown to hold.
  Promise OfDone(Promise promise) const {
    if (promise.name == kDeadline)
      return Judged(std::move(promise), Exactly(Elapsed()), "measured: from the submission to the end");
    std::optional<PromiseRange> measured;
    if (promise.name == kLatencyMean) measured = JudgedRange(result_, "mean_ms");
    if (promise.name == kLatencyP99) measured = JudgedRange(result_, "p99_ms");
    if (promise.name == kSizeBytes) measured = Positive(NumberAt(result_, "/judged/artifact_bytes"));
    if (promise.name == kDeviceSeconds) measured = Exactly(NumberAt(result_, "/device_seconds"));
    if (promise.name == kAccuracyLoss) measured = Loss();
    if (job_.kind == "quantization") measured = OfBestVariant(promise.name, measured);
    const bool is_latency = promise.name == kLatencyMean || promise.name == kLatencyP99;
    if (measured.has_value() && is_latency && IsDisturbed())
      return OfDisturbed(std::move(promise), *measured);
    if (measured.has_value()) {
      std::string evidence = Evidence(promise.name);
      return Judged(std::move(promise), *measured, std::move(evidence));
    }
    promise.state = PromiseState::kBroken;
    promise.probability = 0;
    promise.evidence = {"it was not measured"};
    return promise;
  }

  // Where it says how the latency was measured.
  Json Latency() const { return job_.kind == "quantization" ? Best() : result_.value("judged", Json()); }
  bool IsDisturbed() const {
    const Json latency = Latency();
    return latency.is_object() && latency.contains("is_disturbed") && latency["is_disturbed"] == true;
  }

  // Measurements while other programs had the processors say nothing about the network.
  Promise OfDisturbed(Promise promise, const PromiseRange& measured) const {
    promise.state = PromiseState::kUnknown;
    promise.evidence.insert(
        promise.evidence.begin(),
        absl::StrFormat(
            "not judged: other programs disturbed the device at each attempt (the network waited for "
            "processors for %.0f %% of the time, and took %.4g ms then); try again when it is quiet",
            100 * NumberAt(Latency(), "/waited_share"), measured.median));
    return promise;
  }

  std::string Evidence(const std::string& name) const {
    if (name == kLatencyMean || name == kLatencyP99)
      return absl::StrFormat("measured: %.0f runs of the whole network", NumberAt(result_, "/judged/runs"));
    if (name == kAccuracyLoss && job_.kind == "quantization")
      return absl::StrFormat("measured: %.0f samples outside the calibration",
                             NumberAt(Best(), "/judged_samples"));
    return name == kAccuracyLoss ? "every kernel was checked against the reference" : "measured";
  }

  static std::optional<PromiseRange> Positive(double value) {
    return value > 0 ? std::optional(Exactly(value)) : std::nullopt;
  }

  // Tuned kernels compute what the model says.
  std::optional<PromiseRange> Loss() const {
    return job_.kind == "tuning" ? std::optional(Exactly(0)) : std::nullopt;
  }

  Json Best() const {
    if (!result_.contains("variants") || !result_.contains("best")) return Json::object();
    for (const Json& variant : result_["variants"])
      if (variant.is_object() && variant.contains("name") && variant["name"] == result_["best"])
        return variant;
    return Json::object();
  }

  // The best of several variants was chosen by the same samples, so that each counts as if all had been
  // asked.
  std::optional<PromiseRange> OfBestVariant(const std::string& name,
                                            std::optional<PromiseRange> otherwise) const {
    const Json best = Best();
    if (best.empty()) return std::nullopt;
    if (name == kAccuracyLoss) {
      // More samples would narrow the interval by little, and each takes time here.
      constexpr double kMaxSamples = 10'000;
      const double samples = std::min(NumberAt(best, "/judged_samples"), kMaxSamples);
      constexpr double kUnknown = -1;
      const double loss = NumberAt(best, "/judged_loss", kUnknown);
      if (samples <= 0 || loss < 0 || loss > 1) return std::nullopt;
      return PromiseRange{0, loss, UpperLoss(loss, samples, static_cast<int>(result_["variants"].size()))};
    }
    const double ms = NumberAt(best, "/ms"), baseline = NumberAt(best, "/baseline_ms");
    const double fastest = NumberAt(best, "/speedup_high"), slowest = NumberAt(best, "/speedup_low");
    if (name == kLatencyMean && slowest > 0) return PromiseRange{baseline / fastest, ms, baseline / slowest};
    if (name == kSizeBytes) return Positive(NumberAt(best, "/artifact_bytes"));
    return otherwise;
  }

  Promise OfLive(Promise promise) const {
    if (job_.state == "waiting" && job_.figures.empty() && promise.name != kDeadline) return promise;
    if (promise.name == kLatencyMean || promise.name == kLatencyP99) return OfLatency(std::move(promise));
    if (promise.name == kDeadline) return OfClock(std::move(promise), Elapsed(), job_.remaining_seconds);
    if (promise.name == kDeviceSeconds) {
      const double used = NumberAt(figures_, "/device_seconds");
      return OfClock(std::move(promise), used, job_.remaining_seconds);
    }
    return promise;
  }

  // A sum of kernels' times is nearly that of the network; what is left of the search may lower it still. The
  // slowest runs follow from the mean, so that what is said of both agrees.
  Promise OfLatency(Promise promise) const {
    const double best = NumberAt(figures_, "/latency_ms");
    // Jobs that older servers have stored have a promise only.
    const PromiseRange expected = kept_.latency_ms.low > 0 ? kept_.latency_ms : promise.range;
    if (best <= 0 || expected.low <= 0 || promise.state == PromiseState::kImpossible) return promise;
    constexpr double kNormal = 2 * 1.2816, kOfSum = 0.08, kDegrees = 8, kBetweenTailAndMean = 1.15;
    const double left = job_.remaining_seconds > 0
                            ? job_.remaining_seconds / (job_.remaining_seconds + std::max(Elapsed(), 1.0))
                            : 0.5;
    const double spread = std::log(expected.high / expected.low) / kNormal;
    const double hoped = std::min(std::log(best), std::log(expected.median));
    LogPrediction prediction = LogPrediction((1 - left) * std::log(best) + left * hoped,
                                             std::hypot(kOfSum, spread * std::sqrt(left)), kDegrees)
                                   .AtLeast(std::min(kept_.bound_ms, best));
    if (promise.name == kLatencyP99)
      prediction = prediction.Times(kept_.slowest_ms.median > kept_.latency_ms.median
                                        ? kept_.slowest_ms.median / kept_.latency_ms.median
                                        : kBetweenTailAndMean);
    promise.evidence.insert(promise.evidence.begin(),
                            absl::StrFormat("measured: the best kernels so far take %.4g ms together", best));
    const double probability = prediction.Probability(promise.limit);
    return Updated(std::move(promise), prediction.Range(), probability);
  }

  // Time that has passed is certain, and what is left is not.
  static Promise OfClock(Promise promise, double passed, double left) {
    if (passed > promise.limit) {
      promise = Judged(std::move(promise), Exactly(passed), "measured: the limit has passed");
      return promise;
    }
    if (left <= 0) {
      promise.range.low = std::max(promise.range.low, passed);
      return promise;
    }
    constexpr double kSpread = 0.35, kDegrees = 8;
    const LogPrediction rest(std::log(left), kSpread, kDegrees);
    const PromiseRange range = rest.Range();
    promise.evidence.insert(promise.evidence.begin(),
                            absl::StrFormat("measured: %.0f s so far; about %.0f s are left", passed, left));
    const double probability = rest.Probability(promise.limit - passed);
    return Updated(std::move(promise), {passed + range.low, passed + range.median, passed + range.high},
                   probability);
  }

  static Promise Updated(Promise promise, const PromiseRange& range, double probability) {
    promise.range = range;
    promise.probability = probability;
    promise.state = StateOfProbability(probability);
    return promise;
  }

  const JobToday& job_;
  const KeptAgreement& kept_;
  const Json result_, figures_;
};

}  // namespace

std::string KeptAgreement::ToText() const {
  return Json{
      {"agreement", ToJson(agreement)},   {"promises", ToJson(promises)}, {"latency_ms", ToJson(latency_ms)},
      {"slowest_ms", ToJson(slowest_ms)}, {"bound_ms", bound_ms},         {"queue_seconds", queue_seconds},
      {"finish_seconds", finish_seconds}, {"network", network},           {"interface", interface}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<KeptAgreement> KeptAgreement::FromText(const std::string& text) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonObject<Json>(text));
  try {
    KeptAgreement kept = {.latency_ms = RangeOfJson(json.value("latency_ms", Json())),
                          .slowest_ms = RangeOfJson(json.value("slowest_ms", Json())),
                          .bound_ms = NumberAt(json, "/bound_ms"),
                          .queue_seconds = NumberOf(json.at("queue_seconds")),
                          .finish_seconds = NumberAt(json, "/finish_seconds"),
                          .network = json.value("network", ""),
                          .interface = json.value("interface", "")};
    ASSIGN_OR_RETURN(kept.agreement, AgreementOfJson(json.at("agreement")));
    ASSIGN_OR_RETURN(kept.promises, PromisesOfJson(json.at("promises")));
    return kept;
  } catch (const Json::exception& error) {
    return InvalidInput(error.what());
  }
}

std::vector<Promise> PromisesOf(const JobToday& job) {
  if (job.agreement.empty()) return {};
  const absl::StatusOr<KeptAgreement> kept = KeptAgreement::FromText(job.agreement);
  if (!kept.ok()) return {};
  const Standing standing(job, *kept);
  std::vector<Promise> promises;
  for (const Promise& promise : kept->promises) promises.push_back(standing.Of(promise));
  return promises;
}

}  // namespace attune
