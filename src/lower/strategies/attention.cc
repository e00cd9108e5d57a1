// Attention, a block of query rows at a time: their scores, softmax and weighted sums stay in the nearest
// cache. The keys are transposed beforehand, so that both products are register tiles of rows × vectors,
// like a matrix product's. With one or two queries, as in a decoder's step with a long cache, transposing
// would cost more than multiplying; there each score is a sum in lanes along the terms of a key.
#include <algorithm>
#include <array>

#include "base/checked.h"
#include "base/status.h"
#include "lower/strategies/attention_parts.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

struct Sizes {
  int64_t lanes, queries, keys, terms, values;  // terms of a key, values: the size of one value vector
  int64_t score_dot, sum_dot;                   // terms that one instruction takes, of q·k and of p·v
};

Sizes SizesOf(const Workload& workload, const Target& target) {
  const Node& node = *workload.anchor;
  const Shape q = node.input(0)->type().shape(), v = node.input(2)->type().shape();
  const auto dot = [&](int64_t terms) { return DotTerms(workload, terms, target); };
  const bool shared = node.input(1) == node.input(2);  // one copy for the keys, none for the values
  const int64_t lanes = target.Lanes(DTypeSize(ComputeType(node.output()->type().dtype)));
  return {lanes, q[2], v[2], q[3], v[3], dot(q[3]), shared || v[3] % lanes != 0 ? 1 : dot(v[2])};
}

// Whether an operand is converted in the group: doing that at every use would take longer than a copy.
bool IsConverted(const Value* operand) {
  const Node* producer = operand->producer();
  while (producer != nullptr && IsMovement(*producer)) producer = producer->input(0)->producer();
  return producer != nullptr && producer->op() == Op::kCast;
}

// Whether the terms of a key lie side by side: movements of whole rows keep them.
bool HasDenseRows(const Value* operand) {
  for (const Node* n = operand->producer(); n != nullptr && IsMovement(*n); n = n->input(0)->producer()) {
    const int64_t last = n->output()->type().rank() - 1;
    if (n->op() == Op::kTranspose && n->attrs().IntList("perm").back() != last) return false;
    if (n->op() == Op::kReshape &&
        n->input(0)->type().shape().back() % n->output()->type().shape().back() != 0)
      return false;
  }
  return true;
}

// Whether scores are sums in lanes along the terms, with keys that are not copied.
bool ReadsKeysInPlace(const Workload& workload, const Sizes& sizes) {
  constexpr int64_t kFewQueries = 2;
  const Value* keys = workload.anchor->input(1);
  return sizes.score_dot == 1 && sizes.queries <= kFewQueries && sizes.terms % sizes.lanes == 0 &&
         !IsConverted(keys) && HasDenseRows(keys);
}

class AttentionScheduler {
 public:
  AttentionScheduler(Schedule& schedule, const Workload& workload, const Config& config, const Target& target)
      : s_(schedule),
        workload_(workload),
        sizes_(SizesOf(workload, target)),
        keys_in_place_(ReadsKeysInPlace(workload, sizes_)),
        rows_(config.at("tile_q")),
        vectors_(config.at("tile_v")),
        acc_(StageOfAnchor(schedule, workload, ".acc")),
        exponentials_(StageOfAnchor(schedule, workload, ".exp")),
        scores_(StageOfAnchor(schedule, workload, ".qk")) {}

  absl::Status Run() {
    if (!keys_in_place_) RETURN_IF_ERROR(TransposeKeys());
    RETURN_IF_ERROR(PackQueries());
    RETURN_IF_ERROR(PackValues());
    RETURN_IF_ERROR(InlineEpilogue(s_, workload_));
    RETURN_IF_ERROR(InlineMovements(s_, workload_));
    StageHandle score_sums;
    if (!keys_in_place_) {
      ASSIGN_OR_RETURN(score_sums, s_.CacheWrite(scores_));
    }
    RETURN_IF_ERROR(ScheduleOutput());
    RETURN_IF_ERROR(WeightedSums());
    RETURN_IF_ERROR(ReduceRows(".sum"));
    RETURN_IF_ERROR(s_.ComputeAt(exponentials_, at_, MemorySpace::kScratch));
    RETURN_IF_ERROR(Vectorize(s_.Loop(exponentials_, "d3"), 1).status());
    RETURN_IF_ERROR(ReduceRows(".max"));
    RETURN_IF_ERROR(keys_in_place_ ? ScoresOfFew() : Scores(score_sums));
    return s_.Overcompute(acc_);
  }

