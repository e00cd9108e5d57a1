#include "lower/winograd.h"

#include <cmath>
#include <functional>
#include <utility>

#include "base/checked.h"
#include "base/fatal.h"
#include "lower/formula.h"

namespace attune {
namespace {

// Pairs of points with small errors: products of squares near 1 keep the entries of all transforms near 1.
std::vector<double> PairsOf(int64_t tile) {
  switch (tile) {
    case 2:
      return {1};
    case 4:
      return {std::sqrt(0.5), std::sqrt(2)};
    case 6:
      return {0.5, 1, 2};
    default:
      Fatal("no Winograd transform for tiles of ", tile);
  }
}

// Π (t − p²) over all pairs but `skipped`, lowest power first; monic.
std::vector<double> ProductOfPairs(const std::vector<double>& pairs, size_t skipped) {
  std::vector<double> product = {1};
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i == skipped) continue;
    product.insert(product.begin(), 0);
    for (size_t k = 0; k + 1 < product.size(); ++k) product[k] -= pairs[i] * pairs[i] * product[k + 1];
  }
  return product;
}

double Evaluate(const std::vector<double>& polynomial, double t) {
  double value = 0;
  for (size_t k = polynomial.size(); k-- > 0;) value = value * t + polynomial[k];
  return value;
}

Expr Scaled(const Expr& x, double factor) { return factor == 1 ? x : ConstOf(x->dtype, factor) * x; }

// sum + factor x and sum - factor x, with one rounding.
Expr Plus(const Expr& sum, double factor, const Expr& x) {
  if (factor == 1) return sum + x;
  return IsFloat(x->dtype) ? Fma(ConstOf(x->dtype, factor), x, sum) : sum + Scaled(x, factor);
}
Expr Minus(const Expr& sum, double factor, const Expr& x) {
  return factor == 1 ? sum - x : Plus(sum, -factor, x);
}

// Σ polynomial[k] values[first + 2k], whose last coefficient is 1.
Expr EverySecond(const std::vector<double>& polynomial, const std::vector<Expr>& values, size_t first) {
  Expr sum = values[first + 2 * (polynomial.size() - 1)];
  for (size_t k = polynomial.size() - 1; k-- > 0;) sum = Plus(sum, polynomial[k], values[first + 2 * k]);
  return sum;
}

// Integers stay integers if the filter's transform is twice as large, in both directions. The result is
// then four times as large.
constexpr double kIntegerFilterScale = 2;
constexpr int64_t kIntegerShift = 2;

// values[index]. Only one of the values is left once the index is known.
Expr Choose(const Expr& index, const std::vector<Expr>& values) {
  Expr chosen = values.back();
  for (size_t i = values.size() - 1; i-- > 0;)
    chosen = Select(Equal(index, Expr(static_cast<int64_t>(i))), values[i], chosen);
  return chosen;
}

std::vector<Expr> Gathered(int64_t count, const std::function<Expr(int64_t)>& value) {
  std::vector<Expr> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(value(i));
  return values;
}

}  // namespace

WinogradTransforms::WinogradTransforms(int64_t tile, double filter_scale)
    : tile_(tile), filter_scale_(filter_scale), pairs_(PairsOf(tile)) {}

// The Lagrange basis: a point's row is (1, x, x²) over the product of its distances to the other finite
// points.
Expr WinogradTransforms::Filter(const Expr& row, const std::vector<Expr>& g) const {
  const double at_zero = Evaluate(ProductOfPairs(pairs_, pairs_.size()), 0);
  std::vector<Expr> rows = {Scaled(g[0], filter_scale_ / at_zero)};
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const double p = pairs_[i];
    const double scale = filter_scale_ / (2 * p * p * Evaluate(ProductOfPairs(pairs_, i), p * p));
    const Expr even = Plus(Scaled(g[0], scale), scale * p * p, g[2]);
    rows.push_back(Plus(even, scale * p, g[1]));
    rows.push_back(Minus(even, scale * p, g[1]));
  }
  rows.push_back(Scaled(g[2], filter_scale_));
  return Choose(row, rows);
}

// A point's row holds the coefficients of the polynomial that vanishes at all other finite points: for ±p it
// is x (x ± p) Π (x² − q²), for infinity x Π (x² − q²).
Expr WinogradTransforms::Input(const Expr& row, const std::vector<Expr>& d) const {
  const std::vector<double> all = ProductOfPairs(pairs_, pairs_.size());
  std::vector<Expr> rows = {EverySecond(all, d, 0)};
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const std::vector<double> others = ProductOfPairs(pairs_, i);
    const Expr even = EverySecond(others, d, 2), odd = EverySecond(others, d, 1);
    rows.push_back(Plus(even, pairs_[i], odd));
    rows.push_back(Minus(even, pairs_[i], odd));
  }
  rows.push_back(EverySecond(all, d, 1));
  return Choose(row, rows);
}

