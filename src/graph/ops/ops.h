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

// elementwise.cc. Named by the dtypes that they take and give.
TypesOr Constant(const Node& node);
TypesOr Identity(const Node& node);
TypesOr UnaryFloat(const Node& node);   // floats
TypesOr UnaryNumber(const Node& node);  // and integers
TypesOr UnarySigned(const Node& node);  // floats and signed integers
TypesOr UnaryTest(const Node& node);    // floats to bool
TypesOr Gelu(const Node& node);
TypesOr Not(const Node& node);
TypesOr Cast(const Node& node);
TypesOr BinaryNumber(const Node& node);
TypesOr Pow(const Node& node);
TypesOr BinaryLogical(const Node& node);  // bools or integers
TypesOr Shift(const Node& node);
TypesOr MulHigh(const Node& node);
TypesOr Equal(const Node& node);
TypesOr Compare(const Node& node);
TypesOr Where(const Node& node);

// movement.cc
TypesOr Reshape(const Node& node);
TypesOr Transpose(const Node& node);
TypesOr Broadcast(const Node& node);
TypesOr Slice(const Node& node);
TypesOr Concat(const Node& node);
TypesOr Pad(const Node& node);
TypesOr LayoutTransform(const Node& node);
TypesOr DepthToSpace(const Node& node);
TypesOr SpaceToDepth(const Node& node);
TypesOr ReverseSequence(const Node& node);

// indexed.cc
TypesOr Gather(const Node& node);
TypesOr GatherElements(const Node& node);
TypesOr GatherNd(const Node& node);
TypesOr CheckIndex(const Node& node);
TypesOr ScatterElements(const Node& node);
TypesOr ScatterNd(const Node& node);

// reduction.cc
TypesOr ReduceNumber(const Node& node);
TypesOr ReduceExtreme(const Node& node);  // max and min: bool too
TypesOr ArgExtreme(const Node& node);
TypesOr Scan(const Node& node);
TypesOr TopK(const Node& node);

// contraction.cc
TypesOr Conv(const Node& node);
TypesOr ConvTranspose(const Node& node);
TypesOr ConvInteger(const Node& node);
TypesOr DeformConv(const Node& node);

// matmul.cc
TypesOr MatMul(const Node& node);
TypesOr MatMulInteger(const Node& node);
TypesOr Attention(const Node& node);
TypesOr Det(const Node& node);

// quantized.cc
TypesOr Quantize(const Node& node);
TypesOr Dequantize(const Node& node);
TypesOr Requantize(const Node& node);

// window.cc
TypesOr MaxPool(const Node& node);
TypesOr AvgPool(const Node& node);
TypesOr Lrn(const Node& node);
TypesOr Col2Im(const Node& node);

// normalization.cc
TypesOr BatchNorm(const Node& node);
TypesOr LayerNorm(const Node& node);
TypesOr RmsNorm(const Node& node);
TypesOr GroupNorm(const Node& node);
TypesOr Softmax(const Node& node);  // and log_softmax

// sampling.cc
TypesOr Resize(const Node& node);
TypesOr GridSample(const Node& node);
TypesOr RoiAlign(const Node& node);

// dynamic.cc
TypesOr NonZero(const Node& node);
TypesOr NonMaxSuppression(const Node& node);
TypesOr Compress(const Node& node);
TypesOr Unique(const Node& node);

// control.cc
TypesOr If(const Node& node);
TypesOr Loop(const Node& node);
TypesOr Fused(const Node& node);

}  // namespace attune::infer

#endif  // ATTUNE_GRAPH_OPS_OPS_H_
