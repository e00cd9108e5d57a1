// Sampling at positions that are data: grid_sample, and deformable convolutions. The position and the
// weights of a sample are the same for all channels, so they are computed once, in f64.
#include <algorithm>
#include <limits>

#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

Expr F64(double value) { return FloatConst(value, DType::kF64); }

// One spatial axis of grid_sample's input, and how positions outside of it are read.
struct SampledAxis {
  int64_t size;
  std::string mode, padding;
  bool align_corners;

  int64_t taps() const { return mode == "nearest" ? 1 : mode == "linear" ? 2 : 4; }
  double low() const { return align_corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(size) - (align_corners ? 1 : 0.5); }
  double last() const { return static_cast<double>(size) - 1; }

  // x mirrored at both ends until it lies between them; the lower end where x is not finite.
  Expr Reflect(const Expr& x) const {
    const double range = high() - low();
    if (range <= 0) return F64(low());
    const Expr distance = Apply(MathOp::kAbs, x - F64(low()));
    const Expr turns = Apply(MathOp::kTrunc, distance / F64(2 * range));
    const Expr phase = Fma(-turns, F64(2 * range), distance);
    const Expr mirrored = Select(phase <= F64(range), F64(low()) + phase, F64(high()) - (phase - F64(range)));
    return Select(distance <= F64(std::numeric_limits<double>::max()), mirrored, F64(low()));
  }
  Expr IsOutside(const Expr& x) const { return Or(x<F64(low()), x> F64(high())); }

  // The position of a grid coordinate; -1 and 1 are the ends of the axis.
  Expr Position(const Expr& coordinate) const {
    const double length = static_cast<double>(size);
    const Expr from_start = coordinate + F64(1);
    Expr x =
        align_corners ? from_start / F64(2) * F64(length - 1) : (from_start * F64(length) - F64(1)) / F64(2);
    // The taps of a cubic are brought inside one by one, and weighted by the original position.
    if (mode == "cubic") return x;
    if (mode == "nearest") x = Apply(MathOp::kRound, x);
    if (padding == "border") return Select(IsOutside(x), Min(Max(x, F64(0)), F64(last())), x);
    if (padding == "reflection")
      return Select(Apply(MathOp::kIsNan, x), x, Select(IsOutside(x), Reflect(x), x));
    return x;
  }

  // The index of tap `k` (an i64) of position x, which may be outside of the axis.
  Expr Tap(const Expr& x, const Expr& k) const {
    const Expr whole = Apply(mode == "nearest" ? MathOp::kTrunc : MathOp::kFloor, x);
    const Expr tap = whole + CastTo(DType::kF64, mode == "cubic" ? k - Expr(int64_t{1}) : k);
    if (padding == "border") return Min(Max(tap, F64(0)), F64(last()));
    if (padding == "reflection") return Select(IsOutside(tap), Apply(MathOp::kTrunc, Reflect(tap)), tap);
    return tap;
  }

  Expr Weight(const Expr& x, const Expr& k) const {
    if (mode == "nearest") return F64(1);
    const Expr t = x - Apply(MathOp::kFloor, x);
    if (mode == "linear") return Select(Equal(k, Expr(int64_t{0})), F64(1) - t, t);
    constexpr double kA = -0.75;
    const Expr d = Apply(MathOp::kAbs, t - CastTo(DType::kF64, k - Expr(int64_t{1})));
    const Expr near = (F64(kA + 2) * d - F64(kA + 3)) * d * d + F64(1);
    const Expr far = ((F64(kA) * d - F64(5 * kA)) * d + F64(8 * kA)) * d - F64(4 * kA);
    return Select(d <= F64(1), near, far);
  }
};

// The taps of every point of the grid along one axis: [N, points…, taps].
struct TapTables {
  Buffer index, weight;
};

TapTables DefineTaps(Definition& definition, const Node& node, const SampledAxis& axis, size_t d) {
  const Value* grid = node.input(1);
  Shape shape = grid->type().shape();
  const int64_t coordinate = shape.back() - 1 - static_cast<int64_t>(d);  // the last axis comes first
  shape.pop_back();
  const auto position =
      definition.AddTemporary(node, absl::StrCat("position", d), DType::kF64, shape, [&](const Indices& i) {
        const Indices at = Inserted(i, static_cast<int64_t>(i.size()), Expr(coordinate));
        return axis.Position(CastTo(DType::kF64, definition.Read(grid, at)));
      });
  shape.push_back(axis.taps());
  const auto point = [](const Indices& i) { return Indices(i.begin(), i.end() - 1); };
  TapTables tables;
  tables.index = definition.AddTemporary(
      node, absl::StrCat("index", d), DType::kI64, shape,
      [&](const Indices& i) { return CastTo(DType::kI64, axis.Tap(Load(position, point(i)), i.back())); });
  tables.weight =
      definition.AddTemporary(node, absl::StrCat("weight", d), ComputeType(node.output()->type().dtype),
                              shape, [&](const Indices& i) {
                                const Expr x = Load(position, point(i)), tap = axis.Tap(x, i.back());
                                const Expr inside = And(tap >= F64(0), tap <= F64(axis.last()));
                                return Select(inside, axis.Weight(x, i.back()), F64(0));
                              });
  return tables;
}

}  // namespace

