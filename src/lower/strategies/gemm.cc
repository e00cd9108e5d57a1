// Matrix product with a packed right operand.
//
// Problem: C = A·B with every element of A and B used many times.
// Idea: B is packed into panels of tile_n columns, so that a panel is read in order; a tile of tile_m rows ×
// tile_n columns of C stays in registers over all of K. For each k, tile_n / lanes vectors of B are loaded
// and tile_m elements of A broadcast from memory. A panel (K × tile_n) stays in the second-level cache while
// all rows pass. After Goto and van de Geijn, Anatomy of high-performance matrix multiplication, TOMS 2008.
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/status.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

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

// How many rows of A can be read side by side. Rows that are a multiple of a page apart share the sets of the
// first-level cache, which holds as many of them as it has ways.
int64_t MaxRows(const Product& p, const Target& target) {
  constexpr int64_t kPage = 4096;
  const int64_t row_bytes = p.k / p.dot * target.vector_bits / 8 / p.lanes;
  return row_bytes % kPage == 0 ? target.l1_bytes / kPage : target.num_vector_registers;
}

// Of so many vectors of columns of B.
int64_t PanelBytes(const Product& p, int64_t vectors, const Target& target) {
  return p.k / p.dot * vectors * target.vector_bits / 8;
}

}  // namespace

std::string GemmWhyNot(const Workload& workload, const Target&) {
  if (workload.anchor == nullptr || !IsMatMul(workload.anchor->op()))
    return "the anchor is no matrix product";
  if (workload.num_outputs != 1) return "more than one output";
  const TensorType& type = workload.anchor->output()->type();
  if (!IsFloat(type.dtype) && type.dtype != DType::kI32) return "neither floats nor i32";
  if (HasZeroPoints(*workload.anchor)) return "zero points";
  if (!workload.output_type().layout.is_plain() || workload.output_type().shape() != type.shape()) {
    return "the epilogue changes shape or layout";
  }
  if (!workload.anchor->input(1)->is_input()) return "the right operand is computed in the group";
  if (type.num_elements() == 0 || workload.anchor->input(0)->type().num_elements() == 0)
    return "nothing to compute";
  // What follows reads the one column and no lanes beside it, which the accumulators would fill.
  if (type.shape().back() == 1 && workload.anchor_stage != workload.output_stage)
    return "one column, with an epilogue";
  return "";
}

std::vector<Knob> GemmSpace(const Workload& workload, const Target& target) {
  const Product p = ProductOf(workload, target);
  Knob m{"tile_m", {}}, n{"tile_n", {}}, unroll{"unroll_k", Divisors(p.k / p.dot, 8)};
  const int64_t max_rows = std::max<int64_t>(16, MaxRows(p, target));
  for (int64_t t = 1; t <= std::min(p.m, max_rows); ++t) m.values.push_back(t);
  for (int64_t t = 1; t <= std::min<int64_t>(CeilDiv(p.n, p.lanes), 6); ++t) n.values.push_back(t);
  return {m, n, unroll, {"prefetch", {0, 1}}};
}

