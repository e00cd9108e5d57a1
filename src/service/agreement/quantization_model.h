// Predicts what quantizing a network costs in accuracy and gains in time, and whether its samples can show
// it.
//
// Problem: how much a network loses is known only when it has been quantized, and a promise is judged by a
// few samples. Idea: without quantizations before, the processor's rates tell the gain in time, and networks
// that Attune was tried on tell the loss; each job that quantizes tells more, that of the same network most
// (log_prediction.h). A promise is then as probable as that the errors among the samples that judge are few
// enough to show it (kinds/loss_judgement.h).
#ifndef ATTUNE_SERVICE_AGREEMENT_QUANTIZATION_MODEL_H_
#define ATTUNE_SERVICE_AGREEMENT_QUANTIZATION_MODEL_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/peaks.h"
#include "nlohmann/json.hpp"
#include "service/agreement/log_prediction.h"
#include "work/store/stage_log.h"

namespace attune {

// How a job judges its loss.
struct JudgingPlan {
  int64_t samples = 0;    // that it has
  int period = 1;         // one sample in this many is judged
  int variants = 1;       // that the best is taken of
  bool is_mixed = false;  // all of them leave layers in floats that lose much

  int64_t Judged() const { return samples / period; }
};

// A quantization that is over: its best variant.
struct Quantization {
  std::string job = {}, tenant = {};
  std::string network = {}, device = {};  // the digest and the fingerprint; empty: unknown
  int threads = 1;
  double latency_ms = 0, latency_ratio = 0;     // the latter to f32
  double loss = 0, judged = 0;                  // the number of these samples; 0: none was judged
  double artifact_bytes = 0, weight_bytes = 0;  // 0: unknown
};
// Returns the results of a job; nothing if it is not a finished quantization.
std::optional<Quantization> QuantizationOf(const JobRecord& job);

struct QuantizationQuery {
  std::string tenant = {}, network = {}, device = {};
  int threads = 1;
  Peaks peaks = {};         // of the device
  double weight_bytes = 0;  // in f32
  JudgingPlan plan = {};
};

struct QuantizationForecast {
  LogPrediction latency_ratio = {}, loss = {}, bytes = {};
  double fastest_ms = 0;  // that this very network was on this device; 0: it was not there
  int jobs = 0;           // that tell of it
  JudgingPlan plan = {};
};

// Thread safe. In memory: the jobs themselves are what outlives the process.
class QuantizationModel {
 public:
  void Add(Quantization quantization);
  void RemoveTenant(const std::string& tenant);
  // From the tenant's own jobs.
  QuantizationForecast Predict(const QuantizationQuery& query) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<Quantization>> of_tenant_;
};

// The probability that the samples that judge show a loss of at most `limit`.
double ProbabilityToShow(const LogPrediction& loss, const JudgingPlan& plan, double limit);
// The least limit that is shown with this probability; at most 1.
double OfferedLoss(const LogPrediction& loss, const JudgingPlan& plan, double probability);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_QUANTIZATION_MODEL_H_
