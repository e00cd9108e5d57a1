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
using Kernel = Outputs (*)(const Node& node, Inputs inputs);

// The kernel of `op`. Every operator has one.
Kernel FindKernel(Op op);

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
Outputs EvaluateConstant(const Node& node, Inputs inputs);
Outputs EvaluateIdentity(const Node& node, Inputs inputs);
Outputs EvaluateUnary(const Node& node, Inputs inputs);
Outputs EvaluateTest(const Node& node, Inputs inputs);  // is_nan, is_inf
Outputs EvaluateClip(const Node& node, Inputs inputs);
Outputs EvaluateCast(const Node& node, Inputs inputs);
Outputs EvaluateArithmetic(const Node& node, Inputs inputs);
Outputs EvaluatePow(const Node& node, Inputs inputs);
Outputs EvaluateBitwise(const Node& node, Inputs inputs);
Outputs EvaluateMulHigh(const Node& node, Inputs inputs);
Outputs EvaluateComparison(const Node& node, Inputs inputs);
Outputs EvaluateWhere(const Node& node, Inputs inputs);

// movement.cc, pad.cc
Outputs EvaluateReshape(const Node& node, Inputs inputs);
Outputs EvaluateTranspose(const Node& node, Inputs inputs);
Outputs EvaluateBroadcast(const Node& node, Inputs inputs);
Outputs EvaluateSlice(const Node& node, Inputs inputs);
Outputs EvaluateConcat(const Node& node, Inputs inputs);
Outputs EvaluatePad(const Node& node, Inputs inputs);
Outputs EvaluateDepthToSpace(const Node& node, Inputs inputs);
Outputs EvaluateSpaceToDepth(const Node& node, Inputs inputs);
Outputs EvaluateReverseSequence(const Node& node, Inputs inputs);

// indexed.cc
Outputs EvaluateGather(const Node& node, Inputs inputs);
Outputs EvaluateGatherElements(const Node& node, Inputs inputs);
Outputs EvaluateGatherNd(const Node& node, Inputs inputs);
Outputs EvaluateScatterElements(const Node& node, Inputs inputs);
Outputs EvaluateScatterNd(const Node& node, Inputs inputs);
Outputs EvaluateCheckIndex(const Node& node, Inputs inputs);

// reduction.cc, scan.cc
Outputs EvaluateReduce(const Node& node, Inputs inputs);
Outputs EvaluateArgReduce(const Node& node, Inputs inputs);
Outputs EvaluateScan(const Node& node, Inputs inputs);
Outputs EvaluateTopK(const Node& node, Inputs inputs);

// convolution.cc, matmul.cc, attention.cc, deform_conv.cc
Outputs EvaluateConv(const Node& node, Inputs inputs);
Outputs EvaluateConvTranspose(const Node& node, Inputs inputs);
Outputs EvaluateConvInteger(const Node& node, Inputs inputs);
Outputs EvaluateMatMul(const Node& node, Inputs inputs);
Outputs EvaluateMatMulInteger(const Node& node, Inputs inputs);
Outputs EvaluateAttention(const Node& node, Inputs inputs);
Outputs EvaluateDeformConv(const Node& node, Inputs inputs);

// quantized.cc
Outputs EvaluateQuantize(const Node& node, Inputs inputs);
Outputs EvaluateDequantize(const Node& node, Inputs inputs);
Outputs EvaluateRequantize(const Node& node, Inputs inputs);

// window.cc
Outputs EvaluateMaxPool(const Node& node, Inputs inputs);
Outputs EvaluateAvgPool(const Node& node, Inputs inputs);
Outputs EvaluateLrn(const Node& node, Inputs inputs);
Outputs EvaluateCol2Im(const Node& node, Inputs inputs);

// normalization.cc
Outputs EvaluateBatchNorm(const Node& node, Inputs inputs);
Outputs EvaluateLayerNorm(const Node& node, Inputs inputs);
Outputs EvaluateRmsNorm(const Node& node, Inputs inputs);
Outputs EvaluateGroupNorm(const Node& node, Inputs inputs);
// layer_norm or group_norm with means that are off. The function returns the error of a mean of numbers that
// have this standard deviation.
using MeanError = std::function<double(double mean, double deviation)>;
Outputs EvaluateOffCenter(const Node& node, Inputs inputs, const MeanError& mean_error);
Outputs EvaluateSoftmax(const Node& node, Inputs inputs);

// resize.cc, grid_sample.cc, roi_align.cc
Outputs EvaluateResize(const Node& node, Inputs inputs);
Outputs EvaluateGridSample(const Node& node, Inputs inputs);
Outputs EvaluateRoiAlign(const Node& node, Inputs inputs);

// dynamic.cc
Outputs EvaluateNonZero(const Node& node, Inputs inputs);
Outputs EvaluateNonMaxSuppression(const Node& node, Inputs inputs);
Outputs EvaluateCompress(const Node& node, Inputs inputs);
Outputs EvaluateUnique(const Node& node, Inputs inputs);

// linear_algebra.cc
Outputs EvaluateDet(const Node& node, Inputs inputs);

// control.cc: if, loop and fused; `run` evaluates their regions instead of RunRegion
using RegionRunner = std::function<Outputs(const Graph& region, std::vector<Tensor> inputs)>;
Outputs EvaluateRegions(const Node& node, Inputs inputs, const RegionRunner& run);
Outputs EvaluateControl(const Node& node, Inputs inputs);

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_KERNELS_H_
