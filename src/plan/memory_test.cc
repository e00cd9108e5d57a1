#include "plan/memory.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace attune {
namespace {

TEST(PlanMemory, ReusesWhatIsFree) {
  const MemoryPlan plan = PlanMemory({{100, 0, 1}, {100, 1, 2}, {100, 2, 3}}, 64);
  EXPECT_EQ(plan.arena_bytes, 256);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
}

TEST(PlanMemory, NothingAliveTogetherOverlaps) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> buffers;
    for (int i = 0; i < 40; ++i) {
      const int first = static_cast<int>(random.Integer(0, 30));
      buffers.push_back({random.Integer(0, 5000), first, first + static_cast<int>(random.Integer(0, 6))});
    }
    const MemoryPlan plan = PlanMemory(buffers, 64);
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0);
      EXPECT_LE(plan.offsets[a] + buffers[a].bytes, plan.arena_bytes);
      for (size_t b = a + 1; b < buffers.size(); ++b) {
        const bool together = buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
        if (!together || buffers[a].bytes == 0 || buffers[b].bytes == 0) continue;
        EXPECT_TRUE(plan.offsets[a] + buffers[a].bytes <= plan.offsets[b] ||
                    plan.offsets[b] + buffers[b].bytes <= plan.offsets[a]);
      }
    }
  }
}

}  // namespace
}  // namespace attune