// Row r sums x^r over the points; infinity counts only for the highest power.
Expr WinogradTransforms::Output(const Expr& row, const std::vector<Expr>& t) const {
  std::vector<Expr> rows;
  for (int64_t r = 0; r < tile_; ++r) {
    Expr sum;
    if (r == 0) sum = t[0];
    if (r == tile_ - 1) sum = t.back();
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const Expr &plus = t[1 + 2 * i], &minus = t[2 + 2 * i];
      const Expr pair = r % 2 == 0 ? plus + minus : plus - minus;
      const double factor = std::pow(pairs_[i], r);
      sum = sum ? Plus(sum, factor, pair) : Scaled(pair, factor);
    }
    rows.push_back(sum);
  }
  return Choose(row, rows);
}

WinogradShape WinogradShapeOf(const Node& conv, int64_t tile) {
  const TensorType &in = conv.input(0)->type(), &out = conv.output()->type();
  const Shape x = in.shape(), y = out.shape();
  const int64_t lanes = out.layout.block;
  return {y[0],
          CeilDiv(x[1], lanes),
          CeilDiv(y[1], lanes),
          x[1],
          y[2],
          y[3],
          lanes,
          CeilDiv(y[2], tile),
          CeilDiv(y[3], tile),
          !IsFloat(out.dtype)};
}

namespace {

class WinogradStages {
 public:
  WinogradStages(Definition& definition, const Node& conv, const WinogradConfig& config)
      : definition_(definition),
        conv_(conv),
        config_(config),
        s_(WinogradShapeOf(conv, config.tile)),
        transforms_(config.tile, s_.is_integer ? kIntegerFilterScale : 1),
        dtype_(ComputeType(conv.output()->type().dtype)),
        transform_type_(s_.is_integer ? Image().type().dtype : dtype_),
        // Sums that are stored in a wider type than the input's have factors that are not rounded to that.
        factor_type_(config.dot > 1 && conv.output()->type().dtype == Image().type().dtype
                         ? Image().type().dtype
                         : transform_type_) {}

  void Add() {
    const Buffer filters = Filters(), input = Input();
    const Buffer sum = Result(Products(input, filters));
    const Value* bias = conv_.input(2);
    definition_.Define(conv_, conv_.output(), [&](const Indices& i) {
      const Expr total = Load(sum, Definition::Physical(conv_.output()->type(), i));
      if (s_.is_integer) return MakeOp(MathOp::kShiftRight, {total, IntConst(kIntegerShift, dtype_)});
      return bias == nullptr ? total : total + definition_.ReadComputed(bias, {i[1]});
    });
  }

 private:
  const Value& Image() const { return *conv_.input(0); }
  int64_t points() const { return transforms_.points(); }
  int64_t tiles() const { return s_.tiles_h * s_.tiles_w; }  // of one image

  // Made ahead of time from the weights alone, so in f64. Channels beyond the last one take its weights.
  Buffer Filters() {
    const int64_t groups = CeilDiv(s_.out_blocks, config_.group_blocks);
    const int64_t group_channels = config_.group_blocks * s_.lanes;
    const Value* w = conv_.input(1);
    const int64_t last = w->type().shape()[0] - 1;
    const Buffer weights = definition_.AddTemporary(
        conv_, "g", DType::kF64, {3, 3, groups, s_.channels, group_channels}, [&](const Indices& i) {
          const Expr channel = Min(i[2] * Expr(group_channels) + i[4], Expr(last));
          return CastTo(DType::kF64, definition_.ReadComputed(w, {channel, i[3], i[0], i[1]}));
        });
    const Buffer rows = definition_.AddTemporary(
        conv_, "gx", DType::kF64, {points(), 3, groups, s_.channels, group_channels}, [&](const Indices& i) {
          return transforms_.Filter(
              i[0], Gathered(3, [&](int64_t kh) { return Load(weights, Replaced(i, 0, Expr(kh))); }));
        });
    return definition_.AddTemporary(
        conv_, "u", factor_type_,
        {groups, points(), points(), s_.channels / config_.dot, group_channels, config_.dot},
        [&](const Indices& i) {
          const Expr channel = i[3] * Expr(config_.dot) + i[5];
          return transforms_.Filter(i[2], Gathered(3, [&](int64_t kw) {
                                      return Load(rows, {i[1], Expr(kw), i[0], channel, i[4]});
                                    }));
        });
  }

