// Any sum of products.
//
// Problem: strategies are made for the shapes that most networks have. A convolution in groups of five, of
// three dimensions, with one channel, and a sum over any axes of the product of two tensors find none.
// Idea: nothing of a register tile depends on the operator. Each loop of the sum moves each operand, and the
// output, by a known number of elements. A loop along which an operand does not move is one that its elements
// are used again for; so a tile is made of two or three loops of the output, one of them in lanes, such that
// few elements are loaded for many multiply-adds. What that costs follows from the strides alone: vectors are
// loaded where an operand's neighbours are neighbours in memory, an element is broadcast where it does not
// move, and an operand that moves otherwise is packed. The cheapest tile is the default. The analysis is
// Roller's (Zhu et al., OSDI 2022), the tiles are those of Goto and van de Geijn (TOMS 2008).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "base/checked.h"
#include "base/status.h"
#include "graph/op.h"
#include "lower/strategies/access.h"
#include "lower/strategies/loops_parts.h"
#include "lower/strategies/strategies.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

constexpr int64_t kLeastTerms = 4;
constexpr int64_t kMaxColumns = 6, kMaxRows = 16, kMaxPlanes = 8;
// Of the peak: loops often reach about as much.
constexpr double kLeastShare = 0.1;
// Statements of an unrolled body.
constexpr int64_t kMaxUnrolled = 96;

// A loop over an axis of the output, or over the part of one that indices tell apart: channels in groups are
// two loops.
struct OutputLoop {
  size_t axis;
  std::string name;  // "d1", or "d1.o" and "d1.i"
  int64_t extent;
  int64_t store_stride;
  std::vector<std::optional<int64_t>> strides;  // of each operand
  bool guarded;                                 // some terms are left out, depending on it
  bool padded;                                  // guarded, and along an axis of a convolution's image
  bool fills_lanes;                             // what reads the sum reads each place along it
};

// How an index moves along a loop: the axis of the buffer, and by how much.
struct Move {
  int64_t axis, step;
  bool alone;  // the index is the loop's variable
};

struct Operand {
  Buffer buffer;
  int64_t loads = 0;  // of one element, in the formula
  int64_t uses = 1;   // of each element, in sums that differ by loops it does not move along
  std::vector<std::optional<Move>> moves;  // along each loop; nothing where several indices move, or oddly
  // Of each axis of the buffer: the steps along the loops, and how far the terms of one sum lie apart, at
  // least 1.
  std::vector<std::vector<int64_t>> steps;
  std::vector<int64_t> reach;
};

struct Sum {
  Stage stage;                      // the accumulator's, with what was inlined into it
  std::map<size_t, int64_t> parts;  // axes in two loops: the inner one's extent
  std::vector<OutputLoop> loops;
  std::vector<Operand> operands;
  std::vector<size_t> terms_in_order;          // the stage's reduce axes, outermost first
  std::vector<std::set<size_t>> guarded_with;  // of each reduce axis: the axes on which it depends with which
                                               // of its terms count
  int64_t terms = 1, lanes = 1;
};

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

// The constant that an axis is divided by in the stage's indices; 1: none, 0: several.
int64_t PartOf(const Stage& stage, const Axis& axis) {
  int64_t part = 1;
  VisitFormulas(stage, [&](const Expr& e) {
    if (e->kind != ExprKind::kOp || (e->op != MathOp::kFloorDiv && e->op != MathOp::kFloorMod)) return;
    if (!Mentions(e, axis.var)) return;
    const bool plain = e->args[0]->kind == ExprKind::kVar && IsIntConst(e->args[1]);
    const int64_t divisor = plain ? e->args[1]->int_value : 0;
    if (divisor <= 0 || axis.extent % divisor != 0 || (part != 1 && part != divisor)) {
      part = 0;
    } else if (part != 0) {
      part = divisor;
    }
  });
  return part;
}

// The sum, and the output that reads it, with what is inlined into them.
struct SumStages {
  Stage sum, output;
};

