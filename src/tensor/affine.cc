#include "tensor/affine.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "tensor/stmt.h"

namespace attune {
namespace {

int64_t Clamp(__int128 v) {
  return static_cast<int64_t>(std::clamp<__int128>(v, Interval::kLow, Interval::kHigh));
}

int64_t FloorDivInt(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

Interval Scale(Interval i, int64_t c) {
  const int64_t x = Clamp(static_cast<__int128>(i.min) * c), y = Clamp(static_cast<__int128>(i.max) * c);
  return {std::min(x, y), std::max(x, y)};
}

bool IsUnbounded(int64_t v) { return v <= Interval::kLow || v >= Interval::kHigh; }

// An unbounded value stays so, whatever is added.
Interval Sum(Interval a, Interval b) {
  const bool no_min = IsUnbounded(a.min) || IsUnbounded(b.min),
             no_max = IsUnbounded(a.max) || IsUnbounded(b.max);
  return {no_min ? Interval::kLow : Clamp(static_cast<__int128>(a.min) + b.min),
          no_max ? Interval::kHigh : Clamp(static_cast<__int128>(a.max) + b.max)};
}

Interval Product(Interval a, Interval b) {
  if (IsUnbounded(a.min) || IsUnbounded(a.max) || IsUnbounded(b.min) || IsUnbounded(b.max)) return {};
  const Interval low = Scale(a, b.min), high = Scale(a, b.max);
  return {std::min(low.min, high.min), std::max(low.max, high.max)};
}

// The factors of a product of several; of anything else, that one.
void AddFactors(const Expr& e, std::vector<Expr>& factors) {
  if (e->kind == ExprKind::kOp && e->op == MathOp::kMul) {
    AddFactors(e->args[0], factors);
    AddFactors(e->args[1], factors);
  } else {
    factors.push_back(e);
  }
}

Affine Constant(int64_t value) {
  Affine a;
  a.constant = value;
  return a;
}

Affine Atom(const Expr& e) {
  Affine a;
  a.terms.push_back({e, 1});
  return a;
}

// The product of at least one factor, none of which is a number.
Affine ProductOf(const std::vector<Expr>& factors) {
  Expr product = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) product = product * factors[i];
  return Atom(product);
}

bool IsDivisionByConst(const Expr& e) {
  return e->kind == ExprKind::kOp && e->op == MathOp::kFloorDiv && IsIntConst(e->args[1]) &&
         e->args[1]->int_value > 0;
}

// a = factor · quotient + rest, where the quotient takes every term whose coefficient the factor divides.
struct Division {
  Affine quotient, rest;
};
Division DivideTerms(const Affine& a, int64_t factor) {
  Division division;
  for (const Affine::Term& term : a.terms) {
    if (term.coefficient % factor == 0) {
      division.quotient.terms.push_back({term.atom, term.coefficient / factor});
    } else {
      division.rest.terms.push_back(term);
    }
  }
  division.quotient.constant = FloorDivInt(a.constant, factor);
  division.rest.constant = a.constant - division.quotient.constant * factor;
  return division;
}

// `term` / `divisor`, where the one has all factors of the other; else nothing.
std::optional<Affine> DivideTerm(const Affine::Term& term, const Affine::Term& divisor) {
  if (term.coefficient % divisor.coefficient != 0) return std::nullopt;
  std::vector<Expr> factors, of_divisor;
  AddFactors(term.atom, factors);
  AddFactors(divisor.atom, of_divisor);
  for (const Expr& factor : of_divisor) {
    const auto same = std::ranges::find_if(factors, [&](const Expr& f) { return SameExpr(f, factor); });
    if (same == factors.end()) return std::nullopt;
    factors.erase(same);
  }
  Affine quotient = factors.empty() ? Constant(1) : ProductOf(factors);
  Affine scaled;
  scaled.Add(quotient, term.coefficient / divisor.coefficient);
  return scaled;
}

std::optional<bool> Negate(std::optional<bool> v) {
  if (!v) return v;
  return !*v;
}

}  // namespace

void Affine::Add(const Affine& other, int64_t times) {
  const auto plus = [times](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) +
                                static_cast<uint64_t>(y) * static_cast<uint64_t>(times));
  };
  constant = plus(constant, other.constant);
  for (const Term& term : other.terms) {
    const auto it =
        std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return SameExpr(t.atom, term.atom); });
    if (it == terms.end()) {
      if (const int64_t coefficient = plus(0, term.coefficient); coefficient != 0)
        terms.push_back({term.atom, coefficient});
    } else {
      it->coefficient = plus(it->coefficient, term.coefficient);
      if (it->coefficient == 0) terms.erase(it);
    }
  }
}

