#include "sweep/sweep_result.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/quantile.h"
#include "base/status.h"
#include "sweep/result_file.h"

namespace attune {
namespace {

using Json = nlohmann::json;

std::map<std::string, double> MeanStageSeconds(const std::string& events) {
  struct Sum {
    double seconds = 0;
    int64_t count = 0;
  };
  std::map<std::string, Sum> sums;
  ForEachStage(events, [&](const std::string& stage, double seconds) {
    Sum& sum = sums[stage];
    sum.seconds += seconds;
    ++sum.count;
  });
  std::map<std::string, double> means;
  for (const auto& [stage, sum] : sums) means[stage] = sum.seconds / static_cast<double>(sum.count);
  return means;
}

absl::StatusOr<TuningTimes> ReadTuning(const SweepFolder& folder, const SweepRun& run) {
  ASSIGN_OR_RETURN(const Json json, ReadResultFile(folder.ResultOf(run, "tune")));
  TuningTimes times;
  times.device = TextIn(json, "device");
  times.seconds = NumberIn(json, "seconds");
  times.trials = static_cast<int64_t>(NumberIn(json, "trials"));
  times.untuned_ms = NumberIn(json, "untuned_ms");
  times.tuned_ms = NumberIn(json, "tuned_ms");
  if (json.contains("tasks")) times.tasks = std::ssize(json["tasks"]);
  times.mean_stage_seconds = MeanStageSeconds(folder.FileOf(run, "events.jsonl"));
  return times;
}

absl::Status ReadInto(const SweepFolder& folder, const SweepRun& run, SweepResult& result) {
  for (const std::string& command : folder.plan().commands) {
    if (!folder.IsDone(run, command)) continue;
    if (command == "quantize") {
      ASSIGN_OR_RETURN(const Json json, ReadResultFile(folder.ResultOf(run, command)));
      result.agreement = NumberIn(json, "agreement");
    } else if (command == "tune") {
      ASSIGN_OR_RETURN(result.tuning, ReadTuning(folder, run));
    } else if (command == "bench") {
      ASSIGN_OR_RETURN(const std::vector<double> latencies, ReadLatencies(folder.ResultOf(run, command)));
      result.inference = SummarizeLatencies(latencies);
    }
  }
  return absl::OkStatus();
}

// Whether the run measures on a device that is not this machine.
bool IsElsewhere(const SweepPlan& plan, const SweepRun& run) {
  if (!plan.agents.empty()) return false;
  for (size_t i = 0; i < plan.options.size(); ++i) {
    const std::string& option = plan.options[i];
    if ((option == "on" || option.ends_with(".on")) && !run.values[i].is_null()) return true;
  }
  return false;
}

std::string DeviceOf(const SweepPlan& plan, const SweepRun& run, const std::optional<TuningTimes>& tuning) {
  if (tuning && !tuning->device.empty()) return tuning->device;
  return IsElsewhere(plan, run) ? "" : plan.fingerprint;
}

}  // namespace

std::string_view Name(SweepRunState state) {
  return state == SweepRunState::kDone ? "done" : state == SweepRunState::kFailed ? "failed" : "unfinished";
}

InferenceTimes SummarizeLatencies(const std::vector<double>& latencies) {
  constexpr double kTail = 0.95;
  InferenceTimes times;
  times.count = std::ssize(latencies);
  times.median = FindMedian(latencies, kSweepConfidence);
  times.mean =
      std::accumulate(latencies.begin(), latencies.end(), 0.0) / static_cast<double>(latencies.size());
  times.p95 = QuantileOf(latencies, kTail);
  times.fastest = *std::ranges::min_element(latencies);
  return times;
}

SweepResult ReadSweepResult(const SweepFolder& folder, const SweepRun& run) {
  SweepResult result;
  if (const absl::Status status = ReadInto(folder, run, result); !status.ok()) {
    result.state = SweepRunState::kFailed;
    result.error = status.message();
    return result;
  }
  if (const std::optional<SweepFailure> failure = folder.FailureOf(run)) {
    result.state = SweepRunState::kFailed;
    result.error = absl::StrCat(failure->command, ": ", failure->reason);
  } else if (!folder.NextCommand(run)) {
    result.state = SweepRunState::kDone;
  }
  std::error_code error;
  const auto bytes = std::filesystem::file_size(folder.FileOf(run, "network.atn"), error);
  if (!error) result.artifact_bytes = static_cast<int64_t>(bytes);
  result.device = DeviceOf(folder.plan(), run, result.tuning);
  return result;
}

}  // namespace attune
