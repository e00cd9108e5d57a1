// The interpreter's kernels: one function per operator or family of operators.
//
// A kernel is called with a node that has passed inference. The inputs have the types of the node's inputs,
// with symbols replaced by their actual sizes; an absent optional input is Tensor(). A kernel only checks
// what the types do not express, such as the range of indices. The operator table (graph/op_table.inc)
// defines what each kernel computes.
#ifndef ATTUNE_REFERENCE_KERNELS_H_
#define ATTUNE_REFERENCE_KERNELS_H_

#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune::reference {

using Inputs = std::span<const Tensor>;
using Outputs = absl::StatusOr<std::vector<Tensor>>;
using Kernel = Outputs(const Node& node, Inputs inputs);

// The kernel of `op`. Every operator has one.
Kernel* FindKernel(Op op);

// Whether optional input i is present.
inline bool IsPresent(Inputs inputs, int i) {
  return i < static_cast<int>(inputs.size()) && inputs[i].data() != nullptr;
}

// The single output of a kernel.
inline Outputs One(absl::StatusOr<Tensor> output) {
  if (!output.ok()) return output.status();
  std::vector<Tensor> outputs;
  outputs.push_back(*std::move(output));
  return outputs;
}

// The type of a sum of products: the attribute "to", or the operands' type.
inline DType SumType(const Node& node, Inputs inputs) {
  return node.attrs().Has("to") ? node.attrs().Type("to") : inputs[0].dtype();
}

// The shape of output i of `node`, with the symbols' sizes taken from `inputs`; a symbol that no input has
// is replaced by its bound.
Shape ResolveShape(const Node& node, Inputs inputs, int i = 0);

// Evaluates a region. `inputs` are its inputs in order.
Outputs RunRegion(const Graph& region, std::vector<Tensor> inputs);

// elementwise.cc, binary.cc
Kernel EvaluateConstant, EvaluateIdentity, EvaluateUnary, EvaluateTest, EvaluateClip, EvaluateCast,
    EvaluateArithmetic, EvaluatePow, EvaluateBitwise, EvaluateMulHigh, EvaluateComparison, EvaluateWhere;

// movement.cc, pad.cc
Kernel EvaluateIota, EvaluateReshape, EvaluateTranspose, EvaluateBroadcast, EvaluateSlice, EvaluateConcat,
    EvaluatePad, EvaluateDepthToSpace, EvaluateSpaceToDepth, EvaluateReverseSequence;

// indexed.cc
Kernel EvaluateGather, EvaluateGatherElements, EvaluateGatherNd, EvaluateScatterElements, EvaluateScatterNd,
    EvaluateCheckIndex;

// reduction.cc, scan.cc
Kernel EvaluateReduce, EvaluateArgReduce, EvaluateScan, EvaluateTopK;

// convolution.cc, matmul.cc, attention.cc, deform_conv.cc
Kernel EvaluateConv, EvaluateConvTranspose, EvaluateConvInteger, EvaluateMatMul, EvaluateMatMulInteger,
    EvaluateAttention, EvaluateDeformConv;

// quantized.cc
Kernel EvaluateQuantize, EvaluateDequantize, EvaluateRequantize;

// window.cc
Kernel EvaluateMaxPool, EvaluateAvgPool, EvaluateLrn, EvaluateCol2Im;

// normalization.cc
Kernel EvaluateBatchNorm, EvaluateLayerNorm, EvaluateRmsNorm, EvaluateGroupNorm;
// layer_norm or group_norm with means that are off. The function returns the error of a mean of numbers that
// have this standard deviation.
using MeanError = std::function<double(double mean, double deviation)>;
Outputs EvaluateOffCenter(const Node& node, Inputs inputs, const MeanError& mean_error);
Kernel EvaluateSoftmax;

// resize.cc, grid_sample.cc, roi_align.cc
Kernel EvaluateResize, EvaluateGridSample, EvaluateRoiAlign;

// dynamic.cc
Kernel EvaluateNonZero, EvaluateNonMaxSuppression, EvaluateCompress, EvaluateUnique;

// linear_algebra.cc
Kernel EvaluateDet;

// control.cc: if, loop and fused; `run` evaluates their regions instead of RunRegion
using RegionRunner = std::function<Outputs(const Graph& region, std::vector<Tensor> inputs)>;
Outputs EvaluateRegions(const Node& node, Inputs inputs, const RegionRunner& run);
Kernel EvaluateControl;

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_KERNELS_H_
