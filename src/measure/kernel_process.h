// A process that runs one kernel, and nothing else, for the runner.
//
// The runner forks it for each kernel. The child copies the inputs, maps the code, gives up all rights but to
// talk to the runner (sandbox.h), and from then on does what it is told: run the kernel so often, hand its
// outputs over. What it claims counts for nothing: the runner reads the clock itself, around the whole batch,
// and compares the outputs itself.
//
// What this is for is generated code that is wrong: it crashes, hangs, writes anywhere, needs more memory
// than there is, or gives its result the first time only. Code that is written to deceive has it hard (it
// cannot write to the runner's memory, stop its clock, or see what is expected, and an answer that comes too
// early lacks its outputs or is out of turn) but shares its process with what hands the outputs over, so that
// is best effort.
#ifndef ATTUNE_MEASURE_KERNEL_PROCESS_H_
#define ATTUNE_MEASURE_KERNEL_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/process/worker_process.h"
#include "measure/kernel_memory.h"
#include "tune/records/record.h"
#include "tune/task/builder.h"

namespace attune {

struct KernelReply;

struct Failure {
  TrialOutcome outcome;
  std::string reason;
};

struct KernelSetup {
  const KernelCode* code = nullptr;
  std::vector<KernelBuffer> buffers;  // one for each of the code's params
  std::vector<std::string> names;     // of the buffers, for reasons: "input 0"
  Placement placement = Placement::kGuarded;
  int threads = 1;
  std::vector<int64_t> dims;  // the dynamic dimensions before each execution that is checked
  double execution_seconds_limit = 10;
  double cpu_seconds_limit = 100;  // of all executions and threads together
};

// Not thread safe. The process is gone when this object is. After a failure there is nothing more to be had.
class KernelProcess {
 public:
  // `setup` and what it points to outlive the process. Null, and `failure`, where the process cannot be had,
  // or not the memory. The calling process has one thread that does not wait for good.
  static std::unique_ptr<KernelProcess> Start(const KernelSetup& setup, Failure* failure);
  KernelProcess(const KernelProcess&) = delete;
  KernelProcess& operator=(const KernelProcess&) = delete;
  ~KernelProcess();

  // Fills the outputs with what is no result.
  std::optional<Failure> Poison();
  // Runs the kernel so often, at least once but for a measurement of what a batch costs by itself. `seconds`
  // is what that took by this process's clock, with waking the other process up and back.
  std::optional<Failure> Run(int64_t executions, double* seconds);
  // From the next execution on, buffers of which there are copies lie elsewhere in memory.
  std::optional<Failure> Move();
  // Takes the outputs of the last execution over. A failure where anything was written between the buffers.
  std::optional<Failure> Fetch();

  // As fetched: of a buffer that is an output; valid until the process is gone.
  std::span<const std::byte> Output(size_t buffer) const;
  std::span<const int64_t> Dims() const;

 private:
  explicit KernelProcess(const KernelSetup& setup) : setup_(setup) {}

  bool MapShared();
  std::optional<Failure> Ask(int what, int64_t count, double seconds_limit);
  std::optional<Failure> Read(KernelReply* reply, const std::string& waiting_for);
  Failure Bury(const std::string& waiting_for);
  std::string NameOf(int buffer) const;
  void Kill(int* status);

  const KernelSetup& setup_;
  pid_t pid_ = -1;
  FileDescriptor commands_, replies_;
  std::byte* shared_ = nullptr;  // the dims, then the outputs
  size_t shared_bytes_ = 0;
  std::vector<size_t> places_;  // of the outputs there, by buffer
  uint64_t turn_ = 0;
  double each_ = 0;  // seconds an execution, in the largest batch so far
  int64_t most_executions_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_KERNEL_PROCESS_H_
