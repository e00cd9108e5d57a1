// The operators' lowerings: one explicit table.
#include "lower/operators.h"

#include <algorithm>
#include <iterator>

#include "base/status.h"

namespace attune {
namespace {

struct Row {
  Op op;
  DefineFunction* define;
};

// Elementwise operators are left out: they share a definition.
constexpr Row kRows[] = {
    {Op::kConv, DefineConv},
    {Op::kConvInteger, DefineConv},
    {Op::kConvTranspose, DefineConvTranspose},
    {Op::kMatMul, DefineMatMul},
    {Op::kMatMulInteger, DefineMatMul},
    {Op::kAttention, DefineAttention},
    {Op::kIota, DefineIota},
    {Op::kReshape, DefineReshape},
    {Op::kTranspose, DefineTranspose},
    {Op::kBroadcast, DefineBroadcast},
    {Op::kSlice, DefineSlice},
    {Op::kConcat, DefineConcat},
    {Op::kPad, DefinePad},
    {Op::kLayoutTransform, DefineLayoutTransform},
    {Op::kDepthToSpace, DefineDepthToSpace},
    {Op::kSpaceToDepth, DefineSpaceToDepth},
    {Op::kReverseSequence, DefineReverseSequence},
    {Op::kGather, DefineGather},
    {Op::kGatherElements, DefineGatherElements},
    {Op::kGatherNd, DefineGatherNd},
    {Op::kScatterElements, DefineScatterElements},
    {Op::kScatterNd, DefineScatterNd},
    {Op::kReduceSum, DefineReduce},
    {Op::kReduceMean, DefineReduce},
    {Op::kReduceProd, DefineReduce},
    {Op::kReduceMax, DefineReduce},
    {Op::kReduceMin, DefineReduce},
    {Op::kArgMax, DefineArgReduce},
    {Op::kArgMin, DefineArgReduce},
    {Op::kCumSum, DefineScan},
    {Op::kCumProd, DefineScan},
    {Op::kTopK, DefineTopK},
    {Op::kMaxPool, DefineMaxPool},
    {Op::kAvgPool, DefineAvgPool},
    {Op::kLrn, DefineLrn},
    {Op::kCol2Im, DefineCol2Im},
    {Op::kQuantize, DefineQuantize},
    {Op::kDequantize, DefineDequantize},
    {Op::kRequantize, DefineRequantize},
    {Op::kResize, DefineResize},
    {Op::kGridSample, DefineGridSample},
    {Op::kDeformConv, DefineDeformConv},
    {Op::kRoiAlign, DefineRoiAlign},
    {Op::kNonZero, DefineNonZero},
    {Op::kNonMaxSuppression, DefineNonMaxSuppression},
    {Op::kCompress, DefineCompress},
    {Op::kUnique, DefineUnique},
    {Op::kDet, DefineDet},
    {Op::kBatchNorm, DefineBatchNorm},
    {Op::kLayerNorm, DefineTailNorm},
    {Op::kRmsNorm, DefineTailNorm},
    {Op::kGroupNorm, DefineGroupNorm},
    {Op::kSoftmax, DefineSoftmax},
    {Op::kLogSoftmax, DefineSoftmax},
};

// Null if the operator has no lowering.
DefineFunction* FindDefinition(Op op) {
  const Row* row = std::ranges::find(kRows, op, &Row::op);
  if (row != std::end(kRows)) return row->define;
  return IsElementwise(op) ? DefineElementwise : nullptr;
}

}  // namespace

absl::Status DefineOperator(Definition& definition, const Node& node) {
  DefineFunction* define = FindDefinition(node.op());
  if (define == nullptr) return NotSupported(OpName(node.op()), ": no code is generated for it");
  return Annotate(define(definition, node), OpName(node.op()));
}

}  // namespace attune
