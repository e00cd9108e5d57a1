#include "api/layout_trial.h"

#include <utility>
#include <vector>

#include "api/network_turns.h"
#include "base/status.h"
#include "plan/group_kernel.h"
#include "tune/record_chooser.h"
#include "tune/timing.h"

namespace attune {
namespace {

constexpr double kTrialSeconds = 3;

// The network with some blocks, and what its kernels take there.
struct Variant {
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

absl::StatusOr<Variant> MakeVariant(const Network& network, const BlockFlips& flips,
                                    const RecordChooser& chooser, const Target& target) {
  CompileOptions options;
  options.target = target;
  options.chooser = &chooser;
  options.flips = flips;
  Variant variant{.network = network.Compile(std::move(options)), .tasks = {}, .seconds = {}};
  RETURN_IF_ERROR(variant.network.status());
  ASSIGN_OR_RETURN(variant.tasks, network.Tasks(target, flips));
  return variant;
}

// The digests of the code of a network's kernels, by the groups that they compute.
absl::StatusOr<std::map<std::string, std::string>> CodeDigests(const Network& network) {
  ASSIGN_OR_RETURN(const NetworkDescription description, network.Describe());
  std::map<std::string, std::string> digests;
  for (const KernelInfo& kernel : description.manifest.kernels) {
    digests[kernel.name.substr(0, kernel.name.find('.'))] = kernel.digest;
  }
  return digests;
}

// Appends those kernels of a variant that the other one does not have, or not as often.
absl::Status AppendDifference(const Variant& variant, const Variant& other, const RecordChooser& chooser,
                              const Target& target, std::vector<LayoutTrial::Kernel>& kernels) {
  ASSIGN_OR_RETURN(const auto digests, CodeDigests(variant.network));
  for (const TuningTask& task : variant.tasks) {
    if (task.uses == other.UsesOf(task.text)) continue;
    const auto digest = digests.find(IdentifyGroup(*task.region, task.constant_inputs, target).name);
    if (digest == digests.end()) continue;
    const auto seconds = variant.seconds.find(digest->second);
    if (seconds == variant.seconds.end() || seconds->second <= 0) continue;
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
                                     int threads) {
  const RecordChooser chooser(best);
  ASSIGN_OR_RETURN(Variant standard, MakeVariant(network, now, chooser, target));
  ASSIGN_OR_RETURN(Variant candidate, MakeVariant(network, flipped, chooser, target));
  ASSIGN_OR_RETURN(const NetworkTimes times,
                   TimeNetworks(standard.network, candidate.network, threads, kTrialSeconds));
  LayoutTrial trial{.ratio_low = times.ratio_low, .ratio_high = times.ratio_high, .kernels = {}};
  trial.is_adopted = times.ratio_high < 1;
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
