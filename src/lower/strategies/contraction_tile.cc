#include "lower/strategies/contraction_tile.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/checked.h"
#include "lower/strategies/access.h"
#include "lower/strategies/strategies.h"

namespace attune {

bool CanTile(const Sum& sum, std::initializer_list<size_t> loops) {
  std::set<size_t> axes;
  int padded = 0;
  for (const size_t loop : loops) {
    const bool lanes = axes.empty();
    if (lanes && !sum.loops[loop].fills_lanes) return false;
    if (!axes.insert(sum.loops[loop].axis).second) return false;
    if (lanes) continue;
    const OutputLoop& tiled = sum.loops[loop];
    if (tiled.extent == 1 || (tiled.guarded && !tiled.padded)) return false;
    padded += tiled.padded ? 1 : 0;
  }
  return padded <= 1;
}

bool IsOf(const Sum& sum, const Tile& tile) {
  const auto fits = [&](size_t loop, int64_t size) { return size <= sum.loops[loop].extent; };
  if (!fits(tile.rows, tile.height) || !fits(tile.planes, tile.depth)) return false;
  if (tile.columns > CeilDiv(sum.loops[tile.lanes].extent, sum.lanes)) return false;
  if (tile.depth > 1) return tile.height > 1 && CanTile(sum, {tile.lanes, tile.rows, tile.planes});
  if (tile.height > 1) return CanTile(sum, {tile.lanes, tile.rows});
  return CanTile(sum, {tile.lanes});
}

Reading TileModel::ReadingOf(size_t operand, size_t lanes) const {
  const OutputLoop& loop = sum_.loops[lanes];
  const std::optional<int64_t> stride = loop.strides[operand];
  if (stride == 0) return Reading::kBroadcast;
  const Operand& what = sum_.operands[operand];
  const std::optional<Move>& move = what.moves[lanes];
  const bool can_copy = move.has_value() && what.loads == 1 && params_.contains(what.buffer);
  const bool wants_panels = can_copy && move->alone && (stride != 1 || IsWorthCopying(what));
  if (wants_panels) return what.uses > 1 ? Reading::kPanels : Reading::kElements;
  if (stride == 1) return Reading::kVector;
  return can_copy && move->step <= kMaxStep ? Reading::kMoved : Reading::kElements;
}

bool TileModel::HasPanels(const Tile& tile) const {
  for (size_t operand = 0; operand < sum_.operands.size(); ++operand) {
    if (ReadingOf(operand, tile.lanes) == Reading::kPanels) return true;
  }
  return false;
}

bool TileModel::Fits(const Tile& tile) const {
  const int64_t sums = tile.columns * tile.height * tile.depth;
  const int64_t held = std::min(Held(tile, tile.rows, tile.planes), Held(tile, tile.planes, tile.rows));
  return sums + held <= registers_ || sums == 1;
}

size_t TileModel::InnerLoop(const Tile& tile) const {
  const bool rows = Held(tile, tile.planes, tile.rows) <= Held(tile, tile.rows, tile.planes);
  return rows ? tile.rows : tile.planes;
}

std::vector<size_t> TileModel::OuterLoops(const Tile& tile) const {
  std::vector<size_t> order;
  for (size_t i = 0; i < sum_.loops.size(); ++i) {
    if (i != tile.lanes) order.push_back(i);
  }
  size_t place = order.size();
  for (size_t operand = 0; operand < sum_.operands.size(); ++operand) {
    if (ReadingOf(operand, tile.lanes) != Reading::kPanels) continue;
    // After the loops that move to other elements of the operand.
    place = 0;
    for (size_t i = 0; i < tile.lanes; ++i) {
      if (sum_.loops[i].strides[operand] != 0) place = i + 1;
    }
  }
  order.insert(order.begin() + static_cast<ptrdiff_t>(place), tile.lanes);
  for (const size_t i : {tile.planes, tile.rows, tile.lanes}) {
    if (!sum_.loops[i].padded || tile.Of(i, sum_.lanes) == 1) continue;
    std::erase(order, i);
    order.push_back(i);
  }
  return order;
}

double TileModel::Cycles(const Tile& tile) const {
  const auto lanes = static_cast<double>(sum_.lanes);
  const auto sums = static_cast<double>(tile.columns * tile.height * tile.depth);
  double tiles = 1, loads = 0, packing = 0;
  for (size_t i = 0; i < sum_.loops.size(); ++i)
    tiles *= static_cast<double>(CeilDiv(sum_.loops[i].extent, tile.Of(i, sum_.lanes)));
  for (size_t operand = 0; operand < sum_.operands.size(); ++operand) {
    double elements = 1;
    for (size_t i = 0; i < sum_.loops.size(); ++i) {
      if (i != tile.lanes && sum_.loops[i].strides[operand] != 0)
        elements *= static_cast<double>(tile.Of(i, sum_.lanes));
    }
    switch (ReadingOf(operand, tile.lanes)) {
      case Reading::kBroadcast:
        loads += elements;
        break;
      case Reading::kMoved:
        packing += CopyCycles(sum_.operands[operand]);
        [[fallthrough]];
      case Reading::kVector:  // may cross cache lines
        loads += elements * static_cast<double>(tile.columns) * (target_.vector_bits >= 512 ? 1.6 : 1.2);
        break;
      case Reading::kPanels:
        packing += CopyCycles(sum_.operands[operand]);
        loads += elements * static_cast<double>(tile.columns);
        break;
      case Reading::kElements:
        loads += elements * static_cast<double>(tile.columns) * 2 * lanes;
        break;
    }
  }
  const double step =
      std::max({sums / target_.fma_per_cycle, loads / target_.loads_per_cycle,
                static_cast<double>(target_.fma_latency)}) *
      (1 + AtBorders(tile.lanes, tile) + AtBorders(tile.rows, tile) + AtBorders(tile.planes, tile));
  const OutputLoop& vector = sum_.loops[tile.lanes];
  const double store = sums * (vector.store_stride == 1 ? 1 : 1.5 * lanes);
  const double compute = static_cast<double>(sum_.terms) * step, traffic = TrafficCycles(tile);
  return tiles * (std::max(compute, traffic) + target_.exposed_caches * std::min(compute, traffic) + store +
                  kTileCycles) +
         packing;
}

int64_t TileModel::Held(const Tile& tile, size_t outer, size_t inner) const {
  int64_t held = 0, passing = 0;
  for (size_t operand = 0; operand < sum_.operands.size(); ++operand) {
    const int64_t vectors = ReadingOf(operand, tile.lanes) == Reading::kBroadcast ? 1 : tile.columns;
    const auto moves = [&](size_t loop) {
      return loop != tile.lanes && tile.Of(loop, sum_.lanes) > 1 && sum_.loops[loop].strides[operand] != 0;
    };
    if (!moves(outer)) {
      held += vectors * (moves(inner) ? tile.Of(inner, sum_.lanes) : 1);
    } else if (!moves(inner)) {
      held += vectors;
    } else {
      passing = 1;
    }
  }
  return held + passing;
}

double TileModel::BytesOf(const Operand& operand, const Tile& tile) const {
  double bytes = 1;
  for (size_t d = 0; d < operand.reach.size(); ++d) {
    int64_t extent = operand.reach[d];
    for (size_t i = 0; i < sum_.loops.size(); ++i)
      extent += std::abs(operand.steps[d][i]) * (tile.Of(i, sum_.lanes) - 1);
    extent = std::min(extent, operand.buffer->shape[d]);
    const int64_t row = DTypeSize(operand.buffer->dtype) * extent;
    bytes *=
        static_cast<double>(d + 1 < operand.reach.size() ? extent : RoundUp(row, target_.cache_line_bytes));
  }
  return bytes;
}

double TileModel::TrafficCycles(const Tile& tile) const {
  size_t last = sum_.loops.size();  // the loop that moves from a tile to the next
  int64_t repeated = 1;
  for (const size_t i : OuterLoops(tile)) {
    const int64_t tiles = CeilDiv(sum_.loops[i].extent, tile.Of(i, sum_.lanes));
    if (tiles == 1) continue;
    last = i;
    repeated = tiles;
  }
  double cycles = 0;
  for (size_t operand = 0; operand < sum_.operands.size(); ++operand) {
    const Operand& what = sum_.operands[operand];
    const int64_t whole = what.buffer->num_elements() * DTypeSize(what.buffer->dtype);
    if (whole <= target_.l1_bytes / 4) continue;
    double bytes = BytesOf(what, tile);
    const bool stays = last < sum_.loops.size() && sum_.loops[last].strides[operand] == 0 &&
                       bytes <= static_cast<double>(target_.l1_bytes) / 2;
    if (stays) bytes /= static_cast<double>(repeated);
    cycles +=
        bytes / (whole <= target_.l2_bytes / 2 ? target_.l2_bytes_per_cycle : target_.l3_bytes_per_cycle);
  }
  return cycles;
}

double TileModel::CopyCycles(const Operand& operand) const {
  return kCopyCycles * static_cast<double>(operand.buffer->num_elements());
}

bool TileModel::IsWorthCopying(const Operand& operand) const {
  constexpr double kLittle = 0.05;
  const double least =
      static_cast<double>(WorkOf(sum_.stage)) / (static_cast<double>(sum_.lanes) * target_.fma_per_cycle);
  return CopyCycles(operand) < kLittle * least;
}

double TileModel::AtBorders(size_t loop, const Tile& tile) const {
  const int64_t size = tile.Of(loop, sum_.lanes);
  // Lanes beyond the end of a part of an axis have a mask that is only known at run time.
  const bool is_part = sum_.parts.contains(sum_.loops[loop].axis);
  if (is_part && sum_.loops[loop].extent % size != 0) return kPartCycles;
  if (!sum_.loops[loop].guarded || size == 1) return 0;
  const auto tiles = static_cast<double>(CeilDiv(sum_.loops[loop].extent, size));
  return (loop == tile.lanes ? kMaskCycles : kBranchCycles) * std::min(1.0, 2 / tiles);
}

RatedTile BestTile(const Sum& sum, const TileModel& model) {
  Tile best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](const Tile& tile) {
    if (!model.Fits(tile)) return;
    const double cycles = model.Cycles(tile);
    if (cycles >= least) return;
    least = cycles;
    best = tile;
  };
  for (size_t v = 0; v < sum.loops.size(); ++v) {
    for (int64_t columns = 1; columns <= std::min(CeilDiv(sum.loops[v].extent, sum.lanes), kMaxColumns);
         ++columns) {
      if (CanTile(sum, {v})) consider({v, v, v, columns, 1, 1});
      for (size_t rows = 0; rows < sum.loops.size(); ++rows) {
        if (!CanTile(sum, {v, rows})) continue;
        for (int64_t m = 2; m <= std::min(sum.loops[rows].extent, kMaxRows); ++m) {
          consider({v, rows, v, columns, m, 1});
          for (size_t planes = 0; planes < rows; ++planes) {
            if (!CanTile(sum, {v, rows, planes})) continue;
            for (int64_t p = 2; p <= std::min(sum.loops[planes].extent, kMaxPlanes); ++p)
              consider({v, rows, planes, columns, m, p});
          }
        }
      }
    }
  }
  return {best, least};
}

}  // namespace attune
