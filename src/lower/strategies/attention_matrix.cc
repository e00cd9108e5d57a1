// Attention on a matrix unit.
//
// Problem: both of its products are small, with a softmax between them. Idea: a block of query rows is
// computed at a time, and its scores, softmax and weighted sums stay in the nearest caches, as on vectors;
// both products are blocks of tiles. Operands are copied in the order that tiles want: queries in rows,
// keys and values in pairs of neighbouring terms. Keys are filled up to whole tiles, with weights of 0. The
// last block of rows is shifted inwards.
#include <algorithm>
#include <array>

#include "base/checked.h"
#include "base/status.h"
#include "lower/attention.h"
#include "lower/strategies/attention_parts.h"
#include "lower/strategies/matrix_parts.h"

namespace attune {
namespace {

struct Sizes {
  int64_t terms;                        // of a group
  int64_t queries, keys, size, values;  // size: of a query; values: of a value vector
  int64_t filled_keys, filled_size;     // rounded up to whole tiles, and to whole groups
};

Sizes SizesOf(const Node& node) {
  const Shape q = node.input(0)->type().shape(), v = node.input(2)->type().shape();
  const int64_t terms = kGroupBytes / DTypeSize(node.input(0)->type().dtype);
  return {terms, q[2], v[2], q[3], v[3], RoundUp(v[2], kTileColumns * terms), RoundUp(q[3], terms)};
}

// The tile for a product whose sums have this many columns.
MatrixTile TileOf(const Config& config, int64_t columns, int64_t groups) {
  const int64_t tiles_n = columns % (2 * kTileColumns) == 0 ? 2 : 1;
  return {config.at("rows"), config.at("tiles_m"), tiles_n, Divisors(groups, kTileColumns).back()};
}

class Scheduler {
 public:
  Scheduler(Schedule& schedule, const Workload& workload, const Config& config)
      : s_(schedule),
        workload_(workload),
        config_(config),
        sizes_(SizesOf(*workload.anchor)),
        acc_(StageOfAnchor(schedule, workload, ".acc")),
        exponentials_(StageOfAnchor(schedule, workload, ".exp")),
        scores_(StageOfAnchor(schedule, workload, ".qk")) {}

  absl::Status Run() {
    RETURN_IF_ERROR(InlineEpilogue(s_, workload_));
    RETURN_IF_ERROR(InlineMovements(s_, workload_));
    RETURN_IF_ERROR(CopyRows(StageOfAnchor(s_, workload_, ".q")));
    RETURN_IF_ERROR(CopyKeys(StageOfAnchor(s_, workload_, ".k")));
    RETURN_IF_ERROR(CopyValues(StageOfAnchor(s_, workload_, ".v")));
    ASSIGN_OR_RETURN(const StageHandle score_sums, s_.CacheWrite(scores_));
    ASSIGN_OR_RETURN(const StageHandle value_sums, s_.CacheWrite(acc_));
    RETURN_IF_ERROR(ScheduleOutput());
    RETURN_IF_ERROR(Product(acc_, value_sums, s_.Loop(value_sums, "s"),
                            TileOf(config_, sizes_.values, sizes_.filled_keys / sizes_.terms)));
    RETURN_IF_ERROR(s_.ComputeAt(StageOfAnchor(s_, workload_, ".inverse"), at_, MemorySpace::kScratch));
    RETURN_IF_ERROR(ReduceRows(".sum", sizes_.filled_keys));
    RETURN_IF_ERROR(s_.ComputeAt(exponentials_, at_, MemorySpace::kScratch));
    ASSIGN_OR_RETURN(const SplitLoops keys, s_.Split(s_.Loop(exponentials_, "d3"), kTileColumns));
    RETURN_IF_ERROR(s_.Vectorize(keys.inner));
    RETURN_IF_ERROR(s_.Peel(keys.outer, 0, FilledTiles()));
    RETURN_IF_ERROR(ReduceRows(".max", sizes_.keys));
    return Product(scores_, score_sums, s_.Loop(score_sums, "k"),
                   TileOf(config_, sizes_.filled_keys, sizes_.filled_size / sizes_.terms));
  }

