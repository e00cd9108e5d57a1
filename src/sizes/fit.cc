#include "sizes/fit.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace attune {
namespace {

class Fit {
 public:
  Fit(std::span<const int64_t> values, std::span<const SizePoint> points) : values_(values), points_(points) {
    const int count = static_cast<int>(points_[0].size());
    std::vector<SizeExpr> products = {SizeExpr(1)};
    // By degree, so that simple products come first.
    constexpr int kMostFactors = 3;
    for (int degree = 1, first = 0; degree <= kMostFactors; ++degree) {
      const int last = static_cast<int>(products.size());
      for (int i = first; i < last; ++i) {
        for (int dim = 0; dim < count; ++dim) {
          SizeExpr product = products[static_cast<size_t>(i)] * SizeExpr::Of({dim});
          if (std::ranges::find(products, product) == products.end()) products.push_back(std::move(product));
        }
      }
      first = last;
    }
    products_.assign(products.begin() + 1, products.end());
  }

  std::optional<SizeExpr> Run() const {
    if (std::ranges::all_of(values_, [this](int64_t value) { return value == values_[0]; }))
      return values_[0];
    for (const SizeExpr& product : products_) {
      if (auto found = Scaled(product)) return found;
    }
    for (int dim = 0; dim < static_cast<int>(points_[0].size()); ++dim) {
      if (auto found = Rounded(dim)) return found;
    }
    for (size_t i = 0; i < products_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (auto found = Sum(products_[j], products_[i])) return found;
      }
    }
    return std::nullopt;
  }

 private:
  int64_t At(const SizeExpr& size, size_t point) const { return size.At(points_[point]).value_or(0); }
  bool IsRight(const SizeExpr& size) const {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (size.At(points_[i]) != values_[i]) return false;
    }
    return true;
  }

  // a · m + b
  std::optional<SizeExpr> Scaled(const SizeExpr& m) const {
    const int64_t run = At(m, 1) - At(m, 0), rise = values_[1] - values_[0];
    if (run == 0 || rise % run != 0) return std::nullopt;
    const int64_t a = rise / run;
    SizeExpr size = m * SizeExpr(a) + SizeExpr(values_[0] - a * At(m, 0));
    return IsRight(size) ? std::optional(size) : std::nullopt;
  }

  // a · floor((d + c) / k) + b: the smallest k, and of its offsets the ones that rounding up and down have
  // before others.
  std::optional<SizeExpr> Rounded(int dim) const {
    constexpr int64_t kMostDivisor = 64;
    for (int64_t k = 2; k <= kMostDivisor; ++k) {
      std::vector<int64_t> offsets = {0, k - 1};
      for (int64_t c = 1; c < k - 1; ++c) offsets.push_back(c);
      for (const int64_t c : offsets) {
        if (auto found = Scaled(SizeExpr::Of({dim, c, k}))) return found;
      }
    }
    return std::nullopt;
  }

  // a · m + c · n + b, from three points
  std::optional<SizeExpr> Sum(const SizeExpr& m, const SizeExpr& n) const {
    const __int128 m1 = At(m, 1) - At(m, 0), m2 = At(m, 2) - At(m, 0);
    const __int128 n1 = At(n, 1) - At(n, 0), n2 = At(n, 2) - At(n, 0);
    const __int128 v1 = values_[1] - values_[0], v2 = values_[2] - values_[0];
    const __int128 determinant = m1 * n2 - m2 * n1;
    if (determinant == 0) return std::nullopt;
    const __int128 a = v1 * n2 - v2 * n1, c = m1 * v2 - m2 * v1;
    if (a % determinant != 0 || c % determinant != 0) return std::nullopt;
    const auto times_m = static_cast<int64_t>(a / determinant),
               times_n = static_cast<int64_t>(c / determinant);
    SizeExpr size = m * SizeExpr(times_m) + n * SizeExpr(times_n);
    size += SizeExpr(values_[0] - At(size, 0));
    return IsRight(size) ? std::optional(size) : std::nullopt;
  }

  std::span<const int64_t> values_;
  std::span<const SizePoint> points_;
  std::vector<SizeExpr> products_;
};

bool IsPrime(int64_t n) {
  for (int64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n >= 2;
}

// Numbers from `least` to `most`, not below 2 if that is possible, the nearest to `likely` first; primes come
// before others.
std::vector<int64_t> Candidates(const OpenDim& dim) {
  constexpr int64_t kReach = 256;
  std::vector<int64_t> candidates;
  for (int64_t n = std::max(std::max<int64_t>(dim.min, 2), dim.likely - kReach);
       n <= std::min(dim.max, dim.likely + kReach); ++n)
    candidates.push_back(n);
  std::ranges::sort(candidates, {},
                    [&](int64_t n) { return std::tuple(!IsPrime(n), std::abs(n - dim.likely), n); });
  return candidates;
}

}  // namespace

std::optional<SizeExpr> FitSize(std::span<const int64_t> values, std::span<const SizePoint> points) {
  return Fit(values, points).Run();
}

std::optional<std::vector<SizePoint>> PointsFor(std::span<const OpenDim> dims) {
  std::vector<SizePoint> points(kLeastPoints);
  std::vector<int64_t> used;
  for (const OpenDim& dim : dims) {
    // No two dimensions share a value either: a number that is seen follows one of them.
    size_t found = 0;
    for (const int64_t candidate : Candidates(dim)) {
      if (found == points.size()) break;
      if (std::ranges::find(used, candidate) != used.end()) continue;
      points[found++].push_back(candidate);
      used.push_back(candidate);
    }
    if (found < points.size()) return std::nullopt;
  }
  return points;
}

}  // namespace attune
