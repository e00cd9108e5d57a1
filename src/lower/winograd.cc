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

Expr Scaled(const Expr& x, double factor) { return factor == 1 ? x : FloatConst(factor, x->dtype) * x; }

// sum + factor x and sum - factor x, with one rounding.
Expr Plus(const Expr& sum, double factor, const Expr& x) {
  return factor == 1 ? sum + x : Fma(FloatConst(factor, x->dtype), x, sum);
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

// values[index], of which only one is left once the index is known.
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

WinogradTransforms::WinogradTransforms(int64_t tile) : tile_(tile), pairs_(PairsOf(tile)) {}

// The Lagrange basis: a point's row is (1, x, x²) over the product of its distances to the other finite
// points.
Expr WinogradTransforms::Filter(const Expr& row, const std::vector<Expr>& g) const {
  const double at_zero = Evaluate(ProductOfPairs(pairs_, pairs_.size()), 0);
  std::vector<Expr> rows = {Scaled(g[0], 1 / at_zero)};
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const double p = pairs_[i];
    const double scale = 1 / (2 * p * p * Evaluate(ProductOfPairs(pairs_, i), p * p));
    const Expr even = Plus(Scaled(g[0], scale), scale * p * p, g[2]);
    rows.push_back(Plus(even, scale * p, g[1]));
    rows.push_back(Minus(even, scale * p, g[1]));
  }
  rows.push_back(g[2]);
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

// Row r sums x^r over the points; infinity counts for the highest power alone.
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
  return {y[0],  CeilDiv(x[1], lanes), CeilDiv(y[1], lanes), x[1], y[2], y[3],
          lanes, CeilDiv(y[2], tile),  CeilDiv(y[3], tile)};
}

