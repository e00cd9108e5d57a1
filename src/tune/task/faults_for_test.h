// For tests: faults that are put into builds, in the workers of the test program. A candidate of any strategy
// names one by the number "fault" in its config, which no strategy reads.
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

// A kernel that is wrong, of real machine code.
struct KernelFault {
  std::string_view name;
  // How measuring it may end; which of them depends on what happens to lie where.
  std::set<TrialOutcome> outcomes;
  // One of these is set: a change of the loop nest, or code in the place of the first phase's.
  void (*change)(LoopNest& nest) = nullptr;
  std::string_view code = {};
};
std::span<const KernelFault> KernelFaults();

// A build that goes wrong.
enum BuilderFault : int64_t {
  kAbort = 1000,
  kSegmentationFault,
  kExit,
  kHang,
  kMemory,
  kSlow,     // takes a second, and is right
  kChatter,  // prints far too much, then crashes
};

// `candidate` with a fault: an index into KernelFaults(), or a BuilderFault.
Candidate WithFault(Candidate candidate, int64_t fault);

// What workers of the test program are to be started with.
BuildHooks HooksOfTest();

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_FAULTS_FOR_TEST_H_
