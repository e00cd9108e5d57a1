#include "plan/elimination.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace attune {
namespace {

class Elimination {
 public:
  Elimination(const std::vector<size_t>& choices, std::vector<Factor> factors)
      : choices_(choices), factors_(std::move(factors)), values_(choices.size(), 0) {}

  std::vector<size_t> Run(size_t max_table) {
    std::set<size_t> left;
    for (size_t v = 0; v < choices_.size(); ++v) left.insert(v);
    while (!left.empty()) {
      const size_t next = *std::ranges::min_element(
          left, {}, [&](size_t v) { return std::pair(Combinations(NeighboursOf(v)), v); });
      left.erase(next);
      Eliminate(next, Combinations(NeighboursOf(next)) <= max_table);
    }
    // Each variable's neighbours were eliminated after it.
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
      values_[step->variable] = step->best[IndexOf(step->neighbours)];
    return values_;
  }

 private:
  struct Step {
    size_t variable;
    std::vector<size_t> neighbours;
    std::vector<size_t> best;  // the variable's value for each combination of theirs
  };

  static bool Knows(const Factor& factor, size_t variable) {
    return std::ranges::binary_search(factor.variables, variable);
  }

  std::vector<size_t> NeighboursOf(size_t variable) const {
    std::set<size_t> neighbours;
    for (const Factor& factor : factors_) {
      if (Knows(factor, variable)) neighbours.insert(factor.variables.begin(), factor.variables.end());
    }
    neighbours.erase(variable);
    return {neighbours.begin(), neighbours.end()};
  }

  size_t Combinations(const std::vector<size_t>& variables) const {
    constexpr size_t kMany = std::numeric_limits<size_t>::max() / 2;
    size_t count = 1;
    for (size_t v : variables) count = count > kMany / choices_[v] ? kMany : count * choices_[v];
    return count;
  }

  // The place of the present values of `variables` in a table over them.
  size_t IndexOf(const std::vector<size_t>& variables) const {
    size_t index = 0;
    for (size_t v : variables) index = index * choices_[v] + values_[v];
    return index;
  }

  // The next combination of values; false after the last one, with all of them 0 again.
  bool Advance(const std::vector<size_t>& variables) {
    for (size_t i = variables.size(); i-- > 0;) {
      if (++values_[variables[i]] < choices_[variables[i]]) return true;
      values_[variables[i]] = 0;
    }
    return false;
  }

  // `exactly`: as the best value for each combination of its neighbours; else as 0.
  void Eliminate(size_t variable, bool exactly) {
    std::vector<Factor> merged, others;
    for (Factor& factor : factors_) (Knows(factor, variable) ? merged : others).push_back(std::move(factor));
    factors_ = std::move(others);
    if (!exactly) {
      for (const Factor& factor : merged) factors_.push_back(Restricted(factor, variable));
      return;
    }
    Step step{variable, {}, {}};
    std::set<size_t> neighbours;
    for (const Factor& factor : merged) neighbours.insert(factor.variables.begin(), factor.variables.end());
    neighbours.erase(variable);
    step.neighbours.assign(neighbours.begin(), neighbours.end());
    Factor least{step.neighbours, {}};
    do {
      double best = std::numeric_limits<double>::infinity();
      size_t best_value = 0;
      for (values_[variable] = 0; values_[variable] < choices_[variable]; ++values_[variable]) {
        double sum = 0;
        for (const Factor& factor : merged) sum += factor.cost[IndexOf(factor.variables)];
        if (sum >= best) continue;
        best = sum;
        best_value = values_[variable];
      }
      values_[variable] = 0;
      least.cost.push_back(best);
      step.best.push_back(best_value);
    } while (Advance(step.neighbours));
    steps_.push_back(std::move(step));
    factors_.push_back(std::move(least));
  }

  // The factor where `variable` is 0.
  Factor Restricted(const Factor& factor, size_t variable) {
    Factor restricted;
    for (size_t v : factor.variables) {
      if (v != variable) restricted.variables.push_back(v);
    }
    do {
      restricted.cost.push_back(factor.cost[IndexOf(factor.variables)]);
    } while (Advance(restricted.variables));
    return restricted;
  }

  const std::vector<size_t>& choices_;
  std::vector<Factor> factors_;
  std::vector<size_t> values_;  // while a table is filled, of the combination at hand; in the end, the result
  std::vector<Step> steps_;
};

}  // namespace

std::vector<size_t> MinimizeSum(const std::vector<size_t>& choices, std::vector<Factor> factors,
                                size_t max_table) {
  return Elimination(choices, std::move(factors)).Run(max_table);
}

}  // namespace attune
