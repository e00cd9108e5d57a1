// RoiAlign (He et al.: Mask R-CNN, 2017) as ONNX defines it. The number of samples per bin depends on the
// region, so the bounds of the loops over them are data.
#include <algorithm>
#include <limits>

#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

// The most samples along an axis of a bin: with more, hostile regions would take forever, and the reference
// refuses them.
constexpr int64_t kMaxSamples = 4096;

Expr F64(double value) { return FloatConst(value, DType::kF64); }
Expr Zero() { return Expr(int64_t{0}); }

// How the bins of one region are sampled along one axis; all f64 except the number of samples.
struct BinAxis {
  Expr start, bin, samples;

  Expr Position(const Expr& index, const Expr& sample) const {
    const Expr count = CastTo(DType::kF64, samples);
    return start + (CastTo(DType::kF64, index) + (CastTo(DType::kF64, sample) + F64(0.5)) / count) * bin;
  }
};

class RoiAlign {
 public:
  RoiAlign(Definition& definition, const Node& node)
      : definition_(definition),
        node_(node),
        name_(definition.StageName(node)),
        in_(node.input(0)->type().shape()),
        out_(node.output()->type().shape()),
        average_(node.attrs().String("mode", "avg") == "avg"),
        dtype_(ComputeType(node.input(0)->type().dtype)),
        totals_(
            MakeBuffer(name_ + ".totals", dtype_, {std::max<int64_t>(in_[1], 1)}, MemorySpace::kScratch)) {}

  void Define() {
    const bool empty = node_.input(0)->type().num_elements() == 0;
    if (empty) {
      definition_.Define(node_, node_.output(), [&](const Indices&) { return FloatConst(0, dtype_); });
      return;
    }
    const Stmt regions = MakeLoops({name_ + ".r"}, {out_[0]}, [&](const Indices& r) {
      return WithBins(r[0], 1, 3, out_[2], [&](const BinAxis& vertical) {
        return WithBins(r[0], 0, 2, out_[3],
                        [&](const BinAxis& horizontal) { return Region(r[0], vertical, horizontal); });
      });
    });
    definition_.DefineImperative(node_, "", {node_.output()}, WithBuffers({totals_}, regions));
  }

 private:
  // Binds the bins of region r along the axis whose ends are at index `low` and `high` of its box.
  Stmt WithBins(const Expr& r, int64_t low, int64_t high, int64_t bins,
                const std::function<Stmt(const BinAxis&)>& body) const {
    const bool half_pixel = node_.attrs().String("coordinate_mode", "half_pixel") == "half_pixel";
    const Expr scale = F64(node_.attrs().Float("spatial_scale", 1)), offset = F64(half_pixel ? 0.5 : 0);
    const auto corner = [&](int64_t i) {
      return CastTo(DType::kF64, definition_.Read(node_.input(1), {r, Expr(i)})) * scale - offset;
    };
    const std::string prefix = absl::StrCat(name_, low == 1 ? ".y" : ".x");
    return Bind(prefix + ".start", corner(low), [&](const Expr& start) {
      Expr length = corner(high) - start;
      if (!half_pixel) length = Max(length, F64(1));
      return Bind(prefix + ".bin", length / F64(static_cast<double>(bins)), [&](const Expr& bin) {
        const int64_t ratio = node_.attrs().Int("sampling_ratio", 0);
        const Expr count = ratio > 0 ? Expr(std::min(ratio, kMaxSamples))
                                     : Clamp(CastTo(DType::kI64, Apply(MathOp::kCeil, bin)), 0, kMaxSamples);
        return Bind(prefix + ".samples", count,
                    [&](const Expr& samples) { return body({start, bin, samples}); });
      });
    });
  }

