// One function per operator or family. The table is in operators.cc.
#ifndef ATTUNE_LOWER_OPERATORS_H_
#define ATTUNE_LOWER_OPERATORS_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "lower/definition.h"

namespace attune {

// Adds the stages that compute a node.
using DefineFunction = absl::Status(Definition& definition, const Node& node);

DefineFunction DefineElementwise;

// contraction.cc
DefineFunction DefineConv, DefineConvTranspose, DefineMatMul, DefineAttention;

// movement.cc
DefineFunction DefineIota, DefineReshape, DefineTranspose, DefineBroadcast, DefineSlice, DefineConcat,
    DefinePad, DefineLayoutTransform, DefineDepthToSpace, DefineSpaceToDepth, DefineReverseSequence;

// indexed.cc
DefineFunction DefineGather, DefineGatherElements, DefineGatherNd, DefineScatterElements, DefineScatterNd;

// reduction.cc
DefineFunction DefineReduce, DefineArgReduce, DefineScan, DefineTopK;

// window.cc
DefineFunction DefineMaxPool, DefineAvgPool, DefineLrn, DefineCol2Im;

// normalization.cc
DefineFunction DefineBatchNorm, DefineTailNorm, DefineGroupNorm, DefineSoftmax;

// quantized.cc
DefineFunction DefineQuantize, DefineDequantize, DefineRequantize;

// resize.cc, sampling.cc, roi_align.cc
DefineFunction DefineResize, DefineGridSample, DefineDeformConv, DefineRoiAlign;

// dynamic.cc, unique.cc
DefineFunction DefineNonZero, DefineNonMaxSuppression, DefineCompress, DefineUnique;

// linear_algebra.cc
DefineFunction DefineDet;

}  // namespace attune

#endif  // ATTUNE_LOWER_OPERATORS_H_
