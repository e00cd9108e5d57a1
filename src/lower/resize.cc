// Resize as ONNX defines it: along each resized axis, an element of the output is a weighted sum of the
// elements near its coordinate in the input. Positions and weights depend on one axis each, so they are
// small tables that the kernel fills first, in f64.
#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

Expr F64(double value) { return FloatConst(value, DType::kF64); }

// Keys: Cubic convolution interpolation for digital image processing, 1981.
Expr CubicKernel(const Expr& distance, double a) {
  const Expr x = Apply(MathOp::kAbs, distance);
  const Expr near = (F64(a + 2) * x - F64(a + 3)) * x * x + F64(1);
  const Expr far = ((F64(a) * x - F64(5 * a)) * x + F64(8 * a)) * x - F64(4 * a);
  return Select(x <= F64(1), near, Select(x < F64(2), far, F64(0)));
}

class Resize {
 public:
  Resize(Definition& definition, const Node& node)
      : definition_(definition),
        node_(node),
        mode_(node.attrs().String("mode", "nearest")),
        coordinates_(node.attrs().String("coordinate_mode", "half_pixel")),
        in_(node.input(0)->type().shape()),
        out_(node.output()->type().shape()) {
    const Value* x = node.input(0);
    dtype_ = IsFloat(x->type().dtype) ? ComputeType(x->type().dtype) : DType::kF64;
    for (size_t d = 0; d < in_.size(); ++d) {
      if (in_[d] != out_[d] || Scale(d) != 1 || Roi(d, false) != 0 || Roi(d, true) != 1)
        axes_.push_back(AxisTable{d});
    }
  }

  void Define() {
    if (mode_ == "nearest") return DefineNearest();
    for (AxisTable& axis : axes_) DefineTable(axis);
    const Value* x = node_.input(0);
    Reduction sum;
    sum.dtype = dtype_;
    for (const AxisTable& axis : axes_) sum.extents.push_back(axis.taps);
    sum.term = [&](const Indices& i, const Indices& r) {
      Indices at = i;
      Expr weight;
      for (size_t a = 0; a < axes_.size(); ++a) {
        const Indices place = {i[axes_[a].axis], r[a]};
        at[axes_[a].axis] = InRange(Load(axes_[a].index, place), axes_[a].axis);
        const Expr factor = Load(axes_[a].weight, place);
        weight = weight ? weight * factor : factor;
      }
      const Expr element = CastTo(dtype_, definition_.Read(x, at));
      return weight ? weight * element : element;
    };
    sum.finish = [&](const Expr& total, const Indices& i) {
      return IsFloat(x->type().dtype) ? Extrapolated(total, i)
                                      : Apply(MathOp::kRound, Extrapolated(total, i));
    };
    definition_.DefineReduction(node_, node_.output(), sum);
  }

 private:
  struct AxisTable {
    size_t axis;
    int64_t taps = 1;
    Buffer index = nullptr, weight = nullptr;  // [out, taps]
  };

  double Scale(size_t d) const { return node_.attrs().FloatList("scales")[d]; }
  bool Crops() const { return coordinates_ == "tf_crop_and_resize"; }
  double Roi(size_t d, bool end) const {
    return Crops() ? node_.attrs().FloatList("roi")[d + (end ? in_.size() : 0)] : end;
  }
  // Clamps an index. When a table is read, this only states what its formula guarantees.
  Expr InRange(const Expr& index, size_t d) const {
    return Clamp(index, 0, std::max<int64_t>(in_[d] - 1, 0));
  }

  // The position along an axis of the input of output coordinate `o`, an i64.
  Expr Source(size_t d, const Expr& o) const {
    const auto in = static_cast<double>(in_[d]), out = static_cast<double>(out_[d]);
    // A scale that follows from the sizes is not rounded, so that a position halfway between two elements
    // is exactly there.
    const bool follows = Scale(d) == out / in;
    // The output size before it was rounded down to an integer: a product in f32, as importers have computed
    // it.
    const double length = follows ? out : static_cast<float>(Scale(d) * in);
    const auto unscaled = [&](const Expr& place) {
      return follows ? place * F64(in) / F64(out) : place / F64(Scale(d));
    };
    const Expr x = CastTo(DType::kF64, o);
    const Expr half_pixel = unscaled(x + F64(0.5)) - F64(0.5);
    if (coordinates_ == "align_corners") return length == 1 ? F64(0) : x * F64(in - 1) / F64(length - 1);
    if (coordinates_ == "asymmetric") return unscaled(x);
    if (coordinates_ == "pytorch_half_pixel") return out == 1 ? F64(0) : half_pixel;
    if (coordinates_ == "tf_half_pixel_for_nn") return unscaled(x + F64(0.5));
    if (coordinates_ == "half_pixel_symmetric") return F64(in / 2 * (1 - out / length)) + half_pixel;
    if (Crops()) {
      const double extent = (Roi(d, true) - Roi(d, false)) * (in - 1);
      const Expr within = length == 1 ? F64(extent / 2) : x * F64(extent) / F64(length - 1);
      return within + F64(Roi(d, false) * (in - 1));
    }
    return half_pixel;
  }

