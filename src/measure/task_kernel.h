// A kernel together with the reference data of its task, to be checked and timed.
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

// The results of a kernel's prepackings, in their order.
using PrepackedConstants = std::vector<std::vector<std::byte>>;

// Failures are failures of the kernel, except kRetry: the kernel does not fit the task. Not thread safe.
class TaskKernel {
 public:
  // All arguments must outlive it.
  TaskKernel(const BuiltKernel& kernel, const ReferenceData& data, const MeasureOptions& options,
             std::span<const int> processors)
      : kernel_(kernel), data_(data), options_(options), processors_(processors) {}

  // Runs the kernel's prepackings, each in a process of its own.
  std::optional<Failure> Prepack(PrepackedConstants* prepacked) const;

  // A process that runs the kernel, and the process's program.
  struct Running {
    std::unique_ptr<KernelProgram> program;
    std::unique_ptr<MeasuredProcess> process;
  };
  // Both start a process that is ready to run the kernel, or return the failure. `prepacked` must outlive
  // it.
  //
  // Starts it in guarded memory, to be checked.
  std::optional<Failure> StartGuarded(const PrepackedConstants& prepacked, Running* running) const;
  // Starts it in memory as in a network, to be timed.
  std::optional<Failure> StartTimed(const PrepackedConstants& prepacked, Running* running) const;

  // Executes twice, and compares the outputs with those of the reference. In the second execution,
  // workspaces and scratch hold the data that the first one left there.
  std::optional<Failure> Check(Running& running) const;
  // Compares the outputs of the last execution.
  std::optional<Failure> CheckOutputs(Running& running) const;

 private:
  // The initial values of the kernel's dynamic dimensions: -1 for those that the kernel computes.
  std::vector<int64_t> GivenDims() const;
  std::optional<Failure> Start(KernelSetup setup, Running* running) const;
  // `prepacked` is null for a prepacking.
  std::optional<Failure> MakeBuffers(const KernelCode& code, const PrepackedConstants* prepacked,
                                     KernelSetup* setup) const;
  // Starts the kernel with buffers in memory of this kind.
  std::optional<Failure> SetUp(const PrepackedConstants& prepacked, MemoryPlacement placement,
                               KernelSetup* setup) const;
  std::optional<Failure> CheckMemory(const KernelSetup& setup, const PrepackedConstants* prepacked) const;
  // Sets the number of copies of each buffer.
  void MakeCopies(KernelSetup& setup) const;

  const BuiltKernel& kernel_;
  const ReferenceData& data_;
  const MeasureOptions& options_;
  std::span<const int> processors_;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_TASK_KERNEL_H_
