#include "compile/flips.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/status.h"
#include "compile/compile.h"
#include "graph/text.h"
#include "plan/program.h"

namespace attune {
namespace {

// Two convolutions; the map between them has channels that half a vector divides.
constexpr char kGraph[] = R"(graph @g(%in: f32[1,32,28,28], %v: f32[24,32,1,1], %w: f32[64,24,1,1]) {
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

// Default kernels, whose times are known.
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

class ChooseFlipsTest : public testing::Test {
 protected:
  // Makes the kernels of the network with these blocks known.
  void Know(const BlockFlips& flips, double seconds) {
    const std::unique_ptr<Graph> copy = graph_->Clone();
    const absl::StatusOr<int> classes = ArrangeGroups(*copy, target_, flips);
    ASSERT_TRUE(classes.ok()) << classes.status();
    ASSERT_EQ(*classes, 1);
    const absl::StatusOr<NetworkPlan> plan = PlanNetwork(*copy, target_);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const PlannedKernel& kernel : plan->kernels) chooser_.seconds.emplace(kernel.task, seconds);
  }

  BlockFlips Chosen() {
    const absl::StatusOr<BlockFlips> flips = ChooseFlips(*graph_, target_, chooser_);
    EXPECT_TRUE(flips.ok()) << flips.status();
    return *flips;
  }

  const Target target_ = *TargetByName("znver4");
  const std::unique_ptr<Graph> graph_ = *ParseGraph(kGraph);
  Timed chooser_;
};

TEST_F(ChooseFlipsTest, TakesWhatIsFaster) {
  Know({}, 2e-3);
  Know({0}, 1e-3);
  EXPECT_EQ(Chosen(), BlockFlips{0});
}

TEST_F(ChooseFlipsTest, KeepsWhatIsFaster) {
  Know({}, 1e-3);
  Know({0}, 2e-3);
  EXPECT_EQ(Chosen(), BlockFlips{});
}

TEST_F(ChooseFlipsTest, KeepsWhatIsPredictedWhereNotAllIsKnown) {
  EXPECT_EQ(Chosen(), BlockFlips{});
  Know({0}, 1e-3);
  EXPECT_EQ(Chosen(), BlockFlips{});
}

TEST_F(ChooseFlipsTest, CompilationFollows) {
  Know({}, 2e-3);
  Know({0}, 1e-3);
  CompileOptions options;
  options.target = target_;
  CompileReport report;
  const auto compile = [&](const KernelChooser* chooser) {
    options.chooser = chooser;
    return Compile({graph_.get()}, options, &report);
  };
  const auto predicted = compile(nullptr), measured = compile(&chooser_);
  ASSERT_TRUE(predicted.ok() && measured.ok()) << predicted.status() << measured.status();
  EXPECT_NE(*predicted, *measured);
  EXPECT_EQ(report.num_changed, report.num_kernels);
  options.flips = BlockFlips{};
  EXPECT_EQ(*compile(&chooser_), *predicted);
}

}  // namespace
}  // namespace attune
