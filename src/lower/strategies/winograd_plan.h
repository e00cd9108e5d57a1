// How Winograd's convolution goes through its tiles, and what that costs. conv_winograd.cc
#ifndef ATTUNE_LOWER_STRATEGIES_WINOGRAD_PLAN_H_
#define ATTUNE_LOWER_STRATEGIES_WINOGRAD_PLAN_H_

#include <cstdint>
#include <vector>

#include "lower/strategies/strategies.h"
#include "lower/winograd.h"

namespace attune {

// The tiles of one block, rows × columns of them: whole rows, or a part of one.
struct WinogradBlock {
  int64_t rows, columns;
  int64_t tiles() const { return rows * columns; }
};
std::vector<WinogradBlock> WinogradBlocksOf(const WinogradShape& shape);

struct WinogradPlan {
  int64_t tile, dot;
  WinogradBlock block;
  int64_t group_blocks, tile_p;  // of the register tile
  bool input_first;
  bool prefetch;  // of the filters

  explicit WinogradPlan(const Config& config);
  WinogradPlan(const WinogradShape& s, int64_t m, int64_t d, WinogradBlock b, int64_t c, int64_t p,
               bool first);

  Config ToConfig() const;
};

// All with tiles of `tile` and `dot` channels an instruction whose register tiles fit and come out even.
std::vector<WinogradPlan> WinogradPlansFor(const WinogradShape& shape, int64_t tile, int64_t dot,
                                           const Target& target);

// The cycles of the whole convolution on one core.
double WinogradPlanCost(const WinogradShape& shape, const WinogradPlan& plan, const Target& target);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_WINOGRAD_PLAN_H_
