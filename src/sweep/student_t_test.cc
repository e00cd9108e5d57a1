#include "sweep/student_t.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

// Values of printed tables.
TEST(StudentTTest, QuantilesAreThoseOfTables) {
  EXPECT_NEAR(StudentQuantile(0.95, 1), 12.7062, 1e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 2), 4.3027, 1e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 9), 2.2622, 1e-4);
  EXPECT_NEAR(StudentQuantile(0.99, 10), 3.1693, 1e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 120), 1.9799, 1e-4);
}

TEST(StudentTTest, ProbabilitiesInvertThem) {
  for (const int degrees : {1, 2, 3, 8, 51}) {
    EXPECT_EQ(StudentProbability(0, degrees), 0);
    EXPECT_NEAR(StudentProbability(StudentQuantile(0.9, degrees), degrees), 0.9, 1e-9);
  }
}

}  // namespace
}  // namespace attune
