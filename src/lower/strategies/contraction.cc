// Any sum of products.
//
// Problem: strategies are made for the shapes that most networks have. None fits a convolution in groups of
// five, in three dimensions or with one channel, or a sum over any axes of the product of two tensors.
// Idea: a register tile does not depend on the operator. Each loop of the sum moves each operand, and the
// output, by a known number of elements. Along a loop that does not move an operand, the operand's elements
// are reused. So a tile is made of two or three loops of the output, one of them in lanes, such that few
// elements are loaded for many multiply-adds. Its cost follows from the strides alone: vectors are loaded
// where an operand's neighbours are neighbours in memory, an element is broadcast where the operand does
// not move, and an operand that moves otherwise is packed. The cheapest tile is the analytic default. The
// analysis is Roller's (Zhu et al., OSDI 2022), the tiles are those of Goto and van de Geijn (TOMS 2008).
#include <algorithm>
#include <optional>
#include <set>

#include "base/checked.h"
#include "base/status.h"
#include "graph/op.h"
#include "lower/strategies/access.h"
#include "lower/strategies/contraction_tile.h"
#include "lower/strategies/loops_parts.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

constexpr int64_t kLeastTerms = 4;
// The least share of the peak that a tile must be predicted to reach: loops often reach as much.
constexpr double kLeastShare = 0.1;
// The most statements of an unrolled body.
constexpr int64_t kMaxUnrolled = 96;

