// Where the time of a compiled network goes, and how far from the machine's limits it is.
#ifndef ATTUNE_API_PROFILE_H_
#define ATTUNE_API_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/compiled_model.h"
#include "device/peaks.h"
#include "device/roofline.h"
#include "target/target.h"

namespace attune {

// A kernel, all its calls in one inference together.
struct KernelProfile {
  std::vector<std::string> labels;  // the nodes that it computes
  std::string op;                   // "conv+bias+relu"
  std::string strategy;
  int64_t calls = 0;
  double seconds = 0;
  double share = 0;                                // of the sum over all kernels, 0 to 1
  Multiplicand multiplicand = Multiplicand::kF32;  // of its products
  double flops = 0;                                // operations, and the least bytes that must be moved
  double bytes = 0;
  double gflops_per_s = 0;
  double gb_per_s = 0;

  // As RooflineOf() gives it.
  double peak_share = 0;  // gflops_per_s of the measured peak; above 1 for algorithms with fewer operations
  Bound bound = Bound::kCompute;
  double roofline_seconds = 0;
  double roofline_share = 0;  // roofline_seconds / seconds
};

struct ProfileReport {
  std::vector<KernelProfile> kernels;  // the slowest first; copies and branches are one row, "copy"
  double seconds = 0;                  // sum over the kernels
  double flops = 0;
  double bytes = 0;
  int threads = 1;
  Peaks peaks;  // of a core while `threads` are busy; rooflines are drawn for as many times as much
};

// Runs `session`, whose inputs are set, `rounds` times and once before, and takes the median of each kernel.
absl::StatusOr<ProfileReport> ProfileSession(Session& session, int threads, int rounds);

}  // namespace attune

#endif  // ATTUNE_API_PROFILE_H_
