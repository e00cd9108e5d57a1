// For tests: kernels whose times are known.
#ifndef ATTUNE_PLAN_TIMED_CHOOSER_FOR_TEST_H_
#define ATTUNE_PLAN_TIMED_CHOOSER_FOR_TEST_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/status.h"
#include "graph/text.h"
#include "plan/arrange.h"
#include "plan/program.h"

namespace attune {

// Two convolutions; the feature map between them has channels that half a vector divides.
inline constexpr char kGraphWithOverride[] =
    R"(graph @g(%in: f32[1,32,28,28], %v: f32[24,32,1,1], %w: f32[64,24,1,1]) {
  %a = fused(%in, %v) { graph(%x: f32[1,32,28,28], %k: f32[24,32,1,1]) {
    %c = conv(%x, %k) : f32[1,24,28,28]
    return "": %c
  } } : f32[1,24,28,28]
  %b = fused(%a, %w) { graph(%x: f32[1,24,28,28], %k: f32[64,24,1,1]) {
    %c = conv(%x, %k) : f32[1,64,28,28]
    return "": %c
  } } : f32[1,64,28,28]
  return "": %b
}
)";

// Baseline kernels, whose times are known.
class Timed final : public KernelChooser {
 public:
  absl::StatusOr<KernelChoice> Choose(const Workload& workload, const std::string&,
                                      const Target& target) const override {
    ASSIGN_OR_RETURN(KernelChoice choice, ChooseAnalytically(workload, target));
    choice.by = ChosenBy::kRecords;
    choice.code_digest = "of older code";
    return choice;
  }
  double SecondsOf(const std::string& task) const override {
    const auto found = seconds.find(task);
    return found == seconds.end() ? 0 : found->second;
  }

  std::map<std::string, double> seconds;
};

// A network for which a test sets the times of kernels, one arrangement after the other.
class TimedKernelsTest : public ::testing::Test {
 protected:
  // Sets the time of the network's kernels with these overrides, unless it is known already.
  void Know(const LayoutOverrides& overrides, double seconds) {
    const std::unique_ptr<Graph> copy = graph_->Clone();
    const absl::StatusOr<int> classes = ArrangeGroups(*copy, target_, overrides);
    ASSERT_TRUE(classes.ok()) << classes.status();
    ASSERT_EQ(*classes, 1);
    const absl::StatusOr<NetworkPlan> plan = PlanNetwork(*copy, target_);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const PlannedKernel& kernel : plan->kernels) chooser_.seconds.emplace(kernel.task, seconds);
  }

  const Target target_ = *TargetByName("znver4");
  const std::unique_ptr<Graph> graph_ = *ParseGraph(kGraphWithOverride);
  Timed chooser_;
};

}  // namespace attune

#endif  // ATTUNE_PLAN_TIMED_CHOOSER_FOR_TEST_H_
