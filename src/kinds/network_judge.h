// The last stage of a tuning job on a device elsewhere: its result as promises need it.
#ifndef ATTUNE_KINDS_NETWORK_JUDGE_H_
#define ATTUNE_KINDS_NETWORK_JUDGE_H_

#include <functional>

#include "absl/status/statusor.h"
#include "api/network.h"
#include "measure/service.h"
#include "nlohmann/json.hpp"
#include "tune/job/report.h"

namespace attune {

// Runs the tuned network for about `seconds`, longer if it is too slow for enough runs, and returns its
// latency (latency_judgement.h) with what tells it apart from other networks: digests of the network and of
// its kernels, names and types of inputs and outputs, the device with its peaks, the compiler. Tries again if
// other programs disturb the device (quiet_runs.h), and says whether they have in the end: "waited_share" and
// "is_disturbed". Fails as the device's measurement does.
absl::StatusOr<nlohmann::ordered_json> JudgeNetwork(const Network& tuned, const TuningSummary& summary,
                                                    double seconds, MeasuringService& device,
                                                    const std::function<bool(double seconds)>& pause);

// Describes the network that a job has built, by which its file is known in any place: {"sha256", "bytes",
// "network", "interface"}, the digest and the size of the artifact's file, and digest, inputs and outputs of
// the network as it was imported. Fails unless `built` was compiled here.
absl::StatusOr<nlohmann::ordered_json> IdentityOf(const Network& built);

// The results of a tuning job so far: {"trials", "untuned_ms", "latency_ms", "device_seconds"}. Both times
// are sums of those of tasks; they are 0 until all were measured.
nlohmann::ordered_json FiguresOf(const TuningSummary& summary);

}  // namespace attune

#endif  // ATTUNE_KINDS_NETWORK_JUDGE_H_