absl::Status DefineGridSample(Definition& definition, const Node& node) {
  const Value* x = node.input(0);
  const Shape in = x->type().shape();
  const size_t rank = in.size() - 2;
  Reduction sum;
  sum.dtype = ComputeType(x->type().dtype);
  std::vector<TapTables> tables;
  for (size_t d = 0; d < rank; ++d) {
    const SampledAxis axis{in[2 + d], node.attrs().String("mode", "linear"),
                           node.attrs().String("padding_mode", "zeros"), node.attrs().Bool("align_corners")};
    tables.push_back(DefineTaps(definition, node, axis, d));
    sum.extents.push_back(axis.taps());
  }
  sum.term = [&](const Indices& i, const Indices& taps) {
    Indices at = {i[0], i[1]};
    Expr weight;
    for (size_t d = 0; d < rank; ++d) {
      Indices place = Without(i, 1);
      place.push_back(taps[d]);
      at.push_back(Clamp(Load(tables[d].index, place), 0, std::max<int64_t>(in[2 + d] - 1, 0)));
      const Expr factor = Load(tables[d].weight, place);
      weight = weight ? weight * factor : factor;
    }
    // A weight of 0 means that there is no element, whatever is read instead.
    const Expr zero = FloatConst(0, sum.dtype);
    return Select(Equal(weight, zero), zero, weight * definition.ReadComputed(x, at));
  };
  // An empty image has nothing to read.
  if (x->type().num_elements() == 0) {
    definition.Define(node, node.output(), [&](const Indices&) { return FloatConst(0, sum.dtype); });
    return absl::OkStatus();
  }
  definition.DefineReduction(node, node.output(), sum);
  return absl::OkStatus();
}

// After Dai et al. 2017 and, with a mask, Zhu et al. 2019: each tap reads the input at a position of its
// own, bilinearly, zero outside. Computes the columns that all taps read, then their product with the
// weights.
absl::Status DefineDeformConv(Definition& definition, const Node& node) {
  const Value *x = node.input(0), *offset = node.input(1), *w = node.input(2), *mask = node.input(4);
  const Shape in = x->type().shape(), ws = w->type().shape(), out = node.output()->type().shape();
  const int64_t group = node.attrs().Int("group", 1), offset_group = node.attrs().Int("offset_group", 1);
  const Ints strides = node.attrs().IntList("strides", {1, 1}),
             dilations = node.attrs().IntList("dilations", {1, 1});
  const Ints pads = node.attrs().IntList("pads", {0, 0, 0, 0});
  const int64_t channels = std::max<int64_t>(in[1] / offset_group, 1);
  const DType dtype = ComputeType(x->type().dtype);

  // Indices [n, offset group, kh, kw, oh, ow].
  const auto tap = [&](const Indices& i) { return (i[1] * Expr(ws[2]) + i[2]) * Expr(ws[3]) + i[3]; };
  Buffer positions[2];
  for (size_t d = 0; d < 2; ++d) {
    positions[d] = definition.AddTemporary(
        node, d == 0 ? "y" : "x", DType::kF64, {in[0], offset_group, ws[2], ws[3], out[2], out[3]},
        [&](const Indices& i) {
          const Expr at = i[4 + d] * Expr(strides[d]) + i[2 + d] * Expr(dilations[d]) - Expr(pads[d]);
          const Expr moved = definition.Read(
              offset, {i[0], tap(i) * Expr(int64_t{2}) + Expr(static_cast<int64_t>(d)), i[4], i[5]});
          return CastTo(DType::kF64, at) + CastTo(DType::kF64, moved);
        });
  }
  // The columns, [n, c, kh, kw, oh, ow], sum over the four corners of a sample.
  Reduction corners;
  corners.extents = {2, 2};
  corners.dtype = dtype;
  corners.term = [&](const Indices& i, const Indices& corner) {
    Indices place = Replaced(i, 1, FloorDiv(i[1], channels)), at = {i[0], i[1]};
    Expr weight = F64(1), inside = BoolConst(true);
    for (size_t d = 0; d < 2; ++d) {
      const Expr position = Load(positions[d], place), first = Apply(MathOp::kFloor, position);
      const Expr element = first + CastTo(DType::kF64, corner[d]), share = position - first;
      weight = weight * Select(Equal(corner[d], Expr(int64_t{0})), F64(1) - share, share);
      inside = And(inside, And(element >= F64(0), element <= F64(static_cast<double>(in[2 + d] - 1))));
      at.push_back(Clamp(CastTo(DType::kI64, element), 0, std::max<int64_t>(in[2 + d] - 1, 0)));
    }
    Expr value = CastTo(dtype, weight) * definition.ReadComputed(x, at);
    if (mask != nullptr) value = value * definition.ReadComputed(mask, {i[0], tap(place), i[4], i[5]});
    return Select(inside, value, FloatConst(0, dtype));
  };
  const Buffer columns = definition.AddTemporaryReduction(
      node, "columns", {in[0], in[1], ws[2], ws[3], out[2], out[3]}, corners);

  Reduction sum;
  sum.extents = {ws[1], ws[2], ws[3]};
  sum.names = {"c", "kh", "kw"};
  sum.dtype = dtype;
  sum.term = [&](const Indices& i, const Indices& r) {
    const Expr first =
        group == 1 ? Expr(int64_t{0}) : FloorDiv(i[1], std::max<int64_t>(ws[0] / group, 1)) * Expr(ws[1]);
    return Load(columns, {i[0], first + r[0], r[1], r[2], i[2], i[3]}) *
           definition.ReadComputed(w, {i[1], r[0], r[1], r[2]});
  };
  if (node.input(3) != nullptr) {
    sum.finish = [&](const Expr& total, const Indices& i) {
      return total + definition.ReadComputed(node.input(3), {i[1]});
    };
  }
  definition.DefineReduction(node, node.output(), sum);
  return absl::OkStatus();
}

}  // namespace attune
