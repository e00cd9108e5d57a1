// Matrix product with a packed right operand.
//
// Problem: C = A·B with every element of A and B used many times.
// Idea: B is packed into panels of tile_n columns, so that a panel is read in order; a tile of tile_m rows
// × tile_n columns of C stays in registers over all of K. For each k, tile_n / lanes vectors of B are
// loaded and tile_m elements of A broadcast from memory. A panel (K × tile_n) stays in L2 while all rows
// pass. After Goto and van de Geijn, Anatomy of high-performance matrix multiplication, TOMS 2008.
// If all rows of A do not fit into L2 too, the terms can be split into blocks whose part of A does: all
// panels of one block come first, then those of the next, and at the end their sums are added up. Threads
// then have blocks of their own, and each reads only its part of A.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "base/status.h"
#include "graph/node_rules.h"
#include "lower/strategies/gemm_parts.h"

namespace attune {
namespace {

constexpr int64_t kMaxUnrolled = 8;  // steps of a sum

struct Product {
  int64_t lanes, m, n, k;
  int64_t dot;  // terms that one instruction takes
};

Product ProductOf(const Workload& workload, const Target& target) {
  const Shape out = workload.anchor->output()->type().shape(), a = workload.anchor->input(0)->type().shape();
  const bool transposed = workload.anchor->attrs().Bool("transpose_a");
  return {target.Lanes(DTypeSize(ComputeType(workload.anchor->output()->type().dtype))), out[out.size() - 2],
          out.back(), transposed ? a[a.size() - 2] : a.back(),
          transposed ? 1 : DotTerms(workload, a.back(), target)};
}

// How many rows of A can be read side by side: if they share the sets of L1, as many as it has ways.
int64_t MaxRows(const Product& p, const Target& target) {
  const int64_t row_bytes = p.k / p.dot * target.vector_bits / 8 / p.lanes;
  return row_bytes % target.l1_way_bytes == 0 ? target.l1_bytes / target.l1_way_bytes
                                              : target.num_vector_registers;
}

// The bytes of a panel of this many vectors of columns of B.
int64_t PanelBytes(const Product& p, int64_t vectors, const Target& target) {
  return p.k / p.dot * vectors * target.vector_bits / 8;
}

// Whether the kernel can read the right operand without packing it: columns of one row are neighbours. Only
// for stacks of matrices: a single one is mostly weights, which are prepacked.
bool CanReadRows(const Workload& workload, const Product& p) {
  return p.dot == 1 && workload.anchor->input(1)->type().rank() > 2 &&
         !workload.anchor->attrs().Bool("transpose_b");
}

// Packing a matrix takes about as long as multiplying kFewRows rows with it, and gains nothing if L1 holds
// the matrix.
bool IsWorthPacking(const Product& p, const Target& target) {
  constexpr int64_t kFewRows = 24;
  return p.m > kFewRows && PanelBytes(p, CeilDiv(p.n, p.lanes), target) > target.l1_bytes / 2;
}

// The numbers of blocks into which the terms can be split so that all values of unroll_k divide each block.
std::vector<int64_t> BlocksOfTerms(const Workload& workload, const Product& p) {
  constexpr int64_t kMaxBlocks = 8, kLeastTerms = 256;
  if (p.dot > 1 || workload.anchor->input(1)->type().rank() != 2) return {1};
  const std::vector<int64_t> unrolled = Divisors(p.k, kMaxUnrolled);
  std::vector<int64_t> blocks = Divisors(p.k, kMaxBlocks);
  std::erase_if(blocks, [&](int64_t count) {
    const int64_t terms = p.k / count;
    return count > 1 &&
           (terms < kLeastTerms || std::ranges::any_of(unrolled, [&](int64_t n) { return terms % n != 0; }));
  });
  return blocks;
}

// One block, unless L3 can hardly deliver the rows of A as fast as tiles use them up: then the fewest
// blocks such that L2 holds all rows of one while panels pass.
int64_t DefaultBlocks(const Workload& workload, const Product& p, const Config& tile, const Target& target) {
  const int64_t m = tile.at("tile_m"), n = tile.at("tile_n"), element = target.vector_bits / 8 / p.lanes;
  const double bytes_per_cycle = static_cast<double>(element) * target.fma_per_cycle / static_cast<double>(n);
  if (bytes_per_cycle < target.l3_bytes_per_cycle / 4 || p.m <= m) return 1;
  for (const int64_t blocks : BlocksOfTerms(workload, p)) {
    const int64_t bytes = (p.m * p.k * element + 2 * PanelBytes(p, n, target)) / blocks;
    if (bytes <= target.l2_bytes / 2) return blocks;
  }
  return 1;
}

}  // namespace

bool IsMatrixProduct(const Node& node) { return IsMatMul(node.op()); }

std::string GemmWhyNot(const Workload& workload, const Target&) {
  if (workload.anchor == nullptr || !IsMatMul(workload.anchor->op()))
    return "the anchor is not a matrix product";
  if (workload.num_outputs != 1) return "more than one output";
  const TensorType& type = workload.anchor->output()->type();
  if (!IsFloat(type.dtype) && type.dtype != DType::kI32) return "neither floats nor i32";
  if (HasZeroPoints(*workload.anchor)) return "zero points";
  if (!workload.output_type().layout.is_plain() || workload.output_type().shape() != type.shape()) {
    return "the epilogue changes shape or layout";
  }
  if (std::string reason = ComputedWeightsWhyNot(workload); !reason.empty()) return reason;
  if (type.num_elements() == 0 || workload.anchor->input(0)->type().num_elements() == 0)
    return "nothing to compute";
  // The epilogue reads just the one column, but the accumulators would have other lanes too.
  if (type.shape().back() == 1 && workload.anchor_stage != workload.output_stage)
    return "one column, with an epilogue";
  return "";
}

std::vector<Knob> GemmSpace(const Workload& workload, const Target& target) {
  const Product p = ProductOf(workload, target);
  Knob m{"tile_m", {}}, n{"tile_n", {}}, unroll{"unroll_k", Divisors(p.k / p.dot, kMaxUnrolled)};
  const int64_t max_rows = std::max<int64_t>(16, MaxRows(p, target));
  for (int64_t t = 1; t <= std::min(p.m, max_rows); ++t) m.values.push_back(t);
  for (int64_t t = 1; t <= std::min<int64_t>(CeilDiv(p.n, p.lanes), 6); ++t) n.values.push_back(t);
  std::vector<Knob> knobs = {m, n, unroll, {"prefetch", {0, 1}}, {"k_blocks", BlocksOfTerms(workload, p)}};
  if (CanReadRows(workload, p)) knobs.push_back({"pack", {0, 1}});
  return knobs;
}

Config GemmDefault(const Workload& workload, const Target& target) {
  const Product p = ProductOf(workload, target);
  Config best;
  double best_cost = std::numeric_limits<double>::infinity();
  const int64_t vectors = CeilDiv(p.n, p.lanes);
  const int64_t registers = TileRegisters(workload, target) - (target.vector_bits >= 512 ? 0 : 1);
  int64_t max_rows = std::min(p.m, MaxRows(p, target));
  // Rows that come from beyond L2 are read once for a few columns: memory delivers a few of them side by
  // side faster than many.
  if (vectors == 1 && p.m * p.k * DTypeSize(workload.anchor->input(0)->type().dtype) > target.l2_bytes / 2)
    max_rows = std::min<int64_t>(max_rows, std::llround(target.fma_latency * target.fma_per_cycle));
  for (int64_t n = 1; n <= std::min<int64_t>(vectors, 6); ++n) {
    for (int64_t m = 1; m <= max_rows && m * n + n <= registers; ++m) {
      const bool fits_l2 = PanelBytes(p, n, target) <= target.l2_bytes / 2;
      const double line_cycles = static_cast<double>(target.vector_bits) / 8 /
                                 (fits_l2 ? target.l2_bytes_per_cycle : target.l3_bytes_per_cycle);
      const double multiply_adds = static_cast<double>(m * n) / target.fma_per_cycle;
      const double loads = TileLoadCycles(m, n, line_cycles, target);
      const double tiles = static_cast<double>(CeilDiv(p.m, m) * CeilDiv(vectors, n));
      const double cost =
          tiles * (std::max({multiply_adds, loads, static_cast<double>(target.fma_latency)}) + 1.0);
      if (cost < best_cost) {
        best_cost = cost;
        best = {{"tile_m", m}, {"tile_n", n}};
      }
    }
  }
  best["unroll_k"] = Divisors(p.k / p.dot, best["tile_m"] * best["tile_n"] > 12 ? 4 : kMaxUnrolled).back();
  // Panels that L1 does not hold, and all of narrow numbers, are used up faster than the hardware
  // prefetches them: with prefetching, BERT's products of f32 took 7 % less time.
  const bool leaves_l1 = PanelBytes(p, best["tile_n"], target) > target.l1_bytes;
  best["k_blocks"] = DefaultBlocks(workload, p, best, target);
  best["prefetch"] = (p.dot > 1 || leaves_l1) && p.m > best["tile_m"] ? 1 : 0;
  if (CanReadRows(workload, p)) best["pack"] = IsWorthPacking(p, target) ? 1 : 0;
  return best;
}

namespace {

// The stages that compute a tile of the product.
struct TileStages {
  StageHandle out;    // writes it
  StageHandle acc;    // holds it in registers
  StageHandle right;  // copies the right operand into panels; no stage if it is not packed
};

// Schedules the loops over tiles, and those over the terms of one tile.
absl::Status ScheduleTiles(Schedule& s, const Workload& workload, const Product& p, const Config& config,
                           const TileStages& stages) {
  const int64_t tile_m = config.at("tile_m"), tile_n = config.at("tile_n"), unroll = config.at("unroll_k");
  const StageHandle &out = stages.out, &acc = stages.acc;
  const size_t rank = workload.anchor->output()->type().shape().size();
  const std::string m = absl::StrCat("d", rank - 2), n = absl::StrCat("d", rank - 1);
  ASSIGN_OR_RETURN(const SplitLoops panels, s.Split(s.Loop(out, n), p.lanes * tile_n));
  ASSIGN_OR_RETURN(const SplitLoops columns, s.Split(panels.inner, p.lanes));
  ASSIGN_OR_RETURN(const SplitLoops rows, s.Split(s.Loop(out, m), tile_m));
  RETURN_IF_ERROR(s.Reorder({panels.outer, rows.outer, rows.inner, columns.outer, columns.inner}));
  RETURN_IF_ERROR(s.Unroll(rows.inner));
  RETURN_IF_ERROR(s.Unroll(columns.outer));
  RETURN_IF_ERROR(s.Vectorize(columns.inner));
  // Rows beyond the last one must not be read: if the last tile has such rows, it is peeled, and its guards
  // are decided at compile time.
  const bool exact = p.m % tile_m == 0;
  if (!exact) RETURN_IF_ERROR(s.Peel(rows.outer, 0, 1));
  constexpr size_t kLoopsOfTile = 3;
  const size_t outer = (config.at("k_blocks") > 1 ? 1 : 0) + rank;  // number of loops
  RETURN_IF_ERROR(ParallelizeOuter(s, out, exact ? outer : outer - 1));
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> nest, s.Loops(out));
  RETURN_IF_ERROR(s.ComputeAt(acc, nest[nest.size() - kLoopsOfTile - 1], MemorySpace::kRegister));

