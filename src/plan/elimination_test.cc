#include "plan/elimination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace attune {
namespace {

double CostOf(const std::vector<Factor>& factors, const std::vector<size_t>& choices,
              const std::vector<size_t>& values) {
  double sum = 0;
  for (const Factor& factor : factors) {
    size_t index = 0;
    for (size_t v : factor.variables) index = index * choices[v] + values[v];
    sum += factor.cost[index];
  }
  return sum;
}

double LeastCost(const std::vector<Factor>& factors, const std::vector<size_t>& choices) {
  std::vector<size_t> values(choices.size(), 0);
  double least = std::numeric_limits<double>::infinity();
  for (;;) {
    least = std::min(least, CostOf(factors, choices, values));
    size_t i = 0;
    while (i < values.size() && ++values[i] == choices[i]) values[i++] = 0;
    if (i == values.size()) return least;
  }
}

TEST(MinimizeSum, FindsTheLeastOfRandomSums) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<size_t> choices;
    for (int64_t i = random.Integer(1, 7); i > 0; --i)
      choices.push_back(static_cast<size_t>(random.Integer(1, 3)));
    std::vector<Factor> factors;
    for (int64_t i = random.Integer(0, 9); i > 0; --i) {
      Factor factor;
      size_t combinations = 1;
      for (size_t v = 0; v < choices.size(); ++v) {
        if (factor.variables.size() == 3 || random.Integer(0, 2) > 0) continue;
        factor.variables.push_back(v);
        combinations *= choices[v];
      }
      for (size_t c = 0; c < combinations; ++c)
        factor.cost.push_back(static_cast<double>(random.Integer(0, 100)));
      factors.push_back(std::move(factor));
    }
    const std::vector<size_t> values = MinimizeSum(choices, factors);
    EXPECT_EQ(CostOf(factors, choices, values), LeastCost(factors, choices));
    // Without tables, still a choice for each.
    const std::vector<size_t> rough = MinimizeSum(choices, factors, 1);
    for (size_t v = 0; v < choices.size(); ++v) EXPECT_LT(rough[v], choices[v]);
  }
}

TEST(MinimizeSum, TakesTheFirstOfEqualValues) {
  EXPECT_EQ(MinimizeSum({3, 2}, {{{0, 1}, {4, 4, 4, 4, 4, 4}}}), (std::vector<size_t>{0, 0}));
  EXPECT_EQ(MinimizeSum({}, {}), std::vector<size_t>{});
}

}  // namespace
}  // namespace attune
