#include "tune/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tune/cost_model/cost_model.h"
#include "tune/search/synthetic_space_for_test.h"

namespace attune {
namespace {

// A whole search: the proposals, and the best time found.
struct History {
  std::vector<Candidate> proposed;
  std::vector<double> best;  // seconds, after each proposal

  // The number of proposals until the best time was within `factor` of `seconds`.
  int TrialsUntil(double seconds, double factor) const {
    const auto found = std::ranges::find_if(best, [&](double b) { return b <= factor * seconds; });
    return static_cast<int>(found - best.begin()) + 1;
  }
};

// Learns from all trials after each batch, like the tuner.
class Learner {
 public:
  explicit Learner(const SyntheticSpace& space)
      : space_(space), model_(MakeBoostedTrees({.num_features = space.num_features(), .rounds = 40})) {}

  void Learn(const std::vector<Trial>& trials) {
    TaskSamples samples;
    double best = std::numeric_limits<double>::infinity();
    for (const Trial& trial : trials) best = trial.ok ? std::min(best, trial.seconds) : best;
    for (const Trial& trial : trials) {
      samples.features.push_back(space_.Features(trial.candidate));
      samples.throughput.push_back(trial.ok ? static_cast<float>(best / trial.seconds) : 0);
    }
    ASSERT_TRUE(model_->Update({&samples, 1}).ok());
  }

  ScoreFunction score() const {
    if (!model_->is_trained()) return nullptr;
    return [this](std::span<const Candidate> candidates) {
      std::vector<FeatureVector> features;
      for (const Candidate& candidate : candidates) features.push_back(space_.Features(candidate));
      return model_->Predict(features).value();
    };
  }

