// A kernel together with the reference data of its task: what is checked and timed.
#ifndef ATTUNE_MEASURE_TASK_KERNEL_H_
#define ATTUNE_MEASURE_TASK_KERNEL_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "measure/item.h"
#include "measure/kernel.h"
#include "measure/kernel_program.h"
#include "measure/measured_process.h"
#include "measure/reference_data.h"

namespace attune {

// What a kernel's prepackings make of constants, in their order.
using PrepackedConstants = std::vector<std::vector<std::byte>>;

// Failures are those of kernels; kRetry where what was sent does not fit the task. Not thread safe.
class TaskKernel {
 public:
  // All outlive it.
  TaskKernel(const BuiltKernel& kernel, const ReferenceData& data, const MeasureOptions& options,
             std::span<const int> processors)
      : kernel_(kernel), data_(data), options_(options), processors_(processors) {}

  // Runs the kernel's prepackings, each in a process of its own.
  std::optional<Failure> Prepack(PrepackedConstants* prepacked) const;

  // A process that runs the kernel, and its program.
  struct Running {
    std::unique_ptr<KernelProgram> program;
    std::unique_ptr<MeasuredProcess> process;
  };
  // Each has a process that is ready, or gives the failure. `prepacked` outlives it.
  //
  // In guarded memory.
  std::optional<Failure> StartGuarded(const PrepackedConstants& prepacked, Running* running) const;
  // In memory as a network has it, to be timed.
  std::optional<Failure> StartTimed(const PrepackedConstants& prepacked, Running* running) const;

  // Executes twice, and compares the outputs with the reference's. Before the second, workspaces and scratch
  // hold what the first left there.
  std::optional<Failure> Check(Running& running) const;
  // Compares the outputs of the last execution.
  std::optional<Failure> CheckOutputs(Running& running) const;

 private:
  // What the kernel finds in its dynamic dimensions: -1 where it is to say them.
  std::vector<int64_t> GivenDims() const;
  std::optional<Failure> Start(KernelSetup setup, Running* running) const;
  // `prepacked` is null for a prepacking.
  std::optional<Failure> MakeBuffers(const KernelCode& code, const PrepackedConstants* prepacked,
                                     KernelSetup* setup) const;
  std::optional<Failure> CheckMemory(const KernelSetup& setup, const PrepackedConstants* prepacked) const;
  // Says how many sets of buffers there are, and of which.
  void MakeCopies(KernelSetup& setup) const;

  const BuiltKernel& kernel_;
  const ReferenceData& data_;
  const MeasureOptions& options_;
  std::span<const int> processors_;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_TASK_KERNEL_H_
