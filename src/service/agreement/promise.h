// One need of an agreement, and how it stands: predicted, or kept or not.
#ifndef ATTUNE_SERVICE_AGREEMENT_PROMISE_H_
#define ATTUNE_SERVICE_AGREEMENT_PROMISE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace attune {

enum class PromiseState : uint8_t {
  kUnknown,     // nothing tells
  kExpected,    // it holds with kEnough
  kAtRisk,      // it is less probable
  kImpossible,  // no result of any tuning can meet it
  kMet,         // the worse end of what was measured meets it
  kBroken,
};
inline constexpr PromiseState kPromiseStates[] = {PromiseState::kUnknown, PromiseState::kExpected,
                                                  PromiseState::kAtRisk,  PromiseState::kImpossible,
                                                  PromiseState::kMet,     PromiseState::kBroken};
std::string_view Name(PromiseState state);  // "unknown", "expected", "at_risk", "impossible", "met", "broken"
std::optional<PromiseState> ParsePromiseState(std::string_view name);

// The probability from which a promise is expected to hold.
inline constexpr double kEnough = 0.8;

inline constexpr char kLatencyMean[] = "latency_mean", kLatencyP99[] = "latency_p99",
                      kAccuracyLoss[] = "accuracy_loss", kSizeBytes[] = "size_bytes",
                      kDeadline[] = "deadline_seconds", kDeviceSeconds[] = "device_seconds";

// A quantity: a prediction's quantiles of 10, 50 and 90 percent, or a measured value between the ends of its
// interval.
struct PromiseRange {
  double low = 0, median = 0, high = 0;  // high may be infinite
};
// {"low": …, "median": …, "high": …}, the latter null if it is infinite.
nlohmann::json ToJson(const PromiseRange& range);
// Reads what ToJson() has written; zeros of null. Throws Json::exception.
PromiseRange RangeOfJson(const nlohmann::json& json);

struct Promise {
  std::string name = {};  // one of the above
  double limit = 0;       // at most: milliseconds, a share, bytes, or seconds
  PromiseState state = PromiseState::kUnknown;
  double probability = 0;                  // that it will be met; 1 or 0 once that is known
  PromiseRange range = {};                 // of the quantity
  std::vector<std::string> evidence = {};  // sentences for people
};

// Expected or at risk by its probability.
PromiseState StateOfProbability(double probability);
// The promise as it was measured: met if the worse end meets it.
Promise Judged(Promise promise, const PromiseRange& measured, std::string evidence);

nlohmann::json ToJson(const Promise& promise);
nlohmann::json ToJson(const std::vector<Promise>& promises);
// Reads what ToJson() has written.
absl::StatusOr<std::vector<Promise>> PromisesOfJson(const nlohmann::json& json);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_PROMISE_H_
