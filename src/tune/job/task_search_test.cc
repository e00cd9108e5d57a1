#include "tune/job/task_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

std::unique_ptr<TaskSearch> Create(const TuningOptions& options = {}, Slice slice = {}) {
  auto search = TaskSearch::Create(MakeTask(kMatMulTask, {1}), *TargetByName("znver4"), options, 7, slice);
  EXPECT_TRUE(search.ok()) << search.status();
  return search.ok() ? *std::move(search) : nullptr;
}

TEST(TaskSearch, AnUnknownStrategyIsRefused) {
  TuningOptions options;
  options.search = "none";
  const auto search = TaskSearch::Create(MakeTask(kMatMulTask, {1}), *TargetByName("znver4"), options, 7, {});
  EXPECT_EQ(search.status().message(), "there is no search strategy \"none\"");
}

TEST(TaskSearch, WhatWasObservedIsNotProposedAgain) {
  const auto first = Create(), second = Create();
  const std::vector<Candidate> proposed = first->Propose(4, nullptr);
  ASSERT_EQ(proposed.size(), 4u);
  EXPECT_EQ(proposed.front(), first->space().Default());
  std::vector<Trial> trials;
  for (const Candidate& candidate : proposed) trials.push_back({candidate, /*ok=*/true, 1e-3});
  for (const Trial& trial : trials) first->Add(trial);
  EXPECT_EQ(first->EndBatch(), 4u);
  EXPECT_EQ(first->EndBatch(), 0u);
  second->Observe(trials);
  const std::vector<Candidate> next = second->Propose(4, nullptr);
  for (const Candidate& candidate : proposed) EXPECT_THAT(next, Not(Contains(candidate)));
  EXPECT_EQ(first->Samples().throughput, second->Samples().throughput);
}

TEST(TaskSearch, TheBestOfOtherTasksFitsAndIsNoBaseline) {
  const auto search = Create();
  const Candidate other = search->Propose(2, nullptr).back();
  EXPECT_THAT(search->Scores(std::vector{other}, nullptr), IsEmpty());
  EXPECT_EQ(search->BestOf({}, nullptr), std::nullopt);
  EXPECT_EQ(search->BestOf(std::vector{search->space().Default()}, nullptr), std::nullopt);
  EXPECT_EQ(search->BestOf(std::vector{Candidate{"no strategy", {}}, other}, nullptr), other);
  for (const int index : {0, 1}) {
    const Slice slice = {index, 2};
    EXPECT_EQ(Create({}, slice)->BestOf(std::vector{other}, nullptr).has_value(), slice.Has(other));
  }
}

}  // namespace
}  // namespace attune
