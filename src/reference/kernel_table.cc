// The kernel of each operator, in the order of op_table.inc.
#include <iterator>

#include "reference/kernels.h"

namespace attune::reference {
namespace {

struct Row {
  Op op;
  Kernel kernel;
};

constexpr Row kTable[] = {
    {Op::kConstant, EvaluateConstant},
    {Op::kIdentity, EvaluateIdentity},
    {Op::kNeg, EvaluateUnary},
    {Op::kAbs, EvaluateUnary},
    {Op::kSign, EvaluateUnary},
    {Op::kFloor, EvaluateUnary},
    {Op::kCeil, EvaluateUnary},
    {Op::kRound, EvaluateUnary},
    {Op::kSqrt, EvaluateUnary},
    {Op::kExp, EvaluateUnary},
    {Op::kLog, EvaluateUnary},
    {Op::kSin, EvaluateUnary},
    {Op::kCos, EvaluateUnary},
    {Op::kTan, EvaluateUnary},
    {Op::kAsin, EvaluateUnary},
    {Op::kAcos, EvaluateUnary},
    {Op::kAtan, EvaluateUnary},
    {Op::kSinh, EvaluateUnary},
    {Op::kCosh, EvaluateUnary},
    {Op::kTanh, EvaluateUnary},
    {Op::kAsinh, EvaluateUnary},
    {Op::kAcosh, EvaluateUnary},
    {Op::kAtanh, EvaluateUnary},
    {Op::kErf, EvaluateUnary},
    {Op::kSigmoid, EvaluateUnary},
    {Op::kRelu, EvaluateUnary},
    {Op::kLeakyRelu, EvaluateUnary},
    {Op::kElu, EvaluateUnary},
    {Op::kSoftplus, EvaluateUnary},
    {Op::kGelu, EvaluateUnary},
    {Op::kSilu, EvaluateUnary},
    {Op::kHardSigmoid, EvaluateUnary},
    {Op::kHardSwish, EvaluateUnary},
    {Op::kClip, EvaluateClip},
    {Op::kNot, EvaluateUnary},
    {Op::kIsNan, EvaluateTest},
    {Op::kIsInf, EvaluateTest},
    {Op::kCast, EvaluateCast},
    {Op::kAdd, EvaluateArithmetic},
    {Op::kSub, EvaluateArithmetic},
    {Op::kMul, EvaluateArithmetic},
    {Op::kDiv, EvaluateArithmetic},
    {Op::kMod, EvaluateArithmetic},
    {Op::kPow, EvaluatePow},
    {Op::kMin, EvaluateArithmetic},
    {Op::kMax, EvaluateArithmetic},
    {Op::kAnd, EvaluateBitwise},
    {Op::kOr, EvaluateBitwise},
    {Op::kXor, EvaluateBitwise},
    {Op::kShiftLeft, EvaluateBitwise},
    {Op::kShiftRight, EvaluateBitwise},
    {Op::kMulHigh, EvaluateMulHigh},
    {Op::kEqual, EvaluateComparison},
    {Op::kLess, EvaluateComparison},
    {Op::kLessEqual, EvaluateComparison},
    {Op::kGreater, EvaluateComparison},
    {Op::kGreaterEqual, EvaluateComparison},
    {Op::kWhere, EvaluateWhere},
    {Op::kReshape, EvaluateReshape},
    {Op::kTranspose, EvaluateTranspose},
    {Op::kBroadcast, EvaluateBroadcast},
    {Op::kSlice, EvaluateSlice},
    {Op::kConcat, EvaluateConcat},
    {Op::kPad, EvaluatePad},
    {Op::kLayoutTransform, EvaluateIdentity},
    {Op::kDepthToSpace, EvaluateDepthToSpace},
    {Op::kSpaceToDepth, EvaluateSpaceToDepth},
    {Op::kReverseSequence, EvaluateReverseSequence},
    {Op::kGather, EvaluateGather},
    {Op::kGatherElements, EvaluateGatherElements},
    {Op::kGatherNd, EvaluateGatherNd},
    {Op::kScatterElements, EvaluateScatterElements},
    {Op::kScatterNd, EvaluateScatterNd},
    {Op::kCheckIndex, EvaluateCheckIndex},
    {Op::kReduceSum, EvaluateReduce},
    {Op::kReduceMean, EvaluateReduce},
    {Op::kReduceProd, EvaluateReduce},
    {Op::kReduceMax, EvaluateReduce},
    {Op::kReduceMin, EvaluateReduce},
    {Op::kArgMax, EvaluateArgReduce},
    {Op::kArgMin, EvaluateArgReduce},
    {Op::kCumSum, EvaluateScan},
    {Op::kCumProd, EvaluateScan},
    {Op::kTopK, EvaluateTopK},
    {Op::kConv, EvaluateConv},
    {Op::kConvTranspose, EvaluateConvTranspose},
    {Op::kMatMul, EvaluateMatMul},
    {Op::kConvInteger, EvaluateConvInteger},
    {Op::kMatMulInteger, EvaluateMatMulInteger},
    {Op::kAttention, EvaluateAttention},
    {Op::kDeformConv, EvaluateDeformConv},
    {Op::kQuantize, EvaluateQuantize},
    {Op::kDequantize, EvaluateDequantize},
    {Op::kRequantize, EvaluateRequantize},
    {Op::kMaxPool, EvaluateMaxPool},
    {Op::kAvgPool, EvaluateAvgPool},
    {Op::kLrn, EvaluateLrn},
    {Op::kCol2Im, EvaluateCol2Im},
    {Op::kBatchNorm, EvaluateBatchNorm},
    {Op::kLayerNorm, EvaluateLayerNorm},
    {Op::kRmsNorm, EvaluateRmsNorm},
    {Op::kGroupNorm, EvaluateGroupNorm},
    {Op::kSoftmax, EvaluateSoftmax},
    {Op::kLogSoftmax, EvaluateSoftmax},
    {Op::kResize, EvaluateResize},
    {Op::kGridSample, EvaluateGridSample},
    {Op::kRoiAlign, EvaluateRoiAlign},
    {Op::kNonZero, EvaluateNonZero},
    {Op::kNonMaxSuppression, EvaluateNonMaxSuppression},
    {Op::kCompress, EvaluateCompress},
    {Op::kUnique, EvaluateUnique},
    {Op::kDet, EvaluateDet},
    {Op::kIf, EvaluateControl},
    {Op::kLoop, EvaluateControl},
    {Op::kFused, EvaluateControl},
};

constexpr bool IsInTableOrder() {
  for (size_t i = 0; i < std::size(kTable); ++i) {
    if (kTable[i].op != static_cast<Op>(i)) return false;
  }
  return true;
}
constexpr size_t kNumOps = 0
#define OP(...) +1
#include "graph/op_table.inc"
#undef OP
    ;
static_assert(std::size(kTable) == kNumOps && IsInTableOrder(),
              "one kernel for each operator, in the table's order");

}  // namespace

Kernel FindKernel(Op op) { return kTable[static_cast<size_t>(op)].kernel; }

}  // namespace attune::reference
