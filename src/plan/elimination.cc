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
      : choices_(choices),
        factors_of_(choices.size()),
        neighbours_(choices.size()),
        queued_as_(choices.size(), 0),
        values_(choices.size(), 0) {
    for (Factor& factor : factors) Add(std::move(factor));
    for (size_t v = 0; v < choices.size(); ++v) Queue(v);
  }

  std::vector<size_t> Run(size_t max_table) {
    while (!queue_.empty()) {
      const auto [size, next] = *queue_.begin();
      queue_.erase(queue_.begin());
      Eliminate(next, size <= max_table);
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
    std::vector<size_t> best;  // the variable's value for each combination of its neighbours' values
  };

  void Add(Factor factor) {
    for (size_t v : factor.variables) {
      factors_of_[v].push_back(factors_.size());
      for (size_t other : factor.variables) {
        if (other != v) neighbours_[v].insert(other);
      }
    }
    factors_.push_back(std::move(factor));
  }

  // The entries of a table over a variable's neighbours; the largest size_t where there are more.
  size_t TableSize(size_t variable) const {
    constexpr size_t kMany = std::numeric_limits<size_t>::max();
    size_t size = 1;
    for (size_t v : neighbours_[variable]) size = size > kMany / choices_[v] ? kMany : size * choices_[v];
    return size;
  }

  // Puts the variable into the queue of those that are left, by its table size.
  void Queue(size_t variable) {
    queue_.erase({queued_as_[variable], variable});
    queued_as_[variable] = TableSize(variable);
    queue_.insert({queued_as_[variable], variable});
  }

  // The index of the present values of `variables` in a table over them.
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

  // Eliminates a variable: `exactly` by its best value for each combination of its neighbours' values, else
  // by the value 0.
  void Eliminate(size_t variable, bool exactly) {
    std::vector<Factor> known;
    for (size_t f : factors_of_[variable]) {
      if (!factors_[f].cost.empty()) known.push_back(std::exchange(factors_[f], Factor()));
    }
    const std::set<size_t> neighbours = std::exchange(neighbours_[variable], {});
    for (size_t v : neighbours) neighbours_[v].erase(variable);
    if (exactly) {
      Add(Minimized(known, variable, {neighbours.begin(), neighbours.end()}));
    } else {
      for (const Factor& factor : known) Add(Restricted(factor, variable));
    }
    for (size_t v : neighbours) Queue(v);
  }

  // The least sum of `factors` over the variable, for each combination of its neighbours.
  Factor Minimized(const std::vector<Factor>& factors, size_t variable, std::vector<size_t> neighbours) {
    Step step{variable, neighbours, {}};
    Factor least{std::move(neighbours), {}};
    do {
      double best = std::numeric_limits<double>::infinity();
      size_t best_value = 0;
      for (values_[variable] = 0; values_[variable] < choices_[variable]; ++values_[variable]) {
        double sum = 0;
        for (const Factor& factor : factors) sum += factor.cost[IndexOf(factor.variables)];
        if (sum >= best) continue;
        best = sum;
        best_value = values_[variable];
      }
      values_[variable] = 0;
      least.cost.push_back(best);
      step.best.push_back(best_value);
    } while (Advance(least.variables));
    steps_.push_back(std::move(step));
    return least;
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
  std::vector<Factor> factors_;                  // without costs where they are merged into others
  std::vector<std::vector<size_t>> factors_of_;  // by variable: indices into factors_
  std::vector<std::set<size_t>> neighbours_;     // by variable: those left that share a factor with it
  std::set<std::pair<size_t, size_t>> queue_;    // what is left: table size, variable
  std::vector<size_t> queued_as_;                // by variable: its table size in the queue
  std::vector<size_t> values_;  // while a table is filled, of the combination at hand; in the end, the result
  std::vector<Step> steps_;
};

}  // namespace

std::vector<size_t> MinimizeSum(const std::vector<size_t>& choices, std::vector<Factor> factors,
                                size_t max_table) {
  return Elimination(choices, std::move(factors)).Run(max_table);
}

}  // namespace attune
