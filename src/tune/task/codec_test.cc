#include "tune/task/codec.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "measure/kernels_for_test.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

TEST(BuildCodec, BuildsComeBackAsTheyWere) {
  BuildResult result;
  result.outcome = TrialOutcome::kOk;
  result.seconds = 0.25;
  result.kernel = SampleKernel();
  const std::string text = EncodeBuildResult(result);
  const auto decoded = DecodeBuildResult(text);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(EncodeBuildResult(*decoded), text);
  EXPECT_EQ(decoded->kernel.code.params[2].dtype, DType::kI8);
  EXPECT_TRUE(decoded->kernel.code.phases[0].parallel);
}

TEST(BuildCodec, RequestsComeBackAsTheyWere) {
  const TuningTask task = MakeTask(kConvTask, {1, 2});
  const BuildRequest request = {&task, {"conv_direct", {{"tile_c", 4}}}};
  const auto decoded = DecodeBuildRequest(EncodeBuildRequest(request));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(CanonicalText(*decoded->task.region), CanonicalText(*task.region));
  EXPECT_EQ(decoded->task.constant_inputs, task.constant_inputs);
  EXPECT_EQ(decoded->candidate, request.candidate);
}

// Every field influences the code.
TEST(BuildCodec, TargetsComeBackAsTheyWere) {
  for (const std::string& name : TargetNames()) {
    for (Target target : {*TargetByName(name), WithModelledTiles(*TargetByName(name))}) {
      target.l2_bytes *= 2;
      target.cores = 7;
      const auto decoded = DecodeBuildSetUp(EncodeBuildSetUp({1.5, target}));
      ASSERT_TRUE(decoded.ok()) << decoded.status();
      EXPECT_TRUE(decoded->target == target) << name;
      EXPECT_EQ(decoded->seconds_limit, 1.5);
    }
  }
}

TEST(BuildCodec, DamagedMessagesAreErrorsOrOtherMessages) {
  BuildResult result;
  result.outcome = TrialOutcome::kOk;
  result.kernel = SampleKernel();
  const std::string good = EncodeBuildResult(result);
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good.substr(0, static_cast<size_t>(random.Integer(1, std::ssize(good))));
    bad[static_cast<size_t>(random.Integer(0, std::ssize(bad) - 1))] = static_cast<char>(random.Next());
    DecodeBuildRequest(bad).status().IgnoreError();
    DecodeBuildSetUp(bad).status().IgnoreError();
    const auto decoded = DecodeBuildResult(bad);
    if (!decoded.ok() || decoded->outcome != TrialOutcome::kOk) continue;
    for (const KernelCode::Phase& phase : decoded->kernel.code.phases)
      EXPECT_LT(phase.offset, std::ssize(decoded->kernel.code.bytes));
  }
}

}  // namespace
}  // namespace attune
