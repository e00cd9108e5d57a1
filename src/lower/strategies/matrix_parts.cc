#include "lower/strategies/matrix_parts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked.h"
#include "base/status.h"

namespace attune {
namespace {

// A block leaves registers for one left and one right operand.
constexpr int64_t kMaxTiles = kTileRegisters - 2;

// The loops over tiles, which are unrolled, and those of one tile.
struct TileLoops {
  std::vector<LoopHandle> outer;
  LoopHandle rows, columns;
};

absl::StatusOr<TileLoops> SplitIntoTiles(Schedule& s, const MatrixLoops& loops, const MatrixTile& tile) {
  TileLoops tiles;
  ASSIGN_OR_RETURN(const SplitLoops rows, s.Split(loops.rows, tile.rows));
  tiles.outer = {rows.outer};
  tiles.rows = rows.inner;
  if (!loops.blocks) {
    ASSIGN_OR_RETURN(const SplitLoops columns, s.Split(loops.columns, kTileColumns));
    tiles.outer.push_back(columns.outer);
    tiles.columns = columns.inner;
  } else {
    tiles.outer.push_back(loops.blocks);
    tiles.columns = loops.columns;
  }
  return tiles;
}

// Marks the loops over tiles, and the columns of one tile, once the loops are in order.
absl::Status MarkTile(Schedule& s, const TileLoops& tiles) {
  for (const LoopHandle& loop : tiles.outer) RETURN_IF_ERROR(s.Unroll(loop));
  return s.Vectorize(tiles.columns);
}

}  // namespace

int64_t MatrixTerms(const Node& anchor, const Target& target) {
  const ProductInstruction* instruction = InstructionFor(anchor, kMatrixInstructions, target);
  return instruction == nullptr ? 0 : instruction->terms;
}

std::vector<Knob> MatrixSpace(int64_t rows, int64_t columns, int64_t groups) {
  Knob tile_rows{"rows", {}}, tiles_m{"tiles_m", {}}, tiles_n{"tiles_n", {}};
  for (int64_t r = std::min(rows, kTileRows); r >= std::min(rows, kTileRows / 2); --r)
    tile_rows.values.push_back(r);
  for (int64_t t = 1; t <= std::min(CeilDiv(rows, kTileRows), kMaxTiles); ++t) tiles_m.values.push_back(t);
  for (int64_t t = 1; t <= std::min(CeilDiv(columns, kTileColumns), kMaxTiles); ++t)
    tiles_n.values.push_back(t);
  return {tile_rows, tiles_m, tiles_n, {"groups", Divisors(groups, kTileColumns)}};
}

MatrixTile MatrixTileOf(const Config& config) {
  return {config.at("rows"), config.at("tiles_m"), config.at("tiles_n"), config.at("groups")};
}

Config CheapestMatrixTile(const std::vector<Knob>& space, int64_t rows,
                          const std::function<double(const MatrixTile&)>& cost) {
  Config best;
  double best_cost = std::numeric_limits<double>::infinity();
  const int64_t groups = space[3].values.back();
  for (const int64_t tile_rows : space[0].values) {
    for (const int64_t m : space[1].values) {
      for (const int64_t n : space[2].values) {
        const MatrixTile tile = {tile_rows, m, n, groups};
        if (!CheckMatrixTile(tile, rows).ok()) continue;
        const double here = cost(tile);
        if (here >= best_cost) continue;
        best_cost = here;
        best = {{"rows", tile_rows}, {"tiles_m", m}, {"tiles_n", n}, {"groups", groups}};
      }
    }
  }
  return best;
}

absl::Status CheckMatrixTile(const MatrixTile& tile, int64_t rows) {
  if (tile.tiles_m * tile.tiles_n > kMaxTiles)
    return InvalidInput(tile.tiles_m, " × ", tile.tiles_n, " tiles of sums leave no registers to operands");
  if (tile.block_rows() > rows)
    return InvalidInput("tiles of ", tile.block_rows(), " rows, where there are ", rows);
  return absl::OkStatus();
}

double MatrixStepCycles(const MatrixTile& tile, const Target& target) {
  const auto products = static_cast<double>(tile.tiles_m * tile.tiles_n);
  // Operands that are used again stay in registers, if there are enough for all of them.
  const bool stays = tile.tiles_m * tile.tiles_n + tile.tiles_m + tile.tiles_n <= kTileRegisters;
  const auto loads = static_cast<double>(tile.tiles_m + tile.tiles_n * (stays ? 1 : tile.tiles_m));
  return products * target.tile_product_cycles + target.exposed_tile_loads * loads * target.tile_load_cycles;
}

double MatrixCopyCycles(const MatrixTile& tile, const Target& target) {
  constexpr double kBlockCycles = 40;
  const auto tiles = static_cast<double>(tile.tiles_m * tile.tiles_n);
  return kBlockCycles + tiles * 2 * target.tile_product_cycles;
}

absl::Status ScheduleTileCopy(Schedule& s, const StageHandle& stage, const MatrixLoops& loops,
                              const MatrixTile& tile) {
  ASSIGN_OR_RETURN(const TileLoops tiles, SplitIntoTiles(s, loops, tile));
  std::vector<LoopHandle> order = loops.around;
  order.insert(order.end(), tiles.outer.begin(), tiles.outer.end());
  order.insert(order.end(), {tiles.rows, tiles.columns});
  RETURN_IF_ERROR(s.Reorder(order));
  RETURN_IF_ERROR(MarkTile(s, tiles));
  RETURN_IF_ERROR(s.Matrix(tiles.rows));
  s.Overcompute(stage).IgnoreError();
  return absl::OkStatus();
}

absl::StatusOr<LoopHandle> ScheduleTileSums(Schedule& s, const StageHandle& stage, const MatrixLoops& loops,
                                            int64_t terms, const MatrixTile& tile) {
  ASSIGN_OR_RETURN(const TileLoops tiles, SplitIntoTiles(s, loops, tile));
  ASSIGN_OR_RETURN(const SplitLoops groups, s.Split(loops.terms, terms));
  ASSIGN_OR_RETURN(const SplitLoops steps, s.Split(groups.outer, tile.groups));
  std::vector<LoopHandle> order = loops.around;
  order.push_back(steps.outer);
  order.insert(order.end(), tiles.outer.begin(), tiles.outer.end());
  order.insert(order.end(), {tiles.rows, steps.inner, tiles.columns, groups.inner});
  RETURN_IF_ERROR(s.Reorder(order));
  RETURN_IF_ERROR(MarkTile(s, tiles));
  RETURN_IF_ERROR(s.Unroll(steps.inner));
  RETURN_IF_ERROR(s.Dot(groups.inner));
  RETURN_IF_ERROR(s.Matrix(tiles.rows));
  // Guards stay where a read without them would leave its buffer; then vectors compute the sums.
  s.Overcompute(stage).IgnoreError();
  return steps.outer;
}

}  // namespace attune