  ASSIGN_OR_RETURN(const std::vector<LoopHandle> axes, s.Loops(acc));
  const LoopHandle row = s.Loop(acc, m);
  ASSIGN_OR_RETURN(const SplitLoops vectors, s.Split(s.Loop(acc, n), p.lanes));
  ASSIGN_OR_RETURN(const TermLoops terms, SplitTerms(s, axes.back(), p.dot));
  std::vector<LoopHandle> loops = {terms.outer};
  if (unroll > 1) {
    ASSIGN_OR_RETURN(const SplitLoops steps, s.Split(terms.outer, unroll));
    loops = {steps.outer, steps.inner};
    RETURN_IF_ERROR(s.Unroll(steps.inner));
  }
  loops.insert(loops.end(), {row, vectors.outer, vectors.inner});
  if (p.dot > 1) loops.push_back(terms.instruction);
  RETURN_IF_ERROR(s.Reorder(loops));
  RETURN_IF_ERROR(s.Unroll(row));
  RETURN_IF_ERROR(s.Unroll(vectors.outer));
  RETURN_IF_ERROR(s.Vectorize(vectors.inner));
  if (p.dot > 1) RETURN_IF_ERROR(s.Dot(terms.instruction));
  // Prefetches the next panel while all rows pass this one.
  if (config.at("prefetch") != 0 && workload.anchor->input(1)->type().rank() == 2) {
    ASSIGN_OR_RETURN(const Buffer panel, s.Output(stages.right));
    RETURN_IF_ERROR(s.Prefetch(panel, loops[0]));
  }
  // If the indices into the left operand are not known well enough, guards stay, and the kernel is right
  // with them.
  if (exact) s.Overcompute(acc).IgnoreError();
  return absl::OkStatus();
}

// Row by row: out = the epilogue of the sum of the blocks' sums.
absl::Status ScheduleSumOfBlocks(Schedule& s, const StageHandle& out, const StageHandle& sum,
                                 const Product& p) {
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> axes, s.Loops(out));
  ASSIGN_OR_RETURN(const SplitLoops columns, s.Split(axes.back(), p.lanes));
  RETURN_IF_ERROR(s.Vectorize(columns.inner));
  RETURN_IF_ERROR(ParallelizeOuter(s, out, axes.size() - 1));
  RETURN_IF_ERROR(s.ComputeAt(sum, columns.outer, MemorySpace::kRegister));
  ASSIGN_OR_RETURN(std::vector<LoopHandle> loops, s.Loops(sum));
  std::rotate(loops.begin(), loops.end() - 1, loops.end());  // the blocks first
  RETURN_IF_ERROR(s.Reorder(loops));
  RETURN_IF_ERROR(s.Unroll(loops.front()));
  return s.Vectorize(loops.back());
}

}  // namespace

