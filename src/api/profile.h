// Shows how a compiled network spends its time, and how far it is from the machine's limits.
#ifndef ATTUNE_API_PROFILE_H_
#define ATTUNE_API_PROFILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "api/compiled_model.h"
#include "artifact/artifact.h"
#include "device/peaks.h"
#include "device/roofline.h"
#include "device/run_times.h"
#include "target/target.h"

namespace attune {

// A kernel, with all its calls in one inference added up.
struct KernelProfile {
  std::vector<std::string> labels;  // the nodes that it computes
  std::string op;                   // "conv+bias+relu"
  std::string strategy;
  int64_t calls = 0;
  double seconds = 0;
  double share = 0;                                // of the sum over all kernels, 0 to 1
  Multiplicand multiplicand = Multiplicand::kF32;  // the type of its products
  double flops = 0;                                // operations, and the least bytes to move
  double bytes = 0;
  double gflops_per_s = 0;
  double gb_per_s = 0;

  // From RooflineOf(); from BoundOf() where even that is too slow.
  double peak_share = 0;  // gflops_per_s / measured peak; above 1 for algorithms with fewer operations
  Bound bound = Bound::kCompute;
  double roofline_seconds = 0;  // at most `seconds`
  double roofline_share = 0;    // roofline_seconds / seconds
};

struct ProfileReport {
  std::vector<KernelProfile> kernels;  // slowest first; copies, branches and checks share a row, "copy"
  double seconds = 0;                  // sum over the kernels
  double flops = 0;
  double bytes = 0;
  int threads = 1;
  // Of one core while `threads` are busy; rooflines use `threads` times as much. At least the rates that the
  // kernels themselves attain.
  Peaks peaks;
  // The share of the time in which the runs waited for a processor, 0 to 1; and, on this machine alone, from
  // which times it follows.
  double waited_share = 0;
  RunTimes times = {};

  // A sentence for people if other programs disturbed them; otherwise empty.
  std::string disturbance() const { return DescribeDisturbance(waited_share, times); }
};

// The time that an instruction of a network takes, all its executions in one inference together.
struct InstructionTime {
  int32_t kernel = -1;  // that it calls: an index into the variant's kernels; -1: none
  std::string_view label = {};
  double seconds = 0;
};

// The report for a network whose instructions take these times, on a machine with these peaks and caches.
ProfileReport AssembleProfile(std::span<const KernelInfo> kernels,
                              std::span<const InstructionTime> instructions, const Peaks& peaks,
                              const CacheSizes& caches, int threads);

// Runs `session`, whose inputs must be set, once for warm-up and then `rounds` times, and takes each
// kernel's median.
absl::StatusOr<ProfileReport> ProfileSession(Session& session, int threads, int rounds);

}  // namespace attune

#endif  // ATTUNE_API_PROFILE_H_