 private:
  absl::Status CopyRows(const StageHandle& copy) {
    ASSIGN_OR_RETURN(const SplitLoops size, s_.Split(s_.Loop(copy, "d3"), kTileColumns));
    RETURN_IF_ERROR(s_.Vectorize(size.inner));
    return ParallelizeOuter(s_, copy, 3);
  }
  // Copies key by key: rows that lie apart share few sets of L1, which would not hold a column of them.
  absl::Status CopyKeys(const StageHandle& copy) {
    RETURN_IF_ERROR(s_.Unroll(s_.Loop(copy, "d4")));
    ASSIGN_OR_RETURN(const SplitLoops keys, s_.Split(s_.Loop(copy, "d3"), kTileColumns));
    RETURN_IF_ERROR(s_.Reorder({keys.outer, keys.inner, s_.Loop(copy, "d2")}));
    RETURN_IF_ERROR(s_.Peel(keys.outer, 0, FilledTiles()));
    return ParallelizeOuter(s_, copy, 2);
  }
  // Interleaves vectors of neighbouring rows.
  absl::Status CopyValues(const StageHandle& copy) {
    ASSIGN_OR_RETURN(const SplitLoops values, s_.Split(s_.Loop(copy, "d3"), kTileColumns));
    RETURN_IF_ERROR(s_.Vectorize(values.inner));
    RETURN_IF_ERROR(s_.Unroll(s_.Loop(copy, "d4")));
    return ParallelizeOuter(s_, copy, 3);
  }

  // Splits the output into blocks of rows, which threads share.
  absl::Status ScheduleOutput() {
    const std::array<LoopHandle, 4> axes = AttentionOutputLoops(s_, workload_);
    ASSIGN_OR_RETURN(const SplitLoops rows,
                     s_.SplitOverlapping(axes[2], config_.at("rows") * config_.at("tiles_m")));
    ASSIGN_OR_RETURN(const SplitLoops values, s_.Split(axes[3], kTileColumns));
    RETURN_IF_ERROR(s_.Reorder({axes[0], axes[1], rows.outer, rows.inner, values.outer, values.inner}));
    RETURN_IF_ERROR(s_.Vectorize(values.inner));
    ASSIGN_OR_RETURN(at_, ParallelizeAttentionOutput(s_, workload_));
    return absl::OkStatus();
  }

  // The number of tiles of keys at the end that have filled-up keys.
  int64_t FilledTiles() const { return sizes_.filled_keys / kTileColumns - sizes_.keys / kTileColumns; }

  absl::Status ReduceRows(std::string_view suffix, int64_t terms) {
    return ScheduleRowReduction(s_, StageOfAnchor(s_, workload_, suffix), at_,
                                VectorsIn(terms, kTileColumns, 4) * kTileColumns);
  }

  // Schedules `sums`, which adds up along `terms`, and its `copy`, a few columns of tiles at a time.
  absl::Status Product(const StageHandle& copy, const StageHandle& sums, const LoopHandle& terms,
                       const MatrixTile& tile) {
    RETURN_IF_ERROR(s_.ComputeAt(copy, at_, MemorySpace::kScratch));
    const LoopHandle rows = s_.Loop(copy, "d2");
    ASSIGN_OR_RETURN(const SplitLoops columns, s_.Split(s_.Loop(copy, "d3"), tile.block_columns()));
    RETURN_IF_ERROR(s_.Reorder({columns.outer, rows, columns.inner}));
    RETURN_IF_ERROR(s_.ComputeAt(sums, columns.outer, MemorySpace::kRegister));
    RETURN_IF_ERROR(ScheduleTileCopy(s_, copy, {.rows = rows, .columns = columns.inner}, tile));
    const MatrixLoops loops = {.rows = s_.Loop(sums, "d2"), .columns = s_.Loop(sums, "d3"), .terms = terms};
    return ScheduleTileSums(s_, sums, loops, sizes_.terms, tile).status();
  }

