// Winograd (lower/winograd.h), one block of tiles at a time in L2.
//
// Problem: once multiplications are saved, the transforms and the traffic of their results count. Idea: the
// transformed input of a block of tiles, for all channels, stays in L2 while one group of output channels
// after another is computed: for each point a matrix product, tiles × channels, with a register tile like a
// matrix product's; then the output transform of that group, with the epilogue, in registers. The
// transformed filters are streamed once for each block, so blocks should be large, but leave room for them
// in L2. If the whole image is a block or two, the input is transformed beforehand, in parallel over its
// channels, and the groups of output channels run in parallel. If an instruction multiplies bf16, the
// transformed values of tiles of 2 are rounded to bf16; with larger tiles, rounding would err too much. If
// an instruction multiplies pairs of i16, bytes are transformed in i16, in tiles of 2, and nothing is
// rounded.
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

// The tiles that a convolution can have: integers stay exact only in the smallest.
std::span<const int64_t> TilesOf(const Workload& workload) {
  return IsInteger(workload) ? std::span(kTiles).first(1) : std::span(kTiles);
}

// Transformed bytes fit i16. The sums of their products may wrap without harm as long as their total, four
// times the result, fits 32 bits.
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
        out_(schedule.StageNamed(workload.output_stage)) {}

  absl::Status Run() {
    if (plan_.tile > 2 && (plan_.dot > 1 || shape_.is_integer))
      return InvalidInput("tiles of ", plan_.tile, " err too much in bf16 and in integers");
    RETURN_IF_ERROR(InlineEpilogue(s_, workload_));
    RETURN_IF_ERROR(s_.Inline(StageOfAnchor(s_, workload_, ".acc")));
    RETURN_IF_ERROR(Filters());
    RETURN_IF_ERROR(Output());
    RETURN_IF_ERROR(OutputTransform());
    RETURN_IF_ERROR(Products());
    return InputTransform();
  }

 private:
  // Transforms one vector of channels after another, with its nine weights and all results in registers.
  absl::Status Filters() {
    const StageHandle u = StageOfAnchor(s_, workload_, ".u");
    const LoopHandle rows = s_.Loop(u, "d1"), columns = s_.Loop(u, "d2");
    ASSIGN_OR_RETURN(const SplitLoops lanes, s_.Split(s_.Loop(u, "d4"), shape_.lanes));
    RETURN_IF_ERROR(s_.Reorder(
        {s_.Loop(u, "d0"), s_.Loop(u, "d3"), s_.Loop(u, "d5"), lanes.outer, rows, columns, lanes.inner}));
    RETURN_IF_ERROR(s_.Unroll(rows));
    RETURN_IF_ERROR(s_.Unroll(columns));
    RETURN_IF_ERROR(s_.Vectorize(lanes.inner));
    for (const StageHandle& stage :
         {StageOfAnchor(s_, workload_, ".gx"), StageOfAnchor(s_, workload_, ".g")}) {
      RETURN_IF_ERROR(s_.ComputeAt(stage, lanes.outer, MemorySpace::kRegister));
      RETURN_IF_ERROR(UnrollVector(stage, "d4"));
    }
    return absl::OkStatus();
  }

  // Loops: blocks of tiles, groups of channels, channel blocks, tiles, rows and columns of a tile.
  absl::Status Output() {
    const LoopHandle lanes = s_.Loop(out_, "v");
    ASSIGN_OR_RETURN(const SplitLoops channels, s_.Split(s_.Loop(out_, "d1"), plan_.group_blocks));
    ASSIGN_OR_RETURN(const SplitLoops rows, s_.Split(s_.Loop(out_, "d2"), plan_.block.rows * plan_.tile));
    ASSIGN_OR_RETURN(const SplitLoops tile_rows, s_.Split(rows.inner, plan_.tile));
    ASSIGN_OR_RETURN(const SplitLoops columns,
                     s_.Split(s_.Loop(out_, "d3"), plan_.block.columns * plan_.tile));
    ASSIGN_OR_RETURN(const SplitLoops tile_columns, s_.Split(columns.inner, plan_.tile));
    std::vector<LoopHandle> order = {s_.Loop(out_, "d0"), rows.outer, columns.outer, channels.outer};
    if (plan_.input_first) std::ranges::rotate(order, order.begin() + 3);
    order.insert(order.end(), {channels.inner, tile_rows.outer, tile_columns.outer, tile_rows.inner,
                               tile_columns.inner, lanes});
    RETURN_IF_ERROR(s_.Reorder(order));
    RETURN_IF_ERROR(s_.Unroll(tile_rows.inner));
    RETURN_IF_ERROR(s_.Unroll(tile_columns.inner));
    RETURN_IF_ERROR(s_.Vectorize(lanes));
    tiles_ = tile_columns.outer;
    if (plan_.block.columns == shape_.tiles_w && shape_.width % plan_.tile != 0)
      RETURN_IF_ERROR(s_.Peel(tiles_, 0, 1));
    return ParallelizeOuter(s_, out_, plan_.input_first ? 4 : 3);
  }

  absl::Status OutputTransform() {
    const StageHandle rows = StageOfAnchor(s_, workload_, ".rows");
    RETURN_IF_ERROR(s_.ComputeAt(rows, tiles_, MemorySpace::kRegister));
    return UnrollVector(rows, "d5");
  }

  absl::Status Products() {
    const StageHandle m = StageOfAnchor(s_, workload_, ".m");
    ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s_.Loops(out_));
    block_loop_ = loops[0];
    ASSIGN_OR_RETURN(const StageHandle acc, s_.CacheWrite(m));
    RETURN_IF_ERROR(s_.ComputeAt(m, plan_.input_first ? loops[0] : loops[1], MemorySpace::kScratch));
    const LoopHandle blocks = s_.Loop(m, "d3"), lanes = s_.Loop(m, "d5");
    ASSIGN_OR_RETURN(const SplitLoops points, s_.Split(s_.Loop(m, "d4"), plan_.tile_p));
    RETURN_IF_ERROR(s_.Reorder(
        {s_.Loop(m, "d0"), s_.Loop(m, "d1"), s_.Loop(m, "d2"), points.outer, points.inner, blocks, lanes}));
    RETURN_IF_ERROR(s_.Unroll(points.inner));
    RETURN_IF_ERROR(s_.Unroll(blocks));
    RETURN_IF_ERROR(s_.Vectorize(lanes));
    RETURN_IF_ERROR(s_.ComputeAt(acc, points.outer, MemorySpace::kRegister));
    return AccumulateProducts(acc);
  }

  absl::Status AccumulateProducts(const StageHandle& acc) {
    const LoopHandle points = s_.Loop(acc, "d4"), blocks = s_.Loop(acc, "d3"), lanes = s_.Loop(acc, "d5");
    ASSIGN_OR_RETURN(const TermLoops terms, SplitTerms(s_, s_.Loop(acc, "c"), plan_.dot));
    LoopHandle channels = terms.outer;
    std::vector<LoopHandle> order = s_.LoopsOver(acc, {"d0", "d1", "d2"});
    order.push_back(channels);
    if (shape_.channels > shape_.lanes && shape_.channels % shape_.lanes == 0) {
      ASSIGN_OR_RETURN(const SplitLoops split, s_.Split(channels, shape_.lanes / plan_.dot));
      order.back() = channels = split.outer;
      order.push_back(split.inner);
    }
    order.insert(order.end(), {points, blocks, lanes});
    if (plan_.dot > 1) order.push_back(terms.instruction);
    RETURN_IF_ERROR(s_.Reorder(order));
    RETURN_IF_ERROR(s_.Unroll(points));
    RETURN_IF_ERROR(s_.Unroll(blocks));
    RETURN_IF_ERROR(s_.Vectorize(lanes));
    if (plan_.dot > 1) RETURN_IF_ERROR(s_.Dot(terms.instruction));
    if (plan_.prefetch) RETURN_IF_ERROR(s_.Prefetch(OutputOf(".u"), channels));
    // Prefetches the transformed input of the next point too, half of which another core has made.
    if (plan_.input_first) RETURN_IF_ERROR(s_.PrefetchNextTile(OutputOf(".v"), channels));
    return s_.Overcompute(acc);
  }

  // For each channel block: its part of the padded input, then the transform tile by tile, in registers.
  absl::Status InputTransform() {
    const StageHandle v = StageOfAnchor(s_, workload_, ".v"),
                      columns = StageOfAnchor(s_, workload_, ".columns"),
                      pad = StageOfAnchor(s_, workload_, ".pad");
    if (!plan_.input_first) RETURN_IF_ERROR(s_.ComputeAt(v, block_loop_, MemorySpace::kScratch));
    RETURN_IF_ERROR(s_.Reorder(s_.LoopsOver(v, {"d2", "d3", "d4", "d0", "d1", "d5"})));
    RETURN_IF_ERROR(UnrollVector(v, "d5"));
    if (plan_.input_first) RETURN_IF_ERROR(ParallelizeOuter(s_, v, 2));
    const LoopHandle tiles = s_.Loop(v, "d4");
    RETURN_IF_ERROR(s_.ComputeAt(columns, tiles, MemorySpace::kRegister));
    RETURN_IF_ERROR(s_.Reorder(s_.LoopsOver(columns, {"d1", "d0"})));
    RETURN_IF_ERROR(UnrollVector(columns, "d5"));
    ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s_.Loops(v));
    const auto at = std::ranges::find(loops, tiles) - 1;
    RETURN_IF_ERROR(s_.ComputeAt(pad, *at, MemorySpace::kScratch));
    RETURN_IF_ERROR(s_.Vectorize(s_.Loop(pad, "d4")));
    const WindowAxis axis = WindowAlong(*workload_.anchor, 1);
    const LoopHandle row = s_.Loop(pad, "d3");
    ASSIGN_OR_RETURN(const int64_t width, s_.Extent(row));
    if (width == shape_.tiles_w * plan_.tile + 2)
      RETURN_IF_ERROR(
          PeelPadding(s_, row, {.front = axis.pad_begin, .back = width - axis.pad_begin - axis.input}));
    return absl::OkStatus();
  }

  // Unrolls the first two axes, points or rows of a tile, and vectorizes the lanes.
  absl::Status UnrollVector(const StageHandle& stage, std::string_view lanes) {
    RETURN_IF_ERROR(s_.Unroll(s_.Loop(stage, "d0")));
    RETURN_IF_ERROR(s_.Unroll(s_.Loop(stage, "d1")));
    return s_.Vectorize(s_.Loop(stage, lanes));
  }

  Buffer OutputOf(std::string_view suffix) const {
    return workload_.FindStage(absl::StrCat(workload_.anchor_stage, suffix)).output;
  }

  Schedule& s_;
  const Workload& workload_;
  const WinogradPlan plan_;
  const WinogradShape shape_;
  const StageHandle out_;
  LoopHandle tiles_;       // loop of the output over the tiles of a row of a block
  LoopHandle block_loop_;  // loop of the output whose body computes a block
};

}  // namespace

absl::Status ConvWinogradApply(Schedule& s, const Workload& workload, const Config& config, const Target&) {
  return WinogradScheduler(s, workload, config).Run();
}

}  // namespace attune
