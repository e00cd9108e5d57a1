// The forecast of an agreement before work starts: each promise with its probability, and the verdict.
#ifndef ATTUNE_SERVICE_AGREEMENT_OUTLOOK_H_
#define ATTUNE_SERVICE_AGREEMENT_OUTLOOK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"
#include "service/agreement/agreement.h"
#include "service/agreement/duration_model.h"
#include "service/agreement/latency_model.h"
#include "service/agreement/observation.h"
#include "service/agreement/promise.h"
#include "service/agreement/quantization_model.h"

namespace attune {

enum class Verdict : uint8_t {
  kKnown,         // the answer is there
  kAccepted,      // each promise is probable enough
  kRenegotiated,  // one is not; the offers would be
  kRefused,       // one is impossible
};
std::string_view Name(Verdict verdict);  // "known", "accepted", "renegotiated", "refused"

// A limit that would be promised with the probability kEnough.
struct Offer {
  std::string name = {};  // of the promise
  double limit = 0;
};

struct Outlook {
  Verdict verdict = Verdict::kAccepted;
  std::string reason = {};  // a sentence, unless it is accepted or known
  std::vector<Promise> promises = {};
  std::vector<Offer> offers = {};
  PromiseRange latency_ms = {}, slowest_ms = {};  // of the mean, and of 99 of 100 inferences
  PromiseRange latency_prior_ms = {};
  PromiseRange finish_seconds = {}, finish_prior_seconds = {};
  double bound_ms = 0, queue_seconds = 0;
  std::shared_ptr<const Observation> known = {};
  // The other tenant whose records the job is to start with; null: there is none.
  std::shared_ptr<const Observation> shared = {};
  std::string network = {}, interface = {};  // of the job's model, as in ModelFacts
};

// The facts that are known when a job is submitted.
struct Foresight {
  LatencyForecast latency = {};     // in f32; but its bound is that of what the job makes
  bool are_peaks_measured = false;  // else the bound is that of the fastest such processor there can be
  FinishForecast finish = {};
  LogPrediction size_bytes = {};
  int sizes = 0;  // networks that tell of it
  // For jobs that make a network of integer arithmetic, and may lose accuracy.
  std::optional<QuantizationForecast> quantization = {};
};

Outlook MakeOutlook(const Agreement& agreement, const Foresight& foresight);
// Returns the forecast of an agreement that this answer meets.
Outlook OutlookOfKnown(const Agreement& agreement, std::shared_ptr<const Observation> known);

nlohmann::json ToJson(const Outlook& outlook);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_OUTLOOK_H_
