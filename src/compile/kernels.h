// Compiling the kernels of a plan, side by side.
#ifndef ATTUNE_COMPILE_KERNELS_H_
#define ATTUNE_COMPILE_KERNELS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/progress.h"
#include "codegen/codegen.h"
#include "target/target.h"
#include "tensor/stmt.h"

namespace attune {

struct KernelJob {
  const LoopNest* nest;
  CodegenOptions options;
};

// Verifies and compiles one kernel a job, in order, on `threads` threads. The first error in job order, with
// the kernel's name; or Cancelled.
absl::StatusOr<std::vector<CompiledKernel>> CompileKernels(const std::vector<KernelJob>& jobs,
                                                           const Target& target, int threads,
                                                           const WorkControl& control = {});

}  // namespace attune

#endif  // ATTUNE_COMPILE_KERNELS_H_
