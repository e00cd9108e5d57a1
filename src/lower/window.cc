// Pools, local response normalization and the inverse of im2col.
#include <limits>

#include "base/checked.h"
#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

// The windows along each spatial axis: tap k of window o reads position o stride − begin + k dilation.
struct Taps {
  Shape in, kernel, strides, dilations, begins, ends, out;

  Taps(const Node& node, Shape image, Ints taps, const Shape& windows)
      : in(std::move(image)), kernel(std::move(taps)), out(windows) {
    const size_t rank = in.size();
    strides = node.attrs().IntList("strides", Ints(rank, 1));
    dilations = node.attrs().IntList("dilations", Ints(rank, 1));
    const Ints pads = node.attrs().IntList("pads", Ints(2 * rank, 0));
    begins.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(rank));
    ends.assign(pads.begin() + static_cast<ptrdiff_t>(rank), pads.end());
  }

  size_t rank() const { return in.size(); }
  Expr Start(const Expr& o, size_t d) const { return o * Expr(strides[d]) - Expr(begins[d]); }
  Expr Position(const Expr& o, const Expr& k, size_t d) const { return Start(o, d) + k * Expr(dilations[d]); }
  int64_t LastPosition(size_t d) const {
    return (out[d] - 1) * strides[d] - begins[d] + (kernel[d] - 1) * dilations[d];
  }
  bool MayLeave(size_t d) const { return begins[d] > 0 || LastPosition(d) >= in[d]; }
  std::vector<std::string> Names() const {
    static const std::vector<std::string> kNames[] = {{}, {"kw"}, {"kh", "kw"}, {"kd", "kh", "kw"}};
    return rank() < 4 ? kNames[rank()] : std::vector<std::string>();
  }
};

Taps PoolTaps(const Node& node) {
  const Shape in = node.input(0)->type().shape(), out = node.output()->type().shape();
  return Taps(node, Shape(in.begin() + 2, in.end()), node.attrs().IntList("kernel"),
              Shape(out.begin() + 2, out.end()));
}

// A reduction over the taps of each window that lie in the image. `taps` must outlive it.
Reduction OverWindows(const Definition& definition, const Node& node, const Taps& taps) {
  Reduction reduction;
  reduction.extents = taps.kernel;
  reduction.names = taps.Names();
  reduction.dtype = ComputeType(node.input(0)->type().dtype);
  reduction.term = [&definition, &node, &taps](const Indices& i, const Indices& k) {
    Indices at = {i[0], i[1]};
    for (size_t d = 0; d < taps.rank(); ++d) at.push_back(taps.Position(i[2 + d], k[d], d));
    return definition.ReadComputed(node.input(0), at);
  };
  reduction.where = [&taps](const Indices& i, const Indices& k) {
    Expr inside;
    for (size_t d = 0; d < taps.rank(); ++d) {
      if (!taps.MayLeave(d)) continue;
      const Expr position = taps.Position(i[2 + d], k[d], d);
      const Expr here = And(position >= Expr(int64_t{0}), position < Expr(taps.in[d]));
      inside = inside ? And(inside, here) : here;
    }
    return inside;
  };
  return reduction;
}

Expr CeilDivide(const Expr& a, int64_t b) { return FloorDiv(a + Expr(b - 1), b); }

// How many taps of window `o` count along axis d: those in the image or, if `include_pad`, those in the
// image and its padding, but not those beyond, which ceil_mode adds.
Expr CountAlong(const Taps& taps, const Expr& o, size_t d, bool include_pad) {
  const Expr start = taps.Start(o, d), zero(int64_t{0});
  const int64_t room = taps.in[d] + (include_pad ? taps.ends[d] : 0);
  const Expr last = Min(Expr(taps.kernel[d]), CeilDivide(Expr(room) - start, taps.dilations[d]));
  if (include_pad) return last;
  return Max(last - CeilDivide(Max(-start, zero), taps.dilations[d]), zero);
}

bool AlwaysFull(const Taps& taps, size_t d, bool include_pad) {
  if (include_pad) return taps.LastPosition(d) < taps.in[d] + taps.ends[d];
  return !taps.MayLeave(d);
}

}  // namespace

// The maxima and, as a second output, the flat index in the whole input of the first tap with the maximum.
absl::Status DefineMaxPool(Definition& definition, const Node& node) {
  const Taps taps = PoolTaps(node);
  Reduction maximum = OverWindows(definition, node, taps);
  maximum.combiner = MathOp::kMax;
  definition.DefineReduction(node, node.output(), maximum);
  if (node.num_outputs() < 2) return absl::OkStatus();

  const int64_t none = std::numeric_limits<int64_t>::max();
  Reduction first = OverWindows(definition, node, taps);
  const auto element = first.term;
  first.combiner = MathOp::kMin;
  first.dtype = DType::kI64;
  first.init = Expr(none);
  first.term = [&](const Indices& i, const Indices& k) {
    const Expr value = element(i, k), best = definition.ReadComputed(node.output(), i);
    Expr same = Equal(value, best);
    if (IsFloat(value->dtype)) same = Or(same, Apply(MathOp::kIsNan, value));
    Indices positions;
    for (size_t d = 0; d < taps.rank(); ++d) positions.push_back(taps.Position(i[2 + d], k[d], d));
    return Select(same, Flatten(positions, taps.in), Expr(none));
  };
  const Buffer found = definition.AddTemporaryReduction(node, "first", node.output()->type().shape(), first);
  definition.Define(node, node.output(1), [&](const Indices& i) {
    const Expr plane = i[0] * Expr(node.input(0)->type().dims[1].size) + i[1];
    const Expr position = Load(found, i);
    return Select(Equal(position, Expr(none)), Expr(int64_t{0}), plane * Expr(ProductOf(taps.in)) + position);
  });
  return absl::OkStatus();
}

