// Scaled dot-product attention.
#include <algorithm>
#include <cmath>
#include <limits>

#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// [..., S, D] as [B, H, S, D]; the axes before the last three are merged.
Value* AsRank4(OpContext& c, Value* x) {
  const Shape shape = c.ShapeOf(x);
  const int64_t rank = static_cast<int64_t>(shape.size());
  if (rank < 2) Invalid("it attends over ", ToString(x->type()));
  const int64_t heads = rank >= 3 ? shape[rank - 3] : 1;
  const int64_t batch = rank >= 4 ? Product(shape, 0, rank - 3) : 1;
  return c.Reshape(x, {batch, heads, shape[rank - 2], shape[rank - 1]});
}

// With grouped queries, several heads share keys: repeats each head of the keys for all that share it.
Value* Shared(OpContext& c, Value* x, const Shape& query, bool grouped) {
  const Shape s = c.ShapeOf(x);
  const int64_t times = grouped && s[1] > 0 ? query[1] / s[1] : 1;
  if (times > 1) {
    x = c.Broadcast(c.Reshape(x, {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], times, s[2], s[3]});
    x = c.Reshape(x, {s[0], Multiply(s[1], times), s[2], s[3]});
  }
  return c.Broadcast(x, {query[0], query[1], s[2], s[3]});
}

// 0 if `allowed`, else -∞.
Value* AsBias(OpContext& c, Value* allowed, DType dtype) {
  return c.Where(allowed, c.Scalar(dtype, 0), c.Scalar(dtype, -kInfinity));
}

// The given mask, either bools or an addend for the scores, with rank 4 at most. `query` is the shape of the
// queries before their first axes were merged, which the mask broadcasts to.
Value* GivenBias(OpContext& c, const char* name, DType dtype, const Shape& query) {
  Value* mask = c.In(name);
  if (mask->type().dtype == DType::kBool) mask = AsBias(c, mask, dtype);
  mask = c.Cast(mask, dtype);
  if (query.size() <= 4 || mask->type().rank() <= 3) return mask;
  Shape shape = c.ShapeOf(mask);
  if (shape.size() > query.size()) Invalid("its mask is ", ToString(mask->type()));
  shape.insert(shape.begin(), query.size() - shape.size(), 1);
  std::copy(query.begin(), query.end() - 3, shape.begin());
  return AsRank4(c, c.Broadcast(mask, shape));
}

// A query sees the keys up to its own position.
Value* CausalBias(OpContext& c, int64_t queries, int64_t keys, DType dtype) {
  Value* query = c.Reshape(c.Count(DType::kI64, queries), {queries, 1});
  return AsBias(c, c.Emit(Op::kGreaterEqual, {query, c.Count(DType::kI64, keys)}), dtype);
}

// A query without any allowed key gives zeros, not the NaN of an empty softmax.
Value* GuardRows(OpContext& c, Value* y, Value* bias) {
  Value* best = c.Reduce(Op::kReduceMax, bias, {-1});
  Value* empty = c.Emit(Op::kEqual, {best, c.ScalarLike(best, -kInfinity)});
  return c.Where(empty, c.ScalarLike(y, 0), y);
}

}  // namespace

Outputs Attention(OpContext& c) {
  if (c.Float("dropout_p", 0) != 0) Unsupported("dropout; export the model after model.eval()");
  const Shape whole = c.InShape("query");
  Value* q = AsRank4(c, c.In("query"));
  const Shape query = c.ShapeOf(q);
  const bool grouped = c.Bool("enable_gqa", false);
  Value* k = Shared(c, AsRank4(c, c.In("key")), query, grouped);
  Value* v = Shared(c, AsRank4(c, c.In("value")), query, grouped);
  const DType dtype = q->type().dtype;
  const char* mask = c.Has("attn_bias") ? "attn_bias" : "attn_mask";
  Value* bias = c.Has(mask) ? GivenBias(c, mask, dtype, whole) : nullptr;
  const bool given = bias != nullptr;
  if (c.Bool("is_causal", false)) {
    Value* causal = CausalBias(c, query[2], c.DimOf(k, 2), dtype);
    bias = given ? c.Add(bias, causal) : causal;
  }
  const double scale = c.Float("scale", 1 / std::sqrt(static_cast<double>(query[3])));
  Value* y = c.Emit(Op::kAttention, {q, k, v, bias}, {{"scale", scale}});
  // With a causal mask alone, every query may attend to the first key.
  if (given) y = GuardRows(c, y, bias);
  Shape out = whole;
  out.back() = c.DimOf(y, 3);
  return {c.Reshape(y, out)};
}

}  // namespace attune::pytorch
