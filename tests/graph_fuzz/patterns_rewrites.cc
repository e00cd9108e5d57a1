// Neighbours that passes rewrite: each takes the result of the one before.
#include <algorithm>
#include <numeric>
#include <vector>

#include "opt/rule_tables.h"
#include "opt/testing/rule_instance.h"
#include "pattern_builder.h"
#include "patterns.h"
#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

Value* AddTo(GraphMaker& maker, Value* x, Op op) {
  maker.Prefer(x);
  Value* out = FindRecipe(op)->add(maker, op);
  maker.Prefer(nullptr);
  return out != nullptr ? out : x;
}

// A float with two to four axes, none of them empty.
Value* OfSomeAxes(GraphMaker& maker) {
  return maker.Any(
      [](const Value& v) {
        return IsFloat(v.type().dtype) && v.type().is_static() && v.type().rank() >= 2 &&
               v.type().rank() <= 4 && v.type().num_elements() > 0;
      },
      [&] {
        Shape shape(static_cast<size_t>(maker.random().Integer(2, 4)));
        for (int64_t& size : shape) size = 1 + maker.Pick(9);
        return maker.New(maker.FloatType(), shape, 0);
      });
}

Ints RandomPermutation(GraphMaker& maker, int rank) {
  Ints perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size(); i-- > 1;)
    std::swap(perm[i], perm[static_cast<size_t>(maker.Pick(std::ssize(perm)))]);
  return perm;
}

Ints Inverse(const Ints& perm) {
  Ints inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

class MakerBuilder : public RuleBuilder {
 public:
  explicit MakerBuilder(GraphMaker& maker) : maker_(maker) {}
  Value* Operand(const TensorType& type) override { return maker_.Like(type); }
  Value* Constant(Tensor data) override { return maker_.Constant(std::move(data)); }
  Value* Add(Op op, std::vector<Value*> operands, Attributes attributes) override {
    return maker_.Add(op, std::move(operands), std::move(attributes));
  }

 private:
  GraphMaker& maker_;
};

}  // namespace

// Operators of any kind, each on the result of the last one.
void AddChain(GraphMaker& maker) {
  for (int64_t left = maker.random().Integer(2, 6); left > 0; --left) {
    maker.Prefer(AddRandomNode(maker));
  }
  maker.Prefer(nullptr);
}

// Operators that move elements, often the same one several times.
void AddMovements(GraphMaker& maker) {
  constexpr Op kOps[] = {Op::kSlice,   Op::kConcat, Op::kTranspose,    Op::kReshape, Op::kBroadcast,
                         Op::kPad,     Op::kGather, Op::kDepthToSpace, Op::kSlice,   Op::kConcat,
                         Op::kMaxPool, Op::kRelu,   Op::kConv};
  const auto any = [&] { return kOps[maker.Pick(std::ssize(kOps))]; };
  Op op = any();
  Value* x = OfSomeAxes(maker);
  for (int64_t left = maker.random().Integer(2, 5); left > 0; --left) {
    x = AddTo(maker, x, op);
    if (maker.OneIn(2)) op = any();
  }
}

// Operators with an axis attribute or without, between a transposition and (mostly) its inverse.
void AddBetweenTransposes(GraphMaker& maker) {
  constexpr Op kOps[] = {Op::kSoftmax,   Op::kLogSoftmax, Op::kConcat,     Op::kSlice,   Op::kPad,
                         Op::kReduceSum, Op::kReduceMax,  Op::kReduceMean, Op::kArgMax,  Op::kGather,
                         Op::kCumSum,    Op::kAdd,        Op::kMul,        Op::kRelu,    Op::kClip,
                         Op::kLayerNorm, Op::kConv,       Op::kMaxPool,    Op::kWhere,   Op::kCast,
                         Op::kResize,    Op::kMatMul,     Op::kTopK,       Op::kReshape, Op::kGatherElements};
  PatternBuilder b(maker);
  Value* x = OfSomeAxes(maker);
  Ints perm = RandomPermutation(maker, x->type().rank());
  if (perm.size() == 4 && maker.OneIn(2)) perm = maker.OneIn(2) ? Ints{0, 2, 3, 1} : Ints{0, 3, 1, 2};
  x = b.TransposeTo(x, perm);
  if (x == nullptr) return;
  for (int64_t left = maker.random().Integer(1, 3); left > 0; --left)
    x = AddTo(maker, x, kOps[maker.Pick(std::ssize(kOps))]);
  if (!x->type().is_static() || x->type().rank() < 2) return;
  const bool same_rank = x->type().rank() == static_cast<int>(perm.size());
  b.TransposeTo(x, same_rank && !maker.OneIn(4) ? Inverse(perm) : RandomPermutation(maker, x->type().rank()));
}