Tile TileOf(const Config& config) {
  return {static_cast<size_t>(config.at("lanes")),
          static_cast<size_t>(config.at("rows")),
          static_cast<size_t>(config.at("planes")),
          config.at("tile_n"),
          config.at("tile_m"),
          config.at("tile_p")};
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
        out_(schedule.StageNamed(workload.output_stage)),
        acc_(schedule.StageNamed(workload.accumulator_stage)) {}

  absl::Status Run() {
    RETURN_IF_ERROR(InlineEpilogue(s_, workload_));
    for (size_t operand = 0; operand < sum_.operands.size(); ++operand) {
      const Reading reading = model_.ReadingOf(operand, tile_.lanes);
      if (reading == Reading::kPanels || reading == Reading::kMoved)
        RETURN_IF_ERROR(Copy(sum_.operands[operand], reading));
    }
    ASSIGN_OR_RETURN(const LoopHandle at, TileOutput());
    RETURN_IF_ERROR(s_.ComputeAt(acc_, at, MemorySpace::kRegister));
    return Accumulate();
  }

 private:
  // Copies an operand in the order of the sum's terms, with the axis of the lanes last, or the lanes of a
  // tile. If that axis is read in steps, elements that are a step apart become neighbours.
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
    ASSIGN_OR_RETURN(const StageHandle copy, s_.Pack(operand.buffer, acc_, split, order));
    const std::vector<Stage> stages = s_.Stages();
    return ScheduleElements(s_, *std::ranges::find(stages, copy.name(), &Stage::name), target_);
  }

  struct PeeledLoop {
    LoopHandle loop;
    Borders borders;
  };

  // The output's loops, as sum_.loops has them.
  absl::StatusOr<std::vector<LoopHandle>> OutputLoops() {
    std::vector<LoopHandle> loops;
    for (size_t axis = 0; axis < sum_.stage.axes.size(); ++axis) {
      const LoopHandle loop = s_.Loop(out_, sum_.stage.axes[axis].var->name);
      const auto part = sum_.parts.find(axis);
      if (part == sum_.parts.end()) {
        loops.push_back(loop);
        continue;
      }
      ASSIGN_OR_RETURN(const SplitLoops split, s_.Split(loop, part->second));
      loops.insert(loops.end(), {split.outer, split.inner});
    }
    return loops;
  }

  // Returns the loop of one tile.
  absl::StatusOr<LoopHandle> TileOutput() {
    ASSIGN_OR_RETURN(const std::vector<LoopHandle> outputs, OutputLoops());
    std::vector<LoopHandle> order, inner, lanes;
    std::vector<PeeledLoop> peeled;
    for (const size_t i : model_.OuterLoops(tile_)) {
      const int64_t extent = sum_.loops[i].extent, tile = tile_.Of(i, sum_.lanes);
      if (tile == 1) {
        order.push_back(outputs[i]);
        continue;
      }
      const bool overlaps =
          extent > tile && extent % tile != 0 && (i != tile_.lanes || !model_.HasPanels(tile_));
      ASSIGN_OR_RETURN(const SplitLoops tiles,
                       overlaps ? s_.SplitOverlapping(outputs[i], tile) : s_.Split(outputs[i], tile));
      order.push_back(tiles.outer);
      if (sum_.loops[i].padded) {
        peeled.push_back(
            {tiles.outer, PeeledTiles(WindowAlong(*workload_.anchor, sum_.loops[i].axis - 2), tile)});
      }
      if (i != tile_.lanes) {
        inner.push_back(tiles.inner);
      } else if (tile_.columns == 1) {
        lanes = {tiles.inner};
      } else {
        ASSIGN_OR_RETURN(const SplitLoops vectors, s_.Split(tiles.inner, sum_.lanes));
        lanes = {vectors.outer, vectors.inner};
      }
    }
    const size_t outer = order.size();
    order.insert(order.end(), inner.begin(), inner.end());
    order.insert(order.end(), lanes.begin(), lanes.end());
    RETURN_IF_ERROR(s_.Reorder(order));
    for (size_t i = outer; i + 1 < order.size(); ++i) RETURN_IF_ERROR(s_.Unroll(order[i]));
    RETURN_IF_ERROR(s_.Vectorize(order.back()));
    for (const PeeledLoop& one : peeled) RETURN_IF_ERROR(PeelPadding(s_, one.loop, one.borders));
    if (IsWorthSharing(WorkOf(sum_.stage)))
      RETURN_IF_ERROR(ParallelizeOuter(s_, out_, outer - peeled.size()));
    ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s_.Loops(out_));
    return loops[loops.size() - inner.size() - lanes.size() - 1];
  }

  absl::Status Accumulate() {
    const auto loop_over = [&](const Axis& axis) { return s_.Loop(acc_, axis.var->name); };
    const size_t vector_axis = sum_.loops[tile_.lanes].axis;
    std::vector<LoopHandle> single, tile;
    for (size_t d = 0; d < sum_.stage.axes.size(); ++d) {
      if (d == vector_axis) continue;
      const LoopHandle loop = loop_over(sum_.stage.axes[d]);
      ASSIGN_OR_RETURN(const int64_t extent, s_.Extent(loop));
      (extent == 1 ? single : tile).push_back(loop);
    }
    const LoopHandle inner = loop_over(sum_.stage.axes[sum_.loops[model_.InnerLoop(tile_)].axis]);
    std::ranges::sort(tile, {}, [&](const LoopHandle& loop) { return loop == inner; });
    LoopHandle lanes = loop_over(sum_.stage.axes[vector_axis]);
    if (tile_.columns > 1) {
      ASSIGN_OR_RETURN(const SplitLoops vectors, s_.Split(lanes, sum_.lanes));
      tile.push_back(vectors.outer);
      lanes = vectors.inner;
    }
    // Terms that are left out for a whole tile come first.
    std::vector<LoopHandle> left_out, terms;
    for (const size_t i : sum_.terms_in_order) {
      const std::set<size_t>& with = sum_.guarded_with[i];
      const bool whole = !with.empty() && !with.contains(vector_axis);
      (whole ? left_out : terms).push_back(loop_over(sum_.stage.reduce_axes[i]));
    }
    RETURN_IF_ERROR(UnrollTerms(terms));
    std::vector<LoopHandle> order = single;
    for (const auto& part : {left_out, terms, tile}) order.insert(order.end(), part.begin(), part.end());
    order.push_back(lanes);
    RETURN_IF_ERROR(s_.Reorder(order));
    for (const LoopHandle& loop : tile) RETURN_IF_ERROR(s_.Unroll(loop));
    RETURN_IF_ERROR(s_.Vectorize(lanes));
    // Guards stay where a read without them would leave its buffer.
    s_.Overcompute(acc_).IgnoreError();
    return absl::OkStatus();
  }

  // Unrolls the innermost loops of `order`, which go over terms, as far as the body stays small.
  absl::Status UnrollTerms(std::vector<LoopHandle>& order) {
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
      ASSIGN_OR_RETURN(const SplitLoops split, s_.Split(order[i], count));
      RETURN_IF_ERROR(s_.Unroll(split.inner));
      order.insert(order.begin() + static_cast<ptrdiff_t>(i) + 1, split.inner);
      order[i] = split.outer;
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  Schedule& s_;
  const Workload& workload_;
  const Sum& sum_;
  const Tile tile_;
  const Target& target_;
  const TileModel model_;
  const StageHandle out_, acc_;
};

