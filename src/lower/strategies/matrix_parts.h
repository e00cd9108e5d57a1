// What strategies for a matrix unit share: blocks of tiles of sums, their costs, and their schedules.
#ifndef ATTUNE_LOWER_STRATEGIES_MATRIX_PARTS_H_
#define ATTUNE_LOWER_STRATEGIES_MATRIX_PARTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lower/strategies/strategies.h"
#include "target/products.h"

namespace attune {

// With fewer rows, vectors do as well.
inline constexpr int64_t kLeastMatrixRows = 4;

// A block of tiles of sums that are computed at once.
struct MatrixTile {
  int64_t rows;              // of one tile
  int64_t tiles_m, tiles_n;  // of them
  int64_t groups;            // of terms, that one instruction takes

  int64_t block_rows() const { return rows * tiles_m; }
  int64_t block_columns() const { return kTileColumns * tiles_n; }
};

// The terms in a group of the instruction for the operands of a convolution or product; 0 where there is
// none.
int64_t MatrixTerms(const Node& anchor, const Target& target);

// The knobs rows, tiles_m, tiles_n and groups, for a product of `rows` × `columns` sums of `groups` groups
// of terms; what a config of them says; and the config that is cheapest by a cost of all that fit the
// registers and `rows`, empty where none does.
std::vector<Knob> MatrixSpace(int64_t rows, int64_t columns, int64_t groups);
MatrixTile MatrixTileOf(const Config& config);
Config CheapestMatrixTile(const std::vector<Knob>& space, int64_t rows,
                          const std::function<double(const MatrixTile&)>& cost);

// Whether a block of tiles fits the registers and these rows: an error where not.
absl::Status CheckMatrixTile(const MatrixTile& tile, int64_t rows);

// The cycles of one step of all tiles of a block, with its operands from L1, and of storing its sums and
// reading them again.
double MatrixStepCycles(const MatrixTile& tile, const Target& target);
double MatrixCopyCycles(const MatrixTile& tile, const Target& target);

// The loops of a stage over the block that it computes.
struct MatrixLoops {
  LoopHandle rows, columns;
  LoopHandle blocks = {};               // of columns, where `columns` goes over those of one tile alone
  std::vector<LoopHandle> around = {};  // all of these
  LoopHandle terms = {};                // those of a row's neighbours; others are around
};

// The stage that copies sums out of their tiles.
absl::Status ScheduleTileCopy(Schedule&, const StageHandle& stage, const MatrixLoops&, const MatrixTile&);
// The stage that computes them, whose terms come in groups of `terms`. Returns the loop over the steps of the
// sums, each of which one instruction a tile takes.
absl::StatusOr<LoopHandle> ScheduleTileSums(Schedule&, const StageHandle& stage, const MatrixLoops&,
                                            int64_t terms, const MatrixTile&);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_MATRIX_PARTS_H_
