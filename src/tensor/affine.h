// Affine forms and intervals of index expressions: what both the scheduler and code generation know about
// where a load lands and whether a guard can fail.
#ifndef ATTUNE_TENSOR_AFFINE_H_
#define ATTUNE_TENSOR_AFFINE_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tensor/expr.h"

namespace attune {

// Inclusive bounds; a side is unbounded from kLow down or from kHigh up.
struct Interval {
  static constexpr int64_t kLow = INT64_MIN / 4, kHigh = INT64_MAX / 4;
  int64_t min = kLow, max = kHigh;
  bool is_point() const { return min == max; }
};

// Σ coefficient · atom + constant. An atom is a variable, or an expression that is not affine itself
// (a load, a division that does not come out even), taken as a whole. Atoms are distinct and have
// coefficients other than 0; their order is that of first appearance. All arithmetic is modulo 2^64.
struct Affine {
  struct Term {
    Expr atom;
    int64_t coefficient;
  };
  std::vector<Term> terms;
  int64_t constant = 0;

  bool is_constant() const { return terms.empty(); }
  void Add(const Affine& other, int64_t times);
  const Term* Find(const Var& var) const;
};

// The ranges of variables at a point of a kernel. Not thread safe.
class Bounds {
 public:
  // Ranges nest: the innermost Set of a variable counts until Unset. The variable is also less than `end`,
  // an expression of other variables, unless that is null.
  void Set(const Var& var, Interval interval, Expr end = {});
  void Unset(const Var& var);
  Interval Of(const Var& var) const;
  // Whether the variable is also less than an expression.
  bool HasEnd(const VarNode* var) const;

  // The affine form of an integer expression, with variables of known value replaced by it and floor
  // divisions and remainders by constants taken apart where the ranges allow: (16 a + b) / 16 is a when
  // 0 <= b < 16.
  Affine Normalize(const Expr& e) const;
  Interval Range(const Affine& a) const;
  Interval Range(const Expr& e) const { return Range(Normalize(e)); }

  // The product, multiplied out. The factors of an atom of several have one order, so that equal products
  // have equal atoms.
  Affine Multiply(const Affine& a, const Affine& b) const;

  // Whether a condition always holds (true), never does (false), or cannot be told.
  std::optional<bool> Prove(const Expr& condition) const;

 private:
  Affine NormalizeOp(const Expr& e) const;
  struct TermSum {
    Interval range;  // unless it wraps
    bool may_wrap;
  };
  // The sum of the terms' ranges. It may wrap where a term is data, such as a 64-bit integer that is loaded,
  // or where ranges add up to more than 64 bits; an index of unknown range is taken not to.
  TermSum SumOfTerms(const Affine& a) const;
  // Terms that cancel prove nothing about sums that wrap.
  bool MayWrap(const Affine& a) const { return SumOfTerms(a).may_wrap; }
  Interval AtomRange(const Expr& atom) const;
  Interval ProductRange(const Expr& atom) const;
  // Range(a), narrowed by what is known about ends.
  Interval RangeWithinEnds(const Affine& a) const;
  // The most that `a` is, as far as ends tell.
  int64_t MostWithinEnds(Affine a) const;
  // Forms that are at least `a`: with one variable, or one quotient of such, at the last value before its
  // end; with one remainder at its greatest value. Nothing if it has none.
  std::optional<Affine> BelowEnds(const Affine& a) const;
  std::optional<Affine> GreatestQuotient(const Expr& atom) const;
  std::optional<Affine> WithoutRemainders(const Affine& a) const;
  Affine NormalizeDivision(const Expr& e) const;
  Affine NormalizeOpenDivision(MathOp op, const Affine& n, const Affine& d) const;
  Expr DivideRest(const Affine& rest, int64_t c) const;

  struct VarRange {
    Interval interval;
    Expr end;
  };
  std::unordered_map<const VarNode*, std::vector<VarRange>> ranges_;
  // Results of Normalize() since ranges last changed: taking a division apart looks at its operand more
  // than once, so each level of nested divisions would double the work. An entry keeps its expression
  // alive.
  struct Known {
    Expr expression;
    Affine affine;
  };
  mutable std::unordered_map<const ExprNode*, Known> normalized_;
};

// The expression that the affine form stands for.
Expr ToExpr(const Affine& a);

}  // namespace attune

#endif  // ATTUNE_TENSOR_AFFINE_H_