// Whether the anchor adds up a product that is inlined into it: a sum of products without an operator of
// its own.
bool SumsProducts(const Workload& workload) {
  const Op op = workload.anchor->op();
  if (op != Op::kReduceSum && op != Op::kReduceMean) return false;
  const Node* product = workload.anchor->input(0)->producer();
  return product != nullptr && product->op() == Op::kMul && product->input(0) != product->input(1);
}

}  // namespace

std::string ContractionWhyNot(const Workload& workload, const Target& target) {
  if (workload.anchor == nullptr || workload.accumulator_stage.empty()) return "the anchor is not a sum";
  if (!IsConv(workload.anchor->op()) && workload.anchor->op() != Op::kConvTranspose &&
      !IsMatMul(workload.anchor->op()) && !SumsProducts(workload))
    return "the anchor is not a sum of products";
  if (workload.num_outputs != 1) return "more than one output";
  if (workload.output_type().physical_shape() != workload.anchor->output()->type().physical_shape())
    return "the epilogue changes shape or layout";
  const std::optional<SumStages> stages = StagesOf(workload);
  if (!stages) return "not one sum alone";
  const Stage& sum = stages->sum;
  if (sum.axes.empty()) return "a scalar";
  if (WorkOf(sum) == 0) return "nothing to compute";
  for (const Axis& axis : sum.axes) {
    if (PartOf(sum, axis) == 0) return "an axis falls into parts in several ways";
  }
  const Sum analyzed = AnalyzeSum(workload, target);
  if (analyzed.terms < kLeastTerms) return "few terms";
  const double most = kLeastShare * static_cast<double>(analyzed.lanes) * target.fma_per_cycle;
  if (BestTile(analyzed, TileModel(workload, analyzed, target)).cycles * most >
      static_cast<double>(WorkOf(sum)))
    return "no tile is much faster than loops";
  return "";
}

std::vector<Knob> ContractionSpace(const Workload& workload, const Target& target) {
  const Sum sum = AnalyzeSum(workload, target);
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
  const Sum sum = AnalyzeSum(workload, target);
  const Tile best = BestTile(sum, TileModel(workload, sum, target)).tile;
  return {{"lanes", static_cast<int64_t>(best.lanes)},
          {"rows", static_cast<int64_t>(best.rows)},
          {"planes", static_cast<int64_t>(best.planes)},
          {"tile_n", best.columns},
          {"tile_m", best.height},
          {"tile_p", best.depth}};
}

// Puts the axis of the lanes last in the accumulator, so that each vector of a tile is a register.
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
  const Sum sum = AnalyzeSum(workload, target);
  const Tile tile = TileOf(config);
  if (!IsOf(sum, tile)) return InvalidInput("contraction: no tile of these loops");
  return Scheduler(s, workload, sum, tile, target).Run();
}

}  // namespace attune
