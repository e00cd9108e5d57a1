// Sizes as expressions of a network's open dimensions.
#ifndef ATTUNE_SIZES_SIZE_EXPR_H_
#define ATTUNE_SIZES_SIZE_EXPR_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attune {

// The greatest size of one of `count` open dimensions: so large that their product times some thousands stays
// below 2^61, what index arithmetic can reason about.
constexpr int64_t MostOpenSize(size_t count) {
  constexpr size_t kBitsOfProduct = 48, kMostBits = 24;
  return int64_t{1} << std::min(kMostBits, kBitsOfProduct / std::max<size_t>(count, 1));
}

// A dimension that a model leaves open: any value from min to max.
struct OpenDim {
  std::string name;
  int64_t min = 1, max = 0;
  int64_t likely = 0;  // plans are made for it; between min and max
};

// floor((value of an open dimension + add) / divisor)
struct SizeAtom {
  int dim = 0;  // an index into a list of open dimensions
  int64_t add = 0, divisor = 1;
  auto operator<=>(const SizeAtom&) const = default;
};

// A polynomial of atoms with integer coefficients. It has one form: equal polynomials are equal.
class SizeExpr {
 public:
  using Monomial = std::vector<SizeAtom>;  // the factors, sorted; empty: 1

  SizeExpr(int64_t constant = 0);  // NOLINT: a number is an expression
  static SizeExpr Of(const SizeAtom& atom);

  // None has the coefficient 0.
  const std::map<Monomial, int64_t>& terms() const { return terms_; }
  bool is_constant() const;
  // Whether the dimension takes part.
  bool Mentions(int dim) const;

  // The value where dimension i has values[i]; nothing if it overflows.
  std::optional<int64_t> At(std::span<const int64_t> values) const;

  SizeExpr& operator+=(const SizeExpr& other);
  friend SizeExpr operator+(SizeExpr a, const SizeExpr& b) { return a += b; }
  friend SizeExpr operator*(const SizeExpr& a, const SizeExpr& b);
  friend SizeExpr operator-(const SizeExpr& a, const SizeExpr& b) { return a + b * SizeExpr(-1); }
  bool operator==(const SizeExpr&) const = default;

 private:
  void Add(const Monomial& monomial, int64_t coefficient);

  std::map<Monomial, int64_t> terms_;
};

// "12·batch·seq + 1", "floor((width + 1) / 2)"
std::string ToString(const SizeExpr& size, std::span<const OpenDim> dims);

}  // namespace attune

#endif  // ATTUNE_SIZES_SIZE_EXPR_H_
