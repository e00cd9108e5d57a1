// A process that runs one kernel or network, and nothing else, for a measuring process.
//
// The measuring process forks it for each. The child has everything that executions need, gives up all rights
// but to talk to its parent (base/process/sandbox.h), and from then on does what it is told: execute so
// often, hand its results over. What it claims counts for nothing: the parent reads the clock itself, around
// the whole batch, and compares the results itself.
//
// What this is for is generated code that is wrong: it crashes, hangs, writes anywhere, needs more memory
// than there is, or gives its result the first time only. Code that is written to deceive has it hard (it
// cannot write to the parent's memory, stop its clock, or see what is expected, and an answer that comes too
// early lacks its results or is out of turn) but shares its process with what hands the results over, so that
// is best effort.
#ifndef ATTUNE_MEASURE_MEASURED_PROCESS_H_
#define ATTUNE_MEASURE_MEASURED_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/file_descriptor.h"
#include "measure/measured_program.h"

namespace attune {

struct ChildReply;

// Not thread safe. The process is gone when this object is. After a failure there is nothing more to be had.
class MeasuredProcess {
 public:
  // `program` outlives the process, which runs on `processors` (empty: any). Null, and `failure`, where the
  // process cannot be had, or not the memory. The calling process has one thread that does not wait for good.
  static std::unique_ptr<MeasuredProcess> Start(MeasuredProgram& program, std::span<const int> processors,
                                                Failure* failure);
  MeasuredProcess(const MeasuredProcess&) = delete;
  MeasuredProcess& operator=(const MeasuredProcess&) = delete;
  ~MeasuredProcess();

  // Fills the results with what is none.
  std::optional<Failure> Poison();
  // Executes so often, at least once but for a measurement of what a batch costs by itself. `seconds`
  // is what that took by this process's clock, with waking the other process up and back.
  std::optional<Failure> Run(int64_t executions, double* seconds);
  // Executes twice, and has the times of the second one's parts in shared().
  std::optional<Failure> Profile();
  // From the next execution on, it works elsewhere in memory.
  std::optional<Failure> Move();
  // Takes the results of the last execution over, into shared(). A failure where anything was written between
  // the buffers.
  std::optional<Failure> Fetch();

  // Memory that the child can write at any time, of the program's shared_bytes(); valid until the process is
  // gone.
  const std::byte* shared() const { return shared_; }

 private:
  explicit MeasuredProcess(MeasuredProgram& program) : program_(program) {}

  bool MapShared();
  std::optional<Failure> AwaitSetUp();
  std::optional<Failure> Ask(int what, int64_t count, double seconds_limit);
  std::optional<Failure> Read(ChildReply* reply, const std::string& waiting_for);
  Failure Reap(const std::string& waiting_for);
  Failure DescribeCrash(const ChildReply& reply);
  void Kill(int* status);

  MeasuredProgram& program_;
  pid_t pid_ = -1;
  FileDescriptor commands_, replies_;
  std::byte* shared_ = nullptr;
  uint64_t turn_ = 0;
  double each_ = 0;  // seconds an execution, in the largest batch so far
  int64_t most_executions_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_MEASURED_PROCESS_H_
