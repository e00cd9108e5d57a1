// A kernel in memory, and how long it takes.
#ifndef ATTUNE_BENCHMARKS_KERNEL_TIMER_H_
#define ATTUNE_BENCHMARKS_KERNEL_TIMER_H_

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/codegen.h"
#include "codegen/host_code.h"
#include "lower/strategy.h"
#include "target/target.h"

namespace attune {

// The seconds since some point in time, by a clock that never goes back.
double Seconds();

// The loop nest of a group whose constants are packed ahead of time.
absl::StatusOr<LoopNest> LowerPrepared(const ScheduledGroup& group);

// Runs on one thread, on small numbers. Not thread-safe.
class TimedKernel {
 public:
  static absl::StatusOr<TimedKernel> Compile(const ScheduledGroup& group, const Target& target,
                                             bool keep_assembly = false);

  const std::string& assembly() const { return kernel_.assembly; }
  // Runs again and again for `budget` seconds, at least once; `between` comes before each run.
  double BestSeconds(double budget, const std::function<void()>& between = [] {}) const;

 private:
  struct AlignedFree {
    void operator()(void* p) const { std::free(p); }
  };
  using AlignedBytes = std::unique_ptr<void, AlignedFree>;

  TimedKernel(CompiledKernel kernel, HostCode code, const LoopNest& nest);
  static AlignedBytes Filled(const Buffer& buffer);

  CompiledKernel kernel_;
  HostCode code_;
  std::vector<AlignedBytes> memory_;
  AlignedBytes scratch_;
};

}  // namespace attune

#endif  // ATTUNE_BENCHMARKS_KERNEL_TIMER_H_
