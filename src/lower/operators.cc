// The operators' lowerings: one explicit table.
#include "lower/operators.h"

#include "base/status.h"

namespace attune {
namespace {

using DefineFunction = absl::Status (*)(Definition&, const Node&);

// Null if the operator has no lowering; elementwise operators share one.
DefineFunction FindDefine(Op op) {
  switch (op) {
    case Op::kConv:
    case Op::kConvInteger:
      return DefineConv;
    case Op::kConvTranspose:
      return DefineConvTranspose;
    case Op::kMatMul:
    case Op::kMatMulInteger:
      return DefineMatMul;
    case Op::kAttention:
      return DefineAttention;

    case Op::kReshape:
      return DefineReshape;
    case Op::kTranspose:
      return DefineTranspose;
    case Op::kBroadcast:
      return DefineBroadcast;
    case Op::kSlice:
      return DefineSlice;
    case Op::kConcat:
      return DefineConcat;
    case Op::kPad:
      return DefinePad;
    case Op::kLayoutTransform:
      return DefineLayoutTransform;
    case Op::kDepthToSpace:
      return DefineDepthToSpace;
    case Op::kSpaceToDepth:
      return DefineSpaceToDepth;
    case Op::kReverseSequence:
      return DefineReverseSequence;

    case Op::kGather:
      return DefineGather;
    case Op::kGatherElements:
      return DefineGatherElements;
    case Op::kGatherNd:
      return DefineGatherNd;
    case Op::kScatterElements:
      return DefineScatterElements;
    case Op::kScatterNd:
      return DefineScatterNd;

    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceProd:
    case Op::kReduceMax:
    case Op::kReduceMin:
      return DefineReduce;
    case Op::kArgMax:
    case Op::kArgMin:
      return DefineArgReduce;
    case Op::kCumSum:
    case Op::kCumProd:
      return DefineScan;
    case Op::kTopK:
      return DefineTopK;

    case Op::kMaxPool:
      return DefineMaxPool;
    case Op::kAvgPool:
      return DefineAvgPool;
    case Op::kLrn:
      return DefineLrn;
    case Op::kCol2Im:
      return DefineCol2Im;

    case Op::kQuantize:
      return DefineQuantize;
    case Op::kDequantize:
      return DefineDequantize;
    case Op::kRequantize:
      return DefineRequantize;

    case Op::kResize:
      return DefineResize;
    case Op::kGridSample:
      return DefineGridSample;
    case Op::kDeformConv:
      return DefineDeformConv;
    case Op::kRoiAlign:
      return DefineRoiAlign;

    case Op::kNonZero:
      return DefineNonZero;
    case Op::kNonMaxSuppression:
      return DefineNonMaxSuppression;
    case Op::kCompress:
      return DefineCompress;
    case Op::kUnique:
      return DefineUnique;

    case Op::kDet:
      return DefineDet;

    case Op::kBatchNorm:
      return DefineBatchNorm;
    case Op::kLayerNorm:
    case Op::kRmsNorm:
      return DefineTailNorm;
    case Op::kGroupNorm:
      return DefineGroupNorm;
    case Op::kSoftmax:
    case Op::kLogSoftmax:
      return DefineSoftmax;
    default:
      return IsElementwise(op) ? DefineElementwise : nullptr;
  }
}

}  // namespace

absl::Status DefineOperator(Definition& definition, const Node& node) {
  const DefineFunction define = FindDefine(node.op());
  if (define == nullptr) return NotSupported(OpName(node.op()), ": no code is generated for it");
  return Annotate(define(definition, node), OpName(node.op()));
}

}  // namespace attune
