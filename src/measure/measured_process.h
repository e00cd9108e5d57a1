// A child process that runs one kernel or one network for a measuring process.
//
// The measuring process forks a child for each subject, which can name no other process
// (base/process/namespaces.h). The child sets up everything that executions need, gives up all rights except
// talking to its parent (base/process/sandbox.h), and from then on obeys commands: execute n times, hand over
// the results. The parent does not trust it: it reads the clock itself, around the whole batch, and compares
// the results itself.
//
// This protects against wrong generated code: code that crashes, hangs, writes anywhere, needs more memory
// than there is, or gives its result only the first time. Malicious code has few means (it cannot write to
// the parent's memory, stop its clock, or see the expected results, and an answer that comes too early
// lacks its results or is out of turn), but it shares its process with the code that hands over the
// results, so that protection is best effort.
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

// Not thread safe. The destructor ends the process. After a failure, the process is of no further use.
class MeasuredProcess {
 public:
  // `program` must outlive the process, which runs on `processors` (empty: any). Returns null and sets
  // `failure` if the process or its memory cannot be created. All threads of the calling process but one
  // must be waiting forever.
  static std::unique_ptr<MeasuredProcess> Start(MeasuredProgram& program, std::span<const int> processors,
                                                Failure* failure);
  MeasuredProcess(const MeasuredProcess&) = delete;
  MeasuredProcess& operator=(const MeasuredProcess&) = delete;
  ~MeasuredProcess();

  // Fills the outputs with values that no result has.
  std::optional<Failure> Poison();
  // Runs `executions` executions; 0 measures the cost of a batch itself. `seconds` is the duration by this
  // process's clock, including waking the other process and being woken.
  std::optional<Failure> Run(int64_t executions, double* seconds);
  // Executes twice, and puts the times of the parts of the second execution into shared().
  std::optional<Failure> Profile();
  // Moves the buffers: from the next execution on, they are elsewhere in memory.
  std::optional<Failure> Move();
  // Copies the results of the last execution to shared(). Fails if anything was written between the
  // buffers.
  std::optional<Failure> Fetch();

  // Memory of the program's shared_bytes() that the child can write at any time; valid while this object
  // lives.
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
  double each_ = 0;  // seconds per execution, in the largest batch so far
  int64_t most_executions_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_MEASURED_PROCESS_H_
