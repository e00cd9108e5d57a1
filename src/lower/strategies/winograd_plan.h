// The order in which Winograd computes its tiles, and its cost. conv_winograd.cc
#ifndef ATTUNE_LOWER_STRATEGIES_WINOGRAD_PLAN_H_
#define ATTUNE_LOWER_STRATEGIES_WINOGRAD_PLAN_H_

#include <cstdint>
#include <vector>

#include "lower/strategies/strategies.h"
#include "lower/winograd.h"

namespace attune {

// A block of rows × columns tiles: whole rows of tiles, or a part of one row.
struct WinogradBlock {
  int64_t rows, columns;
  int64_t tiles() const { return rows * columns; }
};
std::vector<WinogradBlock> WinogradBlocksOf(const WinogradShape& shape);

struct WinogradPlan {
  int64_t tile, dot;
  WinogradBlock block;
  int64_t group_blocks, tile_p;  // size of the register tile
  bool input_first;
  bool prefetch;  // prefetches the filters

  explicit WinogradPlan(const Config& config);
  WinogradPlan(const WinogradShape& s, int64_t m, int64_t d, WinogradBlock b, int64_t c, int64_t p,
               bool first);

  Config ToConfig() const;
};

// All plans for `tile` and `dot` channels per instruction whose register tiles fit and divide evenly.
std::vector<WinogradPlan> WinogradPlansFor(const WinogradShape& shape, int64_t tile, int64_t dot,
                                           const Target& target);

// The cycles of the whole convolution on one core.
double WinogradPlanCost(const WinogradShape& shape, const WinogradPlan& plan, const Target& target);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_WINOGRAD_PLAN_H_
