// Matrix product on a matrix unit.
//
// Problem: instructions that multiply tiles of bf16 or of 8-bit integers do eight times the work of those
// for vectors, so that all else must hide behind them. Idea: tiles_m × tiles_n tiles of sums stay in tile
// registers over all of K, so that every operand that is loaded serves two products or more. B is packed so
// that a tile's rows hold neighbouring terms of 16 columns; rows of A are read without a copy. Sums leave
// the tiles for a small buffer, from which the epilogue reads vectors. The last block of rows is shifted
// inwards. After Intel 64 and IA-32 Architectures Optimization Reference Manual, chapter 20.
#include <algorithm>

#include "base/checked.h"
#include "base/status.h"
#include "graph/node_rules.h"
#include "lower/strategies/gemm_parts.h"
#include "lower/strategies/matrix_parts.h"

namespace attune {
namespace {

struct Product {
  int64_t m, n, k;
  int64_t terms;  // of a group; 0 where there is no instruction
};

Product ProductOf(const Workload& workload, const Target& target) {
  const Node& anchor = *workload.anchor;
  const Shape a = anchor.input(0)->type().shape(), out = anchor.output()->type().shape();
  return {out[out.size() - 2], out.back(), a.back(), MatrixTerms(anchor, target)};
}

double Cost(const Product& p, const MatrixTile& tile, const Target& target) {
  const double blocks =
      static_cast<double>(CeilDiv(p.m, tile.block_rows()) * CeilDiv(p.n, tile.block_columns()));
  const int64_t steps = p.k / p.terms / tile.groups;
  return blocks *
         (static_cast<double>(steps) * MatrixStepCycles(tile, target) + MatrixCopyCycles(tile, target));
}

}  // namespace

std::string GemmMatrixWhyNot(const Workload& workload, const Target& target) {
  if (workload.anchor == nullptr || !IsMatMul(workload.anchor->op()))
    return "the anchor is not a matrix product";
  if (workload.num_outputs != 1) return "more than one output";
  if (HasZeroPoints(*workload.anchor)) return "zero points";
  const TensorType& type = workload.anchor->output()->type();
  if (!workload.output_type().layout.is_plain() || workload.output_type().shape() != type.shape())
    return "the epilogue changes shape or layout";
  if (std::string reason = ComputedWeightsWhyNot(workload, 0); !reason.empty()) return reason;
  if (type.num_elements() == 0 || workload.anchor->input(0)->type().num_elements() == 0)
    return "nothing to compute";
  if (MatrixTerms(*workload.anchor, target) == 0) return "no matrix instruction for these types";
  if (workload.anchor->attrs().Bool("transpose_a")) return "the left operand is transposed";
  const Product p = ProductOf(workload, target);
  if (p.k % p.terms != 0) return "an odd number of terms";
  if (p.m < kLeastMatrixRows) return "few rows";
  if (p.n == 1) return "one column";
  return "";
}

std::vector<Knob> GemmMatrixSpace(const Workload& workload, const Target& target) {
  const Product p = ProductOf(workload, target);
  std::vector<Knob> knobs = MatrixSpace(p.m, p.n, p.k / p.terms);
  knobs.push_back({"prefetch", {0, 1}});
  return knobs;
}

Config GemmMatrixDefault(const Workload& workload, const Target& target) {
  const Product p = ProductOf(workload, target);
  Config best = CheapestMatrixTile(MatrixSpace(p.m, p.n, p.k / p.terms), p.m,
                                   [&](const MatrixTile& tile) { return Cost(p, tile, target); });
  best["prefetch"] = p.m > MatrixTileOf(best).block_rows() ? 1 : 0;
  return best;
}

absl::Status GemmMatrixApply(Schedule& s, const Workload& workload, const Config& config,
                             const Target& target) {
  const Product p = ProductOf(workload, target);
  const MatrixTile tile = MatrixTileOf(config);
  RETURN_IF_ERROR(CheckMatrixTile(tile, p.m));
  const StageHandle out = s.StageNamed(workload.output_stage),
                    copy = s.StageNamed(workload.accumulator_stage);
  RETURN_IF_ERROR(InlineEpilogue(s, workload));
  ASSIGN_OR_RETURN(const StageHandle sums, s.CacheWrite(copy));
  const RightPacking packing = {.reader = sums, .columns = tile.block_columns(), .terms = p.terms};
  ASSIGN_OR_RETURN(const StageHandle right, PackRightOperand(s, workload, packing));

  const size_t rank = workload.anchor->output()->type().shape().size();
  const std::string m = absl::StrCat("d", rank - 2), n = absl::StrCat("d", rank - 1);
  ASSIGN_OR_RETURN(const SplitLoops rows, s.SplitOverlapping(s.Loop(out, m), tile.block_rows()));
  ASSIGN_OR_RETURN(const SplitLoops panels, s.Split(s.Loop(out, n), tile.block_columns()));
  ASSIGN_OR_RETURN(const SplitLoops columns, s.Split(panels.inner, kTileColumns));
  RETURN_IF_ERROR(s.Reorder({panels.outer, rows.outer, rows.inner, columns.outer, columns.inner}));
  RETURN_IF_ERROR(s.Unroll(columns.outer));
  RETURN_IF_ERROR(s.Vectorize(columns.inner));
  RETURN_IF_ERROR(ParallelizeOuter(s, out, rank));
  constexpr size_t kLoopsOfTile = 3;
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> nest, s.Loops(out));
  const LoopHandle& blocks = nest[nest.size() - kLoopsOfTile - 1];
  RETURN_IF_ERROR(s.ComputeAt(copy, blocks, MemorySpace::kScratch));
  RETURN_IF_ERROR(s.ComputeAt(sums, blocks, MemorySpace::kRegister));
  RETURN_IF_ERROR(ScheduleTileCopy(s, copy, {.rows = s.Loop(copy, m), .columns = s.Loop(copy, n)}, tile));
  const MatrixLoops loops = {.rows = s.Loop(sums, m), .columns = s.Loop(sums, n), .terms = s.Loop(sums, "k")};
  ASSIGN_OR_RETURN(const LoopHandle steps, ScheduleTileSums(s, sums, loops, p.terms, tile));
  // Prefetches the next panel while all rows pass this one.
  if (config.at("prefetch") == 0 || workload.anchor->input(1)->type().rank() != 2) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Buffer panel, s.Output(right));
  return s.Prefetch(panel, steps);
}

}  // namespace attune
