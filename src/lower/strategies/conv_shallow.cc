// Convolution of an image of a few channels, such as a network's first, in bf16 or 8 bits.
//
// Problem: instructions for narrow numbers take two or four terms that lie side by side, and the three
// channels of an image lie in separate planes. Idea: neighbouring taps of a row do lie side by side. An
// instruction takes two or four of them, and weights of zero fill up the last ones. The image is small
// enough to be copied with its padding beforehand, so that no tap is a special case. A weight of zero meets
// a pixel beside the window, so a pixel that is infinite or NaN spreads further than it would.
#include <algorithm>

#include "base/checked.h"
#include "base/status.h"
#include "lower/formula.h"
#include "lower/strategies/conv_tile.h"

namespace attune {
namespace {

struct Window2d {
  WindowAxis rows, columns;
  int64_t dot;         // taps that one instruction takes, of 32 bits in all
  int64_t tap_groups;  // groups of this many taps in a row of taps

  explicit Window2d(const Node& conv)
      : rows(WindowAlong(conv, 0)),
        columns(WindowAlong(conv, 1)),
        dot(4 / DTypeSize(conv.input(0)->type().dtype)),
        tap_groups(CeilDiv(columns.kernel, dot)) {}

  // The size of the padded image: all pixels that the taps read.
  int64_t height() const { return (rows.output - 1) * rows.stride + (rows.kernel - 1) * rows.dilation + 1; }
  int64_t width() const { return (columns.output - 1) * columns.stride + dot * tap_groups; }
};

TiledConv TiledOf(const Node& conv, const Target& target) {
  const Window2d window(conv);
  const TensorType& out = conv.output()->type();
  const int64_t blocks = CeilDiv(out.shape()[1], out.layout.block);
  const int64_t channels = conv.input(1)->type().shape()[1];
  return {.blocks = blocks,
          .group_blocks = blocks,
          .lanes = out.layout.block,
          .width = window.columns.output,
          .rows = out.shape()[0] * window.rows.output,
          .steps = channels * window.rows.kernel * window.tap_groups,
          .padded = true,
          .slowdown = DotSlowdown(conv, window.dot, target)};
}

}  // namespace

std::string ConvShallowWhyNot(const Workload& workload, const Target& target) {
  if (std::string reason = BlockedConvWhyNot(workload, target); !reason.empty()) return reason;
  if (std::string reason = ComputedWeightsWhyNot(workload); !reason.empty()) return reason;
  const Node& conv = *workload.anchor;
  constexpr int64_t kAnyMultiple = 4;
  if (DotTerms(workload, kAnyMultiple, target) == 1) return "no instruction for neighbours";
  if (conv.output()->type().layout.block != target.Lanes(4)) return "blocks do not fill vectors";
  if (!conv.input(0)->type().layout.is_plain()) return "the input's channels are blocked";
  if (conv.input(0)->type().shape()[1] >= conv.output()->type().layout.block) return "many channels";
  if (conv.attrs().Int("group", 1) != 1) return "grouped";
  if (WindowAlong(conv, 1).dilation != 1) return "neighbouring taps lie apart";
  if (conv.output()->type().num_elements() == 0 || conv.input(0)->type().num_elements() == 0)
    return "nothing to compute";
  return "";
}

std::vector<Knob> ConvShallowSpace(const Workload& workload, const Target& target) {
  return TileSpace(TiledOf(*workload.anchor, target), target);
}

Config ConvShallowDefault(const Workload& workload, const Target& target) {
  return CheapestTile(TiledOf(*workload.anchor, target), TileRegisters(workload, target), target);
}

double ConvShallowCost(const Workload& workload, const Config& config, const Target& target) {
  const Node& conv = *workload.anchor;
  const TiledConv tiled = TiledOf(conv, target);
  const Shape in = conv.input(0)->type().shape();
  const double compute = static_cast<double>(tiled.rows * tiled.steps) *
                         TileCost(tiled, config.at("tile_w"), config.at("tile_c"), target);
  const Window2d window(conv);
  const int64_t copied =
      in[0] * in[1] * window.height() * window.width() * DTypeSize(conv.input(0)->type().dtype);
  return compute + static_cast<double>(copied) / target.l2_bytes_per_cycle;
}

// conv0.pad  [batch, channels, height, width]  the image with its padding
// conv0.w    [groups, taps of a column, channels, taps of a row / dot, tile_c · lanes, dot]  the weights
absl::StatusOr<ComputeDef> ConvShallowDefine(const Workload& workload, const Config& config) {
  return DefineWithAnchor(workload, [&](Definition& definition, const Node& conv) {
    const Value *x = conv.input(0), *w = conv.input(1);
    const Shape xs = x->type().shape(), ws = w->type().shape();
    const Window2d window(conv);
    const Buffer image = definition.AddTemporary(
        conv, "pad", x->type().dtype, {xs[0], xs[1], window.height(), window.width()}, [&](const Indices& i) {
          const Expr row = i[2] - Expr(window.rows.pad_begin), column = i[3] - Expr(window.columns.pad_begin);
          const Expr element =
              definition.ReadComputed(x, {i[0], i[1], Clamp(row, 0, xs[2] - 1), Clamp(column, 0, xs[3] - 1)});
          return Select(And(IsInside(window.rows, row), IsInside(window.columns, column)), element,
                        NeutralElement(MathOp::kAdd, element->dtype));
        });
    const int64_t group_channels = config.at("tile_c") * conv.output()->type().layout.block;
    const Buffer weights = definition.AddTemporary(
        conv, "w", w->type().dtype,
        {CeilDiv(ws[0], group_channels), ws[2], ws[1], window.tap_groups, group_channels, window.dot},
        [&](const Indices& i) {
          const Expr tap = i[3] * Expr(window.dot) + i[5], channel = i[0] * Expr(group_channels) + i[4];
          const Expr element = definition.ReadComputed(
              w, {Min(channel, Expr(ws[0] - 1)), i[2], i[1], Min(tap, Expr(ws[3] - 1))});
          return Select(tap < Expr(ws[3]), element, NeutralElement(MathOp::kAdd, element->dtype));
        });

    Reduction sum;
    sum.extents = {ws[1], ws[2], window.dot * window.tap_groups};
    sum.names = {"c", "kh", "kw"};
    sum.dtype = ComputeType(conv.output()->type().dtype);
    sum.term = [&](const Indices& i, const Indices& r) {
      const Expr row = i[2] * Expr(window.rows.stride) + r[1] * Expr(window.rows.dilation);
      const Expr a = Load(image, {i[0], r[0], row, i[3] * Expr(window.columns.stride) + r[2]});
      const Expr b = Load(weights, {FloorDiv(i[1], group_channels), r[1], r[0], FloorDiv(r[2], window.dot),
                                    FloorMod(i[1], group_channels), FloorMod(r[2], window.dot)});
      return CastTo(sum.dtype, a) * CastTo(sum.dtype, b);
    };
    if (conv.input(2) != nullptr) {
      sum.finish = [&](const Expr& total, const Indices& i) {
        return total + definition.ReadComputed(conv.input(2), {i[1]});
      };
    }
    definition.DefineReduction(conv, conv.output(), sum);
    return absl::OkStatus();
  });
}

absl::Status ConvShallowApply(Schedule& s, const Workload& workload, const Config& config,
                              const Target& target) {
  const StageHandle acc = s.StageNamed(workload.accumulator_stage), pad = StageOfAnchor(s, workload, ".pad");
  RETURN_IF_ERROR(InlineEpilogue(s, workload));

  const Window2d window(*workload.anchor);
  const int64_t lanes = target.Lanes(DTypeSize(DType::kF32));
  ASSIGN_OR_RETURN(const SplitLoops vectors, s.Split(s.Loop(pad, "d3"), lanes));
  RETURN_IF_ERROR(s.Vectorize(vectors.inner));
  const int64_t inner = (window.columns.pad_begin + window.columns.input) / lanes;
  RETURN_IF_ERROR(PeelPadding(s, vectors.outer,
                              {.front = CeilDiv(window.columns.pad_begin, lanes),
                               .back = std::max<int64_t>(CeilDiv(window.width(), lanes) - inner, 0)}));
  RETURN_IF_ERROR(ParallelizeOuter(s, pad, 3));

  const int64_t ragged = window.columns.output % config.at("tile_w") == 0 ? 0 : 1;
  RETURN_IF_ERROR(TileOutput(s, workload, config, {.front = 0, .back = ragged}));
  ASSIGN_OR_RETURN(const SplitLoops taps, s.Split(s.Loop(acc, "kw"), window.dot));
  std::vector<LoopHandle> order = s.LoopsOver(acc, {"d0", "d2", "kh", "c"});
  const std::vector<LoopHandle> tile = s.LoopsOver(acc, {"d3", "d1", "v"});
  order.push_back(taps.outer);
  order.insert(order.end(), tile.begin(), tile.end());
  order.push_back(taps.inner);
  RETURN_IF_ERROR(s.Reorder(order));
  for (size_t i : {0, 1}) RETURN_IF_ERROR(s.Unroll(tile[i]));
  RETURN_IF_ERROR(s.Vectorize(tile[2]));
  RETURN_IF_ERROR(s.Dot(taps.inner));
  // Guards stay where a read without them would leave its buffer.
  s.Overcompute(acc).IgnoreError();
  return absl::OkStatus();
}

}  // namespace attune
