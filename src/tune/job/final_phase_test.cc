// Which candidates a tuning job keeps in the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tune/job/tuning_job.h"
#include "tune/job/tuning_job_for_test.h"
#include "tune/records/record_chooser.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using enum StageKind;

class FinalPhaseTest : public TuningJobTest {
 protected:
  // Baselines take 2 ms; the n-th other candidate of the first task takes seconds(n, nth), those of the
  // second task take 3 ms.
  void LetTimesBe(const std::function<double(size_t n, int nth)>& seconds) {
    machine_.seconds = [this, seconds](const TuningTask& task, const Candidate& candidate, int nth) {
      if (IsDefault(task, candidate)) return 2e-3;
      if (task.text != tasks_[0].text) return 3e-3;
      const auto found = std::ranges::find(others_, candidate);
      const auto n = static_cast<size_t>(found - others_.begin());
      if (found == others_.end()) others_.push_back(candidate);
      return seconds(n, nth);
    };
  }

  // The config that compiling with the records would choose.
  std::optional<Candidate> BestOnRecord(const TuningTask& task) {
    const auto best = records_->Best({.task = task.digest}, {.versions = CurrentStrategyVersions()});
    EXPECT_TRUE(best.ok()) << best.status();
    if (best->empty()) return std::nullopt;
    return Candidate{best->at(0).record.strategy, best->at(0).record.config};
  }

  std::vector<Candidate> others_;
};

TEST_F(FinalPhaseTest, TheFastestIsKeptIfItIsFasterAgain) {
  LetTimesBe([](size_t n, int) { return n == 2 ? 1e-3 : 3e-3; });
  const auto job = Make(Options());
  RunUntilFinal(*job);
  const size_t records = Records().size();
  Finish(*job);
  EXPECT_THAT(job->Best(), ElementsAre(Pair(tasks_[0].text, others_.at(2))));
  EXPECT_EQ(BestOnRecord(tasks_[0]), others_[2]);
  const TaskSummary task = job->Summary().tasks[0];
  EXPECT_NEAR(task.default_seconds, 2e-3, 1e-9);
  EXPECT_NEAR(task.best_seconds, 1e-3, 1e-9);
  EXPECT_EQ(task.best_config, ToString(others_[2].strategy, others_[2].config));

  // The confirmation is interleaved with the baseline, takes longer, and is recorded, together with the
  // baseline's time.
  const FakeMachine::Asked& last = machine_.measured.back();
  EXPECT_EQ(last.candidate, others_[2]);
  EXPECT_TRUE(last.is_interleaved);
  EXPECT_EQ(last.options.abandon_ratio, 0);
  EXPECT_LT(last.options.precision, MeasureOptions().precision);
  const std::vector<Record> after = Records();
  ASSERT_EQ(after.size(), records + 2);
  const Record &confirmed = after[records], &standard = after[records + 1];
  EXPECT_EQ((Candidate{confirmed.strategy, confirmed.config}), others_[2]);
  EXPECT_NEAR(confirmed.timing.seconds, 1e-3, 1e-9);
  EXPECT_EQ(confirmed.search, kConfirmation);
  EXPECT_NEAR(standard.timing.seconds, 2e-3, 1e-9);
  EXPECT_EQ(standard.search, kConfirmation);
}

TEST_F(FinalPhaseTest, SelectionBiasIsNotKept) {
  LetTimesBe([](size_t n, int nth) { return n == 1 && nth == 0 ? 1e-3 : n == 3 ? 1.5e-3 : 4e-3; });
  const auto job = Make(Options());
  RunUntilFinal(*job);
  EXPECT_THAT(job->Best(), ElementsAre(Pair(tasks_[0].text, others_.at(1))));
  Finish(*job);
  EXPECT_THAT(job->Best(), ElementsAre(Pair(tasks_[0].text, others_.at(3))));
  EXPECT_EQ(BestOnRecord(tasks_[0]), others_[3]);
}

