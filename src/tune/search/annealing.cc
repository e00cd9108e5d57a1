// Parallel simulated annealing on the cost model.
//
// Problem: the model answers thousands of times faster than the machine, but is only right about candidates
// similar to those it has seen. Idea: many Markov chains walk over the space at once, each from a good or a
// random candidate. A chain always takes a step that the model considers an improvement, and another one with
// a probability that falls as the chains cool. The best candidate of each chain is measured, in order of
// score; the best of all chains would be many that are almost the same, and that the model overestimates by
// the same error. The model cannot say which of two strategies is better before it has seen one of each, so
// the best candidate of each unknown strategy comes first. A share of random candidates corrects the model.
// After Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 1983, and Chen et al.,
// Learning to optimize tensor programs, NeurIPS 2018, section 5. Cost: at most kMaxScores scores a batch.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tune/search/search_base.h"

namespace attune {
namespace {

constexpr size_t kChains = 64;
constexpr int kSteps = 200;
constexpr size_t kMaxScores = 1600;
// In a small space there may be no more to score: annealing ends after this many steps without a new
// candidate.
constexpr int kIdleSteps = 20;
// The final temperature, when all scores are used, relative to the initial one.
constexpr double kCooled = 0.02;
// This many chains start from measured candidates, and as many from ends of the last batch's chains; the
// rest start anywhere.
constexpr size_t kMeasuredStarts = kChains / 4;

using Scored = std::pair<float, Candidate>;

class Annealing : public SearchBase {
 public:
  using SearchBase::SearchBase;

 protected:
  void Extend(const SearchState& state) override {
    AddDefaultsAndHints();
    if (state.score == nullptr) return AddRandom(missing());
    const size_t at_random = RandomShare();
    const size_t by_score = missing() - at_random;
    if (by_score > 0) {
      RememberedScores scores(state.score);
      const std::vector<Scored> bests = Anneal(scores);
      std::set<std::string> known;
      for (const Trial& trial : measured()) known.insert(trial.candidate.strategy);
      const auto add = [&](const Candidate& candidate) { return missing() > at_random && Add(candidate); };
      for (const Scored& best : bests) {
        if (!known.contains(best.second.strategy) && add(best.second)) known.insert(best.second.strategy);
      }
      for (const Scored& best : bests) add(best.second);
    }
    AddRandom(missing());
  }

 private:
  std::vector<Candidate> Starts() {
    std::vector<Candidate> starts;
    for (size_t i = 0; i < std::min(measured().size(), kMeasuredStarts); ++i)
      starts.push_back(measured()[i].candidate);
    for (const Candidate& hint : hints()) starts.push_back(hint);
    starts.insert(starts.end(), ends_.begin(), ends_.end());
    // Candidates from records may not fit.
    std::erase_if(starts, [&](const Candidate& c) { return !space().IsValid(c); });
    starts.resize(std::min(starts.size(), 2 * kMeasuredStarts));
    for (size_t attempts = 2 * kChains; attempts > 0 && starts.size() < kChains; --attempts) {
      if (std::optional<Candidate> candidate = space().Sample(random()))
        starts.push_back(*std::move(candidate));
    }
    return starts;
  }

  // Returns the best fresh candidate of each chain, sorted by score, best first.
  std::vector<Scored> Anneal(RememberedScores& scores) {
    std::vector<Candidate> points = Starts();
    std::vector<float> values = scores(points);
    const double start_temperature = Spread(values);
    std::vector<Scored> bests(points.size(), Scored(-std::numeric_limits<float>::infinity(), Candidate()));
    const auto remember = [&](size_t chain) {
      if (values[chain] > bests[chain].first && IsFresh(points[chain]))
        bests[chain] = {values[chain], points[chain]};
    };
    for (size_t i = 0; i < points.size(); ++i) remember(i);
    int idle = 0;
    for (int step = 0; step < kSteps && idle < kIdleSteps && scores.all().size() < kMaxScores; ++step) {
      const size_t scored = scores.all().size();
      const double spent = static_cast<double>(scored) / static_cast<double>(kMaxScores);
      const double temperature = start_temperature * std::pow(kCooled, spent);
      std::vector<Candidate> next = points;
      std::vector<std::optional<Candidate>> neighbours = space().Neighbours(points, random());
      for (size_t i = 0; i < next.size(); ++i) {
        if (neighbours[i].has_value()) next[i] = *std::move(neighbours[i]);
      }
      const std::vector<float> next_values = scores(next);
      idle = scores.all().size() > scored ? 0 : idle + 1;
      for (size_t i = 0; i < points.size(); ++i) {
        const double gain = next_values[i] - values[i];
        const bool takes = gain >= 0 || random().Uniform() < std::exp(gain / temperature);
        if (!takes) continue;
        points[i] = std::move(next[i]);
        values[i] = next_values[i];
        remember(i);
      }
    }
    std::erase_if(bests, [](const Scored& best) { return !std::isfinite(best.first); });
    std::ranges::sort(bests, [](const Scored& a, const Scored& b) {
      if (a.first != b.first) return a.first > b.first;
      // Trees give the same score to many candidates; break ties by hash, so that no corner of the space is
      // preferred.
      const size_t hash_a = CandidateHash()(a.second), hash_b = CandidateHash()(b.second);
      return hash_a != hash_b ? hash_a < hash_b : a.second < b.second;
    });
    ends_.clear();
    for (const Scored& best : bests) ends_.push_back(best.second);
    return bests;
  }

  // The standard deviation of the finite values; never 0.
  static double Spread(const std::vector<float>& values) {
    double sum = 0, squares = 0, count = 0;
    for (float value : values) {
      if (!std::isfinite(value)) continue;
      sum += value;
      squares += static_cast<double>(value) * value;
      ++count;
    }
    if (count == 0) return 1e-6;
    const double mean = sum / count;
    return std::max(std::sqrt(std::max(squares / count - mean * mean, 0.0)), 1e-6);
  }

  std::vector<Candidate> ends_;  // best of each of the last batch's chains, best first
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeAnnealing(const SearchOptions& options) {
  return std::make_unique<Annealing>(options);
}

}  // namespace attune
