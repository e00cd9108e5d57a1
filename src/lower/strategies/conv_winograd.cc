// Winograd's convolution (lower/winograd.h), block by block of tiles through the second-level cache.
//
// Problem: with the multiplications that it saves, the transforms and the traffic of their results count.
// Idea: for a block of tiles, the transformed input of all channels stays in the second-level cache while
// group after group of output channels is computed: for each of the points a matrix product, tiles ×
// channels, with a register tile like a matrix product's; then the output transform of that group, with the
// epilogue, in registers. The transformed filters are streamed once for each block, so blocks should be
// large, but leave room for them in the cache. Where the whole image is a block or two, the input is
// transformed beforehand, in parallel over its channels, and the groups of output channels run in parallel.
// Where an instruction multiplies bf16, the transformed values of tiles of 2 are rounded to that: of larger
// tiles, rounding would err too much. Where one multiplies pairs of i16, bytes are transformed in i16, in
// tiles of 2, and nothing is rounded.
#include <algorithm>
#include <limits>
#include <span>

#include "base/status.h"
#include "lower/strategies/strategies.h"
#include "lower/strategies/winograd_plan.h"
#include "lower/winograd.h"

namespace attune {
namespace {

constexpr int64_t kTiles[] = {2, 4, 6};

// Channels that one instruction takes, with tiles of `tile`.
int64_t DotOf(const Workload& workload, int64_t tile, const Target& target) {
  const int64_t channels = workload.anchor->input(1)->type().shape()[1];
  return tile == 2 ? DotTerms(workload, channels, target) : 1;
}

bool IsInteger(const Workload& workload) { return workload.anchor->op() == Op::kConvInteger; }

// The tiles that a convolution can have: integers stay exact in the smallest.
std::span<const int64_t> TilesOf(const Workload& workload) {
  return IsInteger(workload) ? std::span(kTiles).first(1) : std::span(kTiles);
}

// Transformed bytes fit i16, and their products' sums wrap without harm as long as four times the result,
// which they add up to, fits 32 bits.
std::string IntegersWhyNot(const Workload& workload, const Target& target) {
  if (!IsInteger(workload)) return "";
  constexpr int64_t kLargestByte = 255, kScale = 4, kTaps = 9;
  const Node& conv = *workload.anchor;
  const int64_t channels = conv.input(1)->type().shape()[1];
  const auto is_wide = [&](int input) { return conv.input(input)->type().dtype == DType::kI16; };
  if (!is_wide(0) || !is_wide(1) || DotTerms(workload, channels, target) == 1)
    return "integers that are not multiplied as pairs of i16";
  if (channels > INT32_MAX / (kScale * kTaps * kLargestByte * kLargestByte))
    return "four times the sums may not fit 32 bits";
  return "";
}

}  // namespace

std::string ConvWinogradWhyNot(const Workload& workload, const Target& target) {
  if (std::string reason = BlockedConvWhyNot(workload, target); !reason.empty()) return reason;
  if (std::string reason = ComputedWeightsWhyNot(workload); !reason.empty()) return reason;
  const Node& conv = *workload.anchor;
  if (std::string reason = IntegersWhyNot(workload, target); !reason.empty()) return reason;
  const TensorType &in = conv.input(0)->type(), &out = conv.output()->type();
  if (in.layout != out.layout) return "the input's channels are not blocked";
  if (out.layout.block != target.Lanes(4)) return "blocks do not fill vectors";
  if (!conv.input(0)->is_input()) return "the input is computed in the group";
  if (conv.attrs().Int("group", 1) != 1) return "grouped";
  const Shape w = conv.input(1)->type().shape();
  if (w[2] != 3 || w[3] != 3) return "not 3×3";
  for (size_t d = 0; d < 2; ++d) {
    const WindowAxis axis = WindowAlong(conv, d);
    if (axis.stride != 1 || axis.dilation != 1) return "strided or dilated";
  }
  if (out.num_elements() == 0 || in.num_elements() == 0) return "nothing to compute";
  return "";
}

std::vector<Knob> ConvWinogradSpace(const Workload& workload, const Target& target) {
  Knob rows{"block_h", {}}, columns{"block_w", {}}, tile_p{"tile_p", {}};
  for (int64_t tile : TilesOf(workload)) {
    for (const WinogradBlock& block : WinogradBlocksOf(WinogradShapeOf(*workload.anchor, tile))) {
      rows.values.push_back(block.rows);
      columns.values.push_back(block.columns);
    }
  }
  for (Knob* knob : {&rows, &columns}) {
    std::ranges::sort(knob->values);
    knob->values.erase(std::ranges::unique(knob->values).begin(), knob->values.end());
  }
  for (int64_t p = 1; p < target.num_vector_registers; ++p) tile_p.values.push_back(p);
  const std::span<const int64_t> tiles = TilesOf(workload);
  Knob tile{"tile", {tiles.begin(), tiles.end()}}, dot{"dot", {}};
  if (!IsInteger(workload)) dot.values.push_back(1);
  if (const int64_t terms = DotOf(workload, 2, target); terms > 1) dot.values.push_back(terms);
  return {tile,
          dot,
          rows,
          columns,
          {"tile_c", {1, 2, 3, 4}},
          tile_p,
          {"input_first", {0, 1}},
          {"prefetch", {0, 1}}};
}

Config ConvWinogradDefault(const Workload& workload, const Target& target) {
  Config best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int64_t tile : TilesOf(workload)) {
    const WinogradShape s = WinogradShapeOf(*workload.anchor, tile);
    for (const WinogradPlan& plan : WinogradPlansFor(s, tile, DotOf(workload, tile, target), target)) {
      const double cost = WinogradPlanCost(s, plan, target);
      if (cost >= best_cost) continue;
      best_cost = cost;
      best = plan.ToConfig();
    }
  }
  return best;
}

