// For tests: faults that are injected into builds, in the workers of the test program. A candidate of any
// strategy selects a fault by the number "fault" in its config, which no strategy reads.
#ifndef ATTUNE_TUNE_TASK_FAULTS_FOR_TEST_H_
#define ATTUNE_TUNE_TASK_FAULTS_FOR_TEST_H_

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "measure/outcome.h"
#include "tune/task/build_candidate.h"
#include "tune/task/task.h"

namespace attune {

// A wrong kernel, with real machine code.
struct KernelFault {
  std::string_view name;
  // The possible outcomes of measuring it; which one occurs depends on what is in memory.
  std::set<TrialOutcome> outcomes;
  // Exactly one is set: a change of the loop nest, or code that replaces that of the first phase.
  void (*change)(LoopNest& nest) = nullptr;
  std::string_view code = {};
};
std::span<const KernelFault> KernelFaults();

// Faults of the build itself.
enum BuilderFault : int64_t {
  kAbort = 1000,
  kSegmentationFault,
  kExit,
  kHang,
  kMemory,
  kStops,    // stops itself, and gives the right result once it is continued
  kChatter,  // prints far too much, then crashes
};

// `candidate` with a fault: an index into KernelFaults(), or a BuilderFault.
Candidate WithFault(Candidate candidate, int64_t fault);

// The hooks for the workers of the test program.
BuildHooks HooksOfTest();

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_FAULTS_FOR_TEST_H_
