// Tiles of a sum of products, and their costs. contraction.cc
#ifndef ATTUNE_LOWER_STRATEGIES_CONTRACTION_TILE_H_
#define ATTUNE_LOWER_STRATEGIES_CONTRACTION_TILE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <vector>

#include "lower/strategies/contraction_sum.h"
#include "lower/strategies/strategies.h"

namespace attune {

constexpr int64_t kMaxColumns = 6, kMaxRows = 16, kMaxPlanes = 8;

// A tile: `columns` vectors of the loop `lanes`, times rows of two other loops.
struct Tile {
  size_t lanes = 0, rows = 0, planes = 0;
  int64_t columns = 1, height = 1, depth = 1;

  int64_t Of(size_t loop, int64_t vector) const {
    if (loop == lanes) return columns * vector;
    if (loop == rows && height > 1) return height;
    return loop == planes ? depth : 1;
  }
};

// Whether these loops can be tiled, the first of them in lanes. Each must belong to another axis, and which
// terms are left out must not depend on the others, except on one along which an image is padded.
bool CanTile(const Sum& sum, std::initializer_list<size_t> loops);

// Whether the sum has such a tile.
bool IsOf(const Sum& sum, const Tile& tile);

// How an operand gets into the lanes of a tile: by broadcasting one element, by loading neighbours in
// memory, from a copy whose rows have a tile's vectors each, from a copy with the axis of the lanes last,
// or element by element.
enum class Reading : uint8_t { kBroadcast, kVector, kPanels, kMoved, kElements };

// Predicts from strides what a tile of a sum needs and costs. The workload, the sum and the target must
// outlive it.
class TileModel {
 public:
  TileModel(const Workload& workload, const Sum& sum, const Target& target)
      : sum_(sum), target_(target), registers_(TileRegisters(workload, target)) {
    for (const LoopNest::Param& param : workload.definition.params) params_.insert(param.buffer);
  }

  Reading ReadingOf(size_t operand, size_t lanes) const;

  // Whether an operand has panels of a tile's vectors. They are filled up, as vectors must not cross them.
  bool HasPanels(const Tile& tile) const;

  // Whether the sums and operands of a tile fit into registers.
  bool Fits(const Tile& tile) const;

  // The loop of a tile, rows or planes, that goes inside the other one so that fewer registers hold
  // operands.
  size_t InnerLoop(const Tile& tile) const;

  // The loops over tiles, outermost first. The loop over vectors is innermost, so that neighbouring vectors
  // follow one another; with panels, it is farther out, so that a panel stays in the caches while the other
  // loops run. Loops over tiles of a padded image are inside all others: at both ends of them, windows leave
  // the image.
  std::vector<size_t> OuterLoops(const Tile& tile) const;

  // The cycles that the whole kernel takes on one core with such tiles.
  double Cycles(const Tile& tile) const;

 private:
  static constexpr double kCopyCycles = 0.5, kTileCycles = 8, kMaskCycles = 0.3, kBranchCycles = 2,
                          kPartCycles = 3;
  static constexpr int64_t kMaxStep = 4;

  // Registers for operands while one step of a tile's sums runs `inner` inside `outer`: operands that do
  // not move along `outer` stay in registers, the others are loaded as they come.
  int64_t Held(const Tile& tile, size_t outer, size_t inner) const;

  // The bytes of all cache lines of an operand that a tile reads.
  double BytesOf(const Operand& operand, const Tile& tile) const;

  // The cycles for loading the operands of a tile from beyond L1.
  double TrafficCycles(const Tile& tile) const;

  double CopyCycles(const Operand& operand) const;
  // Whether a copy takes little time compared with the sums.
  bool IsWorthCopying(const Operand& operand) const;
  // The part of a step's cycles that masks and branches add, on average over all tiles.
  double AtBorders(size_t loop, const Tile& tile) const;

  const Sum& sum_;
  const Target& target_;
  int64_t registers_;
  std::set<Buffer> params_;
};

struct RatedTile {
  Tile tile;
  double cycles;
};

// The cheapest tile.
RatedTile BestTile(const Sum& sum, const TileModel& model);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_CONTRACTION_TILE_H_