const Affine::Term* Affine::Find(const Var& var) const {
  for (const Term& term : terms) {
    if (term.atom->kind == ExprKind::kVar && term.atom->var == var) return &term;
  }
  return nullptr;
}

void Bounds::Set(const Var& var, Interval interval, Expr end) {
  ranges_[var.get()].push_back({interval, std::move(end)});
  normalized_.clear();
}

void Bounds::Unset(const Var& var) {
  const auto it = ranges_.find(var.get());
  it->second.pop_back();
  if (it->second.empty()) ranges_.erase(it);
  normalized_.clear();
}

Interval Bounds::Of(const Var& var) const {
  const auto it = ranges_.find(var.get());
  return it == ranges_.end() ? Interval{} : it->second.back().interval;
}

bool Bounds::HasEnd(const VarNode* var) const {
  const auto it = ranges_.find(var);
  return it != ranges_.end() && it->second.back().end;
}

Affine Bounds::Normalize(const Expr& e) const {
  // A number that no index is, of data, would overflow in sums.
  if (e->kind == ExprKind::kInt) return IsUnbounded(e->int_value) ? Atom(e) : Constant(e->int_value);
  if (e->kind == ExprKind::kVar) {
    const Interval range = Of(e->var);
    return range.is_point() ? Constant(range.min) : Atom(e);
  }
  if (e->kind != ExprKind::kOp || e->dtype != DType::kI64) return Atom(e);
  if (const auto known = normalized_.find(e.get()); known != normalized_.end()) return known->second.affine;
  Affine affine = NormalizeOp(e);
  normalized_.insert({e.get(), {e, affine}});
  return affine;
}

Affine Bounds::Multiply(const Affine& a, const Affine& b) const {
  Affine product;
  product.Add(a, b.constant);
  Affine rest = b;
  rest.constant = 0;
  product.Add(rest, a.constant);
  for (const Affine::Term& x : a.terms) {
    for (const Affine::Term& y : b.terms) {
      std::vector<Expr> factors;
      AddFactors(x.atom, factors);
      AddFactors(y.atom, factors);
      std::ranges::sort(factors, {}, [](const Expr& factor) { return Print(factor); });
      Affine term = ProductOf(factors);
      term.terms[0].coefficient = x.coefficient;
      product.Add(term, y.coefficient);
    }
  }
  return product;
}

Affine Bounds::NormalizeOp(const Expr& e) const {
  switch (e->op) {
    case MathOp::kAdd:
    case MathOp::kSub: {
      Affine a = Normalize(e->args[0]);
      a.Add(Normalize(e->args[1]), e->op == MathOp::kAdd ? 1 : -1);
      return a;
    }
    case MathOp::kNeg: {
      Affine a;
      a.Add(Normalize(e->args[0]), -1);
      return a;
    }
    case MathOp::kMul: {
      const Affine a = Normalize(e->args[0]), b = Normalize(e->args[1]);
      if (!a.is_constant() && !b.is_constant())
        return MayWrap(a) || MayWrap(b) ? Atom(ToExpr(a) * ToExpr(b)) : Multiply(a, b);
      Affine product;
      product.Add(a.is_constant() ? b : a, a.is_constant() ? a.constant : b.constant);
      return product;
    }
    case MathOp::kFloorDiv:
    case MathOp::kFloorMod:
      return NormalizeDivision(e);
    case MathOp::kMin:
    case MathOp::kMax: {
      const Affine a = Normalize(e->args[0]), b = Normalize(e->args[1]);
      Affine difference = a;
      difference.Add(b, -1);
      const Interval d = MayWrap(a) || MayWrap(b) ? Interval() : Range(difference);
      const bool is_min = e->op == MathOp::kMin;
      if (d.max <= 0) return is_min ? a : b;
      if (d.min >= 0) return is_min ? b : a;
      return Atom(MakeOp(e->op, {ToExpr(a), ToExpr(b)}));
    }
    case MathOp::kSelect: {
      const std::optional<bool> known = Prove(e->args[0]);
      return known ? Normalize(e->args[*known ? 1 : 2]) : Atom(e);
    }
    default:
      return Atom(e);
  }
}

