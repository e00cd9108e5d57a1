// The differences that another layout of a network makes.
#ifndef ATTUNE_TUNE_JOB_LAYOUT_TRIAL_H_
#define ATTUNE_TUNE_JOB_LAYOUT_TRIAL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "measure/item.h"
#include "plan/blocks.h"
#include "target/target.h"
#include "tune/job/network_compiler.h"

namespace attune {

// The network with one layout override and with another, both compiled with the kernels in `best`; other
// tasks have their baseline.
struct LayoutChange {
  LayoutOverrides before, after;
  BestConfigs best;
  const NetworkBuild* build_before = nullptr;
  const NetworkBuild* build_after = nullptr;
};

// A kernel that only one of the two has, or that they use differently often, and the seconds of one
// execution in the network.
struct ChangedKernel {
  TuningTask task;
  Candidate candidate;
  std::string code_digest;
  double seconds = 0;
};

// Takes times from `profile`, in which the network before the change is the baseline.
absl::StatusOr<std::vector<ChangedKernel>> KernelsThatDiffer(const LayoutChange& change,
                                                             const Measurement& profile,
                                                             NetworkCompiler& network, const Target& target);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_LAYOUT_TRIAL_H_