 private:
  const SyntheticSpace& space_;
  std::unique_ptr<CostModel> model_;
};

History Search(const SearchStrategyInfo& info, SyntheticSpace space, int trials, SearchOptions options,
               int batch = 8, double until = 0, std::vector<Candidate> hints = {}) {
  const auto strategy = info.create(options);
  strategy->Hint(std::move(hints));
  Learner learner(space);
  History run;
  std::vector<Trial> all;
  double best = std::numeric_limits<double>::infinity();
  while (static_cast<int>(run.proposed.size()) < trials && best > until) {
    const auto proposals =
        strategy->Propose(batch, {&space, info.uses_model && !all.empty() ? learner.score() : nullptr});
    if (proposals.empty()) break;
    std::vector<Trial> observed;
    for (const Candidate& candidate : proposals) {
      observed.push_back({candidate, true, space.Seconds(candidate)});
      best = std::min(best, observed.back().seconds);
      run.proposed.push_back(candidate);
      run.best.push_back(best);
    }
    strategy->Observe(observed);
    all.insert(all.end(), observed.begin(), observed.end());
    if (info.uses_model) learner.Learn(all);
  }
  return run;
}

TEST(Search, ProposalsAreValidAndNeverComeTwice) {
  for (const SearchStrategyInfo& info : AllSearchStrategies()) {
    SCOPED_TRACE(info.name);
    SyntheticSpace space = MediumSpace();
    const History run = Search(info, space, 200, {.seed = 1});
    ASSERT_GE(run.proposed.size(), 200);
    EXPECT_EQ(run.proposed[0], space.Defaults()[0]);
    EXPECT_EQ(std::set(run.proposed.begin(), run.proposed.end()).size(), run.proposed.size());
    EXPECT_TRUE(std::ranges::all_of(run.proposed, [&](const Candidate& c) { return space.IsValid(c); }));
  }
}

TEST(Search, SmallSpacesAreExhaustedExactly) {
  for (const SearchStrategyInfo& info : AllSearchStrategies()) {
    SCOPED_TRACE(info.name);
    SyntheticSpace space = SmallSpace();
    const History run = Search(info, space, 1000, {.seed = 2}, 5);
    EXPECT_EQ(static_cast<int64_t>(run.proposed.size()), space.num_valid());
    EXPECT_EQ(std::set(run.proposed.begin(), run.proposed.end()).size(), run.proposed.size());
    EXPECT_EQ(run.best.back(), space.best_seconds());
  }
}

TEST(Search, WhatWasTriedElsewhereIsNotProposed) {
  for (const SearchStrategyInfo& info : AllSearchStrategies()) {
    SCOPED_TRACE(info.name);
    SyntheticSpace space = SmallSpace();
    const std::vector<Trial> failed = {
        {space.Defaults()[0], false}, {space.At(6), false}, {space.At(25), true, 3}};
    const auto strategy = info.create({.seed = 3});
    strategy->Hint({space.At(6)});
    strategy->Observe(failed);
    const std::vector<Candidate> proposed = strategy->Propose(1000, {&space});
    int64_t known = 0;
    for (const Trial& trial : failed) {
      EXPECT_EQ(std::ranges::count(proposed, trial.candidate), 0);
      known += space.IsValid(trial.candidate) ? 1 : 0;
    }
    EXPECT_EQ(static_cast<int64_t>(proposed.size()), space.num_valid() - known);
  }
}

TEST(Search, SameSeedSameProposals) {
  for (const SearchStrategyInfo& info : AllSearchStrategies()) {
    SCOPED_TRACE(info.name);
    const History a = Search(info, MediumSpace(), 64, {.seed = 4}),
                  b = Search(info, MediumSpace(), 64, {.seed = 4});
    EXPECT_EQ(a.proposed, b.proposed);
    if (info.name == "grid") continue;
    EXPECT_NE(a.proposed, Search(info, MediumSpace(), 64, {.seed = 5}).proposed);
  }
}

// The number of trials, the median over several seeds and at most 400, until a strategy comes within a
// twentieth of the optimum of 16,400 candidates.
int MedianTrials(std::string_view name) {
  std::vector<int> trials;
  for (uint64_t seed = 0; seed < 7; ++seed) {
    const History run = Search(*FindSearchStrategy(name), MediumSpace(), 400, {.seed = seed}, 8, 1.05);
    trials.push_back(run.TrialsUntil(1.0, 1.05));
  }
  std::ranges::sort(trials);
  return trials[trials.size() / 2];
}

TEST(Search, GuidedOnesFindTheOptimumInFarFewerTrialsThanRandom) {
  EXPECT_GT(MedianTrials("random"), 400);
  EXPECT_LT(MedianTrials("annealing"), 200);
  EXPECT_LT(MedianTrials("evolutionary"), 200);
  EXPECT_LT(MedianTrials("genetic"), 300);
}

TEST(Search, HintsComeEarly) {
  SyntheticSpace space = MediumSpace();
  const Candidate optimum{"tiles", {{"k0", 8}, {"k1", 7}, {"k2", 2}, {"k3", 11}}};
  const Candidate alien{"spirals", {{"k0", 1}}};
  for (const char* name : {"annealing", "genetic", "evolutionary"}) {
    SCOPED_TRACE(name);
    const History run = Search(*FindSearchStrategy(name), space, 8, {}, 8, 0, {alien, optimum});
    EXPECT_LE(run.TrialsUntil(1.0, 1.0), 3);  // after the two defaults
  }
}

TEST(Search, ModelsWithoutAnyIdeaDoNoHarm) {
  for (const float score :
       {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 0.f}) {
    for (const char* name : {"annealing", "evolutionary"}) {
      SyntheticSpace space = MediumSpace();
      const auto strategy = FindSearchStrategy(name)->create({.seed = 6});
      const ScoreFunction scores = [&](std::span<const Candidate> candidates) {
        return std::vector<float>(candidates.size(), score);
      };
      EXPECT_EQ(strategy->Propose(32, {&space, scores}).size(), 32);
    }
  }
}

TEST(Search, AnnealingSeesEachStrategyOnceWhateverTheModelThinks) {
  SyntheticSpace space = MediumSpace();
  const ScoreFunction only_rows = [](std::span<const Candidate> candidates) {
    std::vector<float> scores;
    for (const Candidate& candidate : candidates) scores.push_back(candidate.strategy == "rows" ? 1 : 0);
    return scores;
  };
  const auto strategy = FindSearchStrategy("annealing")->create({.seed = 8, .epsilon = 0});
  // The defaults of both strategies have failed.
  strategy->Observe(std::vector<Trial>{{space.Defaults()[0], false}, {space.Defaults()[1], false}});
  std::vector<Candidate> batch = strategy->Propose(8, {&space, only_rows});
  ASSERT_EQ(batch.size(), 8);
  EXPECT_EQ(std::ranges::count(batch, "tiles", &Candidate::strategy), 1);
  strategy->Observe(std::vector<Trial>{{batch[0], true, 1}, {batch[1], true, 1}});
  batch = strategy->Propose(8, {&space, only_rows});
  EXPECT_EQ(std::ranges::count(batch, "tiles", &Candidate::strategy), 0);
}

TEST(Search, AShareOfProposalsIsRandom) {
  SyntheticSpace space = MediumSpace();
  const auto is_fast = [&](const Candidate& candidate) { return space.Seconds(candidate) < 1.5; };
  const ScoreFunction oracle = [&](std::span<const Candidate> candidates) {
    std::vector<float> scores;
    for (const Candidate& candidate : candidates)
      scores.push_back(static_cast<float>(-space.Seconds(candidate)));
    return scores;
  };
  for (const auto& [epsilon, least, most] : {std::tuple(0.0, 54, 60), {0.5, 27, 40}, {1.0, 0, 10}}) {
    const auto strategy = FindSearchStrategy("annealing")->create({.seed = 7, .epsilon = epsilon});
    int64_t fast = 0;
    std::vector<Trial> defaults;
    for (const Candidate& candidate : strategy->Propose(2, {&space, oracle}))
      defaults.push_back({candidate, true, space.Seconds(candidate)});
    strategy->Observe(defaults);
    for (int batch = 0; batch < 20; ++batch)
      fast += std::ranges::count_if(strategy->Propose(3, {&space, oracle}), is_fast);
    EXPECT_GE(fast, least) << epsilon;
    EXPECT_LE(fast, most) << epsilon;
  }
}

TEST(Search, AreFoundByName) {
  EXPECT_EQ(AllSearchStrategies().front().name, "annealing");
  for (const SearchStrategyInfo& info : AllSearchStrategies())
    EXPECT_EQ(FindSearchStrategy(info.name), &info);
  EXPECT_EQ(FindSearchStrategy("luck"), nullptr);
}

// As in another process, which has the trials of the first one and nothing else.
TEST(SearchStrategies, GoOnFromTheirTrialsAlone) {
  constexpr int kBatch = 8, kBatches = 4;
  for (const SearchStrategyInfo& info : AllSearchStrategies()) {
    SyntheticSpace space = MediumSpace();
    const auto first = info.create({.seed = 7});
    std::vector<Trial> trials;
    for (int i = 0; i < kBatches; ++i) {
      std::vector<Trial> batch;
      for (const Candidate& candidate : first->Propose(kBatch, {&space, nullptr}))
        batch.push_back({candidate, true, space.Seconds(candidate)});
      first->Observe(batch);
      trials.insert(trials.end(), batch.begin(), batch.end());
    }
    const auto second = info.create({.seed = 7});
    second->Observe(trials);
    EXPECT_EQ(second->Propose(kBatch, {&space, nullptr}), first->Propose(kBatch, {&space, nullptr}))
        << info.name;
  }
}

}  // namespace
}  // namespace attune