// It was significantly faster by itself, and the records keep that time.
TEST_F(FinalPhaseTest, WhatIsPerhapsSlowerInTheNetworkIsKept) {
  LetTimesBe([](size_t n, int) { return n == 2 ? 1e-3 : 3e-3; });
  compare_ = [](const Candidate&) { return 1.01; };
  compare_noise_ = 0.1;
  const auto job = Make(Options());
  Finish(*job);
  EXPECT_THAT(compared_, ElementsAre(ElementsAre(Pair(tasks_[0].text, others_.at(2)))));
  EXPECT_THAT(job->Best(), ElementsAre(Pair(tasks_[0].text, others_[2])));
  EXPECT_EQ(BestOnRecord(tasks_[0]), others_[2]);
  EXPECT_NEAR(job->Summary().tasks[0].best_seconds, 1e-3, 1e-9);
}

TEST_F(FinalPhaseTest, TheBaselineIsKeptIfAllOthersWereSelectionBias) {
  LetTimesBe([](size_t, int nth) { return nth == 0 ? 1.9e-3 : 4e-3; });
  const auto job = Make(Options());
  Finish(*job);
  EXPECT_THAT(job->Best(), IsEmpty());
  EXPECT_NEAR(job->Summary().tasks[0].best_seconds, 2e-3, 1e-9);
  EXPECT_EQ(job->Summary().tasks[0].best_config, job->Summary().tasks[0].default_config);
}

TEST_F(FinalPhaseTest, AnInsignificantDifferenceDoesNotCount) {
  LetTimesBe([](size_t, int) { return 1.999e-3; });
  const auto job = Make(Options());
  Finish(*job);
  EXPECT_THAT(job->Best(), IsEmpty());
}

// If the time is over, only one candidate is confirmed, and only briefly.
TEST_F(FinalPhaseTest, ConfirmingIsShortWhenTheTimeIsOver) {
  LetTimesBe([](size_t n, int nth) { return nth == 0 ? 1e-3 + 1e-5 * static_cast<double>(n) : 3e-3; });
  TuningOptions options = Options();
  options.seconds = 1e4;
  const auto job = Make(options);
  RunUntil(*job, kConfirmBuild);
  machine_.build_seconds = options.seconds;
  const size_t measured = machine_.measured.size();
  Finish(*job);
  ASSERT_EQ(machine_.measured.size(), measured + 1);
  EXPECT_LE(machine_.measured.back().options.seconds_limit, 0.2);
  EXPECT_THAT(job->Best(), IsEmpty());
}

TEST_F(FinalPhaseTest, WhatIsSlowerThanTheDefaultIsNotMeasuredAgain) {
  LetTimesBe([](size_t, int) { return 3e-3; });
  const auto job = Make(Options());
  RunUntilFinal(*job);
  const size_t built = machine_.built.size(), measured = machine_.measured.size();
  EXPECT_EQ(Finish(*job), "MNf");
  EXPECT_EQ(machine_.built.size(), built);
  EXPECT_EQ(machine_.measured.size(), measured);
  EXPECT_THAT(networks_, IsEmpty());  // the network is the baseline
}

TEST_F(FinalPhaseTest, WhatFailsWhenItIsConfirmedIsNotKept) {
  LetTimesBe([](size_t n, int) { return n == 2 ? 1e-3 : n == 4 ? 1.5e-3 : 3e-3; });
  const auto job = Make(Options());
  RunUntilFinal(*job);
  machine_.run = [&](const TuningTask&, const Candidate& candidate) {
    return candidate == others_.at(2) ? TrialOutcome::kWrongResult : TrialOutcome::kOk;
  };
  Finish(*job);
  EXPECT_THAT(job->Best(), ElementsAre(Pair(tasks_[0].text, others_[4])));
  EXPECT_EQ(BestOnRecord(tasks_[0]), others_[4]);
}

// The first run measures the candidate twice.
TEST_F(FinalPhaseTest, WhatALaterRunFindsSlowerIsNotKept) {
  LetTimesBe([](size_t n, int nth) { return n == 2 ? (nth < 2 ? 1e-3 : 3e-3) : 4e-3; });
  Finish(*Make(Options(), "earlier"));
  ASSERT_EQ(BestOnRecord(tasks_[0]), others_.at(2));
  const auto job = Make(Options());
  Finish(*job);
  EXPECT_THAT(job->Best(), IsEmpty());
  EXPECT_EQ(BestOnRecord(tasks_[0]), DefaultOf(tasks_[0]));
}

