#include "lower/attention.h"

#include "base/status.h"
#include "lower/operators.h"

namespace attune {

absl::Status DefineAttentionOf(Definition& definition, const Node& node, const AttentionOperands& operands) {
  const Value *q = node.input(0), *k = node.input(1), *v = node.input(2), *mask = node.input(3);
  const Shape qs = q->type().shape(), ks = k->type().shape();
  const DType dtype = ComputeType(q->type().dtype);
  const Expr scale = FloatConst(node.attrs().Float("scale"), dtype);
  const int64_t keys = ks[2];
  const bool filled_up = operands.keys > keys;
  const std::vector<int64_t> rows = {qs[0], qs[1], qs[2]},
                             scores_shape = {qs[0], qs[1], qs[2], operands.keys};

  Reduction product;
  product.extents = {operands.size};
  product.names = {"k"};
  product.dtype = dtype;
  product.term = [&](const Indices& i, const Indices& r) {
    return operands.query({i[0], i[1], i[2], r[0]}) * operands.key({i[0], i[1], i[3], r[0]});
  };
  const Buffer raw = definition.AddTemporaryReduction(node, "qk", scores_shape, product);
  const auto score = [&](const Indices& i) {
    Expr s = Load(raw, i) * scale;
    if (mask == nullptr) return s;
    const Expr key = filled_up ? Min(i[3], Expr(keys - 1)) : i[3];
    return s + CastTo(dtype, definition.ReadBroadcast(mask, {i[0], i[1], i[2], key}));
  };
  Reduction highest;
  highest.extents = {keys};
  highest.combiner = MathOp::kMax;
  highest.dtype = dtype;
  highest.term = [&](const Indices& i, const Indices& r) { return score({i[0], i[1], i[2], r[0]}); };
  const Buffer maximum = definition.AddTemporaryReduction(node, "max", rows, highest);
  const DType weight_type = v->type().dtype;
  const Buffer weights =
      definition.AddTemporary(node, "exp", weight_type, scores_shape, [&](const Indices& i) {
        const Expr top = Load(maximum, {i[0], i[1], i[2]});
        const Expr weight =
            MakeOp(MathOp::kExp, {mask == nullptr ? Fma(Load(raw, i), scale, -top) : score(i) - top});
        return filled_up ? Select(i[3] < Expr(keys), weight, ConstOf(dtype, 0)) : weight;
      });
  const auto weight = [&](const Indices& i, const Expr& key) {
    return CastTo(dtype, Load(weights, {i[0], i[1], i[2], key}));
  };
  Reduction total;
  total.extents = {operands.keys};
  total.dtype = dtype;
  total.term = [&](const Indices& i, const Indices& r) { return weight(i, r[0]); };
  const Buffer denominator = definition.AddTemporaryReduction(node, "sum", rows, total);

  Buffer inverse;
  if (operands.multiplies) {
    inverse = definition.AddTemporary(node, "inverse", dtype, rows, [&](const Indices& i) {
      return ConstOf(dtype, 1) / Load(denominator, i);
    });
  }

  Reduction weighted;
  weighted.extents = {operands.keys};
  weighted.names = {"s"};
  weighted.dtype = dtype;
  weighted.term = [&](const Indices& i, const Indices& r) {
    return weight(i, r[0]) * operands.value({i[0], i[1], r[0], i[3]});
  };
  weighted.finish = [&](const Expr& sum, const Indices& i) {
    const Indices row = {i[0], i[1], i[2]};
    return inverse ? sum * Load(inverse, row) : sum / Load(denominator, row);
  };
  definition.DefineReduction(node, node.output(), weighted);
  return absl::OkStatus();
}

absl::Status DefineAttention(Definition& definition, const Node& node) {
  const auto read = [&](int input) {
    return [&definition, value = node.input(input)](const Indices& i) {
      return definition.ReadComputed(value, i);
    };
  };
  const Shape keys = node.input(1)->type().shape();
  return DefineAttentionOf(
      definition, node,
      {.keys = keys[2], .size = keys[3], .query = read(0), .key = read(1), .value = read(2)});
}

}  // namespace attune
