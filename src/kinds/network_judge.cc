#include "kinds/network_judge.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "api/network_on_device.h"
#include "base/file.h"
#include "base/status.h"
#include "device/contention.h"
#include "kinds/latency_judgement.h"
#include "kinds/quiet_runs.h"
#include "tune/job/recording.h"
#include "tune/job/stage.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMillis = 1e3;

// One digest of all kernels of the artifact.
std::string KernelsDigest(const NetworkDescription& description) {
  std::set<std::string> digests;
  for (const KernelInfo& kernel : description.variant().kernels) digests.insert(kernel.digest);
  return Sha256Hex(absl::StrJoin(digests, "\n"));
}

// Long enough for a judgement of the slowest runs, where that takes no minute.
double SecondsOfRuns(double seconds, double latency) {
  constexpr double kLongest = 60, kMoreThanLeast = 1.2;
  return std::max(seconds, std::min(kLongest, kMoreThanLeast * kLeastRunsForP99 * latency));
}

}  // namespace

absl::StatusOr<Json> JudgeNetwork(const Network& tuned, const TuningSummary& summary, double seconds,
                                  MeasuringService& device,
                                  const std::function<bool(double seconds)>& pause) {
  ASSIGN_OR_RETURN(const NetworkDescription description, tuned.Describe());
  ASSIGN_OR_RETURN(const std::string network, tuned.GraphDigest());
  ASSIGN_OR_RETURN(const std::string interface, tuned.Interface());
  ASSIGN_OR_RETURN(const int64_t weight_bytes, tuned.WeightBytes());
  NetworkOnDevice on_device(&device);
  const auto run = [&]() -> absl::StatusOr<TimedRuns> {
    return on_device.Bench(tuned, summary.threads, SecondsOfRuns(seconds, summary.tuned_seconds));
  };
  ASSIGN_OR_RETURN(const TimedRuns runs, RunQuietly<TimedRuns>(run, pause));
  if (runs.milliseconds.empty()) return absl::UnavailableError("the device has not run the network");
  Json judged = ToJson(JudgeLatency(runs.milliseconds));
  judged["waited_share"] = runs.waited_share;
  judged["is_disturbed"] = runs.waited_share >= kDisturbedShare;
  judged["network"] = network;
  judged["interface"] = interface;
  judged["weight_bytes"] = weight_bytes;
  judged["kernels"] = KernelsDigest(description);
  judged["artifact_bytes"] = description.file_bytes;
  judged["compiler"] = description.manifest.provenance.compiler_version;
  judged["device"] = summary.device;
  judged["threads"] = summary.threads;
  judged["peaks"] = ToJson(summary.peaks);
  return judged;
}

absl::StatusOr<Json> IdentityOf(const Network& built) {
  ASSIGN_OR_RETURN(const std::string bytes, built.ArtifactBytes());
  ASSIGN_OR_RETURN(const std::string network, built.GraphDigest());
  ASSIGN_OR_RETURN(const std::string interface, built.Interface());
  return Json{
      {"sha256", Sha256Hex(bytes)}, {"bytes", bytes.size()}, {"network", network}, {"interface", interface}};
}

Json FiguresOf(const TuningSummary& summary) {
  double untuned = 0, best = 0, device = 0;
  bool is_complete = !summary.tasks.empty();
  for (const TaskSummary& task : summary.tasks) {
    untuned += task.uses * task.default_seconds;
    best += task.uses * task.best_seconds;
    is_complete = is_complete && task.default_seconds > 0 && std::isfinite(task.best_seconds);
  }
  for (const auto& [stage, stage_seconds] : summary.stage_seconds)
    if (WaitsForDevice(stage)) device += stage_seconds;
  return {{"trials", summary.trials},
          {"untuned_ms", is_complete ? untuned * kMillis : 0},
          {"latency_ms", is_complete ? best * kMillis : 0},
          {"device_seconds", device}};
}

}  // namespace attune
