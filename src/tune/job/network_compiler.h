// The interface through which a tuning job uses the compiler for the whole network.
#ifndef ATTUNE_TUNE_JOB_NETWORK_COMPILER_H_
#define ATTUNE_TUNE_JOB_NETWORK_COMPILER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "measure/blob.h"
#include "plan/blocks.h"
#include "plan/chooser.h"
#include "tune/task/task.h"

namespace attune {

// The best config of each task whose best is not its baseline, by the task's text.
using BestConfigs = std::map<std::string, Candidate>;

// A compiled network.
struct NetworkBuild {
  Blob artifact;
  Blob inputs;  // random, the same for each build: the bytes of all inputs, one after the other
  std::map<std::string, std::string> code_digests;  // of its kernels, by the groups that they compute

  // Whether both have the same kernels, and thus take the same time.
  bool HasKernelsOf(const NetworkBuild& other) const { return code_digests == other.code_digests; }
};

// For one thread at a time.
class NetworkCompiler {
 public:
  virtual ~NetworkCompiler() = default;

  // Chooses the layout override that is best by the measured times in `known`.
  virtual absl::StatusOr<LayoutOverrides> LayoutOverridesBy(const KernelChooser& known) = 0;
  // The tasks of the network with these layouts.
  virtual absl::StatusOr<std::vector<TuningTask>> Tasks(const LayoutOverrides& overrides) = 0;
  // The number of classes of feature maps that layout overrides can name.
  virtual absl::StatusOr<int> NumLayoutClasses() = 0;
  // Compiles with these configs and layouts; tasks without a config use their baseline.
  virtual absl::StatusOr<NetworkBuild> Compile(const BestConfigs& configs,
                                               const LayoutOverrides& overrides) = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_NETWORK_COMPILER_H_
