#include "work/sched/predictions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace attune {
namespace {

using Labels = std::vector<std::string>;

TEST(StagePredictions, BelieveTheJobUntilThereIsEnoughToLearnFrom) {
  StagePredictions predictions;
  const Labels labels = {"tuning time on a", "tuning time"};
  const SecondsPrediction own = {1, 2, 4};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(predictions.Predict(labels, own).median, 2);
    predictions.Add(labels, own, 6);
  }
  predictions.Add(labels, own, 6);
  EXPECT_EQ(predictions.Predict(labels, own).median, 6);
  EXPECT_EQ(predictions.Predict(labels, {5, 10, 20}).median, 30);  // three times as long as the job says
  EXPECT_EQ(predictions.Predict(Labels{"tuning time on b", "tuning time"}, own).median, 6);
  EXPECT_EQ(predictions.Predict(Labels{"tuning build"}, own).median, 2);
}

TEST(StagePredictions, TheMostSpecialLabelDecides) {
  StagePredictions predictions;
  for (int i = 0; i < 5; ++i) {
    predictions.Add(Labels{"slow", "all"}, {}, 10);
    predictions.Add(Labels{"fast", "all"}, {}, 1);
  }
  EXPECT_EQ(predictions.Predict(Labels{"slow", "all"}, {}).median, 10);
  EXPECT_EQ(predictions.Predict(Labels{"fast", "all"}, {}).median, 1);
  EXPECT_GE(predictions.Predict(Labels{"new", "all"}, {}).high, 10);
}

TEST(StagePredictions, ForgetWhatWasLongAgo) {
  StagePredictions predictions;
  for (int i = 0; i < 100; ++i) predictions.Add(Labels{"stage"}, {}, 10);
  for (int i = 0; i < 64; ++i) predictions.Add(Labels{"stage"}, {}, 1);
  EXPECT_EQ(predictions.Predict(Labels{"stage"}, {}).high, 1);
}

TEST(StagePredictions, FourOfFiveStagesEndWithinTheInterval) {
  StagePredictions predictions;
  Random random(1);
  for (int i = 0; i < 5000; ++i) predictions.Add(Labels{"stage"}, {1, 2, 3}, 2 * std::exp(random.Normal()));
  const double share =
      static_cast<double>(predictions.num_within()) / static_cast<double>(predictions.num_predicted());
  EXPECT_NEAR(share, 0.8, 0.04);
}

}  // namespace
}  // namespace attune
