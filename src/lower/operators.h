// One function per operator or family: adds the stages that compute a node. The table is in operators.cc.
#ifndef ATTUNE_LOWER_OPERATORS_H_
#define ATTUNE_LOWER_OPERATORS_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "lower/definition.h"

namespace attune {

absl::Status DefineElementwise(Definition& definition, const Node& node);

// contraction.cc
absl::Status DefineConv(Definition& definition, const Node& node);  // conv, conv_integer
absl::Status DefineConvTranspose(Definition& definition, const Node& node);
absl::Status DefineMatMul(Definition& definition, const Node& node);  // matmul, matmul_integer
absl::Status DefineAttention(Definition& definition, const Node& node);

// movement.cc
absl::Status DefineReshape(Definition& definition, const Node& node);
absl::Status DefineTranspose(Definition& definition, const Node& node);
absl::Status DefineBroadcast(Definition& definition, const Node& node);
absl::Status DefineSlice(Definition& definition, const Node& node);
absl::Status DefineConcat(Definition& definition, const Node& node);
absl::Status DefinePad(Definition& definition, const Node& node);
absl::Status DefineLayoutTransform(Definition& definition, const Node& node);
absl::Status DefineDepthToSpace(Definition& definition, const Node& node);
absl::Status DefineSpaceToDepth(Definition& definition, const Node& node);
absl::Status DefineReverseSequence(Definition& definition, const Node& node);

// indexed.cc
absl::Status DefineGather(Definition& definition, const Node& node);
absl::Status DefineGatherElements(Definition& definition, const Node& node);
absl::Status DefineGatherNd(Definition& definition, const Node& node);
absl::Status DefineScatterElements(Definition& definition, const Node& node);
absl::Status DefineScatterNd(Definition& definition, const Node& node);

// reduction.cc
absl::Status DefineReduce(Definition& definition, const Node& node);
absl::Status DefineArgReduce(Definition& definition, const Node& node);
absl::Status DefineScan(Definition& definition, const Node& node);
absl::Status DefineTopK(Definition& definition, const Node& node);

// window.cc
absl::Status DefineMaxPool(Definition& definition, const Node& node);
absl::Status DefineAvgPool(Definition& definition, const Node& node);
absl::Status DefineLrn(Definition& definition, const Node& node);
absl::Status DefineCol2Im(Definition& definition, const Node& node);

// normalization.cc
absl::Status DefineBatchNorm(Definition& definition, const Node& node);
absl::Status DefineTailNorm(Definition& definition, const Node& node);  // layer_norm, rms_norm
absl::Status DefineGroupNorm(Definition& definition, const Node& node);
absl::Status DefineSoftmax(Definition& definition, const Node& node);  // softmax, log_softmax

// quantized.cc
absl::Status DefineQuantize(Definition& definition, const Node& node);
absl::Status DefineDequantize(Definition& definition, const Node& node);
absl::Status DefineRequantize(Definition& definition, const Node& node);

// resize.cc, sampling.cc, roi_align.cc
absl::Status DefineResize(Definition& definition, const Node& node);
absl::Status DefineGridSample(Definition& definition, const Node& node);
absl::Status DefineDeformConv(Definition& definition, const Node& node);
absl::Status DefineRoiAlign(Definition& definition, const Node& node);

// dynamic.cc, unique.cc
absl::Status DefineNonZero(Definition& definition, const Node& node);
absl::Status DefineNonMaxSuppression(Definition& definition, const Node& node);
absl::Status DefineCompress(Definition& definition, const Node& node);
absl::Status DefineUnique(Definition& definition, const Node& node);

// linear_algebra.cc
absl::Status DefineDet(Definition& definition, const Node& node);

}  // namespace attune

#endif  // ATTUNE_LOWER_OPERATORS_H_
