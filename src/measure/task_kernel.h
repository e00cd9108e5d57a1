// A kernel together with the data of its task: what a runner checks and times.
#ifndef ATTUNE_MEASURE_TASK_KERNEL_H_
#define ATTUNE_MEASURE_TASK_KERNEL_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "measure/kernel_process.h"
#include "measure/measurer.h"
#include "measure/task_data.h"
#include "tune/task/builder.h"

namespace attune {

// Not thread safe. Failures are those of kernels; kRetry where what was sent does not fit the task.
class TaskKernel {
 public:
  // `data` outlives it.
  TaskKernel(BuiltKernel kernel, const TaskData& data, const MeasureOptions& options)
      : kernel_(std::move(kernel)), data_(data), options_(options) {}

  // Runs its preparations, each in a process of its own. Before all that follows.
  std::optional<Failure> Prepare();

  // Each of these, at most once, gives a process that is ready, and that this object outlives; null, and
  // `failure`, where there is none.
  //
  // In guarded memory, after two executions whose outputs agreed with the reference's. Before the second,
  // workspaces and scratch held what the first left there.
  std::unique_ptr<KernelProcess> StartChecked(Failure* failure);
  // In memory as a network has it, to be timed.
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
  KernelSetup checked_, timed_;  // outlive their processes
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_TASK_KERNEL_H_
