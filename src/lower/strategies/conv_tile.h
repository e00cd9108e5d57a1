// The register tile of convolutions: pixels of an output row × blocks of channels, accumulated over all terms
// of the sum.
#ifndef ATTUNE_LOWER_STRATEGIES_CONV_TILE_H_
#define ATTUNE_LOWER_STRATEGIES_CONV_TILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lower/strategies/strategies.h"

namespace attune {

// Tiles of more accumulators are not unrolled along the sum: the compiler would load weights ahead, and
// such a tile leaves no registers for them.
inline constexpr int64_t kLargestUnrolledTile = 24;

struct TiledConv {
  int64_t blocks;        // of output channels, in all
  int64_t group_blocks;  // blocks that share their input: a tile has a divisor of them
  int64_t lanes;         // channels of a block: those of a vector, or half of them
  int64_t width;         // pixels of an output row
  int64_t rows;          // rows of the output, of all batches
  int64_t steps;         // of the sum: a term each, or the terms that one instruction takes
  bool padded;           // a row's tiles are peeled where they reach into padding or beyond its end
  // Whether the space has tiles of any number of blocks, the last of which has fewer. The tiles of the same
  // pixels then follow one another, and the last of them has its own code.
  bool uneven = false;
  double slowdown = 1;  // the time of a step, relative to that of a step of FMAs
  bool widens = false;  // converts each operand from bf16, since a step is an FMA
};

// Whether all tiles of a config have the same number of blocks.
bool HasEvenTiles(const Workload& workload, const Config& config);

// Predicted cycles for one step of all tiles of an output row: multiply-adds or, if longer, loads.
double TileCost(const TiledConv& conv, int64_t tile_w, int64_t tile_c, const Target& target);

// The knobs tile_w (pixels), tile_c (channel blocks) and rows_first: whether all blocks of an output row
// come before the next row, which reads the input once and all weights for each row, or all rows of a block
// before the next block. And the cheapest values that fit `registers`.
std::vector<Knob> TileSpace(const TiledConv& conv, const Target& target);
Config CheapestTile(const TiledConv& conv, int64_t registers, const Target& target);

// Splits the output into unrolled tiles of a config's tile_w and tile_c, in the order batch, blocks, rows
// (or rows, blocks), pixels; with uneven tiles: batch, rows, pixels, blocks. The last tile of a row, if not
// full, goes beyond the row's end (guarded, or rounded up by Overcompute) or is shifted inwards.
enum class LastTile : uint8_t { kBeyond, kOverlaps };
// The loops over tiles.
struct ConvTileLoops {
  LoopHandle blocks, rows, pixels;
};
absl::StatusOr<ConvTileLoops> SplitIntoTiles(Schedule& schedule, const Workload& workload,
                                             const Config& config, LastTile last = LastTile::kBeyond);

// Schedules the output in such tiles, with the anchor's accumulator in registers for each, and shares them
// among threads: by rows if some are peeled, else one by one with the last ones shifted inwards.
absl::Status TileOutput(Schedule& schedule, const Workload& workload, const Config& config,
                        const Borders& peeled);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_CONV_TILE_H_