TEST_F(FinalPhaseTest, WhatIsSlowerInTheNetworkIsNotKept) {
  LetTimesBe([](size_t n, int) { return n == 2 ? 1e-3 : n == 4 ? 1.5e-3 : 3e-3; });
  compare_ = [&](const Candidate& candidate) { return candidate == others_.at(2) ? 1.1 : 0.9; };
  const auto job = Make(Options());
  Finish(*job);
  EXPECT_THAT(compared_, ElementsAre(ElementsAre(Pair(tasks_[0].text, others_[2])),
                                     ElementsAre(Pair(tasks_[0].text, others_[4]))));
  EXPECT_THAT(job->Best(), ElementsAre(Pair(tasks_[0].text, others_[4])));
  EXPECT_THAT(networks_, ElementsAre(job->Best()));
  EXPECT_EQ(BestOnRecord(tasks_[0]), others_[4]);
  EXPECT_NEAR(job->Summary().tasks[0].best_seconds, 0.9 * 2e-3, 1e-9);
}

TEST_F(FinalPhaseTest, TheDefaultIsKeptIfAllOthersAreSlowerInTheNetwork) {
  LetTimesBe([](size_t n, int) { return 1e-3 + 1e-5 * static_cast<double>(n); });
  compare_ = [](const Candidate&) { return 1.001; };
  const auto job = Make(Options());
  Finish(*job);
  EXPECT_EQ(compared_.size(), 3);
  EXPECT_THAT(job->Best(), IsEmpty());
  const std::optional<Candidate> best = BestOnRecord(tasks_[0]);
  ASSERT_TRUE(best.has_value());
  EXPECT_TRUE(IsDefault(tasks_[0], *best));
  // The baseline was measured again each time, with a new trial number.
  std::set<int64_t> numbers;
  for (const Record& record : Records()) EXPECT_TRUE(numbers.insert(record.trial).second) << record.trial;
}

TEST_F(FinalPhaseTest, WhatWasNeverComparedInTheNetworkIsNotKeptInTheEnd) {
  // The first candidate is still faster than the baseline when it is confirmed, but never the fastest.
  LetTimesBe(
      [](size_t n, int nth) { return n == 0 && nth > 0 ? 1.9e-3 : 1e-3 + 1e-5 * static_cast<double>(n); });
  compare_ = [](const Candidate&) { return 1.1; };
  const auto job = Make(Options());
  Finish(*job);
  ASSERT_EQ(compared_.size(), 3);
  for (const auto& compared : compared_) EXPECT_NE(compared.at(tasks_[0].text), others_[0]);
  EXPECT_THAT(job->Best(), IsEmpty());
  EXPECT_EQ(BestOnRecord(tasks_[0]), DefaultOf(tasks_[0]));
}

TEST_F(FinalPhaseTest, TheDefaultsAreKeptIfTheNetworkIsSlowerWithoutThem) {
  LetTimesBe([](size_t n, int) { return n == 2 ? 1e-3 : n == 4 ? 1.5e-3 : 3e-3; });
  time_network_ = [](const auto& best) {
    return best.empty() ? NetworkTimes{0.02, 0.02, 0.99, 1.01} : NetworkTimes{0.02, 0.022, 1.05, 1.15};
  };
  const auto job = Make(Options());
  Finish(*job);
  const auto found = ElementsAre(Pair(tasks_[0].text, others_.at(2)));
  EXPECT_THAT(networks_, ElementsAre(found, found));
  EXPECT_THAT(job->Best(), IsEmpty());
  EXPECT_EQ(BestOnRecord(tasks_[0]), DefaultOf(tasks_[0]));
  EXPECT_EQ(RunOf().tuned_seconds, RunOf().untuned_seconds);
}

TEST_F(FinalPhaseTest, ANetworkThatIsMeasuredSlowerOnceIsKept) {
  LetTimesBe([](size_t n, int) { return n == 2 ? 1e-3 : 3e-3; });
  time_network_ = [this](const auto&) {
    return networks_.size() == 1 ? NetworkTimes{0.02, 0.022, 1.05, 1.15}
                                 : NetworkTimes{0.02, 0.019, 0.94, 0.96};
  };
  const auto job = Make(Options());
  Finish(*job);
  EXPECT_EQ(networks_.size(), 2);
  EXPECT_THAT(job->Best(), ElementsAre(Pair(tasks_[0].text, others_.at(2))));
  EXPECT_EQ(BestOnRecord(tasks_[0]), others_[2]);
  EXPECT_EQ(RunOf().tuned_seconds, 0.019);
}