absl::StatusOr<StageHandle> PackRightOperand(Schedule& s, const Workload& workload,
                                             const RightPacking& packing) {
  const Value* right = workload.anchor->input(1);
  const bool transposed = workload.anchor->attrs().Bool("transpose_b");
  const bool dot = packing.terms > 1, blocks = packing.blocks > 1;
  const int64_t batch = right->type().rank() - 2;
  const int64_t column_axis = transposed ? batch : batch + 1, row_axis = transposed ? batch + 1 : batch;
  std::vector<std::pair<int64_t, int64_t>> splits = {{column_axis, packing.columns}};
  if (dot) splits.emplace_back(row_axis, packing.terms);
  if (blocks)
    splits.emplace_back(row_axis, right->type().shape()[static_cast<size_t>(row_axis)] / packing.blocks);
  // The indices of the axes' parts after the splits.
  const int64_t row = transposed ? batch + 2 : batch,
                column = transposed ? batch : batch + (dot || blocks ? 2 : 1);
  std::vector<int64_t> order;
  for (int64_t d = 0; d < batch; ++d) order.push_back(d);
  if (blocks) {
    order.insert(order.end(), {row, column, row + 1, column + 1});
  } else {
    order.insert(order.end(), {column, row, column + 1});
    if (dot) order.push_back(row + 1);
  }
  return s.Pack(BufferOf(workload, right), packing.reader, splits, order);
}

