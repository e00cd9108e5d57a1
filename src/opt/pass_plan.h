// A pass plan: which passes run, in which order, with which parameters. Plans are data: they can be
// printed, edited in a file, and chosen for each network.
#ifndef ATTUNE_OPT_PASS_PLAN_H_
#define ATTUNE_OPT_PASS_PLAN_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "opt/pass.h"

namespace attune {

struct PassStep {
  std::string pass;           // a name in PassTable()
  PassParameters parameters;  // those that differ from the table's defaults; may name others too
  bool operator==(const PassStep&) const = default;
};

struct PassPlan {
  std::vector<PassStep> steps;
  bool operator==(const PassPlan&) const = default;
};

// Every row of PassTable(), in order, at its defaults.
PassPlan DefaultPlan();

// Makes the plan compute in bf16 where that is fast. An error where it lacks the pass "narrow".
absl::Status SetBF16(PassPlan& plan);
// Whether the plan computes in bf16.
bool IsBF16(const PassPlan& plan);

// Makes the plan compute products of f32 by three of bf16. An error where it lacks the pass "split_products".
absl::Status SetBF16x3(PassPlan& plan);
// Whether the plan computes products of f32 by three of bf16.
bool IsBF16x3(const PassPlan& plan);

// Makes the plan round weights to f16 or bf16. An error where it lacks the pass "round_weights".
absl::Status SetWeights(PassPlan& plan, DType dtype);
// The type to which the plan rounds weights; f32 where it rounds none.
DType WeightsOf(const PassPlan& plan);

// Makes the plan check indices, just before the pass fuse, unless it has the pass check_indices already. A
// plan from a file may be older than that pass.
void EnsureIndexChecks(PassPlan& plan);
// Makes the plan leave indices unchecked, so that those out of range are clamped.
void SetUncheckedIndices(PassPlan& plan);
// Whether the plan leaves indices unchecked.
bool HasUncheckedIndices(const PassPlan& plan);

// One line a pass with all its parameters, preceded by a comment with the reason for the pass's place:
//
//   # Values that depend on no input are computed now.
//   fold_constants max_bytes=16777216
//
// ParsePassPlan(Print(plan)) runs as `plan` does.
std::string Print(const PassPlan& plan);

// `#` starts a comment; empty lines are skipped. Errors name the line: an unknown pass or parameter, a
// value that is not a whole number, a parameter given twice.
absl::StatusOr<PassPlan> ParsePassPlan(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_OPT_PASS_PLAN_H_
