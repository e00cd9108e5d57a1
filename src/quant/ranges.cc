#include "quant/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace attune::quant {
namespace {

constexpr int kBins = Histogram::kBins;

// The magnitude that all but `allowed` of the numbers of one sign stay below; `side` maps bins counted
// outwards from zero to bins of the histogram.
double Tail(const Histogram& histogram, double allowed, int (*side)(int)) {
  for (int i = kBins - 1; i >= 0; --i) {
    const auto count = static_cast<double>(histogram.counts()[static_cast<size_t>(side(i))]);
    if (count > allowed) return histogram.width() * (i + 1 - allowed / count);
    allowed -= count;
  }
  return 0;
}

int Above(int i) { return kBins + i; }
int Below(int i) { return kBins - 1 - i; }

// Bins [begin, end). `clipped` also counts the numbers beyond them in the outermost bins. Zeros count in
// the first bin above zero.
struct Window {
  std::vector<double> inside, clipped;
};

Window Clip(const std::vector<double>& counts, int begin, int end) {
  Window window;
  window.inside.assign(counts.begin() + begin, counts.begin() + end);
  window.clipped = window.inside;
  for (int i = 0; i < begin; ++i) window.clipped.front() += counts[static_cast<size_t>(i)];
  for (size_t i = static_cast<size_t>(end); i < counts.size(); ++i) window.clipped.back() += counts[i];
  return window;
}

// Divides the bins into `levels` groups of neighbours, and spreads the sum of each group over its non-empty
// bins.
std::vector<double> Rounded(const std::vector<double>& bins, int levels) {
  const size_t size = bins.size(), groups = std::min(size, static_cast<size_t>(levels));
  std::vector<double> rounded(size, 0);
  for (size_t group = 0; group < groups; ++group) {
    const size_t begin = group * size / groups, end = (group + 1) * size / groups;
    double sum = 0;
    int used = 0;
    for (size_t i = begin; i < end; ++i) {
      sum += bins[i];
      used += bins[i] > 0;
    }
    for (size_t i = begin; i < end; ++i) rounded[i] = bins[i] > 0 ? sum / used : 0;
  }
  return rounded;
}

// Σ p log(p / q) for counts; an empty bin of q counts as almost empty, to avoid infinity.
double Divergence(const std::vector<double>& p, const std::vector<double>& q) {
  constexpr double kLeast = 1e-7;
  double p_total = 0, q_total = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    p_total += p[i];
    q_total += q[i];
  }
  if (q_total == 0) return std::numeric_limits<double>::infinity();
  double divergence = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0) continue;
    const double share = p[i] / p_total;
    divergence += share * std::log(share / std::max(q[i] / q_total, kLeast));
  }
  return divergence;
}

// The total squared error of all numbers, for a range.
double SquaredError(const Histogram& histogram, const Range& range, int levels) {
  const double step = (range.high - range.low) / (levels - 1);
  double error = 0;
  int64_t inside = 0;
  for (int i = 0; i < 2 * kBins; ++i) {
    const int64_t count = histogram.counts()[static_cast<size_t>(i)];
    if (count == 0) continue;
    const double center = histogram.LowerEdge(i) + histogram.width() / 2;
    const double beyond = std::max({range.low - center, center - range.high, 0.0});
    if (beyond == 0) inside += count;
    error += static_cast<double>(count) * beyond * beyond;
  }
  constexpr double kUniform = 12;
  return error + static_cast<double>(inside) * step * step / kUniform;
}

}  // namespace

Range MinMaxRange(const Histogram& histogram) { return {histogram.min(), histogram.max()}; }

Range PercentileRange(const Histogram& histogram, double percentile) {
  const Range all = MinMaxRange(histogram);
  const int sides = (all.low < 0 ? 1 : 0) + (all.high > 0 ? 1 : 0);
  if (sides == 0) return all;
  const double allowed = (1 - percentile / 100) * static_cast<double>(histogram.total()) / sides;
  return {all.low < 0 ? std::max(all.low, -Tail(histogram, allowed, Below)) : all.low,
          all.high > 0 ? std::min(all.high, Tail(histogram, allowed, Above)) : all.high};
}

Range EntropyRange(const Histogram& histogram, int levels) {
  const Range all = MinMaxRange(histogram);
  std::vector<double> counts(histogram.counts().begin(), histogram.counts().end());
  counts[kBins] += static_cast<double>(histogram.zeros());
  const auto is_used = [](double count) { return count > 0; };
  const int first = static_cast<int>(std::find_if(counts.begin(), counts.end(), is_used) - counts.begin());
  const int last =
      2 * kBins - static_cast<int>(std::find_if(counts.rbegin(), counts.rend(), is_used) - counts.rbegin());
  Range best = all;
  double least = std::numeric_limits<double>::infinity();
  for (int t = 1; t <= kBins; ++t) {
    const int begin = std::max(first, kBins - t), end = std::min(last, kBins + t);
    // With fewer bins than levels, the divergence would be zero whatever the bins contain.
    if (end - begin < levels) continue;
    const Window window = Clip(counts, begin, end);
    const double divergence = Divergence(window.clipped, Rounded(window.inside, levels));
    if (divergence < least) {
      least = divergence;
      best = {std::max(all.low, histogram.LowerEdge(begin)), std::min(all.high, histogram.LowerEdge(end))};
    }
    if (begin == first && end == last) break;
  }
  return best;
}

Range MseRange(const Histogram& histogram, int levels) {
  const Range all = MinMaxRange(histogram);
  Range best = {std::min(all.low, 0.0), std::max(all.high, 0.0)};
  const Range whole = best;
  constexpr int kParts = 100, kTurns = 2;
  double least = SquaredError(histogram, best, levels);
  for (int turn = 0; turn < kTurns; ++turn) {
    for (double Range::* bound : {&Range::high, &Range::low}) {
      for (int part = kParts - 1; part > 0; --part) {
        Range candidate = best;
        candidate.*bound = whole.*bound * part / kParts;
        const double error = SquaredError(histogram, candidate, levels);
        if (error >= least) continue;
        least = error;
        best = candidate;
      }
    }
  }
  return best;
}

Range ChooseRange(const Histogram& histogram, RangeMethod method, double percentile) {
  switch (method) {
    case RangeMethod::kMinMax:
      return MinMaxRange(histogram);
    case RangeMethod::kPercentile:
      return PercentileRange(histogram, percentile);
    case RangeMethod::kEntropy:
      return EntropyRange(histogram);
    case RangeMethod::kMse:
      return MseRange(histogram);
  }
  return MinMaxRange(histogram);
}

}  // namespace attune::quant