// Joins pieces along an axis and cuts the result along it again, at the seams and beside them.
void AddPartOfParts(GraphMaker& maker) {
  Value* first = OfSomeAxes(maker);
  const auto axis = static_cast<size_t>(maker.Pick(first->type().rank()));
  std::vector<Value*> parts = {first};
  Ints seams = {0, first->type().shape()[axis]};
  while (parts.size() < 2 || maker.OneIn(2)) {
    Shape shape = first->type().shape();
    shape[axis] = 1 + maker.Pick(8);
    parts.push_back(maker.New(first->type().dtype, shape, 0));
    if (maker.OneIn(2))
      parts.back() = AddTo(maker, parts.back(), maker.OneOf({Op::kRelu, Op::kNeg, Op::kTanh}));
    seams.push_back(seams.back() + shape[axis]);
  }
  Value* whole = maker.Add(Op::kConcat, parts, {{"axis", static_cast<int64_t>(axis)}});
  if (whole == nullptr) return;
  for (int64_t left = maker.random().Integer(1, 3); left > 0; --left) {
    const auto at = static_cast<size_t>(maker.Pick(std::ssize(seams) - 1));
    int64_t begin = seams[at],
            end = seams[at + 1 +
                        static_cast<size_t>(maker.Pick(std::ssize(seams) - 1 - static_cast<int64_t>(at)))];
    if (maker.OneIn(3)) begin = std::min(begin + 1, end - 1);
    if (maker.OneIn(3)) end = std::max(end - 1, begin + 1);
    Ints starts(static_cast<size_t>(whole->type().rank()), 0), sizes = whole->type().shape();
    starts[axis] = begin;
    sizes[axis] = end - begin;
    maker.Add(Op::kSlice, {whole}, {{"starts", starts}, {"sizes", sizes}, {"steps", Ints(sizes.size(), 1)}});
  }
}

// Casts of numbers that nothing has rounded yet: every bit of their results is known.
void AddCasts(GraphMaker& maker) {
  const double range = maker.OneOf({3.0, 300.0, 60000.0});
  Value* x = maker.New(maker.OneIn(4) ? maker.AnyType() : DType::kF32,
                       {1 + maker.Pick(6), 1 + maker.Pick(60)}, {.low = -range, .high = range}, 0);
  for (int64_t left = maker.random().Integer(2, 4); x != nullptr && left > 0; --left) {
    x = maker.Add(Op::kCast, {x},
                  {{"to", maker.OneIn(2) ? maker.AnyType() : maker.OneOf({DType::kBF16, DType::kF16})}});
    if (x != nullptr && maker.OneIn(3))
      x = AddTo(maker, x, maker.OneOf({Op::kTranspose, Op::kSlice, Op::kReshape}));
  }
}

// A convolution and an average of its pixels; the two may be swapped if the convolution is pointwise.
void AddPooledConv(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Conv(maker.FeatureMap(), maker.Channels(),
                    {.kernel = maker.OneIn(4) ? 3 : 1, .bias = !maker.OneIn(4)});
  if (x == nullptr) return;
  if (maker.OneIn(5)) x = AddTo(maker, x, maker.OneOf({Op::kRelu, Op::kAdd, Op::kMul}));
  Attributes attrs = {{"kernel", Ints(2, 2 + maker.Pick(2))}, {"strides", Ints(2, maker.OneIn(5) ? 1 : 2)}};
  if (maker.OneIn(2)) attrs.Set("pads", Ints{maker.Pick(2), maker.Pick(2), maker.Pick(2), maker.Pick(2)});
  if (maker.OneIn(3)) attrs.Set("ceil_mode", true);
  if (maker.OneIn(6)) {
    b.Add(Op::kMaxPool, {x}, std::move(attrs));
    return;
  }
  if (maker.OneIn(2)) attrs.Set("count_include_pad", true);
  b.Add(Op::kAvgPool, {x}, std::move(attrs));
}

// The left side of a rewrite rule.
void AddWhatRulesFit(GraphMaker& maker) {
  constexpr int kTries = 4;
  const std::span<const Rule> tables[] = {AlgebraRules(), AlgebraRules(), ActivationRules(),
                                          NormalizationRules(), AttentionRules()};
  MakerBuilder builder(maker);
  for (int tries = 0; tries < kTries; ++tries) {
    const int64_t table = maker.Pick(std::ssize(tables));
    const std::span<const Rule> rules = tables[table];
    const Rule& rule = rules[static_cast<size_t>(maker.Pick(std::ssize(rules)))];
    const TensorType like = OfSomeAxes(maker)->type();
    Shape shape = like.shape();
    // Attention has four axes; square matrices fit each other whether transposed or not.
    if (table == 4 || maker.OneIn(6))
      shape = {1 + maker.Pick(2), 1 + maker.Pick(4), 1 + maker.Pick(12), 1 + maker.Pick(12)};
    if (shape.size() == 4 && maker.OneIn(2)) shape[3] = shape[2];
    const DType dtype = maker.OneIn(8) ? DType::kI32 : like.dtype;
    if (RuleInstance(rule, dtype, std::move(shape), maker.random(), builder).Build() != nullptr) return;
  }
}

}  // namespace attune::graph_fuzz