double ConvWinogradCost(const Workload& workload, const Config& config, const Target& target) {
  const WinogradPlan plan(config);
  return WinogradPlanCost(WinogradShapeOf(*workload.anchor, plan.tile), plan, target);
}

absl::StatusOr<ComputeDef> ConvWinogradDefine(const Workload& workload, const Config& config) {
  return DefineWithAnchor(workload, [&](Definition& definition, const Node& conv) {
    return DefineWinograd(definition, conv, {config.at("tile"), config.at("tile_c"), config.at("dot")});
  });
}

namespace {

class WinogradScheduler {
 public:
  WinogradScheduler(Schedule& schedule, const Workload& workload, const Config& config)
      : s_(schedule),
        workload_(workload),
        plan_(config),
        shape_(WinogradShapeOf(*workload.anchor, plan_.tile)),
        node_(workload.anchor_stage),
        out_(workload.output_stage) {}

  absl::Status Run() {
    if (plan_.tile > 2 && (plan_.dot > 1 || shape_.is_integer))
      return InvalidInput("tiles of ", plan_.tile, " err too much in bf16 and in integers");
    RETURN_IF_ERROR(InlineEpilogue(s_, workload_));
    RETURN_IF_ERROR(s_.Inline(node_ + ".acc"));
    RETURN_IF_ERROR(Filters());
    RETURN_IF_ERROR(Output());
    RETURN_IF_ERROR(OutputTransform());
    RETURN_IF_ERROR(Products());
    return InputTransform();
  }

