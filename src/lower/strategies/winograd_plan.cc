#include "lower/strategies/winograd_plan.h"

#include <algorithm>

#include "base/checked.h"

namespace attune {
namespace {

constexpr int64_t kMaxGroupBlocks = 4;
constexpr int64_t kFewTiles = 256;

// The most Winograd tiles in a register tile: registers hold tiles × channel blocks of accumulators, the
// filters' vectors, and the input element unless one instruction reads and broadcasts it. No instruction
// broadcasts pairs of i16, and their product is in a register before it is added.
int64_t MaxTileRows(int64_t group_blocks, bool is_integer, const Target& target) {
  const int64_t temporaries = is_integer ? 2 : target.vector_bits >= 512 ? 0 : 1;
  return (target.num_vector_registers - group_blocks - temporaries) / group_blocks;
}

// The cycles for one vector of channels of one tile: loads or stores of all points beside the arithmetic of
// both directions, which the two rows of a pair of points share.
double InputTransformCycles(int64_t points, const Target& target) {
  const auto n = static_cast<double>(points);
  const double arithmetic = 2 * n * (n / 2) * (n / 2 - 1) * 2;
  return (arithmetic + 3 * n * n) / target.fma_per_cycle;
}
double OutputTransformCycles(int64_t tile, const Target& target) {
  const auto m = static_cast<double>(tile), n = m + 2;
  const double arithmetic = (n + m) * (n + m * (n / 2 - 1));
  return (arithmetic + n * n + 2 * m * m) / target.fma_per_cycle;
}

// How many bytes a plan's data take.
struct Bytes {
  int64_t products, input, whole_input, filters;  // the first two for a block of tiles