 private:
  // Vectorizes a loop, `vectors` vectors at a time, and peels the last ones if they are not full.
  absl::StatusOr<SplitLoops> Vectorize(const LoopHandle& loop, int64_t vectors) {
    ASSIGN_OR_RETURN(const int64_t extent, s_.Extent(loop));
    ASSIGN_OR_RETURN(SplitLoops split, s_.Split(loop, vectors * sizes_.lanes));
    RETURN_IF_ERROR(s_.Vectorize(split.inner));
    if (extent % (vectors * sizes_.lanes) != 0) RETURN_IF_ERROR(s_.Peel(split.outer, 0, 1));
    return split;
  }

  // Splits the output into blocks of rows, which threads share.
  absl::Status ScheduleOutput() {
    const std::array<LoopHandle, 4> axes = AttentionOutputLoops(s_, workload_);
    ASSIGN_OR_RETURN(const SplitLoops rows, s_.Split(axes[2], rows_));
    ASSIGN_OR_RETURN(const SplitLoops vectors, Vectorize(axes[3], 1));
    RETURN_IF_ERROR(s_.Reorder({axes[0], axes[1], rows.outer, rows.inner, vectors.outer, vectors.inner}));
    RETURN_IF_ERROR(s_.Unroll(rows.inner));
    RETURN_IF_ERROR(s_.Unroll(vectors.outer));
    ASSIGN_OR_RETURN(at_, ParallelizeAttentionOutput(s_, workload_));
    return absl::OkStatus();
  }

  // Transposes a vector of keys at a time: rows of keys may lie so far apart that only few of them fit into
  // L1 together, and each is read once for every lane.
  absl::Status TransposeKeys() {
    const Buffer keys = BufferOf(workload_, workload_.anchor->input(1));
    StageHandle copy;
    if (sizes_.score_dot == 1) {
      ASSIGN_OR_RETURN(copy, s_.Pack(keys, scores_, {{2, sizes_.lanes}}, {0, 1, 4, 2, 3}));
      RETURN_IF_ERROR(s_.Vectorize(s_.Loop(copy, "i2v")));
    } else {
      ASSIGN_OR_RETURN(
          copy, s_.Pack(keys, scores_, {{2, sizes_.lanes}, {3, sizes_.score_dot}}, {0, 1, 4, 2, 3, 5}));
      RETURN_IF_ERROR(s_.Unroll(s_.Loop(copy, "i3v")));
    }
    RETURN_IF_ERROR(s_.Reorder(s_.LoopsOver(copy, {"i2", "i3"})));
    return ParallelizeOuter(s_, copy, 2);
  }

  // Copies the queries into full blocks of rows, so that the last block is computed like the others. Rows
  // that only lie apart need no copy: a block of them is read once for each tile of keys, from the nearest
  // cache.
  absl::Status PackQueries() {
    if (sizes_.queries % rows_ == 0 && !IsConverted(workload_.anchor->input(0))) return absl::OkStatus();
    const Buffer queries = BufferOf(workload_, workload_.anchor->input(0));
    ASSIGN_OR_RETURN(const StageHandle copy, s_.Pack(queries, scores_, {{2, rows_}}, {0, 1, 2, 3, 4}));
    RETURN_IF_ERROR(Vectorize(s_.Loop(copy, "i3"), 1).status());
    return ParallelizeOuter(s_, copy, 3);
  }

