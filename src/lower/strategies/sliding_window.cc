// Depthwise convolution in blocked layout.
//
// Every channel has a filter of its own, so the lanes are channels and nothing is broadcast: a tile of tile_w
// output pixels accumulates in registers. The arithmetic is light; what counts is that the input is read from
// memory once. Neighbouring pixels share input vectors: those of f32 are read straight by each multiply-add,
// those of narrower types, which must be widened first, slide through registers along the row.
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/status.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

// Whether the input must be converted before it is multiplied.
bool IsNarrow(const Node& conv) { return conv.input(0)->type().dtype != DType::kF32; }

}  // namespace

std::string ConvDepthwiseWhyNot(const Workload& workload, const Target& target) {
  if (std::string reason = BlockedConvWhyNot(workload, target); !reason.empty()) return reason;
  const Node& conv = *workload.anchor;
  const TensorType &in = conv.input(0)->type(), &out = conv.output()->type();
  if (in.layout != out.layout) return "the input's channels are not blocked";
  if (conv.attrs().Int("group", 1) != out.shape()[1] || conv.input(1)->type().shape()[1] != 1)
    return "not depthwise";
  return "";
}

std::vector<Knob> ConvDepthwiseSpace(const Workload& workload, const Target& target) {
  Knob tile_w{"tile_w", {}};
  const int64_t width = workload.anchor->output()->type().shape()[3];
  for (int64_t w = 1; w <= std::min<int64_t>(width, target.num_vector_registers - 4); ++w)
    tile_w.values.push_back(w);
  return {tile_w};
}

Config ConvDepthwiseDefault(const Workload& workload, const Target& target) {
  const WindowAxis axis = WindowAlong(*workload.anchor, 1);
  Config best;
  double best_cost = std::numeric_limits<double>::infinity();
  // Accumulators, a row of weights, and input vectors in flight: all that a pixel reads where they slide.
  const int64_t in_flight = IsNarrow(*workload.anchor) ? axis.kernel + axis.stride : 2;
  const int64_t limit = std::min(axis.output, target.num_vector_registers - axis.kernel - in_flight);
  for (int64_t w = 1; w <= std::max<int64_t>(limit, 1); ++w) {
    const double tiles = static_cast<double>(CeilDiv(axis.output, w));
    const double loads =
        static_cast<double>((w - 1) * axis.stride + axis.kernel + axis.kernel) / target.loads_per_cycle;
    const double multiply_adds = static_cast<double>(w * axis.kernel) / target.fma_per_cycle;
    const double cost =
        tiles * (std::max({loads, multiply_adds, static_cast<double>(target.fma_latency)}) + 2.0);
    if (cost < best_cost) {
      best_cost = cost;
      best = {{"tile_w", w}};
    }
  }
  return best;
}

absl::Status ConvDepthwiseApply(Schedule& s, const Workload& workload, const Config& config, const Target&) {
  const Node& conv = *workload.anchor;
  const int64_t tile_w = config.at("tile_w"), lanes = conv.output()->type().layout.block;
  const std::string out = workload.output_stage, acc = workload.accumulator_stage;
  RETURN_IF_ERROR(InlineEpilogue(s, workload));
  RETURN_IF_ERROR(s.Pack(ParamName(workload, conv.input(1)), acc, {{0, lanes}}, {0, 3, 4, 2, 1}));

  RETURN_IF_ERROR(s.Split(out + ".d3", tile_w));
  RETURN_IF_ERROR(s.Vectorize(out + ".v"));
  RETURN_IF_ERROR(s.Unroll(out + ".d3.i"));
  RETURN_IF_ERROR(s.ComputeAt(acc, out + ".d3.o", MemorySpace::kRegister));
  std::vector<std::string> row = {acc + ".kw", acc + ".d3"};
  if (IsNarrow(conv)) std::ranges::swap(row[0], row[1]);
  RETURN_IF_ERROR(s.Reorder(
      {acc + ".d0", acc + ".d1", acc + ".d2", acc + ".kh", acc + ".c", row[0], row[1], acc + ".v"}));
  const TapUnrolling taps = UnrollTaps(WindowAlong(conv, 1), tile_w, tile_w);
  RETURN_IF_ERROR(UnrollInner(s, acc + ".kw", taps.taps));
  RETURN_IF_ERROR(s.Unroll(acc + ".d3"));
  RETURN_IF_ERROR(s.Vectorize(acc + ".v"));
  RETURN_IF_ERROR(s.Overcompute(acc));
  const Borders peeled = taps.peeled;
  if (peeled.front + peeled.back > 0) RETURN_IF_ERROR(s.Peel(out + ".d3.o", peeled.front, peeled.back));
  return ParallelizeOuter(s, out, 3);
}

}  // namespace attune
