// The register tile of convolutions: pixels of an output row × blocks of channels, accumulated over all terms
// of the sum.
#ifndef ATTUNE_LOWER_STRATEGIES_CONV_TILE_H_
#define ATTUNE_LOWER_STRATEGIES_CONV_TILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lower/strategies/strategies.h"

namespace attune {

// Tiles of more accumulators are not unrolled along the sum: their weights would be loaded ahead, into
// registers that such a tile does not leave.
inline constexpr int64_t kLargestUnrolledTile = 24;

struct TiledConv {
  int64_t blocks;        // of output channels, in all
  int64_t group_blocks;  // those that share their input: a tile has a divisor of them
  int64_t lanes;         // channels of a block: those of a vector, or half of them
  int64_t width;         // pixels of an output row
  int64_t rows;          // of the output, of all batches
  int64_t steps;         // of the sum: terms, or as many at a time as one instruction takes
  bool padded;           // a row's tiles are peeled where they reach into padding or beyond its end
  // Whether the space has tiles of any number of blocks, of which the last has fewer. Tiles of the same
  // pixels then follow one another, and the last of them has code of its own.
  bool uneven = false;
  double slowdown = 1;  // of a step beside one of FMAs
  bool widens = false;  // each operand from bf16, as a step is an FMA
};

// Whether all tiles of a config have the same number of blocks.
bool HasEvenTiles(const Workload& workload, const Config& config);

// Predicted cycles for one step of all tiles of an output row: the multiply-adds, or the loads behind them.
double TileCost(const TiledConv& conv, int64_t tile_w, int64_t tile_c, const Target& target);

// The knobs tile_w, pixels, tile_c, channel blocks, and rows_first: whether all blocks of an output row come
// before the next row, which reads the input once and all weights for each row, or all rows of a block before
// the next one. And the cheapest values that fit `registers`.
std::vector<Knob> TileSpace(const TiledConv& conv, const Target& target);
Config CheapestTile(const TiledConv& conv, int64_t registers, const Target& target);

// Splits the output into unrolled tiles of a config's tile_w and tile_c, in the order batch, blocks, rows (or
// rows, blocks), pixels. A last tile of a row that is not full goes beyond the row's end, or overlaps the one
// before. Uneven tiles: batch, rows, pixels, blocks.
enum class LastTile : uint8_t { kBeyond, kOverlaps };
// The loops over tiles.
struct ConvTileLoops {
  LoopHandle blocks, rows, pixels;
};
absl::StatusOr<ConvTileLoops> SplitIntoTiles(Schedule& schedule, const Workload& workload,
                                             const Config& config, LastTile last = LastTile::kBeyond);

// Schedules the output in such tiles, with the anchor's accumulator in registers for each, and shares them
// among threads: by rows where some are peeled, else one by one, the last ones overlapping.
absl::Status TileOutput(Schedule& schedule, const Workload& workload, const Config& config,
                        const Borders& peeled);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_CONV_TILE_H_
