#include "tune/cost_model/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "base/random.h"
#include "tune/cost_model/rank_correlation.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

constexpr int kFeatures = 12;
const BoostedTreesOptions kOptions = {.num_features = kFeatures, .feature_version = 7, .rounds = 40};

// A task whose candidates' times come from a formula over some features, each task with its own scale.
TaskSamples RandomTask(uint64_t seed, int count) {
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

std::vector<TaskSamples> RandomTasks() { return {RandomTask(1, 200), RandomTask(2, 100), RandomTask(3, 50)}; }

TEST(CostModel, OrdersCandidatesOfATaskThatItHasNotSeen) {
  const auto model = MakeBoostedTrees(kOptions);
  ASSERT_TRUE(model->Update(RandomTasks()).ok());
  const TaskSamples other = RandomTask(9, 200);
  const auto scores = model->Predict(other.features);
  ASSERT_TRUE(scores.ok()) << scores.status();
  EXPECT_GT(*KendallTau(*scores, other.throughput), 0.65);
}

TEST(CostModel, SameMeasurementsSameModel) {
  const auto a = MakeBoostedTrees(kOptions), b = MakeBoostedTrees(kOptions);
  ASSERT_TRUE(a->Update(RandomTasks()).ok());
  ASSERT_TRUE(b->Update({{RandomTask(5, 30)}}).ok());
  ASSERT_TRUE(b->Update(RandomTasks()).ok());
  EXPECT_EQ(*a->Serialize(), *b->Serialize());
}

// A serialized model predicts the same when it is used as a base.
TEST(CostModel, OutlivesTheProgram) {
  const auto model = MakeBoostedTrees(kOptions);
  ASSERT_TRUE(model->Update(RandomTasks()).ok());
  const std::string bytes = *model->Serialize();
  auto trees = TreeEnsemble::Parse(bytes, kFeatures, kOptions.feature_version);
  ASSERT_TRUE(trees.ok()) << trees.status();
  BoostedTreesOptions options = kOptions;
  options.base = std::make_shared<const TreeEnsemble>(*std::move(trees));
  const auto again = MakeBoostedTrees(options);
  const std::vector<FeatureVector> candidates = RandomTask(9, 64).features;
  EXPECT_EQ(*again->Predict(candidates), *model->Predict(candidates));
  EXPECT_EQ(*again->Serialize(), bytes);
}

TEST(CostModel, OthersAndDamagedOnesAreRefused) {
  const auto model = MakeBoostedTrees(kOptions);
  ASSERT_TRUE(model->Update(RandomTasks()).ok());
  const std::string bytes = *model->Serialize();
  EXPECT_THAT(std::string(TreeEnsemble::Parse(bytes, kFeatures, 8).status().message()),
              HasSubstr("features of version 7, this version of Attune has 12 of version 8"));
  EXPECT_THAT(std::string(TreeEnsemble::Parse(bytes, kFeatures + 1, 7).status().message()),
              HasSubstr("12 features of version 7, this version of Attune has 13"));
  EXPECT_FALSE(TreeEnsemble::Parse("", kFeatures, 7).ok());
  EXPECT_FALSE(TreeEnsemble::Parse(bytes.substr(0, bytes.size() - 1), kFeatures, 7).ok());
}

// The model learned from `tasks`, to be used as a base.
std::shared_ptr<const TreeEnsemble> MakeBase(std::span<const TaskSamples> tasks) {
  const auto model = MakeBoostedTrees(kOptions);
  EXPECT_TRUE(model->Update(tasks).ok());
  return std::make_shared<const TreeEnsemble>(*TreeEnsemble::Parse(*model->Serialize(), kFeatures, 7));
}

BoostedTreesOptions WithBase(std::shared_ptr<const TreeEnsemble> base) {
  BoostedTreesOptions options = kOptions;
  options.base = std::move(base);
  return options;
}

// The same candidates with the order of speeds reversed.
std::vector<TaskSamples> Reversed(std::vector<TaskSamples> tasks) {
  for (TaskSamples& task : tasks) {
    const float least = *std::ranges::min_element(task.throughput);
    for (float& throughput : task.throughput) throughput = least / throughput;
  }
  return tasks;
}

TEST(CostModel, PredictsWhatItsBaseSaysBeforeAnyMeasurement) {
  const auto base = MakeBase(RandomTasks());
  const auto model = MakeBoostedTrees(WithBase(base));
  EXPECT_TRUE(model->is_trained());
  const TaskSamples other = RandomTask(9, 200);
  const std::vector<float> scores = *model->Predict(other.features);
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_EQ(scores[i], base->Predict(other.features[i]));
  EXPECT_GT(*KendallTau(scores, other.throughput), 0.65);
  EXPECT_EQ(*model->Serialize(), base->Serialize());
  EXPECT_FALSE(model->Update({}).ok());
  EXPECT_EQ(*model->Predict(other.features), scores);
}

TEST(CostModel, MeasurementsPrevailOverTheBase) {
  const auto model = MakeBoostedTrees(WithBase(MakeBase(RandomTasks())));
  ASSERT_TRUE(model->Update(Reversed(RandomTasks())).ok());
  const TaskSamples other = Reversed({RandomTask(9, 200)})[0];
  EXPECT_GT(*KendallTau(*model->Predict(other.features), other.throughput), 0.6);
}

TEST(CostModel, FewMeasurementsCorrectTheBase) {
  const auto base = MakeBase(RandomTasks());
  const auto with = MakeBoostedTrees(WithBase(base)), without = MakeBoostedTrees(kOptions);
  const std::vector<TaskSamples> few = {RandomTask(5, 12)};
  ASSERT_TRUE(with->Update(few).ok());
  ASSERT_TRUE(without->Update(few).ok());
  const TaskSamples other = RandomTask(9, 200);
  EXPECT_GT(*KendallTau(*with->Predict(other.features), other.throughput),
            *KendallTau(*without->Predict(other.features), other.throughput) + 0.1);
}

TEST(CostModel, WritesItsBaseAndWhatItLearned) {
  const auto base = MakeBase(RandomTasks());
  const BoostedTreesOptions options = WithBase(base);
  const auto a = MakeBoostedTrees(options), b = MakeBoostedTrees(options);
  const std::vector<TaskSamples> tasks = {RandomTask(5, 60)};
  ASSERT_TRUE(a->Update(tasks).ok());
  ASSERT_TRUE(b->Update(RandomTasks()).ok());
  ASSERT_TRUE(b->Update(tasks).ok());
  const std::string bytes = *a->Serialize();
  EXPECT_EQ(*b->Serialize(), bytes);
  EXPECT_EQ(TreeEnsemble::Parse(bytes, kFeatures, 7)->num_trees(), base->num_trees() + 40);
}

TEST(CostModel, BadMeasurementsLeaveItAsItWas) {
  const auto model = MakeBoostedTrees(kOptions);
  const auto message_of = [&](const auto& change) {
    std::vector<TaskSamples> tasks = {RandomTask(1, 3)};
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
  ASSERT_TRUE(model->Update(RandomTasks()).ok());
  EXPECT_FALSE(model->Update({}).ok());
  EXPECT_TRUE(model->is_trained());
  EXPECT_TRUE(model->Predict({})->empty());
  EXPECT_THAT(std::string(model->Predict({{{1, 2}}}).status().message()), HasSubstr("2 features"));
}

TEST(CostModel, PredictsWhileItLearns) {
  const auto model = MakeBoostedTrees(kOptions);
  const std::vector<TaskSamples> tasks = RandomTasks();
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
  // Five of six pairs differ in the second list, and these agree.
  EXPECT_DOUBLE_EQ(*KendallTau(up, std::vector<float>{1, 2, 2, 3}), 5 / std::sqrt(6.0 * 5));
  EXPECT_DOUBLE_EQ(*KendallTau(up, std::vector<float>{NAN, 2, 3, 4}), 1);
}

}  // namespace
}  // namespace attune