  // Makes a dense copy of the values, which every block of queries reads, with neighbouring terms side by
  // side for the instruction.
  absl::Status PackValues() {
    const Buffer values = BufferOf(workload_, workload_.anchor->input(2));
    if (sizes_.sum_dot > 1) {
      ASSIGN_OR_RETURN(const StageHandle copy, s_.Pack(values, acc_, {{2, sizes_.sum_dot}}, {0, 1, 2, 4, 3}));
      RETURN_IF_ERROR(s_.Unroll(s_.Loop(copy, "i2v")));
      return ParallelizeOuter(s_, copy, 2);
    }
    if (sizes_.values % sizes_.lanes != 0) {  // filled up
      ASSIGN_OR_RETURN(const StageHandle copy, s_.Pack(values, acc_, {{3, sizes_.lanes}}, {0, 1, 3, 2, 4}));
      RETURN_IF_ERROR(s_.Vectorize(s_.Loop(copy, "i3v")));
      return ParallelizeOuter(s_, copy, 3);
    }
    // The values are dense already, unless the group begins by moving them.
    if (workload_.anchor->input(2)->is_input()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const StageHandle copy, s_.Pack(values, acc_, {}, {0, 1, 2, 3}));
    RETURN_IF_ERROR(Vectorize(s_.Loop(copy, "i3"), 1).status());
    return ParallelizeOuter(s_, copy, 2);
  }

  // p · v: for each vector of the output, all rows accumulate in registers.
  absl::Status WeightedSums() {
    RETURN_IF_ERROR(s_.ComputeAt(acc_, at_, MemorySpace::kRegister));
    const LoopHandle rows = s_.Loop(acc_, "d2");
    ASSIGN_OR_RETURN(const SplitLoops values,
                     Vectorize(s_.Loop(acc_, "d3"), VectorsIn(sizes_.values, sizes_.lanes, vectors_)));
    RETURN_IF_ERROR(SumInnermost(s_.Loop(acc_, "s"), sizes_.sum_dot, {values.outer}, {rows, values.inner}));
    RETURN_IF_ERROR(s_.Unroll(values.outer));
    return s_.Unroll(rows);
  }

  // Orders the loops of a sum: `outer`, its terms, `inner`, and last the terms of one instruction.
  absl::Status SumInnermost(const LoopHandle& terms, int64_t dot, std::vector<LoopHandle> outer,
                            const std::vector<LoopHandle>& inner) {
    ASSIGN_OR_RETURN(const TermLoops loops, SplitTerms(s_, terms, dot));
    outer.push_back(loops.outer);
    outer.insert(outer.end(), inner.begin(), inner.end());
    if (dot > 1) outer.push_back(loops.instruction);
    RETURN_IF_ERROR(s_.Reorder(outer));
    return dot > 1 ? s_.Dot(loops.instruction) : absl::OkStatus();
  }

  // q · kᵀ: a tile of rows × vectors of keys in registers, the stage `sums`, then stored.
  absl::Status Scores(const StageHandle& sums) {
    RETURN_IF_ERROR(s_.ComputeAt(scores_, at_, MemorySpace::kScratch));
    const LoopHandle rows = s_.Loop(scores_, "d2");
    ASSIGN_OR_RETURN(const SplitLoops keys,
                     Vectorize(s_.Loop(scores_, "d3"), VectorsIn(sizes_.keys, sizes_.lanes, vectors_)));
    RETURN_IF_ERROR(s_.Reorder({keys.outer, rows, keys.inner}));
    RETURN_IF_ERROR(s_.Unroll(rows));
    RETURN_IF_ERROR(s_.ComputeAt(sums, keys.outer, MemorySpace::kRegister));
    RETURN_IF_ERROR(s_.Vectorize(s_.Loop(sums, "d3")));
    RETURN_IF_ERROR(SumInnermost(s_.Loop(sums, "k"), sizes_.score_dot, {}, s_.LoopsOver(sums, {"d2", "d3"})));
    RETURN_IF_ERROR(s_.Unroll(s_.Loop(sums, "d2")));
    return s_.Overcompute(sums);
  }

