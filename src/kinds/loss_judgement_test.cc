#include "kinds/loss_judgement.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attune {
namespace {

TEST(LossJudgementTest, SamplesWithoutAnErrorShowSoMuch) {
  EXPECT_EQ(SamplesToShow(0.01, 1), 299);
  EXPECT_EQ(SamplesToShow(0.01, 4), 437);
  EXPECT_EQ(SamplesToShow(1, 4), 1);
  EXPECT_EQ(SamplesToShow(0, 1), std::nullopt);
  EXPECT_NEAR(UpperShare(0, 100), 0.0295, 1e-3);
  EXPECT_EQ(UpperShare(0, 0), 1);
  EXPECT_EQ(UpperLoss(1, 10, 4), 1);
}

// The number is the least that shows it, and as many errors as are allowed are the most.
TEST(LossJudgementTest, TheNumbersAreTheEdges) {
  for (const double most : {0.001, 0.01, 0.03, 0.2, 0.7}) {
    for (const int variants : {1, 2, 4, 16}) {
      const int64_t needed = *SamplesToShow(most, variants);
      EXPECT_LE(UpperLoss(0, static_cast<double>(needed), variants), most * (1 + 1e-9));
      if (needed > 1) EXPECT_GT(UpperLoss(0, static_cast<double>(needed - 1), variants), most);
      for (const int64_t samples : {needed, 2 * needed, 5 * needed}) {
        const int64_t errors = MostErrors(most, samples, variants);
        const auto upper = [&](int64_t seen) {
          return UpperLoss(static_cast<double>(seen) / static_cast<double>(samples),
                           static_cast<double>(samples), variants);
        };
        ASSERT_GE(errors, samples == needed ? -1 : 0);
        if (errors >= 0) EXPECT_LE(upper(errors), most * (1 + 1e-6));
        EXPECT_GT(upper(errors + 1), most * (1 - 1e-6));
      }
      EXPECT_EQ(MostErrors(most, needed - 1, variants), -1);
    }
  }
}

TEST(LossJudgementTest, ErrorsAreBinomial) {
  EXPECT_NEAR(ProbabilityOfErrors(0, 10, 0.1), std::pow(0.9, 10), 1e-12);
  EXPECT_NEAR(ProbabilityOfErrors(1, 3, 0.5), 0.5, 1e-12);
  EXPECT_EQ(ProbabilityOfErrors(-1, 3, 0.5), 0);
  EXPECT_EQ(ProbabilityOfErrors(3, 3, 0.5), 1);
  EXPECT_EQ(ProbabilityOfErrors(0, 3, 0), 1);
  EXPECT_EQ(ProbabilityOfErrors(2, 3, 1), 0);
}

}  // namespace
}  // namespace attune