  Expr Nearest(const Expr& x) const {
    const std::string rounding = node_.attrs().String("nearest_mode", "round_prefer_floor");
    if (rounding == "floor") return Apply(MathOp::kFloor, x);
    if (rounding == "ceil") return Apply(MathOp::kCeil, x);
    if (rounding == "round_prefer_ceil") return Apply(MathOp::kFloor, x + F64(0.5));
    return Apply(MathOp::kCeil, x - F64(0.5));
  }

  // `value` if the element's source lies in the input, else the value that a crop has outside.
  Expr Extrapolated(Expr value, const Indices& i) const {
    if (!Crops()) return value;
    for (const AxisTable& axis : axes_) {
      const Expr x = Source(axis.axis, i[axis.axis]);
      const Expr inside = And(x >= F64(0), x <= F64(static_cast<double>(in_[axis.axis] - 1)));
      value = Select(inside, value, ConstOf(value->dtype, node_.attrs().Float("extrapolation_value", 0)));
    }
    return value;
  }

  void DefineNearest() {
    for (AxisTable& axis : axes_) {
      const size_t d = axis.axis;
      axis.index = definition_.AddTemporary(
          node_, absl::StrCat("index", d), DType::kI64, {out_[d]},
          [&](const Indices& o) { return InRange(CastTo(DType::kI64, Nearest(Source(d, o[0]))), d); });
    }
    definition_.Define(node_, node_.output(), [&](const Indices& i) {
      Indices at = i;
      for (const AxisTable& axis : axes_)
        at[axis.axis] = InRange(Load(axis.index, {i[axis.axis]}), axis.axis);
      const Value* x = node_.input(0);
      return Extrapolated(Crops() ? definition_.ReadComputed(x, at) : definition_.Read(x, at), i);
    });
  }

  // How far apart elements of the input are for the interpolation kernel: antialiasing stretches the kernel
  // over all of the input that an element of the output stands for.
  double Stretch(size_t d) const { return node_.attrs().Bool("antialias") ? std::min(Scale(d), 1.0) : 1.0; }

  // Defines the positions in the input around each output coordinate, and their weights, which sum to 1.
  void DefineTable(AxisTable& axis) {
    const size_t d = axis.axis;
    const double reach = std::ceil((mode_ == "cubic" ? 2 : 1) / Stretch(d));
    axis.taps = 2 * static_cast<int64_t>(reach);
    const auto position = [&](const Indices& i) {
      const Expr first = Apply(MathOp::kCeil, Source(d, i[0])) - F64(reach);
      return first + CastTo(DType::kF64, i[1]);
    };
    const Shape shape = {out_[d], axis.taps};
    axis.index = definition_.AddTemporary(
        node_, absl::StrCat("index", d), DType::kI64, shape,
        [&](const Indices& i) { return InRange(CastTo(DType::kI64, position(i)), d); });
    const Buffer raw = definition_.AddTemporary(
        node_, absl::StrCat("raw", d), DType::kF64, shape,
        [&](const Indices& i) { return RawWeight(d, position(i), Source(d, i[0])); });
    Reduction sum;
    sum.extents = {axis.taps};
    sum.dtype = DType::kF64;
    sum.term = [&](const Indices& i, const Indices& r) { return Load(raw, {i[0], r[0]}); };
    const Buffer total = definition_.AddTemporaryReduction(node_, absl::StrCat("total", d), {out_[d]}, sum);
    axis.weight =
        definition_.AddTemporary(node_, absl::StrCat("weight", d), dtype_, shape,
                                 [&](const Indices& i) { return Load(raw, i) / Load(total, {i[0]}); });
  }

  Expr RawWeight(size_t d, const Expr& position, const Expr& x) const {
    const Expr distance = (position - x) * F64(Stretch(d));
    const Expr weight = mode_ == "cubic" ? CubicKernel(distance, node_.attrs().Float("cubic_coeff", -0.75))
                                         : Max(F64(0), F64(1) - Apply(MathOp::kAbs, distance));
    if (!node_.attrs().Bool("exclude_outside")) return weight;
    const Expr inside = And(position >= F64(0), position < F64(static_cast<double>(in_[d])));
    return Select(inside, weight, F64(0));
  }

  Definition& definition_;
  const Node& node_;
  const std::string mode_, coordinates_;
  const Shape in_, out_;
  DType dtype_;
  std::vector<AxisTable> axes_;
};

}  // namespace

absl::Status DefineResize(Definition& definition, const Node& node) {
  Resize(definition, node).Define();
  return absl::OkStatus();
}

}  // namespace attune