// A window without taps in the image has the mean 0.
absl::Status DefineAvgPool(Definition& definition, const Node& node) {
  const Taps taps = PoolTaps(node);
  const bool include_pad = node.attrs().Bool("count_include_pad");
  Reduction sum = OverWindows(definition, node, taps);
  sum.finish = [&](const Expr& total, const Indices& i) {
    Expr count(int64_t{1});
    for (size_t d = 0; d < taps.rank(); ++d) {
      count = count * (AlwaysFull(taps, d, include_pad) ? Expr(taps.kernel[d])
                                                        : CountAlong(taps, i[2 + d], d, include_pad));
    }
    if (IsIntConst(count)) return total * FloatConst(1.0 / static_cast<double>(count->int_value), sum.dtype);
    return total / CastTo(sum.dtype, Max(count, Expr(int64_t{1})));
  };
  definition.DefineReduction(node, node.output(), sum);
  return absl::OkStatus();
}

// x / (bias + alpha / size Σ x²)^beta, the sum over `size` channels around the element's own.
absl::Status DefineLrn(Definition& definition, const Node& node) {
  const Value* x = node.input(0);
  const int64_t size = node.attrs().Int("size"), channels = x->type().dims[1].size;
  const DType dtype = ComputeType(x->type().dtype);
  const auto channel = [&](const Indices& i, const Indices& r) { return i[1] + r[0] - Expr((size - 1) / 2); };
  Reduction squares;
  squares.extents = {size};
  squares.dtype = dtype;
  squares.term = [&](const Indices& i, const Indices& r) {
    const Expr value = definition.ReadComputed(x, Replaced(i, 1, channel(i, r)));
    return value * value;
  };
  squares.where = [&](const Indices& i, const Indices& r) {
    const Expr c = channel(i, r);
    return And(c >= Expr(int64_t{0}), c < Expr(channels));
  };
  squares.finish = [&](const Expr& sum, const Indices& i) {
    const auto constant = [&](double value) { return FloatConst(value, dtype); };
    const Expr factor = constant(node.attrs().Float("alpha") / static_cast<double>(size));
    const Expr base = constant(node.attrs().Float("bias")) + factor * sum;
    return definition.ReadComputed(x, i) *
           MakeOp(MathOp::kPow, {base, constant(-node.attrs().Float("beta"))});
  };
  definition.DefineReduction(node, node.output(), squares);
  return absl::OkStatus();
}

// x [N, C taps, windows] to [N, C, image…], gathered: position p takes tap k of window o with
// o stride + k dilation − begin = p.
absl::Status DefineCol2Im(Definition& definition, const Node& node) {
  const Value* x = node.input(0);
  const Ints& image = node.attrs().IntList("image");
  Taps taps(node, image, node.attrs().IntList("block"), Shape());
  for (size_t d = 0; d < taps.rank(); ++d) {
    const int64_t room =
        image[d] + taps.begins[d] + taps.ends[d] - (taps.kernel[d] - 1) * taps.dilations[d] - 1;
    taps.out.push_back(room < 0 ? 0 : room / taps.strides[d] + 1);
  }
  const auto shifted = [&](const Indices& i, const Indices& k, size_t d) {
    return i[2 + d] + Expr(taps.begins[d]) - k[d] * Expr(taps.dilations[d]);
  };
  Reduction sum;
  sum.extents = taps.kernel;
  sum.names = taps.Names();
  sum.dtype = ComputeType(x->type().dtype);
  sum.term = [&](const Indices& i, const Indices& k) {
    Indices window;
    for (size_t d = 0; d < taps.rank(); ++d) window.push_back(FloorDiv(shifted(i, k, d), taps.strides[d]));
    return definition.ReadComputed(
        x, {i[0], i[1] * Expr(ProductOf(taps.kernel)) + Flatten(k, taps.kernel), Flatten(window, taps.out)});
  };
  sum.where = [&](const Indices& i, const Indices& k) {
    Expr hit = BoolConst(true);
    for (size_t d = 0; d < taps.rank(); ++d) {
      const Expr s = shifted(i, k, d);
      hit = And(hit, And(s >= Expr(int64_t{0}), s < Expr(taps.out[d] * taps.strides[d])));
      if (taps.strides[d] != 1) hit = And(hit, Equal(FloorMod(s, taps.strides[d]), Expr(int64_t{0})));
    }
    return hit;
  };
  definition.DefineReduction(node, node.output(), sum);
  return absl::OkStatus();
}

}  // namespace attune
