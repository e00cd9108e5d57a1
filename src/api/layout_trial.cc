#include "api/layout_trial.h"

#include <utility>
#include <vector>

#include "api/network_turns.h"
#include "base/status.h"
#include "measure/timing.h"
#include "plan/group_kernel.h"
#include "tune/records/record_chooser.h"

namespace attune {
namespace {

constexpr double kTrialSeconds = 3;

// The network with some blocks, and what its kernels take there.
struct Arrangement {
  Network network;
  std::vector<TuningTask> tasks;
  std::map<std::string, double> seconds;  // of all calls in one inference, by the digest of a kernel's code

  int UsesOf(const std::string& task) const {
    for (const TuningTask& own : tasks) {
      if (own.text == task) return own.uses;
    }
    return 0;
  }
};

std::map<std::string, double> Medians(const std::map<std::string, std::vector<double>>& lists) {
  std::map<std::string, double> medians;
  constexpr double kConfidence = 0.95;
  for (const auto& [name, values] : lists) medians[name] = FindMedian(values, kConfidence).median;
  return medians;
}

absl::StatusOr<Arrangement> MakeArrangement(const Network& network, const BlockFlips& flips,
                                            const RecordChooser& chooser, const Target& target) {
  CompileOptions options;
  options.target = target;
  options.chooser = &chooser;
  options.flips = flips;
  Arrangement arrangement{.network = network.Compile(std::move(options)), .tasks = {}, .seconds = {}};
  RETURN_IF_ERROR(arrangement.network.status());
  ASSIGN_OR_RETURN(arrangement.tasks, network.Tasks(target, flips));
  return arrangement;
}

// The digests of the code of a network's kernels, by the groups that they compute.
absl::StatusOr<std::map<std::string, std::string>> CodeDigests(const Network& network) {
  ASSIGN_OR_RETURN(const NetworkDescription description, network.Describe());
  std::map<std::string, std::string> digests;
  for (const KernelInfo& kernel : description.variant().kernels) {
    digests[kernel.name.substr(0, kernel.name.find('.'))] = kernel.digest;
  }
  return digests;
}

// Appends those kernels of an arrangement that the other one does not have, or not as often.
absl::Status AppendDifference(const Arrangement& arrangement, const Arrangement& other,
                              const RecordChooser& chooser, const Target& target,
                              std::vector<LayoutTrial::Kernel>& kernels) {
  ASSIGN_OR_RETURN(const auto digests, CodeDigests(arrangement.network));
  for (const TuningTask& task : arrangement.tasks) {
    if (task.uses == other.UsesOf(task.text)) continue;
    const auto digest = digests.find(IdentifyGroup(*task.region, task.constant_inputs, target).name);
    if (digest == digests.end()) continue;
    const auto seconds = arrangement.seconds.find(digest->second);
    if (seconds == arrangement.seconds.end() || seconds->second <= 0) continue;
    ASSIGN_OR_RETURN(const Workload workload, task.Analyze());
    ASSIGN_OR_RETURN(const KernelChoice choice, chooser.Choose(workload, task.text, target));
    kernels.push_back({task,
                       {std::string(choice.strategy->name), choice.config},
                       digest->second,
                       seconds->second / task.uses});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LayoutTrial> TryFlips(const Network& network, const BlockFlips& now, const BlockFlips& flipped,
                                     const std::map<std::string, Candidate>& best, const Target& target,
                                     int threads, std::optional<bool> is_adopted) {
  const RecordChooser chooser(best);
  ASSIGN_OR_RETURN(Arrangement standard, MakeArrangement(network, now, chooser, target));
  ASSIGN_OR_RETURN(Arrangement candidate, MakeArrangement(network, flipped, chooser, target));
  ASSIGN_OR_RETURN(const NetworkTimes times,
                   TimeNetworks(standard.network, candidate.network, threads, kTrialSeconds));
  LayoutTrial trial{.ratio_low = times.ratio_low, .ratio_high = times.ratio_high, .kernels = {}};
  trial.is_adopted = is_adopted.value_or(times.ratio_high < 1);
  if (!trial.is_adopted) return trial;
  ASSIGN_OR_RETURN(const NetworkProfile profile,
                   ProfileNetworks(standard.network, candidate.network, threads));
  standard.seconds = Medians(profile.untuned);
  candidate.seconds = Medians(profile.tuned);
  RETURN_IF_ERROR(AppendDifference(standard, candidate, chooser, target, trial.kernels));
  RETURN_IF_ERROR(AppendDifference(candidate, standard, chooser, target, trial.kernels));
  return trial;
}

}  // namespace attune
