// The result of a run of a sweep.
#ifndef ATTUNE_SWEEP_SWEEP_RESULT_H_
#define ATTUNE_SWEEP_SWEEP_RESULT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/timing.h"
#include "sweep/sweep_folder.h"

namespace attune {

enum class SweepRunState : uint8_t { kUnfinished, kDone, kFailed };
// "unfinished", "done", "failed".
std::string_view Name(SweepRunState state);

// Confidence of all intervals of a sweep's results.
inline constexpr double kSweepConfidence = 0.95;

struct InferenceTimes {
  int64_t count = 0;
  MedianInterval median;  // in ms, as the others
  double mean = 0, p95 = 0, fastest = 0;
};

struct TuningTimes {
  std::string device;  // its fingerprint
  double seconds = 0;  // in all stages
  int64_t trials = 0, tasks = 0;
  double untuned_ms = 0, tuned_ms = 0;               // of one inference; 0: not measured
  std::map<std::string, double> mean_stage_seconds;  // of one stage, by the stages' names
};

struct SweepResult {
  SweepRunState state = SweepRunState::kUnfinished;
  std::string error;   // of a run that has failed
  std::string device;  // the fingerprint of what was measured on; empty: a device elsewhere, of which nothing
                       // is known
  std::optional<InferenceTimes> inference;
  std::optional<TuningTimes> tuning;
  std::optional<double> agreement;  // of a quantized network with the one in fp32
  int64_t artifact_bytes = 0;       // 0: there is none
};

// Reads what the run's commands have written. A file that cannot be read is the run's error.
SweepResult ReadSweepResult(const SweepFolder& folder, const SweepRun& run);

// Summarizes latencies, at least one.
InferenceTimes SummarizeLatencies(const std::vector<double>& latencies);

}  // namespace attune

#endif  // ATTUNE_SWEEP_SWEEP_RESULT_H_
