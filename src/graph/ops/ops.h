// The inference rule of each operator, or of each family of operators that share one.
//
// A rule sees a node that satisfies CheckNode (node_rules.h) and whose inputs have valid types. It returns
// the output types or the error that says what does not fit; InferTypes then checks the sizes of the types.
// Only elementwise operators, identity and layout_transform give a layout that is not plain: for the
// others, planning chooses the layout and sets it on the value.
//
// A dynamic dimension passes through where the operator treats its elements independently of their number.
// An operator that would compute across it is NotSupported.
#ifndef ATTUNE_GRAPH_OPS_OPS_H_
#define ATTUNE_GRAPH_OPS_OPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace attune::infer {

using Types = std::vector<TensorType>;
using TypesOr = absl::StatusOr<Types>;
using InferenceRule = TypesOr(const Node& node);

// elementwise.cc. Number: floats and integers; Signed: floats and signed integers; Test: from floats to bool;
// Logical: bools or integers.
InferenceRule Constant, Identity, UnaryFloat, UnaryNumber, UnarySigned, UnaryTest, Gelu, Not, Cast,
    BinaryNumber, Pow, BinaryLogical, Shift, MulHigh, Equal, Compare, Where;

// movement.cc
InferenceRule Iota, Reshape, Transpose, Broadcast, Slice, Concat, Pad, LayoutTransform, DepthToSpace,
    SpaceToDepth, ReverseSequence;

// indexed.cc
InferenceRule Gather, GatherElements, GatherNd, CheckIndex, ScatterElements, ScatterNd;

// reduction.cc. Extremes, max and min, are for bool too.
InferenceRule ReduceNumber, ReduceExtreme, ArgExtreme, Scan, TopK;

// contraction.cc
InferenceRule Conv, ConvTranspose, ConvInteger, DeformConv;

// matmul.cc
InferenceRule MatMul, MatMulInteger, Attention, Det;

// quantized.cc
InferenceRule Quantize, Dequantize, Requantize;

// window.cc
InferenceRule MaxPool, AvgPool, Lrn, Col2Im;

// normalization.cc
InferenceRule BatchNorm, LayerNorm, RmsNorm, GroupNorm, Softmax;

// sampling.cc
InferenceRule Resize, GridSample, RoiAlign;

// dynamic.cc
InferenceRule NonZero, NonMaxSuppression, Compress, Unique;

// control.cc
InferenceRule If, Loop, Fused;

}  // namespace attune::infer

#endif  // ATTUNE_GRAPH_OPS_OPS_H_