  Bytes(const WinogradShape& s, const WinogradPlan& p, const Target& target) {
    const int64_t points = (p.tile + 2) * (p.tile + 2), vector_bytes = target.vector_bits / 8;
    products = points * p.block.tiles() * p.group_blocks * vector_bytes;
    input = points * p.block.tiles() * s.in_blocks * vector_bytes / p.dot;
    whole_input = points * s.tiles() * s.in_blocks * vector_bytes / p.dot;
    filters = points * (s.channels / p.dot) * s.out_blocks * vector_bytes;
  }
};

// The cycles for one step of a register tile's sums.
double StepCycles(const WinogradShape& s, const WinogradPlan& p, const Bytes& bytes, const Target& target) {
  const int64_t groups = CeilDiv(s.out_blocks, p.group_blocks), blocks = s.tiles() / p.block.tiles();
  const int64_t vector_bytes = target.vector_bits / 8;
  // L2 must keep the block's products, its input, and the filters that the next block reads again: those of
  // one group if groups are outermost, else all.
  const int64_t filters_read_again = p.input_first ? bytes.filters / groups : bytes.filters;
  const int64_t read_again = bytes.products + bytes.input + filters_read_again;
  const bool filters_fit = blocks == 1 || static_cast<double>(read_again) <=
                                              target.l2_share_kept * static_cast<double>(target.l2_bytes);
  const auto line = static_cast<double>(vector_bytes);
  const double line_cycles = line / (filters_fit ? target.l2_bytes_per_cycle : target.l3_bytes_per_cycle);

  const auto register_tile = static_cast<double>(p.tile_p * p.group_blocks);
  const double multiply_adds = register_tile / target.fma_per_cycle;
  // Each register tile of the block reads a panel of filters again, from a nearer cache. In part that
  // delays even products that are bound by multiplying; with pairs of i16 it does in full, as the products
  // and their sums leave no unit free.
  const int64_t panel_bytes = s.channels / p.dot * p.group_blocks * vector_bytes;
  const bool is_near = s.is_integer && panel_bytes <= target.l1_bytes / 2;
  const double again = is_near ? 1 / target.loads_per_cycle : line / target.l2_bytes_per_cycle;
  const auto passes = static_cast<double>(CeilDiv(p.block.tiles(), p.tile_p));
  const double vector_cycles = (line_cycles + (passes - 1) * again) / passes;
  const double loads = TileLoadCycles(p.tile_p, p.group_blocks, vector_cycles, target);
  constexpr double kExposedFilters = 3.0 / 8, kStepCycles = 0.5;  // share for f32; cycles for the loop
  const double exposed = s.is_integer ? 1 : kExposedFilters;
  return std::max({multiply_adds, loads, static_cast<double>(target.fma_latency)}) + kStepCycles +
         exposed * static_cast<double>(p.group_blocks) * vector_cycles;
}

double ProductCycles(const WinogradShape& s, const WinogradPlan& p, const Bytes& bytes,
                     const Target& target) {
  const int64_t points = (p.tile + 2) * (p.tile + 2), steps = s.channels / p.dot;
  const int64_t groups = CeilDiv(s.out_blocks, p.group_blocks), blocks = s.tiles() / p.block.tiles();
  // Each group reads the block's input once more. The more of L2 the block takes, the more of its input is
  // evicted by then, in lines here and there that no prefetcher predicts. An input that cannot fit comes as a
  // stream, which the hardware prefetches. In i16, a block's part of the whole image's input is short pieces,
  // and none of them is predicted.
  constexpr double kUnforeseen = 1.5, kStreamed = 0.5, kInPieces = 1;
  const double part =
      static_cast<double>(bytes.products + bytes.input) / static_cast<double>(target.l2_bytes);
  const double missed = s.is_integer && p.input_first && blocks > 1 ? kInPieces
                        : part <= 1                                 ? kUnforeseen * part
                                                                    : kStreamed;
  const double input_reads =
      missed * static_cast<double>(blocks * groups * bytes.input) / target.l3_bytes_per_cycle;
  const auto passes = static_cast<double>(CeilDiv(p.block.tiles(), p.tile_p));
  return static_cast<double>(blocks * points * groups * steps) * passes * StepCycles(s, p, bytes, target) +
         input_reads;
}

}  // namespace

std::vector<WinogradBlock> WinogradBlocksOf(const WinogradShape& s) {
  std::vector<WinogradBlock> blocks;
  for (int64_t columns : Divisors(s.tiles_w, s.tiles_w)) blocks.push_back({1, columns});
  for (int64_t rows : Divisors(s.tiles_h, s.tiles_h)) {
    if (rows > 1) blocks.push_back({rows, s.tiles_w});
  }
  return blocks;
}

WinogradPlan::WinogradPlan(const Config& config)
    : tile(config.at("tile")),
      dot(config.at("dot")),
      block{config.at("block_h"), config.at("block_w")},
      group_blocks(config.at("tile_c")),
      tile_p(config.at("tile_p")),
      input_first(config.at("input_first") != 0),
      prefetch(config.at("prefetch") != 0) {}

// Filters are used up faster than the hardware prefetches them if they serve few tiles, or if an
// instruction takes several of them at a time.
WinogradPlan::WinogradPlan(const WinogradShape& s, int64_t m, int64_t d, WinogradBlock b, int64_t c,
                           int64_t p, bool first)
    : tile(m),
      dot(d),
      block(b),
      group_blocks(c),
      tile_p(p),
      input_first(first),
      prefetch(d > 1 || s.tiles() <= kFewTiles) {}

Config WinogradPlan::ToConfig() const {
  return {{"tile", tile},
          {"dot", dot},
          {"block_h", block.rows},
          {"block_w", block.columns},
          {"tile_c", group_blocks},
          {"tile_p", tile_p},
          {"input_first", input_first ? 1 : 0},
          {"prefetch", prefetch ? 1 : 0}};
}

std::vector<WinogradPlan> WinogradPlansFor(const WinogradShape& s, int64_t tile, int64_t dot,
                                           const Target& target) {
  std::vector<WinogradPlan> plans;
  for (const WinogradBlock& block : WinogradBlocksOf(s)) {
    for (int64_t c : Divisors(s.out_blocks, kMaxGroupBlocks)) {
      for (int64_t p : Divisors(block.tiles(), MaxTileRows(c, s.is_integer, target))) {
        for (bool input_first : {true, false}) plans.emplace_back(s, tile, dot, block, c, p, input_first);
      }
    }
  }
  return plans;
}

double WinogradPlanCost(const WinogradShape& s, const WinogradPlan& p, const Target& target) {
  const Bytes bytes(s, p, target);
  const int64_t tiles = s.tiles(), groups = CeilDiv(s.out_blocks, p.group_blocks);
  const int64_t blocks = tiles / p.block.tiles();
  const double products = ProductCycles(s, p, bytes, target);

  // Data that leaves L2 is written and read again.
  const int64_t kept = bytes.products + (p.input_first ? bytes.whole_input : bytes.input);
  const double spill = kept <= target.l2_bytes       ? 1
                       : kept <= target.l3_bytes / 8 ? target.spilled_to_l3
                                                     : target.spilled_beyond_l3;
  const double transforms = spill * static_cast<double>(tiles) *
                            (static_cast<double>(s.in_blocks) * InputTransformCycles(p.tile + 2, target) +
                             static_cast<double>(s.out_blocks) * OutputTransformCycles(p.tile, target));
  const double balance = TypicalImbalance(p.input_first ? blocks * groups : blocks);
  // Data that another core has written comes more slowly than data that only left L2: of two cores, each
  // reads half of the transformed input from the other one.
  const double exchanged = p.input_first
                               ? target.other_core_slowdown * static_cast<double>(bytes.whole_input) / 2 /
                                     target.l3_bytes_per_cycle
                               : 0;
  // Filters that take much of L3 are evicted from it before the next block reads them.
  const bool stay = p.input_first || bytes.filters <= target.l3_bytes / 2;
  return WithMemoryTraffic(balance * (products + transforms) + exchanged, bytes.filters * (stay ? 1 : blocks),
                           target);
}

}  // namespace attune