  // All bins of region r, each for all channels at once.
  Stmt Region(const Expr& r, const BinAxis& vertical, const BinAxis& horizontal) const {
    const double lowest = -std::numeric_limits<double>::infinity();
    return MakeLoops({name_ + ".h", name_ + ".w"}, {out_[2], out_[3]}, [&](const Indices& at) {
      const Stmt clear = OverChannels("clear", [&](const Expr& c) {
        return MakeStore(totals_, {c}, FloatConst(average_ ? 0 : lowest, dtype_));
      });
      const Var i = MakeVar(name_ + ".i"), j = MakeVar(name_ + ".j");
      const Stmt sample = Sample(r, vertical.Position(at[0], Expr(i)), horizontal.Position(at[1], Expr(j)));
      const Stmt samples = MakeFor(i, Zero(), vertical.samples, LoopKind::kSerial,
                                   MakeFor(j, Zero(), horizontal.samples, LoopKind::kSerial, sample));
      const Stmt store = OverChannels("store", [&](const Expr& c) {
        const Expr count = vertical.samples * horizontal.samples, none = Equal(count, Zero());
        const Expr total = Load(totals_, {c});
        const Expr value = average_ ? total / CastTo(dtype_, Max(count, Expr(int64_t{1}))) : total;
        const TensorType& type = node_.output()->type();
        return MakeStore(definition_.BufferOf(node_.output()),
                         Definition::Physical(type, {r, c, at[0], at[1]}),
                         CastTo(type.dtype, Select(none, FloatConst(0, dtype_), value)));
      });
      return MakeSequence({clear, samples, store});
    });
  }

  Stmt OverChannels(const std::string& step, const std::function<Stmt(const Expr&)>& body) const {
    return MakeLoops({absl::StrCat(name_, ".", step)}, {in_[1]},
                     [&](const Indices& c) { return body(c[0]); });
  }

  // Adds the bilinear sample at (y, x) of each channel. A maximum takes the four weighted corners one by
  // one, as ONNX does.
  Stmt Sample(const Expr& r, const Expr& y, const Expr& x) const {
    return WithCorners(
        "y", y, in_[2], [&](const Indices& rows, const std::vector<Expr>& down, const Expr& y_in) {
          return WithCorners(
              "x", x, in_[3], [&](const Indices& columns, const std::vector<Expr>& across, const Expr& x_in) {
                return Bind(name_ + ".n", WrapIndex(definition_.Read(node_.input(2), {r}), in_[0]),
                            [&](const Expr& n) {
                              return OverChannels("c", [&](const Expr& c) {
                                Expr total = Load(totals_, {c});
                                for (size_t k = 0; k < 4; ++k) {
                                  const Expr weight =
                                      Select(And(y_in, x_in), CastTo(dtype_, down[k / 2] * across[k % 2]),
                                             FloatConst(0, dtype_));
                                  const Expr value =
                                      weight * definition_.ReadComputed(node_.input(0),
                                                                        {n, c, rows[k / 2], columns[k % 2]});
                                  total = average_ ? total + value : Max(total, value);
                                }
                                return MakeStore(totals_, {c}, total);
                              });
                            });
              });
        });
  }

  // Binds the elements before and after a position along an axis, their weights, and whether the position
  // is at most a pixel outside.
  Stmt WithCorners(
      const std::string& axis, const Expr& position, int64_t size,
      const std::function<Stmt(const Indices&, const std::vector<Expr>&, const Expr&)>& body) const {
    const std::string prefix = absl::StrCat(name_, ".", axis);
    const auto last = static_cast<double>(size - 1);
    return Bind(prefix, position, [&](const Expr& raw) {
      return Bind(prefix + ".inside", Min(Max(raw, F64(0)), F64(last)), [&](const Expr& inside) {
        return Bind(
            prefix + ".first", Clamp(CastTo(DType::kI64, inside), 0, size - 1), [&](const Expr& first) {
              return Bind(prefix + ".share", inside - CastTo(DType::kF64, first), [&](const Expr& share) {
                const Expr counts = And(raw >= F64(-1), raw <= F64(static_cast<double>(size)));
                return body({first, Min(first + Expr(int64_t{1}), Expr(size - 1))}, {F64(1) - share, share},
                            counts);
              });
            });
      });
    });
  }

  Definition& definition_;
  const Node& node_;
  const std::string name_;
  const Shape in_, out_;
  const bool average_;
  const DType dtype_;
  const Buffer totals_;  // one per channel, for the bin that is being sampled
};

}  // namespace

absl::Status DefineRoiAlign(Definition& definition, const Node& node) {
  RoiAlign(definition, node).Define();
  return absl::OkStatus();
}

}  // namespace attune
