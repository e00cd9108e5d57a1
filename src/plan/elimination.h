// Minimizes a sum of functions of few discrete variables each, exactly.
#ifndef ATTUNE_PLAN_ELIMINATION_H_
#define ATTUNE_PLAN_ELIMINATION_H_

#include <cstddef>
#include <vector>

namespace attune {

// A function of some variables: `cost` has one entry for each combination of their values, the last
// variable's running fastest. Variables are distinct and ascending.
struct Factor {
  std::vector<size_t> variables;
  std::vector<double> cost;
};

// The values of all variables, variable i from 0 to choices[i] - 1, for which the sum of the factors is
// least.
//
// Dynamic programming over variables instead of stages: the factors that contain a variable are replaced by
// their minimum over it, a function of its neighbours, until none is left; then the values are read off
// backwards. The variable with the smallest such table goes first. Where even that table has more than
// `max_table` entries, the variable gets its first value instead, and the result may not be the least.
// After Bertelè and Brioschi, Nonserial dynamic programming, 1972.
std::vector<size_t> MinimizeSum(const std::vector<size_t>& choices, std::vector<Factor> factors,
                                size_t max_table = 1 << 16);

}  // namespace attune

#endif  // ATTUNE_PLAN_ELIMINATION_H_
