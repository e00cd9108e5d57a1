#include "lower/strategies/conv_tile.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int64_t kMaxBlocks = 8;
constexpr double kFinishCycles = 3;  // to finish one accumulator while nothing else is computed

// Whether registers hold the accumulators, one vector of weights per block, and the input element, unless
// just one instruction reads and broadcasts it. If no instruction can and each element is used once, LLVM
// loads several ahead: with 11 accumulators or more it spills, and the tile takes 1.2 times as long.
bool Fits(int64_t tile_w, int64_t tile_c, int64_t registers, const Target& target) {
  constexpr int64_t kLoadedAhead = 5;
  const int64_t broadcasts = tile_c > 1 ? 1 : target.vector_bits >= 512 ? 0 : kLoadedAhead;
  return tile_w * tile_c + tile_c + broadcasts <= registers;
}

// The numbers of blocks that a tile can have.
std::vector<int64_t> TileBlocks(const TiledConv& conv) {
  if (!conv.uneven) return Divisors(conv.group_blocks, kMaxBlocks);
  std::vector<int64_t> blocks(static_cast<size_t>(std::min(conv.blocks, kMaxBlocks)));
  std::iota(blocks.begin(), blocks.end(), 1);
  return blocks;
}

}  // namespace

bool HasEvenTiles(const Workload& workload, const Config& config) {
  return workload.output_type().physical_shape()[1] % config.at("tile_c") == 0;
}

double TileCost(const TiledConv& conv, int64_t tile_w, int64_t tile_c, const Target& target) {
  const bool is_half = conv.lanes < target.Lanes(4);
  const double multiply_adds = conv.slowdown * static_cast<double>(tile_w * tile_c) /
                               (is_half ? target.half_fma_per_cycle : target.fma_per_cycle);
  const double latency = static_cast<double>(target.fma_latency);
  const int64_t vector_bytes = conv.lanes * 4;
  const int64_t weight_bytes = conv.steps * tile_c * vector_bytes;
  const double line_cycles = weight_bytes <= target.l1_bytes / 2
                                 ? (is_half ? 0.5 : 1) / target.loads_per_cycle
                             : weight_bytes <= target.l2_bytes / 2 ? vector_bytes / target.l2_bytes_per_cycle
                                                                   : vector_bytes / target.l3_bytes_per_cycle;
  const double widening = conv.widens ? target.widen_cycles * static_cast<double>(tile_w + tile_c) : 0;
  const double loads = widening + TileLoadCycles(tile_w, tile_c, line_cycles, target);
  // A tile that leaves registers free is unrolled, and finishing it hides behind the next one's
  // multiply-adds.
  const int64_t accumulators = tile_w * tile_c;
  const double loop_overhead = accumulators > kLargestUnrolledTile ? 1.0 : 1.0 / 8;
  const double finish =
      kFinishCycles *
      static_cast<double>(std::max<int64_t>(accumulators - target.num_vector_registers / 2, 0)) /
      static_cast<double>(conv.steps);
  const double tiles = static_cast<double>(CeilDiv(conv.width, tile_w) * CeilDiv(conv.blocks, tile_c));
  // Threads share tiles one by one, or, where some are peeled, a row at a time.
  constexpr double kGuards = 1.02;
  const double uneven = conv.width % tile_w == 0 ? 1.0
                        : conv.padded ? kGuards * TypicalImbalance(conv.rows * CeilDiv(conv.blocks, tile_c))
                                      : kGuards;
  return uneven * tiles * (std::max({multiply_adds, loads, latency}) + loop_overhead + finish);
}

std::vector<Knob> TileSpace(const TiledConv& conv, const Target& target) {
  Knob tile_w{"tile_w", {}}, tile_c{"tile_c", TileBlocks(conv)};
  for (int64_t w = 1; w <= std::min<int64_t>(conv.width, target.num_vector_registers - 2); ++w)
    tile_w.values.push_back(w);
  return {tile_w, tile_c, {"rows_first", {0, 1}}};
}

Config CheapestTile(const TiledConv& conv, int64_t registers, const Target& target) {
  Config best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int64_t c : Divisors(conv.group_blocks, kMaxBlocks)) {
    for (int64_t w = 1; w <= std::min(conv.width, registers); ++w) {
      if (!Fits(w, c, registers, target)) continue;
      const double cost = TileCost(conv, w, c, target);
      if (cost < best_cost) {
        best_cost = cost;
        best = {{"tile_w", w}, {"tile_c", c}, {"rows_first", 0}};
      }
    }
  }
  return best;
}

absl::StatusOr<ConvTileLoops> SplitIntoTiles(Schedule& schedule, const Workload& workload,
                                             const Config& config, LastTile last) {
  const StageHandle out = schedule.StageNamed(workload.output_stage);
  const int64_t tile_w = config.at("tile_w");
  const bool is_even = HasEvenTiles(workload, config);
  const LoopHandle batch = schedule.Loop(out, "d0"), rows = schedule.Loop(out, "d2");
  const LoopHandle row = schedule.Loop(out, "d3"), lanes = schedule.Loop(out, "v");
  ASSIGN_OR_RETURN(const SplitLoops blocks, schedule.Split(schedule.Loop(out, "d1"), config.at("tile_c")));
  ASSIGN_OR_RETURN(const SplitLoops pixels, last == LastTile::kOverlaps
                                                ? schedule.SplitOverlapping(row, tile_w)
                                                : schedule.Split(row, tile_w));
  std::vector<LoopHandle> order = {batch, blocks.outer, rows, pixels.outer};
  if (!is_even) {
    order = {batch, rows, pixels.outer, blocks.outer};
  } else if (config.at("rows_first") != 0) {
    order = {batch, rows, blocks.outer, pixels.outer};
  }
  order.insert(order.end(), {blocks.inner, pixels.inner, lanes});
  RETURN_IF_ERROR(schedule.Reorder(order));
  RETURN_IF_ERROR(schedule.Vectorize(lanes));
  RETURN_IF_ERROR(schedule.Unroll(blocks.inner));
  RETURN_IF_ERROR(schedule.Unroll(pixels.inner));
  if (!is_even) RETURN_IF_ERROR(schedule.Peel(blocks.outer, 0, 1));
  return ConvTileLoops{blocks.outer, rows, pixels.outer};
}

absl::Status TileOutput(Schedule& schedule, const Workload& workload, const Config& config,
                        const Borders& peeled) {
  const StageHandle out = schedule.StageNamed(workload.output_stage);
  const bool peels = peeled.front + peeled.back > 0;
  ASSIGN_OR_RETURN(
      const ConvTileLoops tiles,
      SplitIntoTiles(schedule, workload, config, peels ? LastTile::kBeyond : LastTile::kOverlaps));
  const Shape weights = workload.anchor->input(1)->type().shape();
  const int64_t terms = weights[1] * weights[2] * weights[3];
  const bool shares = IsWorthSharing(workload.anchor->output()->type().num_elements() * terms);
  if (peels) RETURN_IF_ERROR(schedule.Peel(tiles.pixels, peeled.front, peeled.back));
  const bool one_is_peeled = peels || !HasEvenTiles(workload, config);
  if (shares) RETURN_IF_ERROR(ParallelizeOuter(schedule, out, one_is_peeled ? 3 : 4));
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, schedule.Loops(out));
  constexpr size_t kLoopsOfTile = 3;
  return schedule.ComputeAt(schedule.StageNamed(workload.accumulator_stage),
                            loops[loops.size() - kLoopsOfTile - 1], MemorySpace::kRegister);
}

}  // namespace attune
