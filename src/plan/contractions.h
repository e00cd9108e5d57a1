// How the contractions of a network are computed: by kernels that are made for them, or by loops that compute
// anything, which are many times slower.
#ifndef ATTUNE_PLAN_CONTRACTIONS_H_
#define ATTUNE_PLAN_CONTRACTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lower/strategy.h"
#include "plan/program.h"
#include "target/target.h"

namespace attune {

// The contractions (convolutions, matrix products, attention) of one call of a kernel.
struct PlannedContraction {
  std::string op;                 // of the (first) contraction: "conv"
  std::string label;              // the nodes that the kernel computes
  std::string operators;          // "conv+add+relu"
  std::string strategy;           // "conv_direct tile_c=4 tile_w=7"
  int count = 1;                  // contractions in the kernel
  int64_t multiply_adds = 0;      // as CountMultiplyAdds() has them
  std::string why_slow;           // why no strategy made for contractions applies; empty where one does
  std::vector<Refusal> refusals;  // of all strategies that do not apply

  bool is_slow() const { return !why_slow.empty(); }
};

// In the order of the program, which was planned for `target`. A call in a loop or a branch is there once.
absl::StatusOr<std::vector<PlannedContraction>> ListContractions(const NetworkPlan& plan,
                                                                 const Target& target);

// The contractions that are slow, and their share of the multiply-adds of all, 0 to 1.
struct SlowContractions {
  int slow = 0;
  int all = 0;
  int64_t multiply_adds = 0;  // of all
  double share = 0;
};
SlowContractions CountSlow(const std::vector<PlannedContraction>& contractions);

}  // namespace attune

#endif  // ATTUNE_PLAN_CONTRACTIONS_H_
