#include "compile/kernels.h"

#include <atomic>

#include "base/parallel.h"
#include "base/status.h"

namespace attune {
namespace {

absl::StatusOr<CompiledKernel> CompileVerified(const KernelJob& job, const Target& target) {
  RETURN_IF_ERROR(VerifyLoopNest(*job.nest));
  return CompileKernel(*job.nest, target, job.options);
}

}  // namespace

absl::StatusOr<std::vector<CompiledKernel>> CompileKernels(const std::vector<KernelJob>& jobs,
                                                           const Target& target, int threads,
                                                           const WorkControl& control) {
  std::vector<absl::StatusOr<CompiledKernel>> results(jobs.size(), absl::UnknownError("not compiled"));
  std::atomic<int64_t> begun = 0;
  const auto compile = [&](int64_t i) {
    if (!control.Continue("compiling kernels", begun++, std::ssize(jobs)).ok()) return;
    const auto place = static_cast<size_t>(i);
    results[place] = CompileVerified(jobs[place], target);
  };
  ParallelFor(std::ssize(jobs), compile, threads);
  RETURN_IF_ERROR(control.Continue("compiling kernels", std::ssize(jobs), std::ssize(jobs)));

  std::vector<CompiledKernel> kernels;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (!results[i].ok()) return Annotate(results[i].status(), absl::StrCat("kernel ", jobs[i].nest->name));
    kernels.push_back(std::move(*results[i]));
  }
  return kernels;
}

}  // namespace attune