absl::Status GemmApply(Schedule& s, const Workload& workload, const Config& config, const Target& target) {
  const Product p = ProductOf(workload, target);
  const int64_t blocks = config.at("k_blocks");
  const StageHandle out = s.StageNamed(workload.output_stage), acc = s.StageNamed(workload.accumulator_stage);
  RETURN_IF_ERROR(InlineEpilogue(s, workload));
  TileStages tiles = {out, acc, {}};
  if (blocks > 1) {
    ASSIGN_OR_RETURN(const SplitLoops terms, s.Split(s.Loop(acc, "k"), p.k / blocks));
    ASSIGN_OR_RETURN(const FactoredReduction sums, s.Rfactor(acc, terms.outer, 0));
    tiles.out = sums.stage;
    ASSIGN_OR_RETURN(tiles.acc, s.CacheWrite(sums.stage));
    RETURN_IF_ERROR(ScheduleSumOfBlocks(s, out, acc, p));
  }
  const auto pack = config.find("pack");
  if (pack == config.end() || pack->second != 0) {
    const RightPacking packing = {
        .reader = tiles.acc, .columns = p.lanes * config.at("tile_n"), .terms = p.dot, .blocks = blocks};
    ASSIGN_OR_RETURN(tiles.right, PackRightOperand(s, workload, packing));
  }
  return ScheduleTiles(s, workload, p, config, tiles);
}

}  // namespace attune