// n = q·c + r, where q takes every term whose coefficient c divides. When 0 <= r < c, n / c is q and n mod c
// is r. Otherwise, when c = g·c' and r = g·a + b with 0 <= b < g, r / c is a / c'. A remainder is written as
// n − c·(n / c), so that it cancels where a division and a remainder meet again. For data, whose sums wrap,
// only n is normalized: 3·x mod 3 need not be 0.
Affine Bounds::NormalizeDivision(const Expr& e) const {
  const Affine n = Normalize(e->args[0]), d = Normalize(e->args[1]);
  if (!d.is_constant() && !MayWrap(n) && Range(d).min > 0) return NormalizeOpenDivision(e->op, n, d);
  if (!d.is_constant() || d.constant <= 0 || MayWrap(n)) return Atom(MakeOp(e->op, {ToExpr(n), ToExpr(d)}));
  const int64_t c = d.constant;
  auto [quotient, rest] = DivideTerms(n, c);
  const Interval r = Range(rest);
  const bool bounded = !IsUnbounded(r.min) && !IsUnbounded(r.max);
  if (bounded && FloorDivInt(r.min, c) == FloorDivInt(r.max, c)) {
    quotient.constant += FloorDivInt(r.min, c);  // the rest lies within one period
  } else {
    quotient.Add(Atom(DivideRest(rest, c)), 1);
  }
  if (e->op == MathOp::kFloorDiv) return quotient;
  Affine remainder = n;
  remainder.Add(quotient, -c);
  return remainder;
}

// The same for an open divisor: n = q·d + r, where q takes every term that has all factors of d.
Affine Bounds::NormalizeOpenDivision(MathOp op, const Affine& n, const Affine& d) const {
  Affine quotient, rest;
  rest.constant = n.constant;
  for (const Affine::Term& term : n.terms) {
    const bool is_product = d.terms.size() == 1 && d.constant == 0;
    const std::optional<Affine> divided = is_product ? DivideTerm(term, d.terms[0]) : std::nullopt;
    if (divided.has_value()) {
      quotient.Add(*divided, 1);
    } else {
      rest.terms.push_back(term);
    }
  }
  const auto holds = [this](const Affine& a, const Affine& b) {
    Affine difference = a;
    difference.Add(b, -1);
    return RangeWithinEnds(difference).max < 0;
  };
  if (!holds(rest, d) || RangeWithinEnds(rest).min < 0)
    quotient.Add(Atom(FloorDiv(ToExpr(rest), ToExpr(d))), 1);
  if (op == MathOp::kFloorDiv) return quotient;
  Affine remainder = n;
  remainder.Add(Multiply(quotient, d), -1);
  return remainder;
}

// rest / c as an expression: merges a division in a division, and divides out a common factor of c and of
// the leading terms where that is exact.
Expr Bounds::DivideRest(const Affine& rest, int64_t c) const {
  // (e / d + k) / c is (e + d k) / (d c).
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1) {
    const Expr& atom = rest.terms[0].atom;
    if (IsDivisionByConst(atom)) {
      const int64_t d = atom->args[1]->int_value;
      const auto product = CheckedMul(d, c), shift = CheckedMul(d, rest.constant);
      if (product && shift) return FloorDiv(ToExpr(Normalize(atom->args[0] + Expr(*shift))), *product);
    }
  }
  int64_t g = 0;
  for (const Affine::Term& term : rest.terms) {
    const int64_t common = std::gcd(c, term.coefficient);
    if (common > 1) g = g == 0 ? common : std::gcd(g, common);
  }
  if (g <= 1) return FloorDiv(ToExpr(rest), c);
  const auto [leading, low] = DivideTerms(rest, g);
  const Interval range = Range(low);
  if (range.min < 0 || range.max >= g) return FloorDiv(ToExpr(rest), c);
  return FloorDiv(ToExpr(leading), c / g);
}

