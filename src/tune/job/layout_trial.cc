#include "tune/job/layout_trial.h"

#include <utility>

#include "base/status.h"
#include "measure/timing.h"
#include "plan/group_kernel.h"
#include "tune/records/record_chooser.h"

namespace attune {
namespace {

// The network with one of the layouts, and the times of its kernels.
struct Arrangement {
  std::vector<TuningTask> tasks;
  const NetworkBuild* build = nullptr;
  const KernelTurns* turns = nullptr;

  int UsesOf(const std::string& task) const {
    for (const TuningTask& own : tasks) {
      if (own.text == task) return own.uses;
    }
    return 0;
  }

  // The seconds of all calls in one inference; 0 if they are not known.
  double SecondsOf(const std::string& code_digest) const {
    constexpr double kConfidence = 0.95;
    const auto found = turns->find(code_digest);
    return found == turns->end() || found->second.empty() ? 0 : FindMedian(found->second, kConfidence).median;
  }
};

// Appends the kernels of an arrangement that the other one does not have, or uses differently often.
absl::Status AppendDifference(const Arrangement& arrangement, const Arrangement& other,
                              const RecordChooser& chooser, const Target& target,
                              std::vector<ChangedKernel>& kernels) {
  const auto& digests = arrangement.build->code_digests;
  for (const TuningTask& task : arrangement.tasks) {
    if (task.uses == other.UsesOf(task.text)) continue;
    const auto digest = digests.find(IdentifyGroup(*task.region, task.constant_inputs, target).name);
    if (digest == digests.end()) continue;
    const double seconds = arrangement.SecondsOf(digest->second);
    if (seconds <= 0) continue;
    ASSIGN_OR_RETURN(const Workload workload, task.Analyze());
    ASSIGN_OR_RETURN(const KernelChoice choice, chooser.Choose(workload, task.text, target));
    kernels.push_back(
        {task, {std::string(choice.strategy->name), choice.config}, digest->second, seconds / task.uses});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ChangedKernel>> KernelsThatDiffer(const LayoutChange& change,
                                                             const Measurement& profile,
                                                             NetworkCompiler& network, const Target& target) {
  Arrangement before{.tasks = {}, .build = change.build_before, .turns = &profile.baseline_profile};
  Arrangement after{.tasks = {}, .build = change.build_after, .turns = &profile.profile};
  ASSIGN_OR_RETURN(before.tasks, network.Tasks(change.before));
  ASSIGN_OR_RETURN(after.tasks, network.Tasks(change.after));
  const RecordChooser chooser(change.best);
  std::vector<ChangedKernel> kernels;
  RETURN_IF_ERROR(AppendDifference(before, after, chooser, target, kernels));
  RETURN_IF_ERROR(AppendDifference(after, before, chooser, target, kernels));
  return kernels;
}

}  // namespace attune
