#include "tune/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "base/random.h"
#include "tune/rank_correlation.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

constexpr int kFeatures = 12;
const BoostedTreesOptions kOptions = {.num_features = kFeatures, .feature_version = 7, .rounds = 40};

// A task whose candidates' times are a formula of some features, on a scale of its own.
TaskSamples MakeTask(uint64_t seed, int count) {
  Random random(seed);
  const double scale = std::exp(2 * random.Normal());
  TaskSamples task;
  std::vector<double> seconds;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < count; ++i) {
    FeatureVector& x = task.features.emplace_back();
    for (int f = 0; f < kFeatures; ++f) x.push_back(static_cast<float>(10 * random.Uniform()));
    const double t =
        1 + std::abs(x[0] - 6) + std::max(x[1], x[2]) + (x[3] > 8 ? 4 : 0) + 0.3 * random.Normal();
    seconds.push_back(scale * std::max(t, 0.5));
    best = std::min(best, seconds.back());
  }
  for (double s : seconds) task.throughput.push_back(static_cast<float>(best / s));
  return task;
}

std::vector<TaskSamples> MakeTasks() { return {MakeTask(1, 200), MakeTask(2, 100), MakeTask(3, 50)}; }

TEST(CostModel, OrdersCandidatesOfATaskThatItHasNotSeen) {
  const auto model = MakeBoostedTrees(kOptions);
  ASSERT_TRUE(model->Update(MakeTasks()).ok());
  const TaskSamples other = MakeTask(9, 200);
  const auto scores = model->Predict(other.features);
  ASSERT_TRUE(scores.ok()) << scores.status();
  EXPECT_GT(*KendallTau(*scores, other.throughput), 0.65);
}

TEST(CostModel, SameMeasurementsSameModel) {
  const auto a = MakeBoostedTrees(kOptions), b = MakeBoostedTrees(kOptions);
  ASSERT_TRUE(a->Update(MakeTasks()).ok());
  ASSERT_TRUE(b->Update({{MakeTask(5, 30)}}).ok());
  ASSERT_TRUE(b->Update(MakeTasks()).ok());
  EXPECT_EQ(*a->Serialize(), *b->Serialize());
}

TEST(CostModel, OutlivesTheProgram) {
  const auto model = MakeBoostedTrees(kOptions);
  ASSERT_TRUE(model->Update(MakeTasks()).ok());
  const std::string bytes = *model->Serialize();
  const auto again = LoadBoostedTrees(bytes, kOptions);
  ASSERT_TRUE(again.ok()) << again.status();
  const std::vector<FeatureVector> candidates = MakeTask(9, 64).features;
  EXPECT_EQ(*(*again)->Predict(candidates), *model->Predict(candidates));
  EXPECT_EQ(*(*again)->Serialize(), bytes);
  ASSERT_TRUE((*again)->Update(MakeTasks()).ok());
  EXPECT_EQ(*(*again)->Serialize(), bytes);
}

TEST(CostModel, OtherVersionsAreRefusedInOneSentence) {
  const auto model = MakeBoostedTrees(kOptions);
  ASSERT_TRUE(model->Update(MakeTasks()).ok());
  const std::string bytes = *model->Serialize();
  BoostedTreesOptions other = kOptions;
  other.feature_version = 8;
  EXPECT_EQ(
      LoadBoostedTrees(bytes, other).status().message(),
      "the cost model has learned from features of version 7, this version of Attune has version 8: let it "
      "learn anew from the records");
  other = kOptions;
  other.num_features = kFeatures + 1;
  EXPECT_FALSE(LoadBoostedTrees(bytes, other).ok());
  EXPECT_EQ(LoadBoostedTrees("a poem", kOptions).status().message(),
            "these bytes are no cost model of this version of Attune");
  EXPECT_FALSE(LoadBoostedTrees("", kOptions).ok());
}

