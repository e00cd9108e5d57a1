// Random schedules of a few definitions compute what the unscheduled definitions do, verify, and can be
// replayed and read back.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/random.h"
#include "tensor/schedule.h"
#include "tensor/testing/definitions.h"
#include "tensor/testing/interpreter.h"

namespace attune {
namespace {

class RandomScheduler {
 public:
  RandomScheduler(ComputeDef def, uint64_t seed) : schedule_(std::move(def)), random_(seed) {}

  // Tries primitives; those that do not apply fail and change nothing. Marks come last, as they keep loops
  // from being taken apart.
  Schedule& Run() {
    const int64_t steps = random_.Integer(0, 14);
    for (int64_t i = 0; i < steps; ++i) Step();
    const int64_t marks = random_.Integer(0, 4);
    for (int64_t i = 0; i < marks; ++i) Mark();
    return schedule_;
  }

 private:
  StageHandle AnyStage() {
    const std::vector<Stage> stages = schedule_.Stages();
    return schedule_.StageNamed(stages[Pick(stages.size())].name);
  }
  LoopHandle AnyLoop(const StageHandle& stage) {
    const std::vector<LoopHandle> loops = *schedule_.Loops(stage);
    return loops.empty() ? LoopHandle() : loops[Pick(loops.size())];
  }
  Buffer AnyRead(const StageHandle& stage) {
    std::vector<Buffer> reads = {MakeBuffer("none", DType::kF32, {1})};
    for (const Stage& s : schedule_.Stages()) {
      if (s.name != stage.name()) continue;
      VisitExpr(s.value, [&](const Expr& e) {
        if (e->kind == ExprKind::kLoad) reads.push_back(e->buffer);
      });
    }
    return reads[Pick(reads.size())];
  }
  size_t Pick(size_t n) { return static_cast<size_t>(random_.Integer(0, static_cast<int64_t>(n) - 1)); }

  void Step() {
    const StageHandle stage = AnyStage();
    const LoopHandle loop = AnyLoop(stage);
    const std::vector<LoopHandle> loops = *schedule_.Loops(stage);
    switch (random_.Integer(0, 9)) {
      case 0:
      case 1:
        return Try(random_.Integer(0, 2) > 0 ? schedule_.Split(loop, random_.Integer(1, 5))
                                             : schedule_.SplitOverlapping(loop, random_.Integer(1, 5)));
      case 2: {
        if (loops.size() < 2) return;
        const size_t i = Pick(loops.size() - 1);
        return Try(schedule_.Fuse(loops[i], loops[i + 1], absl::StrCat(stage.name(), ".fused", ++fused_)));
      }
      case 3:
        return Try(schedule_.Reorder({AnyLoop(stage), AnyLoop(stage)}));
      case 4:
        return Try(schedule_.Inline(stage));
      case 5:
      case 6:
        return Try(random_.Integer(0, 2) > 0
                       ? schedule_.ComputeAt(stage, AnyLoop(AnyStage()), MemorySpace::kScratch)
                       : schedule_.ComputeAfter(stage, AnyLoop(AnyStage())));
      case 7:
        return Try(random_.Integer(0, 1) == 0 ? schedule_.CacheWrite(stage)
                                              : schedule_.CacheRead(AnyRead(stage), stage));
      case 8:
        return Try(schedule_.Rfactor(stage, loop, random_.Integer(-1, 1)));
      default:
        if (random_.Integer(0, 1) == 0)
          return Try(schedule_.Pack(AnyRead(stage), stage, {{0, random_.Integer(1, 4)}}, Order()));
        return Try(schedule_.Overcompute(stage));
    }
  }

  void Mark() {
    const StageHandle stage = AnyStage();
    const LoopHandle loop = AnyLoop(stage);
    switch (random_.Integer(0, 3)) {
      case 0:
        return Try(schedule_.Unroll(loop));
      case 1:
        return Try(schedule_.Parallel(loop));
      case 2:
        return Try(random_.Integer(0, 1) == 0 ? schedule_.Prefetch(AnyRead(stage), loop)
                                              : schedule_.PrefetchNextTile(AnyRead(stage), loop));
      default:
        return Try(schedule_.Peel(loop, random_.Integer(0, 2), random_.Integer(0, 2)));
    }
  }

  std::vector<int64_t> Order() {
    return random_.Integer(0, 1) == 0 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{2, 0, 1};
  }
  void Try(const absl::Status& status) { status.IgnoreError(); }
  template <typename T>
  void Try(const absl::StatusOr<T>& made) {
    Try(made.status());
  }

  Schedule schedule_;
  int fused_ = 0;
  Random random_;
};

// Small whole numbers, so that sums are exact in any order.
Arrays Inputs(const ComputeDef& def) {
  Random random(7);
  Arrays arrays;
  for (const LoopNest::Param& param : def.params) {
    if (param.role != BufferRole::kInput) continue;
    std::vector<double>& array = arrays[param.buffer->name];
    for (int64_t i = 0; i < param.buffer->num_elements(); ++i) {
      array.push_back(static_cast<double>(random.Integer(-4, 4)));
    }
  }
  return arrays;
}

std::vector<double> Output(const LoopNest& nest, Arrays arrays) {
  const absl::Status status = RunLoopNest(nest, arrays);
  EXPECT_TRUE(status.ok()) << status << "\n" << Print(nest);
  return arrays["out"];
}

void CheckSchedules(const std::function<ComputeDef()>& make, int count) {
  const Arrays inputs = Inputs(make());
  const std::vector<double> expected = Output(*Schedule(make()).Lower(), inputs);
  for (const double value : expected) ASSERT_TRUE(std::isfinite(value));
  for (int seed = 0; seed < count && !::testing::Test::HasFailure(); ++seed) {
    RandomScheduler scheduler(make(), static_cast<uint64_t>(seed));
    const Schedule& schedule = scheduler.Run();
    const auto nest = schedule.Lower();
    ASSERT_TRUE(nest.ok()) << nest.status();
    const std::string text = Print(*nest), trace = ToJson(schedule.trace());
    EXPECT_TRUE(VerifyLoopNest(*nest).ok()) << VerifyLoopNest(*nest) << "\n" << text << trace;
    const std::vector<double> actual = Output(*nest, inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(actual[i], expected[i], 1e-12) << "element " << i << ", seed " << seed << "\n"
                                                 << text << trace;
    }
    const auto replayed = Schedule::Replay(make(), *ParseTrace(trace));
    ASSERT_TRUE(replayed.ok()) << replayed.status() << trace;
    EXPECT_EQ(Print(*replayed->Lower()), text);
    const auto parsed = ParseLoopNest(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status() << text;
    EXPECT_EQ(Print(*parsed), text);
  }
}

TEST(RandomSchedules, MatMul) {
  CheckSchedules([] { return MatMulRelu(5, 7, 6); }, 1500);
}

TEST(RandomSchedules, PaddedConvolution) {
  CheckSchedules([] { return PaddedConv(11, 1); }, 1500);
}

TEST(RandomSchedules, StridedConvolution) {
  CheckSchedules([] { return PaddedConv(10, 2); }, 1500);
}

TEST(RandomSchedules, Softmax) {
  CheckSchedules([] { return Softmax(3, 7); }, 1500);
}

}  // namespace
}  // namespace attune
