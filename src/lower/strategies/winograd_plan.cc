#include "lower/strategies/winograd_plan.h"

#include <algorithm>

#include "base/checked.h"

namespace attune {
namespace {

constexpr int64_t kMaxGroupBlocks = 4;
constexpr int64_t kFewTiles = 256;

// Tiles × channel blocks of accumulators, the filters' vectors, and the input element unless one instruction
// reads and broadcasts it.
int64_t MaxTileRows(int64_t group_blocks, const Target& target) {
  const int64_t broadcast = target.vector_bits >= 512 ? 0 : 1;
  return (target.num_vector_registers - group_blocks - broadcast) / group_blocks;
}

// Vector operations for one vector of channels of one tile: loads or stores of all points beside the
// arithmetic of both directions, which share the two rows of a pair of points.
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

// Filters are used up faster than the hardware fetches them by itself where they serve few tiles, and
// where an instruction takes several at a time.
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
      for (int64_t p : Divisors(block.tiles(), MaxTileRows(c, target))) {
        for (bool input_first : {true, false}) plans.emplace_back(s, tile, dot, block, c, p, input_first);
      }
    }
  }
  return plans;
}

double WinogradPlanCost(const WinogradShape& s, const WinogradPlan& p, const Target& target) {
  const int64_t points = (p.tile + 2) * (p.tile + 2), vector_bytes = target.vector_bits / 8;
  const int64_t tiles = s.tiles(), groups = CeilDiv(s.out_blocks, p.group_blocks);
  const int64_t blocks = tiles / p.block.tiles(), steps = s.channels / p.dot;

  // What must stay in the second-level cache: the block's products, its input, and the filters that the next
  // block reads again, which are those of one group where the groups are outermost.
  const int64_t product_bytes = points * p.block.tiles() * p.group_blocks * vector_bytes;
  const int64_t block_bytes = points * p.block.tiles() * s.in_blocks * vector_bytes / p.dot;
  const int64_t input_bytes = points * tiles * s.in_blocks * vector_bytes / p.dot;
  const int64_t filter_bytes = points * steps * s.out_blocks * vector_bytes;
  const int64_t filters_read_again = p.input_first ? filter_bytes / groups : filter_bytes;
  const int64_t read_again = product_bytes + block_bytes + filters_read_again;
  const bool filters_fit = blocks == 1 || read_again <= target.l2_bytes * 3 / 4;
  const auto line = static_cast<double>(vector_bytes);
  const double line_cycles = line / (filters_fit ? target.l2_bytes_per_cycle : target.l3_bytes_per_cycle);

  const auto register_tile = static_cast<double>(p.tile_p * p.group_blocks);
  const double multiply_adds = register_tile / target.fma_per_cycle;
  // A panel of filters is read again for each register tile of the block, from a nearer cache. In part that
  // delays even what is bound by multiplying.
  const auto passes = static_cast<double>(CeilDiv(p.block.tiles(), p.tile_p));
  const double vector_cycles = (line_cycles + (passes - 1) * line / target.l2_bytes_per_cycle) / passes;
  const double loads = TileLoadCycles(p.tile_p, p.group_blocks, vector_cycles, target);
  constexpr double kExposed = 3.0 / 8;
  const double step = std::max({multiply_adds, loads, static_cast<double>(target.fma_latency)}) + 0.5 +
                      kExposed * static_cast<double>(p.group_blocks) * vector_cycles;
  // Each group reads the block's input once more. The more of the cache it takes, the more of it is gone by
  // then, here and there, which nothing foresees; what cannot fit comes as a stream, which the hardware does.
  constexpr double kUnforeseen = 1.5, kStreamed = 0.5;
  const double part = static_cast<double>(product_bytes + block_bytes) / static_cast<double>(target.l2_bytes);
  const double input_reads = (part <= 1 ? kUnforeseen * part : kStreamed) *
                             static_cast<double>(blocks * groups * block_bytes) / target.l3_bytes_per_cycle;
  const double products = static_cast<double>(blocks * points * groups * steps) * passes * step + input_reads;

  // What leaves the second-level cache is written and read again.
  const int64_t kept = product_bytes + (p.input_first ? input_bytes : block_bytes);
  const double spill = kept <= target.l2_bytes ? 1 : kept <= target.l3_bytes / 8 ? 1.2 : 2.5;
  const double transforms = spill * static_cast<double>(tiles) *
                            (static_cast<double>(s.in_blocks) * InputTransformCycles(p.tile + 2, target) +
                             static_cast<double>(s.out_blocks) * OutputTransformCycles(p.tile, target));
  const double balance = TypicalImbalance(p.input_first ? blocks * groups : blocks);
  // What another core has written comes more slowly than what only left the cache: of two, each reads half of
  // the input's transform from the other one.
  constexpr double kSlower = 5;
  const double exchanged =
      p.input_first ? kSlower * static_cast<double>(input_bytes) / 2 / target.l3_bytes_per_cycle : 0;
  // Filters that take much of the third-level cache are gone from it when the next block reads them.
  const bool stay = p.input_first || filter_bytes <= target.l3_bytes / 2;
  return WithMemoryTraffic(balance * (products + transforms) + exchanged, filter_bytes * (stay ? 1 : blocks),
                           target);
}

}  // namespace attune
