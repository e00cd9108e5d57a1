// What a tuning job asks of the compiler about the whole network.
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

// The best config of each task that has another than its default, by the task's text.
using BestConfigs = std::map<std::string, Candidate>;

// A network that was compiled.
struct NetworkBuild {
  Blob artifact;
  Blob inputs;  // random ones, the same for each build: the bytes of one after the other
  std::map<std::string, std::string> code_digests;  // of its kernels, by the groups that they compute

  // Whether both have the same kernels: what one of them takes, the other one does.
  bool HasKernelsOf(const NetworkBuild& other) const { return code_digests == other.code_digests; }
};

// For one thread at a time.
class NetworkCompiler {
 public:
  virtual ~NetworkCompiler() = default;

  // The layout override that the measured times of `known` speak for.
  virtual absl::StatusOr<LayoutOverrides> LayoutOverridesBy(const KernelChooser& known) = 0;
  // The tasks of the network with these layouts.
  virtual absl::StatusOr<std::vector<TuningTask>> Tasks(const LayoutOverrides& overrides) = 0;
  // How many classes of feature maps there are that a layout override may name.
  virtual absl::StatusOr<int> NumLayoutClasses() = 0;
  // With these configs and layouts; tasks that have none take their defaults.
  virtual absl::StatusOr<NetworkBuild> Compile(const BestConfigs& configs,
                                               const LayoutOverrides& overrides) = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_NETWORK_COMPILER_H_
