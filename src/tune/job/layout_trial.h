// What another layout of a network changes.
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

// The network with one layout override and with another, both compiled with the kernels that `best` has for
// tasks; others have the default.
struct LayoutChange {
  LayoutOverrides before, after;
  BestConfigs best;
  const NetworkBuild* build_before = nullptr;
  const NetworkBuild* build_after = nullptr;
};

// A kernel that not both have, or not as often, and the seconds of one execution within the network.
struct ChangedKernel {
  TuningTask task;
  Candidate candidate;
  std::string code_digest;
  double seconds = 0;
};

// As `profile` says, in which the network before the change is the baseline.
absl::StatusOr<std::vector<ChangedKernel>> KernelsThatDiffer(const LayoutChange& change,
                                                             const Measurement& profile,
                                                             NetworkCompiler& network, const Target& target);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_LAYOUT_TRIAL_H_
