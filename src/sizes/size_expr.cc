#include "sizes/size_expr.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"

namespace attune {
namespace {

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

std::string AtomText(const SizeAtom& atom, std::span<const OpenDim> dims) {
  const std::string& name = dims[static_cast<size_t>(atom.dim)].name;
  if (atom.divisor == 1) return name;
  const std::string sum = atom.add == 0  ? name
                          : atom.add > 0 ? absl::StrCat("(", name, " + ", atom.add, ")")
                                         : absl::StrCat("(", name, " - ", -atom.add, ")");
  return absl::StrCat("floor(", sum, " / ", atom.divisor, ")");
}

}  // namespace

SizeExpr::SizeExpr(int64_t constant) { Add({}, constant); }

SizeExpr SizeExpr::Of(const SizeAtom& atom) {
  SizeExpr size;
  size.Add({atom}, 1);
  return size;
}

void SizeExpr::Add(const Monomial& monomial, int64_t coefficient) {
  if (coefficient == 0) return;
  const auto it = terms_.try_emplace(monomial, 0).first;
  it->second += coefficient;
  if (it->second == 0) terms_.erase(it);
}

bool SizeExpr::is_constant() const {
  return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
}

bool SizeExpr::Mentions(int dim) const {
  return std::ranges::any_of(terms_, [dim](const auto& term) {
    return std::ranges::any_of(term.first, [dim](const SizeAtom& atom) { return atom.dim == dim; });
  });
}

std::optional<int64_t> SizeExpr::At(std::span<const int64_t> values) const {
  int64_t sum = 0;
  for (const auto& [monomial, coefficient] : terms_) {
    std::optional<int64_t> product = coefficient;
    for (const SizeAtom& atom : monomial) {
      const std::optional<int64_t> moved = CheckedAdd(values[static_cast<size_t>(atom.dim)], atom.add);
      if (!product || !moved) return std::nullopt;
      product = CheckedMul(*product, FloorDivide(*moved, atom.divisor));
    }
    const std::optional<int64_t> next = product ? CheckedAdd(sum, *product) : std::nullopt;
    if (!next) return std::nullopt;
    sum = *next;
  }
  return sum;
}

SizeExpr& SizeExpr::operator+=(const SizeExpr& other) {
  for (const auto& [monomial, coefficient] : other.terms_) Add(monomial, coefficient);
  return *this;
}

SizeExpr operator*(const SizeExpr& a, const SizeExpr& b) {
  SizeExpr product;
  for (const auto& [x, times_x] : a.terms_) {
    for (const auto& [y, times_y] : b.terms_) {
      SizeExpr::Monomial both = x;
      both.insert(both.end(), y.begin(), y.end());
      std::ranges::sort(both);
      product.Add(both, times_x * times_y);
    }
  }
  return product;
}

std::string ToString(const SizeExpr& size, std::span<const OpenDim> dims) {
  std::string text;
  // The constant, which is first, is written last.
  std::vector<std::pair<SizeExpr::Monomial, int64_t>> terms(size.terms().begin(), size.terms().end());
  if (!terms.empty() && terms[0].first.empty()) std::ranges::rotate(terms, terms.begin() + 1);
  for (const auto& [monomial, coefficient] : terms) {
    const int64_t magnitude = coefficient < 0 ? -coefficient : coefficient;
    std::vector<std::string> factors;
    if (magnitude != 1 || monomial.empty()) factors.push_back(absl::StrCat(magnitude));
    for (const SizeAtom& atom : monomial) factors.push_back(AtomText(atom, dims));
    absl::StrAppend(&text, text.empty() ? (coefficient < 0 ? "-" : "") : (coefficient < 0 ? " - " : " + "),
                    absl::StrJoin(factors, "·"));
  }
  return text.empty() ? "0" : text;
}

}  // namespace attune
