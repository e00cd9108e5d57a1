#include "sizes/fit.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
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

int64_t GreatestPrimeFactor(int64_t n) {
  int64_t greatest = 1;
  for (int64_t d = 2; d * d <= n; ++d) {
    for (; n % d == 0; n /= d) greatest = d;
  }
  return std::max(greatest, n);
}

// A point's number, by its remainders, and by its size in tenths of the likely one. Rounding up
// differs from rounding down only for numbers of some remainders, so the points have several.
struct Wanted {
  int64_t divisor, remainder;
  int64_t tenths;
};
constexpr Wanted kWanted[kLeastPoints] = {{1, 0, 10}, {4, 2, 6},   {32, 0, 55}, {6, 3, 21},
                                          {1, 0, 8},  {16, 8, 28}, {10, 5, 36}, {32, 1, 15}};

// The numbers of a dimension at all points, none of which is in `used`; fewer if there are not enough.
std::vector<int64_t> NumbersFor(const OpenDim& dim, const std::vector<int64_t>& used) {
  // With a large prime factor, a number is no multiple of channels. Batches are too small for that.
  const int64_t least_factor = dim.likely < 32 ? 1 : 11;
  std::vector<int64_t> numbers;
  for (const Wanted& wanted : kWanted) {
    const int64_t target = std::max<int64_t>(dim.likely * wanted.tenths / 10, 2);
    const auto rank = [&](int64_t n) {
      const bool is_prime = GreatestPrimeFactor(n) == n;
      const bool is_wanted = wanted.divisor == 1 ? is_prime && n > 2 : n % wanted.divisor == wanted.remainder;
      return std::tuple(!is_wanted, GreatestPrimeFactor(n) < least_factor, std::abs(n - target), n);
    };
    std::optional<int64_t> best;
    const int64_t reach = std::max<int64_t>(target, 32);
    for (int64_t n = std::max<int64_t>({dim.min, 2, target - reach}); n <= std::min(dim.max, target + reach);
         ++n) {
      if (std::ranges::find(used, n) != used.end() || std::ranges::find(numbers, n) != numbers.end())
        continue;
      if (!best.has_value() || rank(n) < rank(*best)) best = n;
    }
    if (!best.has_value()) break;
    numbers.push_back(*best);
  }
  return numbers;
}

}  // namespace

std::optional<SizeExpr> FitSize(std::span<const int64_t> values, std::span<const SizePoint> points) {
  if (std::ranges::all_of(values, [&](int64_t value) { return value == values[0]; })) return values[0];
  return Fit(values, points).Run();
}

std::optional<std::vector<SizePoint>> PointsFor(std::span<const OpenDim> dims) {
  std::vector<SizePoint> points(kLeastPoints);
  std::vector<int64_t> used;
  for (const OpenDim& dim : dims) {
    // No two dimensions share a number either: one that is seen follows one of them.
    const std::vector<int64_t> numbers = NumbersFor(dim, used);
    if (numbers.size() < points.size()) return std::nullopt;
    for (size_t i = 0; i < points.size(); ++i) points[i].push_back(numbers[i]);
    used.insert(used.end(), numbers.begin(), numbers.end());
  }
  return points;
}

SizePoint FarPoint(std::span<const OpenDim> dims) {
  constexpr int64_t kTimes = 9;
  SizePoint point;
  // Not the greatest size, at which a slice may be the whole.
  for (const OpenDim& dim : dims)
    point.push_back(
        std::clamp(dim.likely * kTimes + std::ssize(point) + 1, dim.min, std::max(dim.max - 3, dim.min)));
  return point;
}

}  // namespace attune