// Nothing where more is to be computed.
std::optional<SumStages> StagesOf(const Workload& workload) {
  Schedule schedule(workload.definition);
  if (!InlineEpilogue(schedule, workload).ok()) return std::nullopt;
  std::vector<Stage> stages = schedule.Stages();
  if (stages.size() != 2 || stages[0].name != workload.accumulator_stage) return std::nullopt;
  return SumStages{std::move(stages[0]), std::move(stages[1])};
}

// Whether the output reads one place of the sum along its axis `d` alone, as of what is broadcast.
bool IsReadAtOnePlace(const SumStages& stages, size_t d) {
  bool one_place = false;
  VisitLoads(stages.output, [&](const Expr& load) {
    one_place |= load->buffer == stages.sum.output && Variables(load->args[d]).empty();
  });
  return one_place;
}

class Analysis {
 public:
  Analysis(const Workload& workload, const Target& target)
      : image_rank_(IsConv(workload.anchor->op()) ? workload.anchor->output()->type().dims.size() : 0) {
    const SumStages stages = *StagesOf(workload);
    sum_.stage = stages.sum;
    std::set<const VarNode*> at_one_place;
    for (size_t d = 0; d < sum_.stage.axes.size(); ++d) {
      if (IsReadAtOnePlace(stages, d)) at_one_place.insert(sum_.stage.axes[d].var.get());
    }
    // As those of the output, whichever order the accumulator has.
    std::ranges::sort(sum_.stage.axes, {}, [](const Axis& axis) { return axis.var->name; });
    sum_.lanes = LanesOf(sum_.stage, target.vector_bits);
    for (const Axis& axis : sum_.stage.reduce_axes) sum_.terms *= axis.extent;
    bounds_ = AxisBounds(sum_.stage);
    MakeLoops();
    for (OutputLoop& loop : sum_.loops)
      loop.fills_lanes = !at_one_place.contains(sum_.stage.axes[loop.axis].var.get());
    FindOperands();
    OrderTerms();
  }
  Sum Take() { return std::move(sum_); }

 private:
  void MakeLoops() {
    int64_t stride = 1;
    std::vector<int64_t> strides(sum_.stage.axes.size());
    for (size_t d = strides.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= sum_.stage.axes[d].extent;
    }
    for (size_t d = 0; d < sum_.stage.axes.size(); ++d) {
      const Axis& axis = sum_.stage.axes[d];
      const std::string& name = axis.var->name;
      const int64_t part = PartOf(sum_.stage, axis);
      if (part == 1 || part == axis.extent) {
        Add(d, name, axis.extent, strides[d]);
        values_[axis.var.get()] = Expr(variables_.back());
        continue;
      }
      sum_.parts[d] = part;
      Add(d, name + ".o", axis.extent / part, strides[d] * part);
      Add(d, name + ".i", part, strides[d]);
      values_[axis.var.get()] =
          Expr(variables_[variables_.size() - 2]) * Expr(part) + Expr(variables_.back());
    }
    const Expr where = ReplaceVars(sum_.stage.where, values_);
    for (size_t i = 0; i < sum_.loops.size(); ++i) {
      OutputLoop& loop = sum_.loops[i];
      loop.guarded = where && Mentions(where, variables_[i]);
      loop.padded = loop.guarded && loop.axis >= 2 && loop.axis < image_rank_;
    }
  }

  void Add(size_t axis, std::string name, int64_t extent, int64_t store_stride) {
    variables_.push_back(MakeVar(name));
    bounds_.Set(variables_.back(), {0, extent - 1});
    sum_.loops.push_back({axis, std::move(name), extent, store_stride, {}, false, false, true});
  }

