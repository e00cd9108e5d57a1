#include "tune/task/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tune/task/nest_bounds.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

Target SpaceTarget() { return *TargetByName("znver4"); }

TEST(ConfigSpaceTest, HasTheStrategiesThatApply) {
  const TuningTask task = MakeTask(kWideConvTask, {1, 2});
  const auto space = ConfigSpace::Create(task, SpaceTarget());
  ASSERT_TRUE(space.ok()) << space.status();
  EXPECT_THAT(space->ToString(),
              HasSubstr("conv_direct: tile_w 28 × tile_c 3 × rows_first 2 × unroll_c 4 × prefetch 3 = 2016"));
  EXPECT_THAT(space->ToString(), HasSubstr("conv_winograd: "));
  EXPECT_EQ(space->Defaults().front(), space->Default());
  EXPECT_EQ(space->Defaults().size(), space->strategies().size());
}

TEST(ConfigSpaceTest, HasTheDefaultsOfAllStrategies) {
  const std::pair<const char*, std::set<int>> tasks[] = {
      {kConvTask, {1, 2}}, {kWideConvTask, {1, 2}}, {kMatMulTask, {1}}, {kSoftmaxTask, {}}, {kReluTask, {}}};
  for (const auto& [text, constants] : tasks) {
    const TuningTask task = MakeTask(text, constants);
    for (const std::string& name : TargetNames()) {
      const auto target = TargetByName(name);
      ASSERT_TRUE(target.ok()) << target.status();
      const auto space = ConfigSpace::Create(task, *target);
      ASSERT_TRUE(space.ok()) << space.status();
      for (const Candidate& candidate : space->Defaults()) {
        EXPECT_TRUE(space->Contains(candidate))
            << name << ": " << task.text << ToString(candidate.strategy, candidate.config);
      }
    }
  }
}

TEST(ConfigSpaceTest, EveryIndexIsAnotherCandidate) {
  const TuningTask task = MakeTask(kWideConvTask, {1, 2});
  const auto space = ConfigSpace::Create(task, SpaceTarget());
  ASSERT_TRUE(space.ok()) << space.status();
  const int64_t count = std::min<int64_t>(space->size(), 2000);
  std::set<Candidate> seen;
  for (int64_t i = 0; i < count; ++i) {
    const Candidate candidate = space->At(i);
    EXPECT_TRUE(space->Contains(candidate));
    seen.insert(candidate);
  }
  EXPECT_EQ(std::ssize(seen), count);
}

TEST(ConfigSpaceTest, SamplesAndNeighboursAreValidAndDiffer) {
  const TuningTask task = MakeTask(kWideConvTask, {1, 2});
  auto space = ConfigSpace::Create(task, SpaceTarget());
  ASSERT_TRUE(space.ok()) << space.status();
  Random random(3);
  std::set<Candidate> samples, neighbours;
  for (int i = 0; i < 100; ++i) {
    const auto sample = space->Sample(random);
    ASSERT_TRUE(sample.has_value());
    EXPECT_TRUE(space->IsValid(*sample));
    samples.insert(*sample);
    const auto neighbour = space->Neighbour(*sample, random);
    ASSERT_TRUE(neighbour.has_value());
    EXPECT_TRUE(space->IsValid(*neighbour));
    if (sample->config.empty()) continue;  // "loops" has only this config
    EXPECT_EQ(neighbour->strategy, sample->strategy);
    EXPECT_FALSE(*neighbour == *sample);
    neighbours.insert(*neighbour);
  }
  EXPECT_GT(samples.size(), 60u);
  EXPECT_GT(neighbours.size(), 60u);
}

TEST(ConfigSpaceTest, RefusesWhatDoesNotFit) {
  const TuningTask task = MakeTask(kWideConvTask, {1, 2});
  auto space = ConfigSpace::Create(task, SpaceTarget());
  ASSERT_TRUE(space.ok()) << space.status();
  EXPECT_FALSE(space->IsValid({"conv_indirect", {}}));
  EXPECT_FALSE(space->IsValid({"conv_direct", {{"tile_w", 7}}}));
  EXPECT_FALSE(space->IsValid(
      {"conv_direct", {{"tile_w", 7}, {"tile_c", 5}, {"unroll_c", 1}, {"rows_first", 0}, {"prefetch", 0}}}));
  // 28 × 4 accumulators with only 32 registers.
  const Candidate spills = {
      "conv_direct", {{"tile_w", 28}, {"tile_c", 4}, {"unroll_c", 1}, {"rows_first", 0}, {"prefetch", 0}}};
  EXPECT_TRUE(space->Contains(spills));
  EXPECT_FALSE(space->IsValid(spills));
  EXPECT_TRUE(space->IsValid(
      {"conv_direct", {{"tile_w", 7}, {"tile_c", 4}, {"unroll_c", 1}, {"rows_first", 0}, {"prefetch", 0}}}));
}

TEST(ConfigSpaceTest, ThreadsMakeNoDifference) {
  const TuningTask task = MakeTask(kWideConvTask, {1, 2});
  std::vector<Candidate> ends[2];
  for (const int threads : {1, 3}) {
    auto space = ConfigSpace::Create(task, SpaceTarget(), threads);
    ASSERT_TRUE(space.ok()) << space.status();
    Random random(7);
    std::vector<Candidate>& points = ends[threads == 3];
    points.assign(20, space->Default());
    for (int step = 0; step < 5; ++step) {
      const auto neighbours = space->Neighbours(points, random);
      for (size_t i = 0; i < points.size(); ++i) {
        ASSERT_TRUE(neighbours[i].has_value());
        points[i] = *neighbours[i];
      }
    }
    // The loop nest of a candidate that was just found valid can be taken once, without lowering it again.
    EXPECT_TRUE(space->TakeLowered(points[0]).has_value());
    EXPECT_FALSE(space->TakeLowered(points[0]).has_value());
    EXPECT_TRUE(space->Lower(points[0]).ok());
  }
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_GT(std::set(ends[0].begin(), ends[0].end()).size(), 10U);
}

TEST(ConfigSpaceTest, BoundsCountWhatUnrollingRepeats) {
  const TuningTask task = MakeTask(kWideConvTask, {1, 2});
  auto space = ConfigSpace::Create(task, SpaceTarget());
  ASSERT_TRUE(space.ok()) << space.status();
  const auto bounds = [&](int64_t tile_w, int64_t unroll_c) {
    const auto nest = space->Lower(
        {"conv_direct",
         {{"tile_w", tile_w}, {"tile_c", 2}, {"unroll_c", unroll_c}, {"rows_first", 1}, {"prefetch", 0}}});
    EXPECT_TRUE(nest.ok()) << nest.status();
    return BoundsOf(*nest, SpaceTarget());
  };
  EXPECT_EQ(bounds(7, 1).register_vectors, 14);
  EXPECT_EQ(bounds(14, 1).register_vectors, 28);
  EXPECT_GT(bounds(7, 4).statements, 2 * bounds(7, 1).statements);
}

}  // namespace
}  // namespace attune
