// Parts that the strategies for a matrix unit share: blocks of tiles of sums, their costs and schedules.
#ifndef ATTUNE_LOWER_STRATEGIES_MATRIX_PARTS_H_
#define ATTUNE_LOWER_STRATEGIES_MATRIX_PARTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lower/strategies/strategies.h"
#include "target/products.h"

namespace attune {

// With fewer rows, vectors are as fast.
inline constexpr int64_t kLeastMatrixRows = 4;

// A block of tiles of sums that are computed at once.
struct MatrixTile {
  int64_t rows;              // of one tile
  int64_t tiles_m, tiles_n;  // tiles of the block, in each direction
  int64_t groups;            // groups of terms that one instruction takes

  int64_t block_rows() const { return rows * tiles_m; }
  int64_t block_columns() const { return kTileColumns * tiles_n; }
};

// The terms in a group of the instruction for the operands of a convolution or product; 0 where there is
// none.
int64_t MatrixTerms(const Node& anchor, const Target& target);

// The knobs rows, tiles_m, tiles_n and groups, for a product of `rows` × `columns` sums of `groups` groups
// of terms; the tile of such a config; and the config with the least cost of those that fit the registers
// and `rows`, empty if none does.
std::vector<Knob> MatrixSpace(int64_t rows, int64_t columns, int64_t groups);
MatrixTile MatrixTileOf(const Config& config);
Config CheapestMatrixTile(const std::vector<Knob>& space, int64_t rows,
                          const std::function<double(const MatrixTile&)>& cost);

// An error unless a block of tiles fits the registers and these rows.
absl::Status CheckMatrixTile(const MatrixTile& tile, int64_t rows);

// The cycles of one step of all tiles of a block, with its operands from L1; and those of storing its sums
// and reading them again.
double MatrixStepCycles(const MatrixTile& tile, const Target& target);
double MatrixCopyCycles(const MatrixTile& tile, const Target& target);

// The loops of a stage over the block that it computes.
struct MatrixLoops {
  LoopHandle rows, columns;
  LoopHandle blocks = {};               // over blocks of columns, if `columns` has those of just one tile
  std::vector<LoopHandle> around = {};  // the loops around all of these
  LoopHandle terms = {};                // over terms that are neighbours; other terms are in `around`
};

// Schedules the stage that copies sums out of their tiles.
absl::Status ScheduleTileCopy(Schedule&, const StageHandle& stage, const MatrixLoops&, const MatrixTile&);
// Schedules the stage that computes the sums, whose terms come in groups of `terms`. Returns the loop over
// the steps of the sums; a step is one instruction per tile.
absl::StatusOr<LoopHandle> ScheduleTileSums(Schedule&, const StageHandle& stage, const MatrixLoops&,
                                            int64_t terms, const MatrixTile&);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_MATRIX_PARTS_H_
