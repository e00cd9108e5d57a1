// The functions that lower TensorFlow operators, by file. ops.cc says which operator each is for.
#ifndef ATTUNE_IMPORT_TENSORFLOW_OPS_LOWERINGS_H_
#define ATTUNE_IMPORT_TENSORFLOW_OPS_LOWERINGS_H_

#include <optional>

#include "import/tensorflow/op_context.h"

namespace attune::tensorflow {

// For operators that differ in arguments only: Lower<Unary, Op::kAbs> is Unary(c, Op::kAbs).
template <auto function, auto... arguments>
Outputs Lower(OpContext& c) {
  return function(c, arguments...);
}

// constants.cc
Lowering Constant, PlaceholderWithDefault, UnfedPlaceholder, VariableHandle, VariableValue, ReadVariable,
    VariableIsInitialized, ShapeOfInput, ShapesOfInputs, VariableShape, RankOfInput, SizeOfInput, Fill,
    ZerosLike, OnesLike, Empty, Range, LinSpace, OneHot, Where, Unique, MatrixBandPart, MatrixDiagonal,
    InvertPermutation, BroadcastShapes;

// contraction.cc
Lowering MatMul, BatchMatMul, Einsum;

// control.cc
Lowering PartitionedCall, If, Case, While;

// elementwise.cc
Lowering Identity, IdentityN, Square, Rsqrt, Reciprocal, Log1p, Expm1, Erfc, Elu, Softsign, Relu6, Relu, Selu,
    LeakyRelu, IsFinite, NotEqual, SquaredDifference, FloorDiv, FloorMod, TruncateMod, DivNoNan, MulNoNan,
    Xdivy, Xlogy, Atan2, AddN, ClipByValue, Select, CastToType, BiasAdd;
Outputs Unary(OpContext& c, Op op);
Outputs Binary(OpContext& c, Op op);
Outputs Rounding(OpContext& c, Op op);
Outputs Shift(OpContext& c, Op op);

// frames.cc
Lowering ExitLoop, Switch, Merge;

// indexed.cc
Lowering Slice, StridedSlice, Gather, GatherVariable, GatherNd, ScatterNd, TensorScatterUpdate,
    TensorScatterAdd, TensorScatterMax, TensorScatterMin, TensorScatterSub;

// lists.cc
Lowering TensorListReserve, EmptyTensorList, TensorListFromTensor, TensorArray, CloseTensorArray,
    TensorListPushBack, TensorListPopBack, TensorListResize, TensorListElementShape;
// The numbers are the indices of the inputs with the list (or the flow of a TensorArray), an index, an
// item, and the shape of items; -1 if there is none.
Outputs ListGet(OpContext& c, int list, int index, int shape);
Outputs ListSet(OpContext& c, int list, int index, int item);
Outputs ListStack(OpContext& c, int list, int shape);
Outputs ListGather(OpContext& c, int list, int indices, int shape);
Outputs ListScatter(OpContext& c, int list, int indices, int tensor);
Outputs ListLength(OpContext& c, int list);
Outputs ListConcat(OpContext& c, int list, int shape);

// movement.cc
Lowering Reshape, ExpandDims, Squeeze, Transpose, Concat, Pack, Unpack, Split, SplitV, BroadcastTo, Tile, Pad,
    MirrorPad, Reverse, ReverseSequence, Roll, SpaceToBatchNd, BatchToSpaceNd, SpaceToBatch, BatchToSpace,
    DepthToSpace, SpaceToDepth;

// normalization.cc
Lowering Softmax, LogSoftmax, FusedBatchNorm, Lrn;

// quantized.cc
Lowering Dequantize, FakeQuantizeArgs, FakeQuantizeVars, FakeQuantizePerChannel;

// random.cc
Lowering RandomUniform, OtherRandomNumbers;
// The result of `op` if an input is random numbers; otherwise nullopt.
std::optional<Binding> OnRandomNumbers(OpContext& c, Op op);

// reduction.cc
Lowering EuclideanNorm, ArgMax, ArgMin, CumSum, CumProd, TopK;
Outputs Reduction(OpContext& c, Op op);

// sampling.cc
Lowering ResizeBilinear, ResizeNearestNeighbor, ResizeBicubic, CropAndResize, NonMaxSuppression;

// window.cc
Lowering Conv2d, Conv3d, Conv2dBackward, Conv3dBackward, DepthwiseConv2d, MaxPool2d, MaxPool3d, AvgPool2d,
    AvgPool3d;

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_OPS_LOWERINGS_H_
