#include "base/memory_plan.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace attune {
namespace {

TEST(MemoryPlannerTest, ReusesWhatIsFree) {
  const Lifetime buffers[] = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}};
  int64_t offsets[3];
  EXPECT_EQ(MemoryPlanner().Plan(buffers, 64, offsets), 256);
  EXPECT_EQ(offsets[0], offsets[2]);
}

TEST(MemoryPlannerTest, NothingAliveTogetherOverlaps) {
  Random random(7);
  MemoryPlanner planner;
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> buffers;
    for (int i = 0; i < 40; ++i) {
      const int64_t first = random.Integer(0, 30);
      buffers.push_back({random.Integer(0, 5000), first, first + random.Integer(0, 6)});
    }
    std::vector<int64_t> offsets(buffers.size());
    const int64_t arena_bytes = planner.Plan(buffers, 64, offsets);
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(offsets[a] % 64, 0);
      EXPECT_LE(offsets[a] + buffers[a].bytes, arena_bytes);
      for (size_t b = a + 1; b < buffers.size(); ++b) {
        const bool together = buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
        if (!together || buffers[a].bytes == 0 || buffers[b].bytes == 0) continue;
        EXPECT_TRUE(offsets[a] + buffers[a].bytes <= offsets[b] ||
                    offsets[b] + buffers[b].bytes <= offsets[a]);
      }
    }
  }
}

}  // namespace
}  // namespace attune
