// Attention and rotary embeddings.
#include <cmath>
#include <limits>

#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// [B, S, H D] as [B, H, S, D].
Value* SplitHeads(OpContext& c, Value* x, int64_t heads) {
  const Shape shape = c.ShapeOf(x);
  if (shape.size() != 3) Invalid("its inputs differ in rank");
  if (heads < 1 || shape[2] % heads != 0) Invalid(shape[2], " features do not make ", heads, " heads");
  return c.Transpose(c.Reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

Value* MergeHeads(OpContext& c, Value* x) {
  const Shape shape = c.ShapeOf(x);
  return c.Reshape(c.Transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], Product({shape[1], shape[3]})});
}

// Repeats each of the heads [B, H, S, D] `times` times, adjacent to each other.
Value* RepeatHeads(OpContext& c, Value* x, int64_t times) {
  if (times == 1) return x;
  const Shape s = c.ShapeOf(x);
  Value* repeated = c.Broadcast(c.Reshape(x, {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], times, s[2], s[3]});
  return c.Reshape(repeated, {s[0], s[1] * times, s[2], s[3]});
}

struct Operands {
  Value* q;  // [B, H, Sq, D]
  Value* k;  // [B, Hkv, Skv, D]
  Value* v;
  int64_t past = 0;  // keys before the first query
};

Operands ReadOperands(OpContext& c) {
  Operands o{c.In(0), c.In(1), c.In(2)};
  if (c.InRank(0) == 3) {
    o.q = SplitHeads(c, o.q, c.Int("q_num_heads"));
    o.k = SplitHeads(c, o.k, c.Int("kv_num_heads"));
    o.v = SplitHeads(c, o.v, c.Int("kv_num_heads"));
  }
  if (o.q->type().rank() != 4 || o.k->type().rank() != 4 || o.v->type().rank() != 4)
    Invalid("its inputs must have rank 3 or 4");
  if (c.HasInput(4) != c.HasInput(5)) Invalid("past_key and past_value come together");
  if (c.HasInput(4)) {
    o.past = c.DimOf(c.In(4), 2);
    o.k = c.Concat({c.In(4), o.k}, 2);
    o.v = c.Concat({c.In(5), o.v}, 2);
  }
  return o;
}

// 0 if `allowed`, else -∞.
Value* AsBias(OpContext& c, Value* allowed, DType dtype) {
  return c.Where(allowed, c.Scalar(dtype, 0), c.Scalar(dtype, -kInfinity));
}

// The model's mask as a bias over all keys: a shorter mask excludes the last keys.
Value* GivenBias(OpContext& c, DType dtype, int64_t keys) {
  Value* mask = c.In(3);
  const int64_t missing = keys - c.DimOf(mask, -1);
  const bool is_bool = mask->type().dtype == DType::kBool;
  if (missing > 0) {
    Ints pads(2 * mask->type().rank(), 0);
    pads.back() = missing;
    mask = c.Pad(mask, pads, is_bool ? 0 : -kInfinity);
  }
  return is_bool ? AsBias(c, mask, dtype) : mask;
}

// The bias of all masks together; nullptr if there is none.
Value* Bias(OpContext& c, const Operands& o) {
  const DType dtype = o.q->type().dtype;
  const int64_t queries = c.DimOf(o.q, 2);
  const int64_t keys = c.DimOf(o.k, 2);
  Value* bias = nullptr;
  const auto add = [&](Value* part) { bias = bias == nullptr ? part : c.Add(bias, part); };
  if (c.HasInput(3)) add(GivenBias(c, dtype, keys));
  Value* valid = c.OptionalIn(6);  // [B]: keys that are not padding
  Value* key = c.Count(DType::kI64, keys);
  const int64_t left = c.Int("left_window_size", -1);
  const int64_t right = c.Int("right_window_size", -1);
  if (c.Bool("is_causal") || left >= 0 || right >= 0) {
    Value* query = c.Reshape(c.Count(DType::kI64, queries), {queries, 1});
    Value* offset = c.Integer(o.past);
    if (valid != nullptr && !c.HasInput(4)) {
      offset = c.Add(c.Reshape(valid, {c.DimOf(valid, 0), 1, 1, 1}), -queries);
    }
    // The distance of the key before the query.
    Value* behind = c.Sub(c.Add(query, offset), key);
    const auto limit = [&](Op op, int64_t distance) {
      add(AsBias(c, c.Emit(op, {behind, c.Integer(distance)}), dtype));
    };
    if (c.Bool("is_causal")) limit(Op::kGreaterEqual, 0);
    if (left >= 0) limit(Op::kLessEqual, left);
    if (right >= 0) limit(Op::kGreaterEqual, -right);
  }
  if (valid != nullptr) {
    Value* count = c.Reshape(valid, {c.DimOf(valid, 0), 1, 1, 1});
    add(AsBias(c, c.Emit(Op::kLess, {key, count}), dtype));
  }
  return bias;
}

// A query without any allowed key gives zeros, not the NaN of an empty softmax.
Value* GuardRows(OpContext& c, Value* x, Value* bias) {
  if (bias == nullptr) return x;
  Value* best = c.Reduce(Op::kReduceMax, bias, {-1});
  Value* empty = c.Emit(Op::kEqual, {best, c.ScalarLike(best, -kInfinity)});
  return c.Where(empty, c.ScalarLike(x, 0), x);
}

