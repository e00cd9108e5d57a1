// Normalizations: statistics over rows, in two passes, then a formula over the elements.
#include "base/checked.h"
#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

// Maps an element to the statistics of its row, and a row to its elements.
struct Rows {
  Shape shape;    // of the statistics
  Shape extents;  // of one row
  std::function<Indices(const Indices& row, const Indices& r)> element;
  std::function<Indices(const Indices& element)> row;
};

struct Statistics {
  Buffer mean;   // null where rows are not centered
  Buffer scale;  // 1 / sqrt(variance + epsilon)
};

// mean = Σ x / n, scale = 1 / √(Σ (x − mean)² / n + epsilon).
Statistics DefineStatistics(Definition& definition, const Node& node, const Rows& rows, bool center) {
  const Value* x = node.input(0);
  const DType dtype = ComputeType(x->type().dtype);
  const Expr portion =
      FloatConst(1.0 / static_cast<double>(std::max<int64_t>(ProductOf(rows.extents), 1)), dtype);
  Statistics result;
  Reduction sum;
  sum.extents = rows.extents;
  sum.dtype = dtype;
  if (center) {
    sum.term = [&](const Indices& i, const Indices& r) {
      return definition.ReadComputed(x, rows.element(i, r));
    };
    const Buffer total = definition.AddTemporaryReduction(node, "sum", rows.shape, sum);
    result.mean = definition.AddTemporary(node, "mean", dtype, rows.shape,
                                          [&](const Indices& i) { return Load(total, i) * portion; });
  }
  sum.term = [&](const Indices& i, const Indices& r) {
    Expr value = definition.ReadComputed(x, rows.element(i, r));
    if (center) value = value - Load(result.mean, i);
    return value * value;
  };
  const Buffer squares = definition.AddTemporaryReduction(node, "squares", rows.shape, sum);
  result.scale = definition.AddTemporary(node, "scale", dtype, rows.shape, [&](const Indices& i) {
    const Expr variance = Load(squares, i) * portion;
    const Expr epsilon = FloatConst(node.attrs().Float("epsilon"), dtype);
    return FloatConst(1, dtype) / Apply(MathOp::kSqrt, variance + epsilon);
  });
  return result;
}

Expr Standardized(const Definition& definition, const Node& node, const Statistics& statistics,
                  const Rows& rows, const Indices& i) {
  const Indices row = rows.row(i);
  const Expr x = definition.ReadComputed(node.input(0), i);
  return (statistics.mean ? x - Load(statistics.mean, row) : x) * Load(statistics.scale, row);
}

}  // namespace

// (x − mean) / √(variance + epsilon) · scale + bias over the axes from `axis` on; rms_norm without mean.
absl::Status DefineTailNorm(Definition& definition, const Node& node) {
  const Shape shape = node.input(0)->type().shape();
  const auto axis = node.attrs().Int("axis");
  Rows rows;
  rows.shape.assign(shape.begin(), shape.begin() + axis);
  rows.extents.assign(shape.begin() + axis, shape.end());
  rows.element = [](Indices row, const Indices& r) {
    row.insert(row.end(), r.begin(), r.end());
    return row;
  };
  rows.row = [&](const Indices& i) { return Indices(i.begin(), i.begin() + axis); };
  const Statistics statistics = DefineStatistics(definition, node, rows, node.op() == Op::kLayerNorm);
  definition.Define(node, node.output(), [&](const Indices& i) {
    Expr value = Standardized(definition, node, statistics, rows, i);
    const Indices tail(i.begin() + axis, i.end());
    if (node.input(1) != nullptr) value = value * definition.ReadComputed(node.input(1), tail);
    if (node.input(2) != nullptr) value = value + definition.ReadComputed(node.input(2), tail);
    return value;
  });
  return absl::OkStatus();
}

// The rows of group_norm: each is a group of channels at all positions.
Rows GroupRows(const Shape& shape, int64_t groups) {
  const int64_t channels = std::max<int64_t>(shape[1] / groups, 1);
  Rows rows;
  rows.shape = {shape[0], groups};
  rows.extents = {channels};
  rows.extents.insert(rows.extents.end(), shape.begin() + 2, shape.end());
  rows.element = [channels](const Indices& row, const Indices& r) {
    Indices i = {row[0], row[1] * Expr(channels) + r[0]};
    i.insert(i.end(), r.begin() + 1, r.end());
    return i;
  };
  rows.row = [channels](const Indices& i) { return Indices{i[0], FloorDiv(i[1], channels)}; };
  return rows;
}

