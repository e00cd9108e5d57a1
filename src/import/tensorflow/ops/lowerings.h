// The functions that lower TensorFlow operators, by file. ops.cc says which operator each is for.
#ifndef ATTUNE_IMPORT_TENSORFLOW_OPS_LOWERINGS_H_
#define ATTUNE_IMPORT_TENSORFLOW_OPS_LOWERINGS_H_

#include <optional>

#include "import/tensorflow/op_context.h"

namespace attune::tensorflow {

// constants.cc
Outputs Constant(OpContext& c);
Outputs PlaceholderWithDefault(OpContext& c);
Outputs UnfedPlaceholder(OpContext& c);
Outputs VariableHandle(OpContext& c);
Outputs VariableValue(OpContext& c);
Outputs ReadVariable(OpContext& c);
Outputs VariableIsInitialized(OpContext& c);
Outputs ShapeOfInput(OpContext& c);
Outputs ShapesOfInputs(OpContext& c);
Outputs VariableShape(OpContext& c);
Outputs RankOfInput(OpContext& c);
Outputs SizeOfInput(OpContext& c);
Outputs Fill(OpContext& c);
Outputs ZerosLike(OpContext& c);
Outputs OnesLike(OpContext& c);
Outputs Empty(OpContext& c);
Outputs Range(OpContext& c);
Outputs LinSpace(OpContext& c);
Outputs OneHot(OpContext& c);
Outputs Where(OpContext& c);
Outputs Unique(OpContext& c);
Outputs MatrixBandPart(OpContext& c);
Outputs MatrixDiagonal(OpContext& c);
Outputs InvertPermutation(OpContext& c);
Outputs BroadcastShapes(OpContext& c);

// contraction.cc
Outputs MatMul(OpContext& c);
Outputs BatchMatMul(OpContext& c);
Outputs Einsum(OpContext& c);

// control.cc
Outputs PartitionedCall(OpContext& c);
Outputs If(OpContext& c);
Outputs Case(OpContext& c);
Outputs While(OpContext& c);

// elementwise.cc
Outputs Unary(OpContext& c, Op op);
Outputs Binary(OpContext& c, Op op);
Outputs Rounding(OpContext& c, Op op);
Outputs Shift(OpContext& c, Op op);
template <Op op>
Outputs Unary(OpContext& c) {
  return Unary(c, op);
}
template <Op op>
Outputs Binary(OpContext& c) {
  return Binary(c, op);
}
template <Op op>
Outputs Rounding(OpContext& c) {
  return Rounding(c, op);
}
template <Op op>
Outputs Shift(OpContext& c) {
  return Shift(c, op);
}
Outputs Identity(OpContext& c);
Outputs IdentityN(OpContext& c);
Outputs Square(OpContext& c);
Outputs Rsqrt(OpContext& c);
Outputs Reciprocal(OpContext& c);
Outputs Log1p(OpContext& c);
Outputs Expm1(OpContext& c);
Outputs Erfc(OpContext& c);
Outputs Elu(OpContext& c);
Outputs Softsign(OpContext& c);
Outputs Relu6(OpContext& c);
Outputs Relu(OpContext& c);
Outputs Selu(OpContext& c);
Outputs LeakyRelu(OpContext& c);
Outputs IsFinite(OpContext& c);
Outputs NotEqual(OpContext& c);
Outputs SquaredDifference(OpContext& c);
Outputs FloorDiv(OpContext& c);
Outputs FloorMod(OpContext& c);
Outputs TruncateMod(OpContext& c);
Outputs DivNoNan(OpContext& c);
Outputs MulNoNan(OpContext& c);
Outputs Xdivy(OpContext& c);
Outputs Xlogy(OpContext& c);
Outputs Atan2(OpContext& c);
Outputs AddN(OpContext& c);
Outputs ClipByValue(OpContext& c);
Outputs Select(OpContext& c);
Outputs CastToType(OpContext& c);
Outputs BiasAdd(OpContext& c);

// frames.cc
Outputs ExitLoop(OpContext& c);
Outputs Switch(OpContext& c);
Outputs Merge(OpContext& c);

// indexed.cc
Outputs Slice(OpContext& c);
Outputs StridedSlice(OpContext& c);
Outputs Gather(OpContext& c);
Outputs GatherVariable(OpContext& c);
Outputs GatherNd(OpContext& c);
Outputs ScatterNd(OpContext& c);
Outputs TensorScatterUpdate(OpContext& c);
Outputs TensorScatterAdd(OpContext& c);
Outputs TensorScatterMax(OpContext& c);
Outputs TensorScatterMin(OpContext& c);
Outputs TensorScatterSub(OpContext& c);

// lists.cc
// The numbers are the indices of the inputs with the list (or the flow of a TensorArray), an index, an
// item, and the shape of items; -1 if there is none.
Outputs ListGet(OpContext& c, int list, int index, int shape);
Outputs ListSet(OpContext& c, int list, int index, int item);
Outputs ListStack(OpContext& c, int list, int shape);
Outputs ListGather(OpContext& c, int list, int indices, int shape);
Outputs ListScatter(OpContext& c, int list, int indices, int tensor);
Outputs ListLength(OpContext& c, int list);
Outputs ListConcat(OpContext& c, int list, int shape);
template <int list, int index, int shape>
Outputs ListGet(OpContext& c) {
  return ListGet(c, list, index, shape);
}
template <int list, int index, int item>
Outputs ListSet(OpContext& c) {
  return ListSet(c, list, index, item);
}
template <int list, int shape>
Outputs ListStack(OpContext& c) {
  return ListStack(c, list, shape);
}
template <int list, int indices, int shape>
Outputs ListGather(OpContext& c) {
  return ListGather(c, list, indices, shape);
}
template <int list, int indices, int tensor>
Outputs ListScatter(OpContext& c) {
  return ListScatter(c, list, indices, tensor);
}
template <int list>
Outputs ListLength(OpContext& c) {
  return ListLength(c, list);
}
template <int list, int shape>
Outputs ListConcat(OpContext& c) {
  return ListConcat(c, list, shape);
}
Outputs TensorListReserve(OpContext& c);
Outputs EmptyTensorList(OpContext& c);
Outputs TensorListFromTensor(OpContext& c);
Outputs TensorArray(OpContext& c);
Outputs CloseTensorArray(OpContext& c);
Outputs TensorListPushBack(OpContext& c);
Outputs TensorListPopBack(OpContext& c);
Outputs TensorListResize(OpContext& c);
Outputs TensorListElementShape(OpContext& c);

// movement.cc
Outputs Reshape(OpContext& c);
Outputs ExpandDims(OpContext& c);
Outputs Squeeze(OpContext& c);
Outputs Transpose(OpContext& c);
Outputs Concat(OpContext& c);
Outputs Pack(OpContext& c);
Outputs Unpack(OpContext& c);
Outputs Split(OpContext& c);
Outputs SplitV(OpContext& c);
Outputs BroadcastTo(OpContext& c);
Outputs Tile(OpContext& c);
Outputs Pad(OpContext& c);
Outputs MirrorPad(OpContext& c);
Outputs Reverse(OpContext& c);
Outputs ReverseSequence(OpContext& c);
Outputs Roll(OpContext& c);
Outputs SpaceToBatchNd(OpContext& c);
Outputs BatchToSpaceNd(OpContext& c);
Outputs SpaceToBatch(OpContext& c);
Outputs BatchToSpace(OpContext& c);
Outputs DepthToSpace(OpContext& c);
Outputs SpaceToDepth(OpContext& c);

// normalization.cc
Outputs Softmax(OpContext& c);
Outputs LogSoftmax(OpContext& c);
Outputs FusedBatchNorm(OpContext& c);
Outputs Lrn(OpContext& c);

// quantized.cc
Outputs Dequantize(OpContext& c);
Outputs FakeQuantizeArgs(OpContext& c);
Outputs FakeQuantizeVars(OpContext& c);
Outputs FakeQuantizePerChannel(OpContext& c);

// random.cc
// The result of `op` if an input is random numbers; otherwise nullopt.
std::optional<Binding> OnRandomNumbers(OpContext& c, Op op);
Outputs RandomUniform(OpContext& c);
Outputs OtherRandomNumbers(OpContext& c);

// reduction.cc
Outputs Reduction(OpContext& c, Op op);
template <Op op>
Outputs Reduction(OpContext& c) {
  return Reduction(c, op);
}
Outputs EuclideanNorm(OpContext& c);
Outputs ArgMax(OpContext& c);
Outputs ArgMin(OpContext& c);
Outputs CumSum(OpContext& c);
Outputs CumProd(OpContext& c);
Outputs TopK(OpContext& c);

// sampling.cc
Outputs ResizeBilinear(OpContext& c);
Outputs ResizeNearestNeighbor(OpContext& c);
Outputs ResizeBicubic(OpContext& c);
Outputs CropAndResize(OpContext& c);
Outputs NonMaxSuppression(OpContext& c);

// window.cc
Outputs Conv2d(OpContext& c);
Outputs Conv3d(OpContext& c);
Outputs Conv2dBackward(OpContext& c);
Outputs Conv3dBackward(OpContext& c);
Outputs DepthwiseConv2d(OpContext& c);
Outputs MaxPool2d(OpContext& c);
Outputs MaxPool3d(OpContext& c);
Outputs AvgPool2d(OpContext& c);
Outputs AvgPool3d(OpContext& c);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_OPS_LOWERINGS_H_