struct Scores {
  Value* biased;    // input of the softmax
  Value* reported;  // output for qk_matmul_output_mode, unless that is the softmax
};

// Caps the scores before masking, so that masked keys stay at -∞: in every opset, as ONNX 1.23 corrected it.
Scores ComputeScores(OpContext& c, const Operands& o, double scale, Value* bias) {
  const double softcap = c.Float("softcap", 0);
  const int64_t mode = c.Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) Invalid("its qk_matmul_output_mode is ", mode);
  // Products of scaled queries stay within the range of f16.
  Value* qk = c.MatMul(c.Mul(o.q, scale), o.k, false, true);
  Value* capped = softcap > 0 ? c.Mul(c.Emit(Op::kTanh, {c.Div(qk, softcap)}), softcap) : qk;
  Value* biased = bias != nullptr ? c.Add(capped, bias) : capped;
  return {biased, mode == 0 ? qk : mode == 1 ? capped : biased};
}

}  // namespace

// (q, k, v, mask?, past_key?, past_value?, valid keys?) → (y, present key, present value, scores)
Outputs Attention(OpContext& c) {
  Operands o = ReadOperands(c);
  Value* present_key = o.k;
  Value* present_value = o.v;
  const int64_t heads = c.DimOf(o.q, 1);
  const int64_t kv_heads = c.DimOf(o.k, 1);
  if (kv_heads < 1 || heads % kv_heads != 0)
    Invalid(heads, " query heads do not share ", kv_heads, " key heads");
  o.k = RepeatHeads(c, o.k, heads / kv_heads);
  o.v = RepeatHeads(c, o.v, heads / kv_heads);
  const double scale = c.Float("scale", 1 / std::sqrt(static_cast<double>(c.DimOf(o.q, 3))));
  const double softcap = c.Float("softcap", 0);
  Value* bias = Bias(c, o);
  Value* y = nullptr;
  Value* scores = nullptr;
  if (softcap == 0 && !c.HasOutput(3)) {
    y = GuardRows(c, c.Emit(Op::kAttention, {o.q, o.k, o.v, bias}, {{"scale", scale}}), bias);
  } else {
    const Scores computed = ComputeScores(c, o, scale, bias);
    scores = computed.reported;
    const DType precision =
        c.Has("softmax_precision") ? c.TypeAttribute("softmax_precision") : o.q->type().dtype;
    Value* weights = c.Emit(Op::kSoftmax, {c.Cast(computed.biased, precision)}, {{"axis", int64_t{3}}});
    weights = c.Cast(GuardRows(c, weights, bias), o.q->type().dtype);
    if (c.Int("qk_matmul_output_mode", 0) == 3) scores = weights;
    y = c.MatMul(weights, o.v);
  }
  if (c.InRank(0) == 3) y = MergeHeads(c, y);
  return {y, present_key, present_value, scores};
}

// Rotates pairs of features by angles whose cosines and sines are in the caches.
Outputs RotaryEmbedding(OpContext& c) {
  const bool flat = c.InRank(0) == 3;
  Value* x = c.In(0);
  if (flat) {
    const Shape s = c.ShapeOf(x);
    const int64_t heads = c.Int("num_heads");
    if (heads < 1 || s[2] % heads != 0) Invalid(s[2], " features do not make ", heads, " heads");
    x = c.Reshape(x, {s[0], s[1], heads, s[2] / heads});
  } else {
    x = c.Transpose(x, {0, 2, 1, 3});
  }
  const Shape shape = c.ShapeOf(x);  // [B, S, H, D]
  int64_t rotated = c.Int("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = shape[3];
  if (rotated < 0 || rotated > shape[3] || rotated % 2 != 0)
    Invalid("it cannot rotate ", rotated, " of ", shape[3], " features");
  const int64_t half = rotated / 2;
  const auto angles = [&](int input) {
    Value* cache = c.In(input);
    if (c.HasInput(3)) cache = c.Gather(cache, c.In(3), 0);
    return c.Unsqueeze(cache, {2});  // [B, S, 1, D/2]
  };
  Value* cosine = angles(1);
  Value* sine = angles(2);
  const bool interleaved = c.Bool("interleaved");
  Value* a = c.SliceAxis(x, 3, 0, half, interleaved ? 2 : 1);
  Value* b = c.SliceAxis(x, 3, interleaved ? 1 : half, half, interleaved ? 2 : 1);
  Value* real = c.Sub(c.Mul(cosine, a), c.Mul(sine, b));
  Value* imaginary = c.Add(c.Mul(sine, a), c.Mul(cosine, b));
  Value* y = nullptr;
  if (interleaved) {
    y = c.Reshape(c.Concat({c.Unsqueeze(real, {4}), c.Unsqueeze(imaginary, {4})}, 4),
                  {shape[0], shape[1], shape[2], rotated});
  } else {
    y = c.Concat({real, imaginary}, 3);
  }
  if (rotated < shape[3]) y = c.Concat({y, c.SliceAxis(x, 3, rotated, shape[3] - rotated)}, 3);
  return {flat ? c.Reshape(y, c.InShape(0)) : c.Transpose(y, {0, 2, 1, 3})};
}

}  // namespace attune::onnx
