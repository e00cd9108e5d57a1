// What runs in a process under measurement: one kernel or one network (measured_process.h).
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

// How setting up ends.
enum class SetUpResult : int32_t {
  kReady,
  kNoMemory,   // for what is to be set up
  kNoThreads,  // likewise
  kRefused,    // the subject cannot be run; the program says why in the memory that is shared
  kNoFiles,    // open at once
  kNoSandbox,
};

// Exists twice, since a process is forked to run it: in the one that asks, and in the one that runs it. Not
// thread safe.
class MeasuredProgram {
 public:
  virtual ~MeasuredProgram() = default;

  // For the process that asks.
  //
  // Memory that the two share for results.
  virtual size_t shared_bytes() const = 0;
  virtual int threads() const = 0;
  virtual double execution_seconds_limit() const = 0;
  // Of all executions and threads together.
  virtual double cpu_seconds_limit() const = 0;
  // What lies where it crashed, as Locate() numbers it: "input 0".
  virtual std::string NameOf(int buffer) const = 0;
  // Why the subject cannot be run, after kRefused.
  virtual std::string Refusal(const std::byte* shared) const = 0;

  // For the process that runs it. All but SetUp() is called when system calls are forbidden.
  //
  // Has everything that executions need, threads included.
  virtual SetUpResult SetUp(std::byte* shared) = 0;
  // Fills results with what is none.
  virtual void Poison() = 0;
  // From the next execution on, it works elsewhere in memory.
  virtual void Move() = 0;
  // Executes so often; not 0 where an execution says that it failed.
  virtual int32_t Run(int64_t executions) = 0;
  // Executes once, after another execution, and notes in the memory that is shared what each of its parts
  // took. Likewise.
  virtual int32_t Profile() = 0;
  // Puts the results of the last execution into the memory that is shared; the buffer beside which something
  // was written, or -1.
  virtual int Fetch() = 0;
  // What is at an address: a buffer, and where in it. False where that is not known. Safe in a signal
  // handler.
  virtual bool Locate(const void* address, int* buffer, int64_t* offset) const = 0;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_MEASURED_PROGRAM_H_