  void FindOperands() {
    VisitLoads(sum_.stage, [&](const Expr& load) {
      for (Operand& known : sum_.operands) {
        if (known.buffer != load->buffer) continue;
        ++known.loads;
        return;
      }
      Operand operand{load->buffer, 1, 1, {}, {}, {}};
      const Expr resolved = ReplaceVars(load, values_);
      std::vector<Affine> indices;
      for (const Expr& index : resolved->args) indices.push_back(bounds_.Normalize(index));
      for (size_t i = 0; i < sum_.loops.size(); ++i) {
        sum_.loops[i].strides.push_back(StrideAlong(resolved, variables_[i], bounds_));
        operand.moves.push_back(MoveAlong(indices, variables_[i]));
        if (sum_.loops[i].strides.back() == 0) operand.uses *= sum_.loops[i].extent;
      }
      for (const Affine& index : indices) {
        std::vector<int64_t>& steps = operand.steps.emplace_back();
        for (const Var& variable : variables_) steps.push_back(StepOf(index, variable));
        int64_t& reach = operand.reach.emplace_back(1);
        for (const Axis& axis : sum_.stage.reduce_axes)
          reach += std::abs(StepOf(index, axis.var)) * (axis.extent - 1);
      }
      sum_.operands.push_back(std::move(operand));
    });
  }

  static int64_t StepOf(const Affine& index, const Var& var) {
    const Affine::Term* term = index.Find(var);
    return term == nullptr ? 0 : term->coefficient;
  }

  static std::optional<Move> MoveAlong(const std::vector<Affine>& indices, const Var& var) {
    std::optional<Move> found;
    for (size_t d = 0; d < indices.size(); ++d) {
      const Affine& index = indices[d];
      for (const Affine::Term& term : index.terms) {
        if (!Mentions(term.atom, var)) continue;
        if (term.atom->kind != ExprKind::kVar || term.coefficient < 1 || found) return std::nullopt;
        const bool alone = index.terms.size() == 1 && term.coefficient == 1 && index.constant == 0;
        found = Move{static_cast<int64_t>(d), term.coefficient, alone};
      }
    }
    return found;
  }

  // Large steps outside, so that lines of memory are used up.
  void OrderTerms() {
    const std::vector<Axis>& axes = sum_.stage.reduce_axes;
    std::vector<int64_t> steps(axes.size(), 0);
    VisitLoads(sum_.stage, [&](const Expr& load) {
      for (size_t i = 0; i < axes.size(); ++i)
        steps[i] = std::max(steps[i], std::abs(StrideAlong(load, axes[i].var, bounds_).value_or(0)));
    });
    sum_.terms_in_order.resize(axes.size());
    std::iota(sum_.terms_in_order.begin(), sum_.terms_in_order.end(), size_t{0});
    std::ranges::sort(sum_.terms_in_order,
                      [&](size_t a, size_t b) { return std::pair(-steps[a], a) < std::pair(-steps[b], b); });
    std::vector<Expr> conditions;
    if (sum_.stage.where) Conjuncts(sum_.stage.where, conditions);
    for (const Axis& axis : axes) {
      std::set<size_t>& with = sum_.guarded_with.emplace_back();
      for (const Expr& condition : conditions) {
        for (size_t d = 0; d < sum_.stage.axes.size(); ++d) {
          if (Mentions(condition, axis.var) && Mentions(condition, sum_.stage.axes[d].var)) with.insert(d);
        }
      }
    }
  }

  const size_t image_rank_;  // of a convolution
  Sum sum_;
  Bounds bounds_;
  std::vector<Var> variables_;
  std::map<const VarNode*, Expr> values_;
};

Sum Analyze(const Workload& workload, const Target& target) { return Analysis(workload, target).Take(); }

// The output's axis of a loop.
size_t AxisOf(const Workload& workload, size_t loop) {
  Stage stage = StagesOf(workload)->sum;
  size_t axis = 0;
  for (size_t first = 0; axis < stage.axes.size(); ++axis) {
    const int64_t part = PartOf(stage, stage.axes[axis]);
    first += part == 1 || part == stage.axes[axis].extent ? 1 : 2;
    if (loop < first) break;
  }
  return axis;
}

// How an operand gets into the lanes of a tile: as one element, as neighbours in memory, from a copy of which
// each row has a tile's vectors, from a copy in which the axis of the lanes is the last, or element by
// element.
enum class Reading : uint8_t { kBroadcast, kVector, kPanels, kMoved, kElements };