 private:
  // Vector after vector of channels, its nine weights and all of its transforms in registers.
  absl::Status Filters() {
    const std::string u = node_ + ".u";
    RETURN_IF_ERROR(s_.Split(u + ".d4", shape_.lanes));
    RETURN_IF_ERROR(
        s_.Reorder({u + ".d0", u + ".d3", u + ".d5", u + ".d4.o", u + ".d1", u + ".d2", u + ".d4.i"}));
    RETURN_IF_ERROR(s_.Unroll(u + ".d1"));
    RETURN_IF_ERROR(s_.Unroll(u + ".d2"));
    RETURN_IF_ERROR(s_.Vectorize(u + ".d4.i"));
    for (const char* suffix : {".gx", ".g"}) {
      const std::string stage = node_ + suffix;
      RETURN_IF_ERROR(s_.ComputeAt(stage, u + ".d4.o", MemorySpace::kRegister));
      RETURN_IF_ERROR(s_.Unroll(stage + ".d0"));
      RETURN_IF_ERROR(s_.Unroll(stage + ".d1"));
      RETURN_IF_ERROR(s_.Vectorize(stage + ".d4"));
    }
    return absl::OkStatus();
  }

  // Block of tiles, group of channels, tile, channel block, row and column of the tile.
  absl::Status Output() {
    const std::string d1 = out_ + ".d1", d2 = out_ + ".d2", d3 = out_ + ".d3";
    RETURN_IF_ERROR(s_.Split(d1, plan_.group_blocks));
    RETURN_IF_ERROR(s_.Split(d2, plan_.block.rows * plan_.tile));
    RETURN_IF_ERROR(s_.Split(d2 + ".i", plan_.tile));
    RETURN_IF_ERROR(s_.Split(d3, plan_.block.columns * plan_.tile));
    RETURN_IF_ERROR(s_.Split(d3 + ".i", plan_.tile));
    std::vector<std::string> order = {out_ + ".d0", d2 + ".o", d3 + ".o", d1 + ".o"};
    if (plan_.input_first) std::ranges::rotate(order, order.begin() + 3);
    for (const std::string& loop :
         {d1 + ".i", d2 + ".i.o", d3 + ".i.o", d2 + ".i.i", d3 + ".i.i", out_ + ".v"})
      order.push_back(loop);
    RETURN_IF_ERROR(s_.Reorder(order));
    RETURN_IF_ERROR(s_.Unroll(d2 + ".i.i"));
    RETURN_IF_ERROR(s_.Unroll(d3 + ".i.i"));
    RETURN_IF_ERROR(s_.Vectorize(out_ + ".v"));
    if (plan_.block.columns == shape_.tiles_w && shape_.width % plan_.tile != 0)
      RETURN_IF_ERROR(s_.Peel(d3 + ".i.o", 0, 1));
    return ParallelizeOuter(s_, out_, plan_.input_first ? 4 : 3);
  }

  absl::Status OutputTransform() {
    const std::string rows = node_ + ".rows";
    RETURN_IF_ERROR(s_.ComputeAt(rows, out_ + ".d3.i.o", MemorySpace::kRegister));
    return UnrollVector(rows);
  }