absl::Status DefineWinograd(Definition& definition, const Node& conv, const WinogradConfig& config) {
  const int64_t tile = config.tile, group_blocks = config.group_blocks, dot = config.dot;
  const WinogradTransforms transforms(tile);
  const WinogradShape s = WinogradShapeOf(conv, tile);
  const int64_t points = transforms.points(), tiles = s.tiles_h * s.tiles_w;
  const Value *x = conv.input(0), *w = conv.input(1);
  const Shape xs = x->type().shape(), ws = w->type().shape();
  const Ints pads = conv.attrs().IntList("pads", Ints(4, 0));
  const DType dtype = ComputeType(conv.output()->type().dtype);
  // A sum that is stored in more than its operands have is to err no more than its terms.
  const bool rounds = dot > 1 && conv.output()->type().dtype == x->type().dtype;
  const DType factor_type = rounds ? x->type().dtype : dtype;

  // Of the weights alone: made ahead of time, so in f64. Channels beyond the last one take its weights.
  const int64_t groups = CeilDiv(s.out_blocks, group_blocks), group_channels = group_blocks * s.lanes;
  const Buffer weights = definition.AddTemporary(
      conv, "g", DType::kF64, {3, 3, groups, s.channels, group_channels}, [&](const Indices& i) {
        const Expr channel = Min(i[2] * Expr(group_channels) + i[4], Expr(ws[0] - 1));
        return CastTo(DType::kF64, definition.ReadComputed(w, {channel, i[3], i[0], i[1]}));
      });
  const Buffer weight_rows = definition.AddTemporary(
      conv, "gx", DType::kF64, {points, 3, groups, s.channels, group_channels}, [&](const Indices& i) {
        return transforms.Filter(
            i[0], Gathered(3, [&](int64_t kh) { return Load(weights, Replaced(i, 0, Expr(kh))); }));
      });
  const Buffer filters = definition.AddTemporary(
      conv, "u", factor_type, {groups, points, points, s.channels / dot, group_channels, dot},
      [&](const Indices& i) {
        const Expr channel = i[3] * Expr(dot) + i[5];
        return transforms.Filter(i[2], Gathered(3, [&](int64_t kw) {
                                   return Load(weight_rows, {i[1], Expr(kw), i[0], channel, i[4]});
                                 }));
      });

  const int64_t padded_h = s.tiles_h * tile + 2, padded_w = s.tiles_w * tile + 2;
  const Buffer padded = definition.AddTemporary(
      conv, "pad", dtype, {s.batch, s.in_blocks, padded_h, padded_w, s.lanes}, [&](const Indices& i) {
        const Expr h = i[2] - Expr(pads[0]), column = i[3] - Expr(pads[1]), zero(int64_t{0});
        const Expr inside = And(And(h >= zero, h < Expr(xs[2])), And(column >= zero, column < Expr(xs[3])));
        const Expr element = definition.ReadComputed(
            x, {i[0], i[1] * Expr(s.lanes) + i[4], Clamp(h, 0, xs[2] - 1), Clamp(column, 0, xs[3] - 1)});
        return Select(inside, element, FloatConst(0, dtype));
      });

  const Buffer columns = definition.AddTemporary(
      conv, "columns", dtype, {points, points, s.batch, s.in_blocks, tiles, s.lanes}, [&](const Indices& i) {
        const Expr top = FloorDiv(i[4], s.tiles_w) * Expr(tile);
        const Expr left = FloorMod(i[4], s.tiles_w) * Expr(tile);
        return transforms.Input(i[0], Gathered(points, [&](int64_t row) {
                                  return Load(padded, {i[2], i[3], top + Expr(row), left + i[1], i[5]});
                                }));
      });
  const Buffer input = definition.AddTemporary(
      conv, "v", factor_type, {points, points, s.batch, s.in_blocks, tiles, s.lanes}, [&](const Indices& i) {
        return transforms.Input(i[1], Gathered(points, [&](int64_t column) {
                                  return Load(columns, {i[0], Expr(column), i[2], i[3], i[4], i[5]});
                                }));
      });

  Reduction products;
  products.extents = {s.channels};
  products.names = {"c"};
  products.dtype = dtype;
  products.term = [&](const Indices& i, const Indices& r) {
    const Expr group = FloorDiv(i[3], group_blocks);
    const Expr channel = FloorMod(i[3], group_blocks) * Expr(s.lanes) + i[5];
    const Expr a = Load(input, {i[0], i[1], i[2], FloorDiv(r[0], s.lanes), i[4], FloorMod(r[0], s.lanes)});
    const Expr b = Load(filters, {group, i[0], i[1], FloorDiv(r[0], dot), channel, FloorMod(r[0], dot)});
    return CastTo(dtype, a) * CastTo(dtype, b);
  };
  const Buffer product = definition.AddTemporaryReduction(
      conv, "m", {points, points, s.batch, s.out_blocks, tiles, s.lanes}, products);

  const Buffer rows = definition.AddTemporary(
      conv, "rows", dtype, {tile, points, s.batch, s.out_blocks, tiles, s.lanes}, [&](const Indices& i) {
        return transforms.Output(i[0], Gathered(points, [&](int64_t point) {
                                   return Load(product, {Expr(point), i[1], i[2], i[3], i[4], i[5]});
                                 }));
      });
  TensorType sums = conv.output()->type();
  sums.dtype = dtype;
  const Buffer sum = definition.AddTemporary(conv, "acc", sums, [&](const Indices& i) {
    const Expr place = FloorDiv(i[2], tile) * Expr(s.tiles_w) + FloorDiv(i[3], tile);
    return transforms.Output(FloorMod(i[3], tile), Gathered(points, [&](int64_t point) {
                               return Load(rows, {FloorMod(i[2], tile), Expr(point), i[0],
                                                  FloorDiv(i[1], s.lanes), place, FloorMod(i[1], s.lanes)});
                             }));
  });
  definition.Define(conv, conv.output(), [&](const Indices& i) {
    const Expr total = Load(sum, Definition::Physical(conv.output()->type(), i));
    return conv.input(2) == nullptr ? total : total + definition.ReadComputed(conv.input(2), {i[1]});
  });
  return absl::OkStatus();
}

}  // namespace attune