// Then the times of all kernels that differ are recorded, as within a network.
TEST_F(FinalPhaseTest, LayoutsThatAreFasterAreOnRecord) {
  LetTimesBe([](size_t, int) { return 3e-3; });
  const TuningTask other = MakeTask(kSoftmaxTask, {});
  network_.num_layout_classes = 2;
  network_.overridden_tasks[1] = other;
  network_.overridden_tasks[1].uses = 1;
  layouts_ = {{0.02, 0.02, 0.99, 1.01}, {0.02, 0.0195, 0.97, 0.98}};
  TuningOptions options = Options();
  options.cache = CacheMode::kNetwork;
  const auto job = Make(options);
  EXPECT_THAT(Finish(*job), ::testing::EndsWith("XYXYMNf"));
  EXPECT_THAT(tried_, ElementsAre(0, 1));
  EXPECT_EQ(job->overrides(), LayoutOverrides{1});
  const auto chooser = RecordChooser::Load(*records_, RunOf().device, options.threads);
  ASSERT_TRUE(chooser.ok()) << chooser.status();
  EXPECT_GT(chooser->SecondsOf(other.text), 0);
  EXPECT_EQ(chooser->SecondsOf(tasks_[1].text), 0);
}

// Then any candidate that works counts, however fast it is.
TEST_F(FinalPhaseTest, ADefaultThatFailsIsReplaced) {
  machine_.run = [&](const TuningTask& task, const Candidate& candidate) {
    return IsDefault(task, candidate) ? TrialOutcome::kCrashed : TrialOutcome::kOk;
  };
  const auto job = Make(Options());
  Finish(*job);
  EXPECT_EQ(job->Best().size(), 2);
  EXPECT_EQ(RunOf().state, RunState::kFinished);
  for (const CurvePoint& point : job->Summary().curve) EXPECT_TRUE(std::isfinite(point.network_seconds));
}

TEST_F(FinalPhaseTest, TasksAreConfirmedOneStageEach) {
  machine_.seconds = [&](const TuningTask& task, const Candidate& candidate, int) {
    return IsDefault(task, candidate) ? 2.5e-3 : FakeMachine::HashedSeconds(task, candidate);
  };
  const auto job = Make(Options());
  RunUntil(*job, kConfirmTime);
  for (const TuningTask& task : tasks_) {
    const size_t measured = machine_.measured.size();
    EXPECT_EQ(Step(*job), Name(kConfirmTime));
    EXPECT_GT(machine_.measured.size(), measured);
    for (size_t i = measured; i < machine_.measured.size(); ++i) {
      EXPECT_EQ(machine_.measured[i].task, task.text);
    }
    EXPECT_THAT(networks_, IsEmpty());
  }
  EXPECT_EQ(Finish(*job), "UVMNf");
  EXPECT_THAT(networks_, ElementsAre(job->Best()));
  EXPECT_THAT(job->Best(),
              UnorderedElementsAre(Pair(tasks_[0].text, testing::_), Pair(tasks_[1].text, testing::_)));
}

TEST_F(FinalPhaseTest, ANetworkThatCrashesIsOneFailedMeasurement) {
  network_fails_ = true;
  const auto job = Make(Options());
  EXPECT_THAT(Finish(*job), ::testing::EndsWith("MNf"));
  EXPECT_EQ(networks_.size(), 1);
  EXPECT_EQ(RunOf().state, RunState::kFinished);
  EXPECT_EQ(RunOf().tuned_seconds, 0);
  EXPECT_GE(Records().size(), 20);
  EXPECT_FALSE(job->Best().empty());
}

// Times that were due to selection bias were never really reached.
TEST_F(FinalPhaseTest, TheCurveEndsAtWhatWasConfirmed) {
  LetTimesBe([](size_t n, int nth) { return n == 1 && nth == 0 ? 1e-3 : 4e-3; });
  const auto job = Make(Options());
  Finish(*job);
  const double end = 2 * 2e-3 + 1 * 2e-3;
  for (const CurvePoint& point : job->Summary().curve) EXPECT_NEAR(point.network_seconds, end, 1e-9);
}

}  // namespace
}  // namespace attune