Bounds::TermSum Bounds::SumOfTerms(const Affine& a) const {
  TermSum sum{{a.constant, a.constant}, false};
  bool has_open_index = false;
  for (const Affine::Term& term : a.terms) {
    const Interval range = AtomRange(term.atom);
    sum.range = Sum(sum.range, Scale(range, term.coefficient));
    if (!IsUnbounded(range.min) && !IsUnbounded(range.max)) continue;
    (term.atom->kind == ExprKind::kVar ? has_open_index : sum.may_wrap) = true;
  }
  const bool is_bounded = !IsUnbounded(sum.range.min) && !IsUnbounded(sum.range.max);
  sum.may_wrap = sum.may_wrap || (!is_bounded && !has_open_index);
  return sum;
}

// d·(n / d) is between n - d and n, which tells more than the ranges of both factors.
Interval Bounds::ProductRange(const Expr& atom) const {
  std::vector<Expr> factors;
  AddFactors(atom, factors);
  for (size_t i = 0; i < factors.size(); ++i) {
    if (factors[i]->kind != ExprKind::kOp || factors[i]->op != MathOp::kFloorDiv) continue;
    const Affine d = Normalize(factors[i]->args[1]);
    const Interval n = Range(factors[i]->args[0]);
    std::vector<Expr> others = factors;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    if (d.terms.size() != 1 || d.constant != 0 || n.min < 0 || IsUnbounded(n.max)) continue;
    const std::optional<Affine> rest = DivideTerm(ProductOf(others).terms[0], {d.terms[0].atom, 1});
    if (rest.has_value()) return Product({0, n.max / d.terms[0].coefficient}, Range(*rest));
  }
  return Product(Range(atom->args[0]), Range(atom->args[1]));
}

Interval Bounds::AtomRange(const Expr& atom) const {
  if (atom->kind == ExprKind::kVar) return Of(atom->var);
  if (atom->kind != ExprKind::kOp || atom->dtype != DType::kI64) return {};
  switch (atom->op) {
    case MathOp::kMul:
      return ProductRange(atom);
    case MathOp::kFloorMod: {
      const Interval d = Range(atom->args[1]);
      if (d.min > 0) return {0, IsUnbounded(d.max) ? Interval::kHigh : d.max - 1};
      return {};
    }
    case MathOp::kFloorDiv: {
      const Interval n = Range(atom->args[0]), d = Range(atom->args[1]);
      if (d.min <= 0) return {};
      const auto divided = [&](int64_t bound, int64_t by) {
        return IsUnbounded(bound) ? bound : IsUnbounded(by) ? (bound < 0 ? -1 : 0) : FloorDivInt(bound, by);
      };
      return {divided(n.min, n.min < 0 ? d.min : d.max), divided(n.max, n.max < 0 ? d.max : d.min)};
    }
    case MathOp::kMin:
    case MathOp::kMax: {
      const Interval a = Range(atom->args[0]), b = Range(atom->args[1]);
      if (atom->op == MathOp::kMin) return {std::min(a.min, b.min), std::min(a.max, b.max)};
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    }
    case MathOp::kSelect: {
      const Interval a = Range(atom->args[1]), b = Range(atom->args[2]);
      return {std::min(a.min, b.min), std::max(a.max, b.max)};
    }
    default:
      return {};
  }
}