// The same if each channel is a group and channels are in blocks: the statistics are in blocks too.
Rows BlockedChannelRows(const Shape& shape, int64_t block) {
  Rows rows;
  rows.shape = {shape[0], CeilDiv(shape[1], block), block};
  rows.extents.assign(shape.begin() + 2, shape.end());
  rows.element = [block](const Indices& row, const Indices& r) {
    Indices i = {row[0], row[1] * Expr(block) + row[2]};
    i.insert(i.end(), r.begin(), r.end());
    return i;
  };
  rows.row = [block](const Indices& i) {
    return Indices{i[0], FloorDiv(i[1], block), FloorMod(i[1], block)};
  };
  return rows;
}

// (x − mean) / √(variance + epsilon) · scale + bias over groups of channels and all positions; scale and
// bias are per channel.
absl::Status DefineGroupNorm(Definition& definition, const Node& node) {
  const TensorType& type = node.input(0)->type();
  const Shape shape = type.shape();
  const int64_t groups = node.attrs().Int("groups");
  const bool blocked = groups == shape[1] && type.layout.blocked_axis == 1;
  const Rows rows = blocked ? BlockedChannelRows(shape, type.layout.block) : GroupRows(shape, groups);
  const Statistics statistics = DefineStatistics(definition, node, rows, true);
  definition.Define(node, node.output(), [&](const Indices& i) {
    return Standardized(definition, node, statistics, rows, i) *
               definition.ReadComputed(node.input(1), {i[1]}) +
           definition.ReadComputed(node.input(2), {i[1]});
  });
  return absl::OkStatus();
}

// (x − mean) · scale / √(variance + epsilon) + bias; the factor is computed once per channel.
absl::Status DefineBatchNorm(Definition& definition, const Node& node) {
  const DType dtype = ComputeType(node.input(0)->type().dtype);
  const auto parameter = [&](int input, const Indices& c) {
    return definition.ReadComputed(node.input(input), c);
  };
  const Buffer scale = definition.AddTemporary(
      node, "scale", dtype, {node.input(0)->type().dims[1].size}, [&](const Indices& c) {
        const Expr epsilon = FloatConst(node.attrs().Float("epsilon"), dtype);
        return parameter(1, c) / Apply(MathOp::kSqrt, parameter(4, c) + epsilon);
      });
  definition.Define(node, node.output(), [&](const Indices& i) {
    const Expr x = definition.ReadComputed(node.input(0), i);
    return (x - parameter(3, {i[1]})) * Load(scale, {i[1]}) + parameter(2, {i[1]});
  });
  return absl::OkStatus();
}

// e^(x − max) / Σ e^(x − max), or its logarithm, x − max − ln Σ e^(x − max).
absl::Status DefineSoftmax(Definition& definition, const Node& node) {
  const Value* x = node.input(0);
  const Shape shape = x->type().shape();
  const DType dtype = ComputeType(x->type().dtype);
  const int64_t axis = node.attrs().Int("axis");
  const bool logarithm = node.op() == Op::kLogSoftmax;
  const Shape rows = WithoutAxis(shape, axis);

  Reduction reduction;
  reduction.extents = {shape[static_cast<size_t>(axis)]};
  reduction.dtype = dtype;
  reduction.combiner = MathOp::kMax;
  reduction.term = [&](const Indices& i, const Indices& r) {
    return definition.ReadComputed(x, Inserted(i, axis, r[0]));
  };
  const Buffer maximum = definition.AddTemporaryReduction(node, "max", rows, reduction);
  const auto shifted = [&](const Indices& i) {
    return definition.ReadComputed(x, i) - Load(maximum, Without(i, axis));
  };
  const auto exponential = [&](const Indices& i) { return Apply(MathOp::kExp, shifted(i)); };
  // log_softmax needs only the sum of the exponentials.
  Buffer exponentials;
  if (!logarithm) exponentials = definition.AddTemporary(node, "exp", dtype, shape, exponential);
  reduction.combiner = MathOp::kAdd;
  reduction.term = [&](const Indices& i, const Indices& r) {
    const Indices at = Inserted(i, axis, r[0]);
    return logarithm ? exponential(at) : Load(exponentials, at);
  };
  const Buffer sum = definition.AddTemporaryReduction(node, "sum", rows, reduction);
  const Buffer finish =
      definition.AddTemporary(node, logarithm ? "log" : "scale", dtype, rows, [&](const Indices& i) {
        return logarithm ? Apply(MathOp::kLog, Load(sum, i)) : FloatConst(1, dtype) / Load(sum, i);
      });
  definition.Define(node, node.output(), [&](const Indices& i) {
    const Expr row = Load(finish, Without(i, axis));
    return logarithm ? shifted(i) - row : Load(exponentials, i) * row;
  });
  return absl::OkStatus();
}

}  // namespace attune
