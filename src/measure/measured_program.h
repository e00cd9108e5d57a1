// The program of a process under measurement: one kernel or one network (measured_process.h).
#ifndef ATTUNE_MEASURE_MEASURED_PROGRAM_H_
#define ATTUNE_MEASURE_MEASURED_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "measure/outcome.h"

namespace attune {

struct Failure {
  TrialOutcome outcome;
  std::string reason;
};

// The result of setting up.
enum class SetUpResult : int32_t {
  kReady,
  kNoMemory,   // not enough memory
  kNoThreads,  // not enough threads
  kRefused,    // the subject cannot be run; the reason is in the shared memory
  kNoFiles,    // too few files may be open
  kNoSandbox,
};

// Exists twice, since a process is forked to run it: in the parent and in the child. Not thread safe.
class MeasuredProgram {
 public:
  virtual ~MeasuredProgram() = default;

  // For the parent.
  //
  // The size of the memory that both share for results.
  virtual size_t shared_bytes() const = 0;
  virtual int threads() const = 0;
  virtual double execution_seconds_limit() const = 0;
  // For all executions and threads together.
  virtual double cpu_seconds_limit() const = 0;
  // The name of the buffer with a number from Locate(), such as "input 0".
  virtual std::string NameOf(int buffer) const = 0;
  // Why the subject cannot be run, after kRefused.
  virtual std::string Refusal(const std::byte* shared) const = 0;

  // For the child. All functions but SetUp() are called after system calls are forbidden.
  //
  // Creates everything that executions need, including threads.
  virtual SetUpResult SetUp(std::byte* shared) = 0;
  // Fills the outputs with values that no result has.
  virtual void Poison() = 0;
  // Moves the buffers: from the next execution on, they are elsewhere in memory.
  virtual void Move() = 0;
  // Runs `executions` executions; returns nonzero if an execution fails.
  virtual int32_t Run(int64_t executions) = 0;
  // Executes once without and once with profiling, and writes the time of each part into the shared memory.
  // Returns nonzero if an execution fails.
  virtual int32_t Profile() = 0;
  // Copies the results of the last execution to the shared memory. Returns the buffer beside which
  // something was written, or -1.
  virtual int Fetch() = 0;
  // Finds the buffer at an address, and the offset in it; returns false if it is not known. Safe in a
  // signal handler.
  virtual bool Locate(const void* address, int* buffer, int64_t* offset) const = 0;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_MEASURED_PROGRAM_H_