  absl::Status Products() {
    const std::string m = node_ + ".m", acc = m + ".acc";
    ASSIGN_OR_RETURN(const std::vector<std::string> loops, s_.Loops(out_));
    block_loop_ = loops[0];
    RETURN_IF_ERROR(s_.CacheWrite(m));
    RETURN_IF_ERROR(s_.ComputeAt(m, plan_.input_first ? loops[0] : loops[1], MemorySpace::kScratch));
    RETURN_IF_ERROR(s_.Split(m + ".d4", plan_.tile_p));
    RETURN_IF_ERROR(
        s_.Reorder({m + ".d0", m + ".d1", m + ".d2", m + ".d4.o", m + ".d4.i", m + ".d3", m + ".d5"}));
    RETURN_IF_ERROR(s_.Unroll(m + ".d4.i"));
    RETURN_IF_ERROR(s_.Unroll(m + ".d3"));
    RETURN_IF_ERROR(s_.Vectorize(m + ".d5"));
    RETURN_IF_ERROR(s_.ComputeAt(acc, m + ".d4.o", MemorySpace::kRegister));
    ASSIGN_OR_RETURN(const TermLoops terms, SplitTerms(s_, acc + ".c", plan_.dot));
    const std::string& channels = terms.outer;
    std::vector<std::string> order = {acc + ".d0", acc + ".d1", acc + ".d2", channels};
    if (shape_.channels > shape_.lanes && shape_.channels % shape_.lanes == 0) {
      RETURN_IF_ERROR(s_.Split(channels, shape_.lanes / plan_.dot));
      order.back() = channels + ".o";
      order.push_back(channels + ".i");
    }
    const std::string channels_loop = order[3];
    for (const char* loop : {".d4", ".d3", ".d5"}) order.push_back(acc + loop);
    if (plan_.dot > 1) order.push_back(terms.instruction);
    RETURN_IF_ERROR(s_.Reorder(order));
    RETURN_IF_ERROR(s_.Unroll(acc + ".d4"));
    RETURN_IF_ERROR(s_.Unroll(acc + ".d3"));
    RETURN_IF_ERROR(s_.Vectorize(acc + ".d5"));
    if (plan_.dot > 1) RETURN_IF_ERROR(s_.Dot(terms.instruction));
    if (plan_.prefetch) RETURN_IF_ERROR(s_.Prefetch(node_ + ".u", channels_loop));
    // And the transformed input of the next point, half of which another core has made.
    if (plan_.input_first) RETURN_IF_ERROR(s_.PrefetchNextTile(node_ + ".v", channels_loop));
    return s_.Overcompute(acc);
  }

  // For each channel block: its part of the padded input, then tile after tile in registers.
  absl::Status InputTransform() {
    const std::string v = node_ + ".v", columns = node_ + ".columns", pad = node_ + ".pad";
    if (!plan_.input_first) RETURN_IF_ERROR(s_.ComputeAt(v, block_loop_, MemorySpace::kScratch));
    RETURN_IF_ERROR(s_.Reorder({v + ".d2", v + ".d3", v + ".d4", v + ".d0", v + ".d1", v + ".d5"}));
    RETURN_IF_ERROR(UnrollVector(v));
    if (plan_.input_first) RETURN_IF_ERROR(ParallelizeOuter(s_, v, 2));
    RETURN_IF_ERROR(s_.ComputeAt(columns, v + ".d4", MemorySpace::kRegister));
    RETURN_IF_ERROR(s_.Reorder({columns + ".d1", columns + ".d0"}));
    RETURN_IF_ERROR(UnrollVector(columns));
    ASSIGN_OR_RETURN(const std::vector<std::string> loops, s_.Loops(v));
    const auto at = std::ranges::find(loops, v + ".d4") - 1;
    RETURN_IF_ERROR(s_.ComputeAt(pad, *at, MemorySpace::kScratch));
    RETURN_IF_ERROR(s_.Vectorize(pad + ".d4"));
    const WindowAxis axis = WindowAlong(*workload_.anchor, 1);
    ASSIGN_OR_RETURN(const int64_t width, s_.Extent(pad + ".d3"));
    if (width == shape_.tiles_w * plan_.tile + 2)
      RETURN_IF_ERROR(PeelPadding(s_, pad + ".d3",
                                  {.front = axis.pad_begin, .back = width - axis.pad_begin - axis.input}));
    return absl::OkStatus();
  }

  // The first two axes, points or rows of a tile, unrolled, the lanes vectorized.
  absl::Status UnrollVector(const std::string& stage) {
    RETURN_IF_ERROR(s_.Unroll(stage + ".d0"));
    RETURN_IF_ERROR(s_.Unroll(stage + ".d1"));
    return s_.Vectorize(stage + ".d5");
  }

  Schedule& s_;
  const Workload& workload_;
  const WinogradPlan plan_;
  const WinogradShape shape_;
  const std::string node_, out_;
  std::string block_loop_;  // of the output: its body computes a block
};

}  // namespace

absl::Status ConvWinogradApply(Schedule& s, const Workload& workload, const Config& config, const Target&) {
  return WinogradScheduler(s, workload, config).Run();
}

}  // namespace attune
