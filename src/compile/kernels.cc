#include "compile/kernels.h"

#include <atomic>
#include <thread>

#include "base/status.h"

namespace attune {
namespace {

absl::StatusOr<CompiledKernel> CompileVerified(const KernelJob& job, const Target& target) {
  RETURN_IF_ERROR(VerifyLoopNest(*job.nest));
  return CompileKernel(*job.nest, target, job.options);
}

}  // namespace

absl::StatusOr<std::vector<CompiledKernel>> CompileKernels(const std::vector<KernelJob>& jobs,
                                                           const Target& target, int threads) {
  std::vector<absl::StatusOr<CompiledKernel>> results(jobs.size(), absl::UnknownError("not compiled"));
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      results[i] = CompileVerified(jobs[i], target);
    }
  };
  std::vector<std::thread> helpers;
  for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();

  std::vector<CompiledKernel> kernels;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (!results[i].ok()) return Annotate(results[i].status(), absl::StrCat("kernel ", jobs[i].nest->name));
    kernels.push_back(std::move(*results[i]));
  }
  return kernels;
}

}  // namespace attune