  Schedule& s_;
  const Workload& workload_;
  const Config& config_;
  const Sizes sizes_;
  const StageHandle acc_, exponentials_, scores_;
  LoopHandle at_;  // loop of the output whose body computes a block of rows
};

}  // namespace

std::string AttentionMatrixWhyNot(const Workload& workload, const Target& target) {
  if (std::string reason = AnyAttentionWhyNot(workload); !reason.empty()) return reason;
  const Node& node = *workload.anchor;
  const DType dtype = node.input(0)->type().dtype;
  for (int i : {1, 2}) {
    if (node.input(i)->type().dtype != dtype) return "operands of several types";
  }
  if (MatrixTerms(node, target) == 0) return "no matrix instruction for these types";
  const Sizes sizes = SizesOf(node);
  if (sizes.queries < kLeastMatrixRows) return "few queries";
  if (sizes.keys == 1) return "one key";
  if (sizes.values % kTileColumns != 0) return "the values do not fill tiles";
  return "";
}

std::vector<Knob> AttentionMatrixSpace(const Workload& workload, const Target&) {
  const int64_t queries = SizesOf(*workload.anchor).queries;
  const std::vector<Knob> all = MatrixSpace(queries, kTileColumns, 1);
  Knob tiles_m{"tiles_m", {1}};
  if (queries >= 2 * kTileRows) tiles_m.values.push_back(2);
  return {all[0], tiles_m};
}

// Two tiles of rows, unless fewer rows are computed twice with one.
Config AttentionMatrixDefault(const Workload& workload, const Target&) {
  const int64_t queries = SizesOf(*workload.anchor).queries, rows = std::min(queries, kTileRows);
  constexpr double kTwoTilesGain = 0.9;  // their operands serve twice as many products
  const double one = static_cast<double>(CeilDiv(queries, rows));
  const double two = 2 * kTwoTilesGain * static_cast<double>(CeilDiv(queries, 2 * rows));
  return {{"rows", rows}, {"tiles_m", queries >= 2 * kTileRows && two <= one ? 2 : 1}};
}

// attention0.q  [batch, head, query, size]              rows of queries
// attention0.k  [batch, head, size / terms, key, term]  the keys
// attention0.v  [batch, head, key / terms, value, term] the values
absl::StatusOr<ComputeDef> AttentionMatrixDefine(const Workload& workload, const Config&) {
  return DefineWithAnchor(workload, [&](Definition& definition, const Node& node) {
    const Sizes sizes = SizesOf(node);
    const Shape qs = node.input(0)->type().shape();
    const DType dtype = node.input(0)->type().dtype;
    // The element at a row and column, 0 where the row or the column is beyond the operand.
    const auto read = [&](int input, const Indices& i, const Expr& row, const Expr& column) {
      const Value* value = node.input(input);
      const Shape shape = value->type().shape();
      const Expr element =
          definition.Read(value, {i[0], i[1], Min(row, Expr(shape[2] - 1)), Min(column, Expr(shape[3] - 1))});
      return Select(And(row < Expr(shape[2]), column < Expr(shape[3])), element, ConstOf(dtype, 0));
    };
    const Expr terms(sizes.terms);
    const Buffer queries =
        definition.AddTemporary(node, "q", dtype, {qs[0], qs[1], sizes.queries, sizes.filled_size},
                                [&](const Indices& i) { return read(0, i, i[2], i[3]); });
    const Buffer keys = definition.AddTemporary(
        node, "k", dtype, {qs[0], qs[1], sizes.filled_size / sizes.terms, sizes.filled_keys, sizes.terms},
        [&](const Indices& i) { return read(1, i, i[3], i[2] * terms + i[4]); });
    const Buffer values = definition.AddTemporary(
        node, "v", dtype, {qs[0], qs[1], sizes.filled_keys / sizes.terms, sizes.values, sizes.terms},
        [&](const Indices& i) { return read(2, i, i[2] * terms + i[4], i[3]); });
    const auto computed = [](const Expr& element) { return CastTo(DType::kF32, element); };
    return DefineAttentionOf(definition, node,
                             {.keys = sizes.filled_keys,
                              .size = sizes.filled_size,
                              .query = [&](const Indices& i) { return computed(Load(queries, i)); },
                              .key =
                                  [&](const Indices& i) {
                                    return computed(Load(keys, {i[0], i[1], FloorDiv(i[3], sizes.terms), i[2],
                                                                FloorMod(i[3], sizes.terms)}));
                                  },
                              .value =
                                  [&](const Indices& i) {
                                    return computed(Load(values, {i[0], i[1], FloorDiv(i[2], sizes.terms),
                                                                  i[3], FloorMod(i[2], sizes.terms)}));
                                  },
                              .multiplies = true});
  });
}

absl::Status AttentionMatrixApply(Schedule& s, const Workload& workload, const Config& config,
                                  const Target&) {
  RETURN_IF_ERROR(CheckMatrixTile(TileOf(config, 2 * kTileColumns, 1), SizesOf(*workload.anchor).queries));
  return Scheduler(s, workload, config).Run();
}

}  // namespace attune
