// Where the time of a compiled network goes, and how far from the machine's limits it is.
#ifndef ATTUNE_API_PROFILE_H_
#define ATTUNE_API_PROFILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "api/compiled_model.h"
#include "target/target.h"

namespace attune {

// What limits a kernel: arithmetic, or the bandwidth of what its data comes from.
enum class Bound { kCompute, kL2, kL3, kMemory };
std::string_view Name(Bound bound);  // "compute", "L2", "L3" or "memory"

// A kernel, all its calls in one inference together.
struct KernelProfile {
  std::vector<std::string> labels;  // the nodes that it computes
  std::string op;                   // "conv+bias+relu"
  std::string strategy;
  int64_t calls = 0;
  double seconds = 0;
  double share = 0;  // of the sum over all kernels, 0 to 1
  double flops = 0;  // operations, and the least bytes that must be moved
  double bytes = 0;
  double gflops_per_s = 0;
  double gb_per_s = 0;

  // The roofline model (Williams, Waterman, Patterson: Roofline, 2009): no kernel is faster than its
  // operations at the machine's peak, nor than its bytes at the bandwidth of where they are. A kernel that
  // moves them faster than memory can has them in a cache: the second level if they fit there, else the
  // third.
  double peak_share = 0;  // gflops_per_s of the measured peak; above 1 for algorithms with fewer operations
  Bound bound = Bound::kCompute;  // which of the two limits it
  double roofline_seconds = 0;    // the larger of the two
  double roofline_share = 0;      // roofline_seconds / seconds
};

struct ProfileReport {
  std::vector<KernelProfile> kernels;  // the slowest first; copies and branches are one row, "copy"
  double seconds = 0;                  // sum over the kernels
  double flops = 0;
  double bytes = 0;
  int threads = 1;
  Peaks peaks;  // of one core; rooflines are drawn for `threads` times as much
};

// Runs `session`, whose inputs are set, `rounds` times and once before, and takes the median of each kernel.
absl::StatusOr<ProfileReport> ProfileSession(const CompiledModel& model, Session& session, int threads,
                                             int rounds);

}  // namespace attune

#endif  // ATTUNE_API_PROFILE_H_
