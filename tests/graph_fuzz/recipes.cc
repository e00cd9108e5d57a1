#include "recipes.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace attune::graph_fuzz {
namespace {

// The weight of operators that networks are made of.
constexpr int kCommon = 12;

constexpr Recipe kSpecial[] = {
    {Op::kCast, AddCast, 6},
    {Op::kWhere, AddWhere, 6},
    {Op::kReshape, AddReshape, kCommon},
    {Op::kTranspose, AddTranspose, kCommon},
    {Op::kIota, AddIota},
    {Op::kBroadcast, AddBroadcast},
    {Op::kSlice, AddSlice, kCommon},
    {Op::kConcat, AddConcat, kCommon},
    {Op::kPad, AddPad, 6},
    {Op::kDepthToSpace, AddDepthSpace},
    {Op::kSpaceToDepth, AddDepthSpace},
    {Op::kReverseSequence, AddReverseSequence},
    {Op::kGather, AddGather, 6},
    {Op::kGatherElements, AddGatherElements},
    {Op::kGatherNd, AddGatherNd},
    {Op::kScatterElements, AddScatterElements},
    {Op::kScatterNd, AddScatterNd},
    {Op::kCheckIndex, AddCheckIndex},
    {Op::kReduceSum, AddReduction, 4},
    {Op::kReduceMean, AddReduction, 6},
    {Op::kReduceProd, AddReduction},
    {Op::kReduceMax, AddReduction, 4},
    {Op::kReduceMin, AddReduction},
    {Op::kArgMax, AddArgExtreme},
    {Op::kArgMin, AddArgExtreme},
    {Op::kCumSum, AddScan},
    {Op::kCumProd, AddScan},
    {Op::kTopK, AddTopK},
    {Op::kConv, AddConv, 2 * kCommon},
    {Op::kConvTranspose, AddConvTranspose, 4},
    {Op::kDeformConv, AddDeformConv},
    {Op::kMatMul, AddMatMul, kCommon},
    {Op::kAttention, AddAttention, 4},
    {Op::kDet, AddDet},
    {Op::kConvInteger, AddConvInteger, 6},
    {Op::kMatMulInteger, AddMatMulInteger, 6},
    {Op::kQuantize, AddQuantize, 4},
    {Op::kDequantize, AddDequantize, 4},
    {Op::kRequantize, AddRequantize, 4},
    {Op::kMaxPool, AddPool, 6},
    {Op::kAvgPool, AddPool, 6},
    {Op::kLrn, AddLrn},
    {Op::kCol2Im, AddCol2Im},
    {Op::kBatchNorm, AddBatchNorm, 6},
    {Op::kLayerNorm, AddTailNorm, 4},
    {Op::kRmsNorm, AddTailNorm},
    {Op::kGroupNorm, AddGroupNorm, 4},
    {Op::kSoftmax, AddSoftmax, 6},
    {Op::kLogSoftmax, AddSoftmax},
    {Op::kResize, AddResize, 6},
    {Op::kGridSample, AddGridSample},
    {Op::kRoiAlign, AddRoiAlign},
    {Op::kNonZero, AddNonZero},
    {Op::kNonMaxSuppression, AddNonMaxSuppression},
    {Op::kCompress, AddCompress},
    {Op::kUnique, AddUnique},
    {Op::kIf, AddIf, 7},
    {Op::kLoop, AddLoop},
};

bool HasNoRecipe(Op op) { return op == Op::kConstant || op == Op::kLayoutTransform || op == Op::kFused; }

bool IsCommon(Op op) {
  return op == Op::kRelu || op == Op::kSigmoid || op == Op::kAdd || op == Op::kMul || op == Op::kSub;
}

std::vector<Recipe> MakeRecipes() {
  std::vector<Recipe> recipes;
  for (const OpInfo& info : AllOps()) {
    if (HasNoRecipe(info.op)) continue;
    const auto special = std::ranges::find(kSpecial, info.op, &Recipe::op);
    if (special != std::end(kSpecial)) {
      recipes.push_back(*special);
    } else {
      const bool binary = info.category == OpCategory::kBinary;
      recipes.push_back({info.op, binary ? AddBinary : AddUnary, IsCommon(info.op) ? kCommon : 2});
    }
  }
  return recipes;
}

// All are as likely, since all have been wrong.
std::vector<Recipe> IntegerRecipes() {
  constexpr Op kOps[] = {Op::kIdentity,     Op::kNeg,
                         Op::kAbs,          Op::kSign,
                         Op::kRelu,         Op::kClip,
                         Op::kNot,          Op::kCast,
                         Op::kAdd,          Op::kSub,
                         Op::kMul,          Op::kDiv,
                         Op::kMod,          Op::kPow,
                         Op::kMin,          Op::kMax,
                         Op::kAnd,          Op::kOr,
                         Op::kXor,          Op::kShiftLeft,
                         Op::kShiftRight,   Op::kMulHigh,
                         Op::kEqual,        Op::kLess,
                         Op::kLessEqual,    Op::kGreater,
                         Op::kGreaterEqual, Op::kWhere,
                         Op::kReshape,      Op::kTranspose,
                         Op::kBroadcast,    Op::kSlice,
                         Op::kConcat,       Op::kPad,
                         Op::kGather,       Op::kGatherElements,
                         Op::kGatherNd,     Op::kScatterElements,
                         Op::kScatterNd,    Op::kReduceSum,
                         Op::kReduceMean,   Op::kReduceProd,
                         Op::kReduceMax,    Op::kReduceMin,
                         Op::kArgMax,       Op::kArgMin,
                         Op::kCumSum,       Op::kCumProd,
                         Op::kTopK,         Op::kMatMul};
  std::vector<Recipe> recipes;
  for (const Op op : kOps) recipes.push_back({op, FindRecipe(op)->add, 1});
  return recipes;
}

}  // namespace

std::span<const Recipe> Recipes() {
  static const auto* recipes = new std::vector<Recipe>(MakeRecipes());
  return *recipes;
}

const Recipe* FindRecipe(Op op) {
  const auto found = std::ranges::find(Recipes(), op, &Recipe::op);
  return found == Recipes().end() ? nullptr : &*found;
}

Value* AddRandomNode(GraphMaker& maker) {
  static const auto* integers = new std::vector<Recipe>(IntegerRecipes());
  const std::span<const Recipe> recipes = maker.integers() ? *integers : Recipes();
  const int64_t sum = std::transform_reduce(recipes.begin(), recipes.end(), int64_t{0}, std::plus<>(),
                                            [](const Recipe& r) { return r.weight; });
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    int64_t left = maker.Pick(sum);
    auto recipe = recipes.begin();
    while (left >= recipe->weight) left -= recipe++->weight;
    if (Value* value = recipe->add(maker, recipe->op)) return value;
  }
  return nullptr;
}

}  // namespace attune::graph_fuzz
