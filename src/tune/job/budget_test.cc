#include "tune/job/budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/random.h"

namespace attune {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Tasks whose best times fall towards a floor, each at its own pace, in random steps.
class Network {
 public:
  Network(uint64_t seed, int count) : random_(seed) {
    for (int i = 0; i < count; ++i) {
      const double floor = std::exp(1.5 * random_.Normal()), start = floor * (1 + 2 * random_.Uniform());
      curves_.push_back({floor, 0.1 + 0.4 * random_.Uniform()});
      tasks_.push_back({.weight = static_cast<double>(random_.Integer(1, 6)),
                        .best = {start},
                        .lower_bound = 0.7 * floor});
    }
  }

  std::vector<TaskProgress>& tasks() { return tasks_; }
  double Seconds() const { return InferenceSeconds(tasks_); }

  void RunBatch(size_t task) {
    const auto [floor, pace] = curves_[task];
    const double now = tasks_[task].best.back();
    const bool improves = random_.Uniform() < 0.7;
    tasks_[task].best.push_back(improves ? now - 2 * pace * random_.Uniform() * (now - floor) : now);
  }

 private:
  struct Curve {
    double floor, pace;
  };
  Random random_;
  std::vector<Curve> curves_;
  std::vector<TaskProgress> tasks_;
};

TEST(Budget, BeatsEqualShares) {
  int wins = 0;
  double equal_left = 0, scheduled_left = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Network equal(seed, 20), scheduled(seed, 20), patient(seed, 20);
    for (size_t batch = 0; batch < 60; ++batch) {
      equal.RunBatch(batch % 20);
      scheduled.RunBatch(ChooseTask(scheduled.tasks(), 0)->task);
    }
    for (size_t batch = 0; batch < 2000; ++batch) patient.RunBatch(batch % 20);
    equal_left += equal.Seconds() / patient.Seconds() - 1;
    scheduled_left += scheduled.Seconds() / patient.Seconds() - 1;
    wins += scheduled.Seconds() < equal.Seconds() ? 1 : 0;
  }
  EXPECT_GE(wins, 18);
  EXPECT_LT(scheduled_left, 0.6 * equal_left);
}

TEST(Budget, ConvergesNearTheFloor) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Network network(seed, 10), patient(seed, 10);
    const double threshold = 0.001 * network.Seconds();
    int batches = 0;
    while (const auto next = ChooseTask(network.tasks(), threshold)) {
      EXPECT_GT(next->gain, threshold);
      network.RunBatch(next->task);
      ASSERT_LT(++batches, 1000);
    }
    for (size_t batch = 0; batch < 1000; ++batch) patient.RunBatch(batch % 10);
    EXPECT_LT(network.Seconds(), 1.15 * patient.Seconds());
    EXPECT_LT(batches, 200);
  }
}

TEST(Budget, WhatIsNotMeasuredComesFirstAndIsGivenUpAfterSomeFailures) {
  std::vector<TaskProgress> tasks = {{.weight = 100, .best = {1}}, {.lower_bound = 1}, {.lower_bound = 2}};
  EXPECT_EQ(ChooseTask(tasks, 0)->task, 2);
  EXPECT_EQ(ChooseTask(tasks, 0)->gain, kInfinite);
  EXPECT_EQ(InferenceSeconds(tasks), kInfinite);
  tasks[1].best = tasks[2].best = {kInfinite};
  for (int batch = 0; batch < 3; ++batch) {
    EXPECT_EQ(ChooseTask(tasks, 0)->task, 2) << batch;
    tasks[2].best.push_back(kInfinite);
  }
  EXPECT_EQ(ChooseTask(tasks, 0)->task, 1);
  for (int batch = 0; batch < 3; ++batch) tasks[1].best.push_back(kInfinite);
  EXPECT_EQ(ChooseTask(tasks, 0)->task, 0);
  tasks[2].best.push_back(5);  // at last it succeeds
  EXPECT_GT(ExpectedGains(tasks)[2], 0);
  EXPECT_LT(ExpectedGains(tasks)[2], 3);
}

TEST(Budget, NothingGoesToWhatIsExhausted) {
  std::vector<TaskProgress> tasks = {{.weight = 9, .best = {5}, .is_exhausted = true}, {.best = {1}}};
  EXPECT_EQ(ChooseTask(tasks, 0)->task, 1);
  tasks[1].is_exhausted = true;
  EXPECT_FALSE(ChooseTask(tasks, 0).has_value());
  EXPECT_FALSE(ChooseTask({}, 0).has_value());
  EXPECT_EQ(InferenceSeconds(tasks), 46);
}

TEST(Budget, TheRooflineBoundsWhatIsHopedFor) {
  const std::vector<TaskProgress> tasks = {{.best = {1.0}, .lower_bound = 0.99}, {.best = {0.1}}};
  const std::vector<double> gains = ExpectedGains(tasks);
  EXPECT_LE(gains[0], 0.01);
  EXPECT_EQ(ChooseTask(tasks, 0)->task, 1);
  // Faster than possible: the bound was wrong, so it bounds nothing.
  const double gain = ExpectedGains({{{.best = {1.0}, .lower_bound = 2}}})[0];
  EXPECT_GT(gain, 0);
  EXPECT_LE(gain, BudgetOptions().room_below);
}

TEST(Budget, ATaskBehindItsFamilyIsExpectedToCatchUp) {
  const std::vector<double> many = {1, 1, 1, 0.9, 0.9, 0.9};
  std::vector<TaskProgress> tasks = {{.best = many, .lower_bound = 0.1, .family = "conv"},
                                     {.best = many, .lower_bound = 0.8, .family = "conv"},
                                     {.best = many, .lower_bound = 0.1, .family = "pool"}};
  const std::vector<double> gains = ExpectedGains(tasks);
  EXPECT_GT(gains[0], 3 * gains[2]);
  EXPECT_EQ(ChooseTask(tasks, 0)->task, 0);
}

TEST(Budget, ExpectationsFadeWithoutSuccess) {
  TaskProgress task{.best = {1}};
  double last = kInfinite;
  for (int batch = 0; batch < 30; ++batch) {
    const double gain = ExpectedGains({&task, 1})[0];
    EXPECT_LT(gain, last);
    last = gain;
    task.best.push_back(1);
  }
  EXPECT_LT(last, 0.005);
}

}  // namespace
}  // namespace attune
