// A kernel together with the data of its task: what a runner checks and times.
#ifndef ATTUNE_TUNE_TASK_KERNEL_H_
#define ATTUNE_TUNE_TASK_KERNEL_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tune/builder.h"
#include "tune/kernel_process.h"
#include "tune/measurer.h"
#include "tune/task_data.h"

namespace attune {

// Not thread safe. Failures are those of kernels; kOther where what was sent does not fit the task.
class TaskKernel {
 public:
  // `data` outlives it.
  TaskKernel(BuiltKernel kernel, const TaskData& data, const MeasureOptions& options)
      : kernel_(std::move(kernel)), data_(data), options_(options) {}

  // Runs its preparations, each in a process of its own. Before all that follows.
  std::optional<Failure> Prepare();

  // Runs it twice in guarded memory and compares the outputs with the reference's. The second time,
  // workspaces and scratch hold what the first left there.
  std::optional<Failure> Check() const;

  // A process that is ready to be timed. Null, and `failure`, where there is none.
  std::unique_ptr<KernelProcess> StartTimed(Failure* failure);

  // Compares the outputs of the last execution.
  std::optional<Failure> CheckOutputs(KernelProcess& process) const;

 private:
  // What the kernel finds in its dynamic dimensions: -1 where it is to say them.
  std::vector<int64_t> GivenDims() const;
  std::optional<Failure> MakeBuffers(const KernelCode& code, bool is_preparation, KernelSetup* setup) const;
  std::optional<Failure> CheckMemory(const KernelSetup& setup) const;
  // Says how many sets of buffers there are, and of which.
  void MakeCopies(KernelSetup& setup) const;

  BuiltKernel kernel_;
  const TaskData& data_;
  MeasureOptions options_;
  std::vector<std::vector<std::byte>> prepared_;
  KernelSetup timed_;  // outlives its process
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_KERNEL_H_