// A term −c·k·(e / c) beside k·e is k·(e mod c), which lies in k·[0, c − 1]. So is, with e / d for e, a term
// −c·k·(e / (c d)) beside k·(e / d).
Interval Bounds::Range(const Affine& a) const {
  for (const Affine::Term& term : a.terms) {
    if (!IsDivisionByConst(term.atom)) continue;
    const Expr& e = term.atom->args[0];
    const int64_t c = term.atom->args[1]->int_value;
    for (const Affine::Term& other : a.terms) {
      if (!IsDivisionByConst(other.atom) || !SameExpr(other.atom->args[0], e)) continue;
      const int64_t d = other.atom->args[1]->int_value, ratio = c / d;
      if (ratio < 2 || c % d != 0 || term.coefficient != -ratio * other.coefficient) continue;
      Affine rest = a;
      rest.Add(Atom(term.atom), -term.coefficient);
      rest.Add(Atom(other.atom), -other.coefficient);
      return Sum(Range(rest), Scale({0, ratio - 1}, other.coefficient));
    }
    if (term.coefficient % c != 0) continue;
    const int64_t k = -term.coefficient / c;
    Affine rest = a;
    rest.Add(Atom(term.atom), -term.coefficient);
    rest.Add(Normalize(e), -k);
    if (rest.terms.size() + 1 < a.terms.size()) return Sum(Range(rest), Scale({0, c - 1}, k));
  }
  const TermSum sum = SumOfTerms(a);
  const bool is_atom = a.constant == 0 && a.terms.size() == 1 && a.terms[0].coefficient == 1;
  return is_atom || !sum.may_wrap ? sum.range : Interval();
}

std::optional<Affine> Bounds::BelowEnds(const Affine& a) const {
  for (const Affine::Term& term : a.terms) {
    if (term.coefficient < 0) continue;
    Affine greatest;
    if (term.atom->kind == ExprKind::kVar && HasEnd(term.atom->var.get())) {
      greatest = Normalize(ranges_.at(term.atom->var.get()).back().end);
      greatest.constant -= 1;
    } else if (const std::optional<Affine> quotient = GreatestQuotient(term.atom)) {
      greatest = *quotient;
    } else if (term.atom->kind == ExprKind::kOp && term.atom->op == MathOp::kMin) {
      greatest = Normalize(term.atom->args[1]);  // a tile that is shifted inwards has its last place there
    } else {
      continue;
    }
    Affine below = a;
    below.Add(Atom(term.atom), -term.coefficient);
    below.Add(greatest, term.coefficient);
    return below;
  }
  return std::nullopt;
}

// n / d, where n is before q·d, is at most q - 1.
std::optional<Affine> Bounds::GreatestQuotient(const Expr& atom) const {
  if (atom->kind != ExprKind::kOp || atom->op != MathOp::kFloorDiv) return std::nullopt;
  const Affine d = Normalize(atom->args[1]);
  if (Range(d).min <= 0) return std::nullopt;
  std::optional<Affine> end = BelowEnds(Normalize(atom->args[0]));
  if (!end.has_value()) return std::nullopt;
  while (const std::optional<Affine> lower = BelowEnds(*end)) end = lower;
  end->constant += 1;
  if (end->constant != 0) return std::nullopt;
  Affine quotient;
  for (const Affine::Term& term : end->terms) {
    std::optional<Affine> divided;
    if (!d.is_constant() && d.terms.size() == 1 && d.constant == 0) {
      divided = DivideTerm(term, d.terms[0]);
    } else if (d.is_constant() && term.coefficient % d.constant == 0) {
      divided = Affine{.terms = {{term.atom, term.coefficient / d.constant}}};
    }
    if (!divided.has_value()) return std::nullopt;
    quotient.Add(*divided, 1);
  }
  quotient.constant -= 1;
  return quotient;
}