class Model {
 public:
  Model(const Workload& workload, const Sum& sum, const Target& target)
      : sum_(sum), target_(target), registers_(TileRegisters(workload, target)) {
    for (const LoopNest::Param& param : workload.definition.params) params_.insert(param.buffer);
  }

  Reading ReadingOf(size_t operand, size_t lanes) const {
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

  // Whether an operand has panels of a tile's vectors, which vectors are not to cross; they are filled up.
  bool HasPanels(const Tile& tile) const {
    for (size_t operand = 0; operand < sum_.operands.size(); ++operand) {
      if (ReadingOf(operand, tile.lanes) == Reading::kPanels) return true;
    }
    return false;
  }

  bool Fits(const Tile& tile) const {
    const int64_t sums = tile.columns * tile.height * tile.depth;
    const int64_t held = std::min(Held(tile, tile.rows, tile.planes), Held(tile, tile.planes, tile.rows));
    return sums + held <= registers_ || sums == 1;
  }

  // Of the rows and the planes of a tile, those to go through in each of the others, so that few registers
  // hold operands.
  size_t InnerLoop(const Tile& tile) const {
    const bool rows = Held(tile, tile.planes, tile.rows) <= Held(tile, tile.rows, tile.planes);
    return rows ? tile.rows : tile.planes;
  }

  // The loops over tiles, outermost first. That over vectors is where a panel stays in the caches while all
  // else passes, or where what is next to the last vectors comes next; and those over tiles of a padded
  // image, of which windows at both ends leave it, are within all others.
  std::vector<size_t> OuterLoops(const Tile& tile) const {
    std::vector<size_t> order;
    for (size_t i = 0; i < sum_.loops.size(); ++i) {
      if (i != tile.lanes) order.push_back(i);
    }
    size_t place = order.size();
    for (size_t operand = 0; operand < sum_.operands.size(); ++operand) {
      if (ReadingOf(operand, tile.lanes) != Reading::kPanels) continue;
      // After the loops that go on to other elements of it.
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

  // Of one core.
  double Cycles(const Tile& tile) const {
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
        case Reading::kVector:  // across lines of memory
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
    return tiles *
               (std::max(compute, traffic) + kExposed * std::min(compute, traffic) + store + kTileCycles) +
           packing;
  }

 private:
  static constexpr double kCopyCycles = 0.5, kTileCycles = 8, kMaskCycles = 0.3, kBranchCycles = 2,
                          kPartCycles = 3;
  // Of the shorter of arithmetic and memory traffic, what does not overlap with the other.
  static constexpr double kExposed = 0.3;
  static constexpr int64_t kMaxStep = 4;

  // Registers that hold operands while one step of a tile's sums goes through `inner` in each of `outer`:
  // what does not move along the latter all the time, and the rest as it comes.
  int64_t Held(const Tile& tile, size_t outer, size_t inner) const {
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

  // What a tile reads of an operand, in whole cache lines.
  double BytesOf(const Operand& operand, const Tile& tile) const {
    constexpr int64_t kLine = 64;
    double bytes = 1;
    for (size_t d = 0; d < operand.reach.size(); ++d) {
      int64_t extent = operand.reach[d];
      for (size_t i = 0; i < sum_.loops.size(); ++i)
        extent += std::abs(operand.steps[d][i]) * (tile.Of(i, sum_.lanes) - 1);
      extent = std::min(extent, operand.buffer->shape[d]);
      const int64_t row = DTypeSize(operand.buffer->dtype) * extent;
      bytes *= static_cast<double>(d + 1 < operand.reach.size() ? extent : RoundUp(row, kLine));
    }
    return bytes;
  }

  // The cycles that the operands of a tile take from beyond the first-level cache.
  double TrafficCycles(const Tile& tile) const {
    size_t last = sum_.loops.size();  // the loop that goes from a tile to the next
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

  double CopyCycles(const Operand& operand) const {
    return kCopyCycles * static_cast<double>(operand.buffer->num_elements());
  }
  // Whether a copy takes little beside the sums.
  bool IsWorthCopying(const Operand& operand) const {
    constexpr double kLittle = 0.05;
    const double least =
        static_cast<double>(WorkOf(sum_.stage)) / (static_cast<double>(sum_.lanes) * target_.fma_per_cycle);
    return CopyCycles(operand) < kLittle * least;
  }
  // What masks and branches add to a step, in the share of tiles that have some.
  double AtBorders(size_t loop, const Tile& tile) const {
    const int64_t size = tile.Of(loop, sum_.lanes);
    // Lanes beyond the end of a part of an axis are masked by what is only known as the kernel runs.
    const bool is_part = sum_.parts.contains(sum_.loops[loop].axis);
    if (is_part && sum_.loops[loop].extent % size != 0) return kPartCycles;
    if (!sum_.loops[loop].guarded || size == 1) return 0;
    const auto tiles = static_cast<double>(CeilDiv(sum_.loops[loop].extent, size));
    return (loop == tile.lanes ? kMaskCycles : kBranchCycles) * std::min(1.0, 2 / tiles);
  }

  const Sum& sum_;
  const Target& target_;
  int64_t registers_;
  std::set<Buffer> params_;
};

Tile TileOf(const Config& config) {
  return {static_cast<size_t>(config.at("lanes")),
          static_cast<size_t>(config.at("rows")),
          static_cast<size_t>(config.at("planes")),
          config.at("tile_n"),
          config.at("tile_m"),
          config.at("tile_p")};
}

// Whether loops can be tiled, the first of them in lanes: each is of another axis, and of the others no term
// is left out depending on them, but for one along which an image is padded.
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

class Scheduler {
 public:
  Scheduler(Schedule& schedule, const Workload& workload, const Sum& sum, const Tile& tile,
            const Target& target)
      : s_(schedule),
        workload_(workload),
        sum_(sum),
        tile_(tile),
        target_(target),
        model_(workload, sum, target),
        out_(workload.output_stage),
        acc_(workload.accumulator_stage) {}

  absl::Status Run() {
    RETURN_IF_ERROR(InlineEpilogue(s_, workload_));
    for (size_t operand = 0; operand < sum_.operands.size(); ++operand) {
      const Reading reading = model_.ReadingOf(operand, tile_.lanes);
      if (reading == Reading::kPanels || reading == Reading::kMoved)
        RETURN_IF_ERROR(Copy(sum_.operands[operand], reading));
    }
    ASSIGN_OR_RETURN(const std::string at, TileOutput());
    RETURN_IF_ERROR(s_.ComputeAt(acc_, at, MemorySpace::kRegister));
    return Accumulate();
  }

 private:
  // In the order of the sum's terms, with the axis of the lanes last, or the lanes of a tile. Where that axis
  // is read in steps, what is a step apart becomes neighbours.
  absl::Status Copy(const Operand& operand, Reading reading) {
    const Move& move = *operand.moves[tile_.lanes];
    const bool panels = reading == Reading::kPanels, splits = panels || move.step > 1;
    const auto place = [&](int64_t d) { return d + (splits && d > move.axis ? 1 : 0); };
    std::vector<int64_t> order;
    if (panels) order.push_back(move.axis);
    for (const bool reduced : {false, true}) {
      for (int64_t d = 0; d < std::ssize(operand.reach); ++d) {
        if (d != move.axis && (operand.reach[static_cast<size_t>(d)] > 1) == reduced)
          order.push_back(place(d));
      }
    }
    if (splits) order.push_back(move.axis + 1);
    if (!panels) order.push_back(move.axis);
    std::vector<std::pair<int64_t, int64_t>> split;
    if (splits) split = {{move.axis, panels ? tile_.columns * sum_.lanes : move.step}};
    RETURN_IF_ERROR(s_.Pack(operand.buffer->name, acc_, split, order));
    const std::vector<Stage> stages = s_.Stages();
    return ScheduleElements(s_, *std::ranges::find(stages, operand.buffer->name + ".packed", &Stage::name),
                            target_);
  }

  struct PeeledLoop {
    std::string name;
    Borders borders;
  };

  // Returns the loop of one tile.
  absl::StatusOr<std::string> TileOutput() {
    for (const auto& [axis, part] : sum_.parts)
      RETURN_IF_ERROR(s_.Split(OutputName(sum_.stage.axes[axis].var->name), part));
    std::vector<std::string> order, inner, lanes;
    std::vector<PeeledLoop> peeled;
    for (const size_t i : model_.OuterLoops(tile_)) {
      const std::string name = OutputName(sum_.loops[i].name);
      const int64_t extent = sum_.loops[i].extent, tile = tile_.Of(i, sum_.lanes);
      if (tile == 1) {
        order.push_back(name);
        continue;
      }
      const bool overlaps =
          extent > tile && extent % tile != 0 && (i != tile_.lanes || !model_.HasPanels(tile_));
      RETURN_IF_ERROR(overlaps ? s_.SplitOverlapping(name, tile) : s_.Split(name, tile));
      order.push_back(name + ".o");
      if (sum_.loops[i].padded) {
        peeled.push_back(
            {name + ".o", PeeledTiles(WindowAlong(*workload_.anchor, sum_.loops[i].axis - 2), tile)});
      }
      if (i != tile_.lanes) {
        inner.push_back(name + ".i");
      } else if (tile_.columns == 1) {
        lanes = {name + ".i"};
      } else {
        RETURN_IF_ERROR(s_.Split(name + ".i", sum_.lanes));
        lanes = {name + ".i.o", name + ".i.i"};
      }
    }
    const size_t outer = order.size();
    order.insert(order.end(), inner.begin(), inner.end());
    order.insert(order.end(), lanes.begin(), lanes.end());
    RETURN_IF_ERROR(s_.Reorder(order));
    for (size_t i = outer; i + 1 < order.size(); ++i) RETURN_IF_ERROR(s_.Unroll(order[i]));
    RETURN_IF_ERROR(s_.Vectorize(order.back()));
    for (const PeeledLoop& loop : peeled) RETURN_IF_ERROR(PeelPadding(s_, loop.name, loop.borders));
    if (IsWorthSharing(WorkOf(sum_.stage)))
      RETURN_IF_ERROR(ParallelizeOuter(s_, out_, outer - peeled.size()));
    ASSIGN_OR_RETURN(const std::vector<std::string> loops, s_.Loops(out_));
    return loops[loops.size() - inner.size() - lanes.size() - 1];
  }

  absl::Status Accumulate() {
    const auto name = [&](const Axis& axis) { return acc_ + "." + axis.var->name; };
    const size_t vector_axis = sum_.loops[tile_.lanes].axis;
    std::vector<std::string> single, tile;
    for (size_t d = 0; d < sum_.stage.axes.size(); ++d) {
      if (d == vector_axis) continue;
      const std::string loop = name(sum_.stage.axes[d]);
      ASSIGN_OR_RETURN(const int64_t extent, s_.Extent(loop));
      (extent == 1 ? single : tile).push_back(loop);
    }
    const std::string inner = name(sum_.stage.axes[sum_.loops[model_.InnerLoop(tile_)].axis]);
    std::ranges::sort(tile, {}, [&](const std::string& loop) { return loop == inner; });
    std::string lanes = name(sum_.stage.axes[vector_axis]);
    if (tile_.columns > 1) {
      RETURN_IF_ERROR(s_.Split(lanes, sum_.lanes));
      tile.push_back(lanes + ".o");
      lanes += ".i";
    }
    // Terms that are left out for a whole tile first.
    std::vector<std::string> left_out, terms;
    for (const size_t i : sum_.terms_in_order) {
      const std::set<size_t>& with = sum_.guarded_with[i];
      const bool whole = !with.empty() && !with.contains(vector_axis);
      (whole ? left_out : terms).push_back(name(sum_.stage.reduce_axes[i]));
    }
    RETURN_IF_ERROR(UnrollTerms(terms));
    std::vector<std::string> order = single;
    for (const auto& part : {left_out, terms, tile}) order.insert(order.end(), part.begin(), part.end());
    order.push_back(lanes);
    RETURN_IF_ERROR(s_.Reorder(order));
    for (const std::string& loop : tile) RETURN_IF_ERROR(s_.Unroll(loop));
    RETURN_IF_ERROR(s_.Vectorize(lanes));
    // Where that would read out of bounds, the guards stay.
    s_.Overcompute(acc_).IgnoreError();
    return absl::OkStatus();
  }

  // The innermost loops of `order`, over terms, as far as the body stays small.
  absl::Status UnrollTerms(std::vector<std::string>& order) {
    int64_t statements = tile_.columns * tile_.height * tile_.depth;
    for (size_t i = order.size(); i-- > 0;) {
      ASSIGN_OR_RETURN(const int64_t extent, s_.Extent(order[i]));
      const int64_t count = Divisors(extent, std::max<int64_t>(kMaxUnrolled / statements, 1)).back();
      if (count == extent) {
        RETURN_IF_ERROR(s_.Unroll(order[i]));
        statements *= count;
        continue;
      }
      if (count == 1) return absl::OkStatus();
      RETURN_IF_ERROR(s_.Split(order[i], count));
      RETURN_IF_ERROR(s_.Unroll(order[i] + ".i"));
      order.insert(order.begin() + static_cast<ptrdiff_t>(i) + 1, order[i] + ".i");
      order[i] += ".o";
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  std::string OutputName(const std::string& loop) const { return out_ + "." + loop; }

  Schedule& s_;
  const Workload& workload_;
  const Sum& sum_;
  const Tile tile_;
  const Target& target_;
  const Model model_;
  const std::string out_, acc_;
};

// Whether the sum has such a tile.
bool IsOf(const Sum& sum, const Tile& tile) {
  const auto fits = [&](size_t loop, int64_t size) { return size <= sum.loops[loop].extent; };
  if (!fits(tile.rows, tile.height) || !fits(tile.planes, tile.depth)) return false;
  if (tile.columns > CeilDiv(sum.loops[tile.lanes].extent, sum.lanes)) return false;
  if (tile.depth > 1) return tile.height > 1 && CanTile(sum, {tile.lanes, tile.rows, tile.planes});
  if (tile.height > 1) return CanTile(sum, {tile.lanes, tile.rows});
  return CanTile(sum, {tile.lanes});
}

struct RatedTile {
  Tile tile;
  double cycles;
};

// The cheapest tile.
RatedTile BestTile(const Sum& sum, const Model& model) {
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

// Whether a stage that is inlined into the sum is a product: a sum of products that no operator of its own
// stands for.
bool SumsProducts(const Workload& workload) {
  const Op op = workload.anchor->op();
  if (op != Op::kReduceSum && op != Op::kReduceMean) return false;
  const Node* product = workload.anchor->input(0)->producer();
  return product != nullptr && product->op() == Op::kMul && product->input(0) != product->input(1);
}

}  // namespace

std::string ContractionWhyNot(const Workload& workload, const Target& target) {
  if (workload.anchor == nullptr || workload.accumulator_stage.empty()) return "the anchor is no sum";
  if (!IsConv(workload.anchor->op()) && workload.anchor->op() != Op::kConvTranspose &&
      !IsMatMul(workload.anchor->op()) && !SumsProducts(workload))
    return "the anchor is no sum of products";
  if (workload.num_outputs != 1) return "more than one output";
  if (workload.output_type().physical_shape() != workload.anchor->output()->type().physical_shape())
    return "the epilogue changes shape or layout";
  const std::optional<SumStages> stages = StagesOf(workload);
  if (!stages) return "not one sum alone";
  const Stage& sum = stages->sum;
  if (sum.axes.empty()) return "a scalar";
  if (WorkOf(sum) == 0) return "nothing to compute";
  int64_t terms = 1;
  for (const Axis& axis : sum.reduce_axes) terms *= axis.extent;
  if (terms < kLeastTerms) return "few terms";
  for (const Axis& axis : sum.axes) {
    if (PartOf(sum, axis) == 0) return "an axis falls into parts in several ways";
  }
  const Sum analyzed = Analyze(workload, target);
  const double most = kLeastShare * static_cast<double>(analyzed.lanes) * target.fma_per_cycle;
  if (BestTile(analyzed, Model(workload, analyzed, target)).cycles * most > static_cast<double>(WorkOf(sum)))
    return "no tile is much faster than loops";
  return "";
}

std::vector<Knob> ContractionSpace(const Workload& workload, const Target& target) {
  const Sum sum = Analyze(workload, target);
  Knob lanes{"lanes", {}}, rows{"rows", {}}, columns{"tile_n", {}}, height{"tile_m", {1}},
      depth{"tile_p", {1}};
  int64_t longest = 1, most_vectors = 1;
  for (size_t i = 0; i < sum.loops.size(); ++i) {
    lanes.values.push_back(static_cast<int64_t>(i));
    most_vectors = std::max(most_vectors, CeilDiv(sum.loops[i].extent, sum.lanes));
    if (!sum.loops[i].guarded || sum.loops[i].padded) longest = std::max(longest, sum.loops[i].extent);
  }
  rows.values = lanes.values;
  Knob planes = rows;
  planes.name = "planes";
  for (int64_t t = 1; t <= std::min(most_vectors, kMaxColumns); ++t) columns.values.push_back(t);
  for (int64_t t = 2; t <= std::min(longest, kMaxRows); ++t) height.values.push_back(t);
  for (int64_t t = 2; t <= std::min(longest, kMaxPlanes); ++t) depth.values.push_back(t);
  return {lanes, rows, planes, columns, height, depth};
}

Config ContractionDefault(const Workload& workload, const Target& target) {
  const Sum sum = Analyze(workload, target);
  const Tile best = BestTile(sum, Model(workload, sum, target)).tile;
  return {{"lanes", static_cast<int64_t>(best.lanes)},
          {"rows", static_cast<int64_t>(best.rows)},
          {"planes", static_cast<int64_t>(best.planes)},
          {"tile_n", best.columns},
          {"tile_m", best.height},
          {"tile_p", best.depth}};
}

// The accumulator with the axis of the lanes last, so that each vector of a tile is a register.
absl::StatusOr<ComputeDef> ContractionDefine(const Workload& workload, const Config& config) {
  ComputeDef definition = workload.definition;
  const auto stage = std::ranges::find(definition.stages, workload.accumulator_stage, &Stage::name);
  const size_t axis = AxisOf(workload, static_cast<size_t>(config.at("lanes")));
  const auto last = [&](auto& values) {
    std::rotate(values.begin() + static_cast<ptrdiff_t>(axis),
                values.begin() + static_cast<ptrdiff_t>(axis) + 1, values.end());
  };
  const Buffer before = stage->output;
  std::vector<int64_t> shape = before->shape;
  last(shape);
  last(stage->axes);
  stage->output = MakeBuffer(before->name, before->dtype, shape);
  ExprRewriter rewriter;
  rewriter.load = [&](const Buffer& buffer, std::vector<Expr> indices) {
    if (buffer != before) return Expr();
    last(indices);
    return Load(stage->output, std::move(indices));
  };
  for (Stage& reader : definition.stages) {
    if (reader.value) reader.value = Rewrite(reader.value, rewriter);
    if (reader.where) reader.where = Rewrite(reader.where, rewriter);
  }
  return definition;
}

absl::Status ContractionApply(Schedule& s, const Workload& workload, const Config& config,
                              const Target& target) {
  const Sum sum = Analyze(workload, target);
  const Tile tile = TileOf(config);
  if (!IsOf(sum, tile)) return InvalidInput("contraction: no tile of these loops");
  return Scheduler(s, workload, sum, tile, target).Run();
}

}  // namespace attune