  Buffer Padded() {
    const Shape xs = Image().type().shape();
    const Ints pads = conv_.attrs().IntList("pads", Ints(4, 0));
    const int64_t padded_h = s_.tiles_h * config_.tile + 2, padded_w = s_.tiles_w * config_.tile + 2;
    return definition_.AddTemporary(
        conv_, "pad", transform_type_, {s_.batch, s_.in_blocks, padded_h, padded_w, s_.lanes},
        [&](const Indices& i) {
          const Expr h = i[2] - Expr(pads[0]), column = i[3] - Expr(pads[1]), zero(int64_t{0});
          const Expr inside = And(And(h >= zero, h < Expr(xs[2])), And(column >= zero, column < Expr(xs[3])));
          const Expr element = definition_.ReadComputed(
              &Image(),
              {i[0], i[1] * Expr(s_.lanes) + i[4], Clamp(h, 0, xs[2] - 1), Clamp(column, 0, xs[3] - 1)});
          return Select(inside, element, ConstOf(transform_type_, 0));
        });
  }

  Buffer Input() {
    const Buffer padded = Padded();
    const Buffer columns = definition_.AddTemporary(
        conv_, "columns", transform_type_, {points(), points(), s_.batch, s_.in_blocks, tiles(), s_.lanes},
        [&](const Indices& i) {
          const Expr top = FloorDiv(i[4], s_.tiles_w) * Expr(config_.tile);
          const Expr left = FloorMod(i[4], s_.tiles_w) * Expr(config_.tile);
          return transforms_.Input(i[0], Gathered(points(), [&](int64_t row) {
                                     return Load(padded, {i[2], i[3], top + Expr(row), left + i[1], i[5]});
                                   }));
        });
    return definition_.AddTemporary(
        conv_, "v", factor_type_, {points(), points(), s_.batch, s_.in_blocks, tiles(), s_.lanes},
        [&](const Indices& i) {
          return transforms_.Input(i[1], Gathered(points(), [&](int64_t column) {
                                     return Load(columns, {i[0], Expr(column), i[2], i[3], i[4], i[5]});
                                   }));
        });
  }

  Buffer Products(const Buffer& input, const Buffer& filters) {
    Reduction products;
    products.extents = {s_.channels};
    products.names = {"c"};
    products.dtype = dtype_;
    products.term = [&](const Indices& i, const Indices& r) {
      const Expr group = FloorDiv(i[3], config_.group_blocks);
      const Expr channel = FloorMod(i[3], config_.group_blocks) * Expr(s_.lanes) + i[5];
      const Expr a =
          Load(input, {i[0], i[1], i[2], FloorDiv(r[0], s_.lanes), i[4], FloorMod(r[0], s_.lanes)});
      const Expr b = Load(
          filters, {group, i[0], i[1], FloorDiv(r[0], config_.dot), channel, FloorMod(r[0], config_.dot)});
      return CastTo(dtype_, a) * CastTo(dtype_, b);
    };
    return definition_.AddTemporaryReduction(
        conv_, "m", {points(), points(), s_.batch, s_.out_blocks, tiles(), s_.lanes}, products);
  }

  Buffer Result(const Buffer& products) {
    const Buffer rows = definition_.AddTemporary(
        conv_, "rows", dtype_, {config_.tile, points(), s_.batch, s_.out_blocks, tiles(), s_.lanes},
        [&](const Indices& i) {
          return transforms_.Output(i[0], Gathered(points(), [&](int64_t point) {
                                      return Load(products, {Expr(point), i[1], i[2], i[3], i[4], i[5]});
                                    }));
        });
    TensorType sums = conv_.output()->type();
    sums.dtype = dtype_;
    return definition_.AddTemporary(conv_, "acc", sums, [&](const Indices& i) {
      const Expr place = FloorDiv(i[2], config_.tile) * Expr(s_.tiles_w) + FloorDiv(i[3], config_.tile);
      return transforms_.Output(FloorMod(i[3], config_.tile), Gathered(points(), [&](int64_t point) {
                                  return Load(rows,
                                              {FloorMod(i[2], config_.tile), Expr(point), i[0],
                                               FloorDiv(i[1], s_.lanes), place, FloorMod(i[1], s_.lanes)});
                                }));
    });
  }

  Definition& definition_;
  const Node& conv_;
  const WinogradConfig& config_;
  const WinogradShape s_;
  const WinogradTransforms transforms_;
  const DType dtype_;                         // of the products' sums
  const DType transform_type_, factor_type_;  // of transformed values, and of the factors of products
};

}  // namespace

absl::Status DefineWinograd(Definition& definition, const Node& conv, const WinogradConfig& config) {
  WinogradStages(definition, conv, config).Add();
  return absl::OkStatus();
}

}  // namespace attune
