#include <cmath>

#include "pattern_builder.h"
#include "patterns.h"

namespace attune::graph_fuzz {
namespace {

constexpr double kEpsilon = 1e-5;

Value* Mean(PatternBuilder& b, Value* x) {
  if (x == nullptr) return nullptr;
  return b.Add(Op::kReduceMean, {x}, {{"axes", Ints{x->type().rank() - 1}}, {"keepdims", int64_t{1}}});
}

Value* LayerNorm(PatternBuilder& b, Value* x) {
  if (x == nullptr) return nullptr;
  return b.Add(Op::kLayerNorm, {x, b.PerColumn(x), b.PerColumn(x)},
               {{"axis", int64_t{x->type().rank() - 1}}, {"epsilon", kEpsilon}});
}

bool IsFinite(const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (!std::isfinite(tensor.ToDouble(i))) return false;
  }
  return true;
}

// [B,S,H·D] to [B,H,S,D].
Value* SplitHeads(PatternBuilder& b, Value* x, int64_t heads) {
  if (x == nullptr) return nullptr;
  const Shape s = x->type().shape();
  return b.TransposeTo(b.ReshapeTo(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

Value* MergeHeads(PatternBuilder& b, Value* x) {
  if (x == nullptr) return nullptr;
  const Shape s = x->type().shape();
  return b.ReshapeTo(b.TransposeTo(x, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

// softmax(scale q kᵀ + mask) v in separate operators, as exporters write it.
Value* Attend(GraphMaker& maker, PatternBuilder& b, Value* q, Value* k, Value* v) {
  if (q == nullptr || k == nullptr || v == nullptr) return nullptr;
  const double scale = 1 / std::sqrt(static_cast<double>(q->type().dims.back().size));
  const bool before = maker.OneIn(3);
  if (before) q = b.Add(Op::kMul, {q, b.Scalar(q, scale)});
  Value* scores = maker.OneIn(2) ? b.Add(Op::kMatMul, {q, k}, {{"transpose_b", int64_t{1}}})
                                 : b.Add(Op::kMatMul, {q, b.TransposeTo(k, {0, 1, 3, 2})});
  if (scores == nullptr) return nullptr;
  if (!before && maker.OneIn(2)) scores = b.Add(Op::kMul, {scores, b.Scalar(scores, scale)});
  if (scores != nullptr && maker.OneIn(2)) {
    const Shape s = scores->type().shape();
    scores = b.Add(Op::kAdd, {scores, maker.New(scores->type().dtype, maker.ShapeWithin(s), 1)});
  }
  return b.Add(Op::kMatMul, {b.Add(Op::kSoftmax, {scores}, {{"axis", int64_t{3}}}), v});
}

}  // namespace

void AddTransformer(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Sequence();
  const int64_t width = x->type().dims[2].size;
  const int64_t heads = width % 4 == 0 ? maker.OneOf<int64_t>({1, 2, 4}) : 1;
  Value* normal = maker.OneIn(2) ? x : LayerNorm(b, x);
  Value* q = SplitHeads(b, b.Dense(normal, width), heads);
  Value* k = SplitHeads(b, b.Dense(normal, width), heads);
  Value* v = SplitHeads(b, b.Dense(normal, width), heads);
  Value* y = b.Dense(MergeHeads(b, Attend(maker, b, q, k, v)), width);
  y = LayerNorm(b, b.Add(Op::kAdd, {x, y}));
  b.Add(Op::kAdd, {y, b.Dense(b.Activation(b.Dense(y, 2 * width)), width)});
}

void AddDecomposedAttention(GraphMaker& maker) {
  PatternBuilder b(maker);
  const Shape shape = {1 + maker.Pick(2), 1 + maker.Pick(3), maker.Extent(),
                       maker.OneOf<int64_t>({4, 8, 16, 24, 7})};
  Value* q = maker.New(DType::kF32, shape, 0);
  Value* k = maker.Like(q->type());
  Value* v = maker.Like(q->type());
  Value* out = Attend(maker, b, q, k, v);
  if (maker.OneIn(2)) MergeHeads(b, out);
}

void AddAttentionOfTiles(GraphMaker& maker) {
  PatternBuilder b(maker);
  const DType dtype = maker.OneIn(3) ? DType::kF32 : DType::kBF16;
  const Shape heads = {1 + maker.Pick(2), 1 + maker.Pick(3)};
  const int64_t queries = 1 + maker.Pick(maker.OneIn(4) ? 2 : 40),
                keys = maker.OneIn(2) ? queries : 1 + maker.Pick(70);
  const int64_t size = maker.OneIn(3) ? maker.Channels() : 16 * (1 + maker.Pick(4));
  const int64_t values = maker.OneIn(2) ? size : 16 * (1 + maker.Pick(4));
  Value* q = maker.New(dtype, {heads[0], heads[1], queries, size}, 0);
  Value* k = maker.Like(TensorType(dtype, Shape{heads[0], heads[1], keys, size}));
  Value* v = maker.Like(TensorType(dtype, Shape{heads[0], heads[1], keys, values}));
  Value* mask = nullptr;
  if (maker.OneIn(3)) mask = maker.New(dtype, maker.ShapeWithin({heads[0], heads[1], queries, keys}), 1);
  Value* out = maker.Add(Op::kAttention, {q, k, v, mask}, {{"scale", maker.OneOf({0.125, 0.25, 0.3})}});
  if (maker.OneIn(3)) out = b.Activation(out);
  out = MergeHeads(b, out);
  if (maker.OneIn(2)) b.Dense(out, maker.Channels());
}

void AddDecomposedNorm(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Sequence();
  const bool rms = maker.OneIn(2);
  Value* centred = rms ? x : b.Add(Op::kSub, {x, Mean(b, x)});
  Value* squares =
      maker.OneIn(2) ? b.Add(Op::kMul, {centred, centred}) : b.Add(Op::kPow, {centred, b.Scalar(centred, 2)});
  Value* variance = Mean(b, squares);
  Value* deviation = b.Add(Op::kSqrt, {b.Add(Op::kAdd, {variance, b.Scalar(variance, kEpsilon)})});
  Value* out = b.Add(Op::kDiv, {centred, deviation});
  out = b.Add(Op::kMul, {out, b.PerColumn(out)});
  if (!rms) b.Add(Op::kAdd, {out, b.PerColumn(out)});
}

void AddDecomposedActivation(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = maker.OneIn(2) ? b.Conv(b.Map(), maker.Channels(), {}) : b.Sequence();
  if (x == nullptr) return;
  switch (maker.Pick(6)) {
    case 0:
      b.Add(Op::kMul, {x, b.Add(Op::kSigmoid, {x})});
      break;
    case 1: {  // GELU
      Value* erf = b.Add(Op::kErf, {b.Add(Op::kDiv, {x, b.Scalar(x, std::sqrt(2.0))})});
      erf = b.Add(Op::kAdd, {erf, b.Scalar(x, 1)});
      b.Add(Op::kMul, {b.Add(Op::kMul, {x, erf}), b.Scalar(x, 0.5)});
      break;
    }
    case 2: {  // hard swish
      Value* gate = b.Add(Op::kClip, {b.Add(Op::kAdd, {x, b.Scalar(x, 3)})},
                          {{"min", ExactNumber(0.0)}, {"max", ExactNumber(6.0)}});
      b.Add(Op::kMul, {x, b.Add(Op::kDiv, {gate, b.Scalar(x, 6)})});
      break;
    }
    case 3:
      b.Add(Op::kMul, {x, b.Add(Op::kTanh, {b.Add(Op::kSoftplus, {x})})});
      break;
    case 4:
      b.Add(Op::kMax, {x, b.Add(Op::kMul, {x, b.Scalar(x, 0.1)})});
      break;
    default: {  // PReLU
      Value* negative = b.Add(Op::kMul, {b.Add(Op::kMin, {x, b.Scalar(x, 0)}), b.PerColumn(x)});
      b.Add(Op::kAdd, {b.Add(Op::kRelu, {x}), negative});
      break;
    }
  }
}

void AddRecurrence(GraphMaker& maker) {
  PatternBuilder b(maker);
  const int64_t width = maker.Channels();
  Value* state = maker.New(DType::kF32, {1 + maker.Pick(3), width}, 0);
  Value* x = maker.Like(state->type());
  for (int64_t steps = 1 + maker.Pick(3); state != nullptr && steps > 0; --steps) {
    Value* gates = b.Add(Op::kAdd, {b.Dense(x, 2 * width), b.Dense(state, 2 * width)});
    if (gates == nullptr) return;
    const int64_t rows = gates->type().dims[0].size;
    const auto part = [&](int64_t start) {
      return b.Add(Op::kSlice, {gates},
                   {{"starts", Ints{0, start}}, {"sizes", Ints{rows, width}}, {"steps", Ints{1, 1}}});
    };
    Value* keep = b.Add(Op::kSigmoid, {part(0)});
    Value* fresh = b.Add(Op::kTanh, {part(width)});
    state = b.Add(Op::kAdd, {b.Add(Op::kMul, {keep, state}),
                             b.Add(Op::kMul, {b.Add(Op::kSub, {b.Scalar(state, 1), keep}), fresh})});
  }
}

// Differences of equal values must be zero, whatever is contracted or reordered.
void AddCancellation(GraphMaker& maker) {
  PatternBuilder b(maker);
  const auto fits = [](const Value& v) {
    return v.type().dtype == DType::kF32 && v.type().is_static() && v.type().num_elements() > 0;
  };
  Value* x = maker.Any(fits, [&] { return maker.New(DType::kF32, maker.AnyShape(), 0); });
  Value* y = maker.OneIn(2) ? x : maker.Operand(x->type());
  const Op op = maker.OneOf({Op::kMul, Op::kAdd, Op::kMul, Op::kDiv});
  if (op == Op::kDiv) y = b.Scalar(x, 3);
  Value* first = b.Add(op, {x, y});
  Value* second = b.Add(op, op != Op::kDiv && maker.OneIn(2) ? std::vector{y, x} : std::vector{x, y});
  Value* difference = b.Add(Op::kSub, {first, second});
  if (difference == nullptr || !IsFinite(maker.DataOf(first))) return;
  maker.StateZero(difference);
  if (maker.OneIn(2)) b.Add(Op::kSqrt, {difference});
}

void AddMlp(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x =
      maker.New(maker.OneIn(5) ? maker.FloatType() : DType::kF32, {maker.Extent(), maker.Channels()}, 0);
  for (int64_t layers = 1 + maker.Pick(4); layers > 0; --layers)
    x = b.Activation(b.Dense(x, maker.Channels()));
  if (x != nullptr && maker.OneIn(2)) b.Add(Op::kSoftmax, {x}, {{"axis", int64_t{1}}});
}

}  // namespace attune::graph_fuzz
