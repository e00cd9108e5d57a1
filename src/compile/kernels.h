// Compiles the kernels of a plan in parallel.
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

// Verifies and compiles one kernel a job on `threads` threads; results are in job order. Fails with the
// first error in job order, with the kernel's name; or with Cancelled.
absl::StatusOr<std::vector<CompiledKernel>> CompileKernels(const std::vector<KernelJob>& jobs,
                                                           const Target& target, int threads,
                                                           const WorkControl& control = {});

}  // namespace attune

#endif  // ATTUNE_COMPILE_KERNELS_H_
