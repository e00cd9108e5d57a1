// Parallel simulated annealing on the cost model.
//
// Problem: the model answers thousands of times faster than the machine, but is right only about what
// resembles what it has seen. Idea: many chains walk over the space at once, each from a good or a random
// place, and take a step that the model thinks better always, one that it thinks worse with a probability
// that falls while they cool. What is measured is the best that any of them saw, chosen so that the batch
// covers many values of each number, and a share of random candidates, which keep the model honest. After
// Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 1983, and Chen et al.,
// Learning to optimize tensor programs, NeurIPS 2018, section 5. Cost: at most kMaxScores scores a batch.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tune/search/search_base.h"

namespace attune {
namespace {

constexpr size_t kChains = 96;
constexpr int kSteps = 200;
constexpr size_t kMaxScores = 2000;
// Chains stop where the best of what they have seen stays the same for so many steps.
constexpr int kPatience = 20;
// So many of the chains start from measured candidates, the others where they were or anywhere.
constexpr size_t kMeasuredStarts = kChains / 3;
// The batch is chosen from so many times as many, by score and by what is new in it, weighed so.
constexpr size_t kChoice = 3;
constexpr double kNovelty = 0.25;

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
      Anneal(scores, by_score);
      AddDiverse(BestFresh(scores, kChoice * by_score), by_score);
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
    // Candidates of records may not fit.
    std::erase_if(starts, [&](const Candidate& c) { return !space().IsValid(c); });
    // The last places are for random ones.
    starts.resize(std::min(starts.size(), kChains * 3 / 4));
    for (size_t attempts = 2 * kChains; attempts > 0 && starts.size() < kChains; --attempts) {
      if (std::optional<Candidate> candidate = space().Sample(random()))
        starts.push_back(*std::move(candidate));
    }
    return starts;
  }

  void Anneal(RememberedScores& scores, size_t wanted) {
    std::vector<Candidate> points = Starts();
    std::vector<float> values = scores(points);
    const double start_temperature = Spread(values);
    std::vector<Scored> best;
    for (int step = 0; step < kSteps && scores.all().size() < kMaxScores; ++step) {
      const double temperature = start_temperature * (1 - static_cast<double>(step) / kSteps);
      std::vector<Candidate> next = points;
      for (Candidate& point : next) {
        if (std::optional<Candidate> neighbour = space().Neighbour(point, random()))
          point = *std::move(neighbour);
      }
      const std::vector<float> next_values = scores(next);
      for (size_t i = 0; i < points.size(); ++i) {
        const double gain = next_values[i] - values[i];
        const bool takes = gain >= 0 || random().Uniform() < std::exp(gain / temperature);
        if (!takes) continue;
        points[i] = std::move(next[i]);
        values[i] = next_values[i];
      }
      if ((step + 1) % kPatience != 0) continue;
      std::vector<Scored> now = BestFresh(scores, wanted);
      if (now == best) break;
      best = std::move(now);
    }
    ends_ = std::move(points);
  }

  // The standard deviation of the finite ones; never 0.
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

  std::vector<Scored> BestFresh(const RememberedScores& scores, size_t count) {
    std::vector<Scored> fresh;
    for (const auto& [candidate, score] : scores.all()) {
      if (std::isfinite(score) && IsFresh(candidate)) fresh.emplace_back(score, candidate);
    }
    count = std::min(count, fresh.size());
    std::ranges::partial_sort(
        fresh, fresh.begin() + static_cast<std::ptrdiff_t>(count), [](const Scored& a, const Scored& b) {
          if (a.first != b.first) return a.first > b.first;
          // Trees give many candidates one score; no corner of the space comes first.
          const size_t hash_a = CandidateHash()(a.second), hash_b = CandidateHash()(b.second);
          return hash_a != hash_b ? hash_a < hash_b : a.second < b.second;
        });
    fresh.resize(count);
    return fresh;
  }

  // Adds the one with the highest score, then again and again the one of the highest sum of score, scaled to
  // [0, 1], and share of numbers whose value no other in the batch has.
  void AddDiverse(std::vector<Scored> choice, size_t count) {
    if (choice.empty()) return;
    const double most = choice.front().first, range = std::max(most - choice.back().first, 1e-9);
    std::set<std::pair<std::string, int64_t>> seen;
    const auto names = [](const Candidate& candidate) {
      std::vector<std::pair<std::string, int64_t>> named;
      for (const auto& [name, value] : candidate.config)
        named.emplace_back(candidate.strategy + "." + name, value);
      return named;
    };
    for (; count > 0 && !choice.empty(); --count) {
      size_t chosen = 0;
      double highest = -1;
      for (size_t i = 0; i < choice.size(); ++i) {
        double novel = 0;
        const auto named = names(choice[i].second);
        for (const auto& number : named) novel += seen.contains(number) ? 0 : 1;
        const double value = 1 - (most - choice[i].first) / range +
                             kNovelty * novel / std::max<double>(static_cast<double>(named.size()), 1);
        if (value <= highest) continue;
        highest = value;
        chosen = i;
      }
      for (auto& number : names(choice[chosen].second)) seen.insert(std::move(number));
      Add(choice[chosen].second);
      choice.erase(choice.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }

  std::vector<Candidate> ends_;  // of the last batch's chains
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeAnnealing(const SearchOptions& options) {
  return std::make_unique<Annealing>(options);
}

}  // namespace attune