Config GemmDefault(const Workload& workload, const Target& target) {
  const Product p = ProductOf(workload, target);
  Config best;
  double best_cost = std::numeric_limits<double>::infinity();
  const int64_t vectors = CeilDiv(p.n, p.lanes);
  const int64_t registers = TileRegisters(workload, target) - (target.vector_bits >= 512 ? 0 : 1);
  const int64_t max_rows = std::min(p.m, MaxRows(p, target));
  for (int64_t n = 1; n <= std::min<int64_t>(vectors, 6); ++n) {
    for (int64_t m = 1; m <= max_rows && m * n + n <= registers; ++m) {
      const bool fits_l2 = PanelBytes(p, n, target) <= target.l2_bytes / 2;
      const double line_cycles = static_cast<double>(target.vector_bits / 8) /
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
  best["unroll_k"] = Divisors(p.k / p.dot, best["tile_m"] * best["tile_n"] > 12 ? 4 : 8).back();
  // Panels that the first-level cache does not hold, and all of bf16, are used up faster than the hardware
  // fetches them by itself: BERT's products of f32 took 7 % less.
  const bool leaves_l1 = PanelBytes(p, best["tile_n"], target) > target.l1_bytes;
  best["prefetch"] = (p.dot > 1 || leaves_l1) && p.m > best["tile_m"] ? 1 : 0;
  return best;
}

// B [batch…, k, n] or [batch…, n, k] → [batch…, panel, k, column], or [batch…, panel, k / dot, column, dot]
// where one instruction takes as many.
absl::Status PackRightOperand(Schedule& s, const Workload& workload, const Product& p, int64_t tile_n) {
  const Value* right = workload.anchor->input(1);
  const bool transposed = workload.anchor->attrs().Bool("transpose_b"), dot = p.dot > 1;
  const int64_t batch = right->type().rank() - 2;
  const int64_t column_axis = transposed ? batch : batch + 1, row_axis = transposed ? batch + 1 : batch;
  std::vector<std::pair<int64_t, int64_t>> splits = {{column_axis, p.lanes * tile_n}};
  if (dot) splits.emplace_back(row_axis, p.dot);
  // Where the axes' parts are once split.
  const int64_t row = transposed ? batch + 2 : batch, column = transposed ? batch : batch + (dot ? 2 : 1);
  std::vector<int64_t> order;
  for (int64_t d = 0; d < batch; ++d) order.push_back(d);
  order.insert(order.end(), {column, row, column + 1});
  if (dot) order.push_back(row + 1);
  return s.Pack(ParamName(workload, right), workload.accumulator_stage, splits, order);
}

absl::Status GemmApply(Schedule& s, const Workload& workload, const Config& config, const Target& target) {
  const Node& product = *workload.anchor;
  const Product p = ProductOf(workload, target);
  const int64_t tile_m = config.at("tile_m"), tile_n = config.at("tile_n"), unroll = config.at("unroll_k");
  const std::string out = workload.output_stage, acc = workload.accumulator_stage;
  RETURN_IF_ERROR(InlineEpilogue(s, workload));
  RETURN_IF_ERROR(PackRightOperand(s, workload, p, tile_n));

  const size_t rank = product.output()->type().shape().size();
  const std::string m = absl::StrCat(".d", rank - 2), n = absl::StrCat(".d", rank - 1);
  RETURN_IF_ERROR(s.Split(out + n, p.lanes * tile_n));
  RETURN_IF_ERROR(s.Split(out + n + ".i", p.lanes));
  RETURN_IF_ERROR(s.Split(out + m, tile_m));
  RETURN_IF_ERROR(
      s.Reorder({out + n + ".o", out + m + ".o", out + m + ".i", out + n + ".i.o", out + n + ".i.i"}));
  RETURN_IF_ERROR(s.Unroll(out + m + ".i"));
  RETURN_IF_ERROR(s.Unroll(out + n + ".i.o"));
  RETURN_IF_ERROR(s.Vectorize(out + n + ".i.i"));
  // Rows beyond the last one must not be read: where there are some, the last tile is peeled, and its guards
  // are decided there.
  const bool exact = p.m % tile_m == 0;
  if (!exact) RETURN_IF_ERROR(s.Peel(out + m + ".o", 0, 1));
  RETURN_IF_ERROR(ParallelizeOuter(s, out, exact ? rank : rank - 1));
  ASSIGN_OR_RETURN(const std::vector<std::string> outer, s.Loops(out));
  RETURN_IF_ERROR(s.ComputeAt(acc, outer[outer.size() - 4], MemorySpace::kRegister));

  RETURN_IF_ERROR(s.Split(acc + n, p.lanes));
  ASSIGN_OR_RETURN(const TermLoops terms, SplitTerms(s, acc + ".k", p.dot));
  const std::string& k = terms.outer;
  std::vector<std::string> loops = {k};
  if (unroll > 1) {
    RETURN_IF_ERROR(s.Split(k, unroll));
    loops = {k + ".o", k + ".i"};
    RETURN_IF_ERROR(s.Unroll(loops[1]));
  }
  for (const std::string& loop : {acc + m, acc + n + ".o", acc + n + ".i"}) loops.push_back(loop);
  if (p.dot > 1) loops.push_back(terms.instruction);
  RETURN_IF_ERROR(s.Reorder(loops));
  RETURN_IF_ERROR(s.Unroll(acc + m));
  RETURN_IF_ERROR(s.Unroll(acc + n + ".o"));
  RETURN_IF_ERROR(s.Vectorize(acc + n + ".i"));
  if (p.dot > 1) RETURN_IF_ERROR(s.Dot(terms.instruction));
  // The next panel, while all rows pass this one.
  const Value* right = product.input(1);
  if (config.at("prefetch") != 0 && right->type().rank() == 2)
    RETURN_IF_ERROR(s.Prefetch(ParamName(workload, right) + ".packed", loops[0]));
  return exact ? s.Overcompute(acc) : absl::OkStatus();
}

}  // namespace attune
