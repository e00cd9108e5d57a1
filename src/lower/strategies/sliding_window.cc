// Depthwise convolutions and pools in blocked layout.
//
// Every channel is worked on by itself, so the lanes are channels and nothing is broadcast: a tile of
// tile_w output pixels accumulates in registers. The arithmetic is light, so the input must be read from
// memory only once. Neighbouring pixels share input vectors: each multiply-add reads vectors of f32
// directly, and vectors of narrower types, which must be widened first, slide through registers along the
// row. The mean of each channel may be a second output.
#include <algorithm>

#include "base/checked.h"
#include "base/status.h"
#include "graph/node_rules.h"
#include "lower/strategies/conv_parts.h"

namespace attune {
namespace {

// Whether the input must be converted before it is used.
bool IsNarrow(const Node& node) { return node.input(0)->type().dtype != DType::kF32; }

}  // namespace

bool IsChannelwise(const Node& node) {
  if (node.op() == Op::kMaxPool || node.op() == Op::kAvgPool) return true;
  return IsConv(node.op()) && node.attrs().Int("group", 1) == node.output()->type().shape()[1] &&
         node.input(1)->type().shape()[1] == 1;
}

bool IsChannelwiseConv(const Node& node) { return IsConv(node.op()) && IsChannelwise(node); }

std::string SlidingWindowWhyNot(const Workload& workload, const Target& target) {
  const int outputs = AverageOf(workload) == nullptr ? 1 : 2;
  if (std::string reason = BlockedImageWhyNot(workload, target, outputs); !reason.empty()) return reason;
  if (std::string reason = ComputedWeightsWhyNot(workload); !reason.empty()) return reason;
  const Node& node = *workload.anchor;
  if (!IsChannelwise(node)) return "neither a depthwise convolution nor a pool";
  if (HasZeroPoints(node)) return "zero points";
  if (node.input(0)->type().layout != node.output()->type().layout)
    return "the input's channels are not blocked";
  return "";
}

std::vector<Knob> SlidingWindowSpace(const Workload& workload, const Target& target) {
  Knob tile_w{"tile_w", {}};
  const int64_t width = workload.anchor->output()->type().shape()[3];
  for (int64_t w = 1; w <= std::min<int64_t>(width, target.num_vector_registers - 4); ++w)
    tile_w.values.push_back(w);
  return {tile_w};
}

double SlideCost(const Workload& workload, int64_t tile_w, const Target& target) {
  const WindowAxis axis = WindowAlong(*workload.anchor, 1);
  const double tiles = static_cast<double>(CeilDiv(axis.output, tile_w));
  const double loads =
      static_cast<double>((tile_w - 1) * axis.stride + axis.kernel + axis.kernel) / target.loads_per_cycle;
  const double multiply_adds = static_cast<double>(tile_w * axis.kernel) / target.fma_per_cycle;
  return tiles * (std::max({loads, multiply_adds, static_cast<double>(target.fma_latency)}) + 2.0);
}

int64_t CheapestSlide(const Workload& workload, const Target& target) {
  const WindowAxis axis = WindowAlong(*workload.anchor, 1);
  // Registers: accumulators, a row of weights, and input vectors in flight, all of a pixel's if they slide.
  const int64_t in_flight = IsNarrow(*workload.anchor) ? axis.kernel + axis.stride : 2;
  const int64_t limit = std::min(axis.output, target.num_vector_registers - axis.kernel - in_flight);
  int64_t best = 1;
  for (int64_t w = 2; w <= limit; ++w) {
    if (SlideCost(workload, w, target) < SlideCost(workload, best, target)) best = w;
  }
  return best;
}

Config SlidingWindowDefault(const Workload& workload, const Target& target) {
  return {{"tile_w", CheapestSlide(workload, target)}};
}

absl::Status SlideAlongRows(Schedule& s, const Workload& workload, int64_t tile_w) {
  const Node& node = *workload.anchor;
  const StageHandle out = s.StageNamed(workload.output_stage), acc = s.StageNamed(workload.accumulator_stage);
  ASSIGN_OR_RETURN(const SplitLoops tiles, s.Split(s.Loop(out, "d3"), tile_w));
  RETURN_IF_ERROR(s.Vectorize(s.Loop(out, "v")));
  RETURN_IF_ERROR(s.Unroll(tiles.inner));
  RETURN_IF_ERROR(s.ComputeAt(acc, tiles.outer, MemorySpace::kRegister));
  const LoopHandle columns = s.Loop(acc, "kw"), pixels = s.Loop(acc, "d3"), lanes = s.Loop(acc, "v");
  std::vector<LoopHandle> order = s.LoopsOver(acc, {"d0", "d1", "d2", "kh"});
  if (IsConv(node.op())) order.push_back(s.Loop(acc, "c"));
  std::vector<LoopHandle> row = {columns, pixels};
  if (IsNarrow(node)) std::ranges::swap(row[0], row[1]);
  order.insert(order.end(), row.begin(), row.end());
  order.push_back(lanes);
  RETURN_IF_ERROR(s.Reorder(order));
  const TapUnrolling taps = UnrollTaps(WindowAlong(node, 1), tile_w, tile_w);
  RETURN_IF_ERROR(UnrollInner(s, columns, taps.taps));
  RETURN_IF_ERROR(s.Unroll(pixels));
  RETURN_IF_ERROR(s.Vectorize(lanes));
  // Guards stay where a read without them would leave its buffer.
  s.Overcompute(acc).IgnoreError();
  const Borders peeled = taps.peeled;
  if (peeled.front + peeled.back == 0) return absl::OkStatus();
  return s.Peel(tiles.outer, peeled.front, peeled.back);
}

absl::Status PackDepthwise(Schedule& s, const Workload& workload) {
  const Node& conv = *workload.anchor;
  const int64_t lanes = conv.output()->type().layout.block;
  return s
      .Pack(BufferOf(workload, conv.input(1)), s.StageNamed(workload.accumulator_stage), {{0, lanes}},
            {0, 3, 4, 2, 1})
      .status();
}

absl::Status SlidingWindowApply(Schedule& s, const Workload& workload, const Config& config, const Target&) {
  RETURN_IF_ERROR(InlineEpilogue(s, workload));
  if (IsConv(workload.anchor->op())) RETURN_IF_ERROR(PackDepthwise(s, workload));
  RETURN_IF_ERROR(SlideAlongRows(s, workload, config.at("tile_w")));
  const StageHandle out = s.StageNamed(workload.output_stage);
  RETURN_IF_ERROR(ParallelizeOuter(s, out, 3));
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s.Loops(out));
  return AverageRows(s, workload, loops.front());
}

}  // namespace attune