TEST(CostModel, DamagedOnesAreRefused) {
  const auto model = MakeBoostedTrees(kOptions);
  ASSERT_TRUE(model->Update(MakeTasks()).ok());
  const std::string bytes = *model->Serialize();
  for (size_t length = 0; length < bytes.size(); length += 1 + length / 8)
    EXPECT_FALSE(LoadBoostedTrees(bytes.substr(0, length), kOptions).ok()) << length;
  for (size_t at = 0; at < bytes.size(); at += 1 + at / 8) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_FALSE(LoadBoostedTrees(damaged, kOptions).ok()) << at;
  }
}

TEST(CostModel, BadMeasurementsLeaveItAsItWas) {
  const auto model = MakeBoostedTrees(kOptions);
  const auto message_of = [&](const auto& change) {
    std::vector<TaskSamples> tasks = {MakeTask(1, 3)};
    change(tasks[0]);
    return std::string(model->Update(tasks).message());
  };
  EXPECT_EQ(message_of([](TaskSamples& t) { t.features[1].pop_back(); }),
            "cost model: 11 features where 12 are expected");
  EXPECT_EQ(message_of([](TaskSamples& t) { t.features[1][2] = NAN; }),
            "cost model: a feature is not finite");
  EXPECT_EQ(message_of([](TaskSamples& t) { t.throughput[0] = 2; }),
            "cost model: a throughput is 2, not in [0, 1]");
  EXPECT_EQ(message_of([](TaskSamples& t) { t.throughput.pop_back(); }),
            "cost model: 3 candidates but 2 throughputs");
  EXPECT_EQ(message_of([](TaskSamples& t) { t.throughput.assign(3, 1); }),
            "cost model: no two candidates differ in speed");
  EXPECT_EQ(model->Update({}).message(), "cost model: no two candidates differ in speed");
  EXPECT_FALSE(model->is_trained());
  EXPECT_EQ(model->Predict({}).status().message(), "cost model: not trained yet");
  EXPECT_FALSE(model->Serialize().ok());
  ASSERT_TRUE(model->Update(MakeTasks()).ok());
  EXPECT_FALSE(model->Update({}).ok());
  EXPECT_TRUE(model->is_trained());
  EXPECT_TRUE(model->Predict({})->empty());
  EXPECT_THAT(std::string(model->Predict({{{1, 2}}}).status().message()), HasSubstr("2 features"));
}

TEST(CostModel, PredictsWhileItLearns) {
  const auto model = MakeBoostedTrees(kOptions);
  const std::vector<TaskSamples> tasks = MakeTasks();
  ASSERT_TRUE(model->Update(tasks).ok());
  const std::vector<float> expected = *model->Predict(tasks[0].features);
  std::atomic<bool> is_done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_done) EXPECT_EQ(*model->Predict(tasks[0].features), expected);
    });
  }
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(model->Update(tasks).ok());
  is_done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(KendallTau, CountsPairs) {
  const std::vector<float> up = {1, 2, 3, 4}, down = {4, 3, 2, 1}, swapped = {1, 3, 2, 4},
                           same = {5, 5, 5, 5};
  EXPECT_DOUBLE_EQ(*KendallTau(up, up), 1);
  EXPECT_DOUBLE_EQ(*KendallTau(up, down), -1);
  EXPECT_DOUBLE_EQ(*KendallTau(up, swapped), 4.0 / 6);
  EXPECT_FALSE(KendallTau(up, same).has_value());
  EXPECT_FALSE(KendallTau(std::vector<float>{1}, std::vector<float>{1}).has_value());
  // Five of six pairs differ in the second list, and agree.
  EXPECT_DOUBLE_EQ(*KendallTau(up, std::vector<float>{1, 2, 2, 3}), 5 / std::sqrt(6.0 * 5));
  EXPECT_DOUBLE_EQ(*KendallTau(up, std::vector<float>{NAN, 2, 3, 4}), 1);
}

}  // namespace
}  // namespace attune
