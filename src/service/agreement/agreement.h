// The limits that a job's submission asks for; the server turns them into promises.
#ifndef ATTUNE_SERVICE_AGREEMENT_AGREEMENT_H_
#define ATTUNE_SERVICE_AGREEMENT_AGREEMENT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace attune {

// Nothing where nothing is asked for.
struct Agreement {
  std::optional<double> mean_ms = {}, p99_ms = {};  // of one inference, on the job's device and threads
  std::optional<double> accuracy_loss = {};         // at most: a share of samples, 0 to 1
  std::optional<double> size_bytes = {};            // of the artifact
  std::optional<double> deadline_seconds = {};      // after the submission
  std::optional<double> device_seconds = {};        // that the job may use
  std::string priority = "standard";                // a name in AllPriorityClasses()
  // A submission is refused if one of its promises is less probable.
  double least_probability = 0.5;

  bool operator==(const Agreement&) const = default;
};

// {"latency_ms": {"mean": 5, "p99": 7}, "accuracy_loss": 0.01, "size_bytes": …, "deadline_seconds": …,
// "device_seconds": …, "priority": "standard", "least_probability": 0.5}; what is not asked for is left out.
nlohmann::json ToJson(const Agreement& agreement);
// Fails, naming the field by its JSON pointer, if one is unknown or out of range.
absl::StatusOr<Agreement> AgreementOfJson(const nlohmann::json& json);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_AGREEMENT_H_