// A term −k·d·(n / d) beside k·n is k·(n mod d), which is at most k·(d − 1), or 0 if k is negative.
std::optional<Affine> Bounds::WithoutRemainders(const Affine& a) const {
  for (const Affine::Term& term : a.terms) {
    std::vector<Expr> factors;
    AddFactors(term.atom, factors);
    for (size_t i = 0; i < factors.size(); ++i) {
      if (factors[i]->kind != ExprKind::kOp || factors[i]->op != MathOp::kFloorDiv) continue;
      const Affine n = Normalize(factors[i]->args[0]), d = Normalize(factors[i]->args[1]);
      if (d.is_constant() || Range(d).min <= 0) continue;
      // The term is −k times the quotient, multiplied by d.
      const Affine product = Multiply(Atom(factors[i]), d);
      if (product.terms.size() != 1 || !SameExpr(product.terms[0].atom, term.atom) ||
          term.coefficient % product.terms[0].coefficient != 0)
        continue;
      const int64_t k = -term.coefficient / product.terms[0].coefficient;
      Affine rest = a;
      rest.Add(product, k);
      rest.Add(n, -k);
      if (rest.terms.size() >= a.terms.size()) continue;
      if (k > 0) {
        rest.Add(d, k);
        rest.constant -= k;
      }
      return rest;
    }
  }
  return std::nullopt;
}

int64_t Bounds::MostWithinEnds(Affine a) const {
  // Ends may have variables with ends themselves; these nest no deeper than loops do.
  constexpr int kMostRounds = 16;
  int64_t most = Range(a).max;
  for (int round = 0; round < kMostRounds; ++round) {
    std::optional<Affine> below = WithoutRemainders(a);
    if (!below.has_value()) below = BelowEnds(a);
    if (!below.has_value()) break;
    a = *std::move(below);
    most = std::min(most, Range(a).max);
  }
  return most;
}

Interval Bounds::RangeWithinEnds(const Affine& a) const {
  Interval range = Range(a);
  const bool has_end =
      std::ranges::any_of(ranges_, [](const auto& one) { return static_cast<bool>(one.second.back().end); });
  if (!has_end) return range;
  Affine negative;
  negative.Add(a, -1);
  range.max = std::min(range.max, MostWithinEnds(a));
  range.min = std::max(range.min, -MostWithinEnds(negative));
  return range;
}

std::optional<bool> Bounds::Prove(const Expr& condition) const {
  if (condition->kind == ExprKind::kInt) return condition->int_value != 0;
  if (condition->kind != ExprKind::kOp) return std::nullopt;
  const auto& args = condition->args;
  if (condition->op == MathOp::kNot) return Negate(Prove(args[0]));
  if (condition->op == MathOp::kAnd || condition->op == MathOp::kOr) {
    const bool decisive = condition->op == MathOp::kOr;
    const auto a = Prove(args[0]), b = Prove(args[1]);
    if (a == decisive || b == decisive) return decisive;
    return a && b ? std::optional<bool>(!decisive) : std::nullopt;
  }
  if (args.size() != 2 || args[0]->dtype != DType::kI64) return std::nullopt;
  Affine difference = Normalize(args[0]);
  const Affine other = Normalize(args[1]);
  if (MayWrap(difference) || MayWrap(other)) return std::nullopt;
  difference.Add(other, -1);
  const Interval d = RangeWithinEnds(difference);
  const auto decide = [](bool yes, bool no) -> std::optional<bool> {
    if (yes) return true;
    if (no) return false;
    return std::nullopt;
  };
  switch (condition->op) {
    case MathOp::kLess:
      return decide(d.max < 0, d.min >= 0);
    case MathOp::kLessEqual:
      return decide(d.max <= 0, d.min > 0);
    case MathOp::kGreater:
      return decide(d.min > 0, d.max <= 0);
    case MathOp::kGreaterEqual:
      return decide(d.min >= 0, d.max < 0);
    case MathOp::kEqual:
      return decide(d.is_point() && d.min == 0, d.min > 0 || d.max < 0);
    case MathOp::kNotEqual:
      return decide(d.min > 0 || d.max < 0, d.is_point() && d.min == 0);
    default:
      return std::nullopt;
  }
}

Expr ToExpr(const Affine& a) {
  Expr sum;
  for (const Affine::Term& term : a.terms) {
    Expr product = term.atom * Expr(term.coefficient);
    sum = sum ? sum + product : product;
  }
  if (!sum) return Expr(a.constant);
  return sum + Expr(a.constant);
}

}  // namespace attune