  // q · k for each key, in lanes along the terms, which are added up last.
  absl::Status ScoresOfFew() {
    ASSIGN_OR_RETURN(const SplitLoops terms, s_.Split(s_.Loop(scores_, "k"), sizes_.lanes));
    ASSIGN_OR_RETURN(const FactoredReduction lanes, s_.Rfactor(scores_, terms.inner));
    RETURN_IF_ERROR(s_.ComputeAt(scores_, at_, MemorySpace::kScratch));
    RETURN_IF_ERROR(s_.Reorder(s_.LoopsOver(scores_, {"d3", "d2"})));
    RETURN_IF_ERROR(s_.Vectorize(lanes.last));
    RETURN_IF_ERROR(s_.ComputeAt(lanes.stage, s_.Loop(scores_, "d2"), MemorySpace::kRegister));
    const LoopHandle& steps = lanes.terms.front();
    RETURN_IF_ERROR(s_.Reorder({steps, lanes.axis}));
    RETURN_IF_ERROR(s_.Vectorize(lanes.axis));
    return s_.Unroll(steps);
  }

  absl::Status ReduceRows(std::string_view suffix) {
    return ScheduleRowReduction(s_, StageOfAnchor(s_, workload_, suffix), at_,
                                VectorsIn(sizes_.keys, sizes_.lanes, 4) * sizes_.lanes);
  }

  Schedule& s_;
  const Workload& workload_;
  const Sizes sizes_;
  const bool keys_in_place_;
  const int64_t rows_, vectors_;
  const StageHandle acc_, exponentials_, scores_;
  LoopHandle at_;  // loop of the output whose body computes a block of rows
};

}  // namespace

bool IsAttention(const Node& node) { return node.op() == Op::kAttention; }

std::string AttentionWhyNot(const Workload& workload, const Target& target) {
  if (std::string reason = AnyAttentionWhyNot(workload); !reason.empty()) return reason;
  const Value *q = workload.anchor->input(0), *k = workload.anchor->input(1), *v = workload.anchor->input(2);
  if (q == k || q == v || (k == v && !workload.anchor->input(1)->is_input()))
    return "one operand would need two copies";
  const Sizes sizes = SizesOf(workload, target);
  if (sizes.values % sizes.lanes != 0 && k == v) return "one operand would need two copies";
  if (sizes.values == 1) return "a single value";
  if (sizes.values > 16 * sizes.lanes) return "the values do not fit in registers";
  return "";
}

std::vector<Knob> AttentionSpace(const Workload& workload, const Target& target) {
  Knob rows{"tile_q", {}};
  for (int64_t q = 1; q <= std::min<int64_t>(SizesOf(workload, target).queries, 16); ++q)
    rows.values.push_back(q);
  return {rows, {"tile_v", {1, 2, 4}}};
}

// As many accumulators as leave half of the registers to operands, in blocks that divide the queries well.
Config AttentionDefault(const Workload& workload, const Target& target) {
  const Sizes sizes = SizesOf(workload, target);
  const int64_t queries = sizes.queries;
  const int64_t vectors = ReadsKeysInPlace(workload, sizes) ? 4 : 2;  // each value is read once
  const int64_t limit = std::min(queries, target.num_vector_registers / 2 / vectors);
  const auto cost = [&](int64_t rows) {
    constexpr int64_t kPerBlock = 2;  // loads of keys and values, in units of a row's work
    return CeilDiv(queries, rows) * (rows + kPerBlock);
  };
  int64_t best = 1;
  for (int64_t rows = 2; rows <= limit; ++rows) best = cost(rows) <= cost(best) ? rows : best;
  return {{"tile_q", best}, {"tile_v", vectors}};
}

absl::Status AttentionApply(Schedule& s, const Workload& workload, const Config& config,
                            const Target& target) {
  return AttentionScheduler(s, workload, config, target).Run();
}

}  // namespace attune
