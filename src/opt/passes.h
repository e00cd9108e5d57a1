// The passes, each in the file of its name. All of them take and leave a verified graph that computes the
// same function of its inputs (to rounding, where that is said), and read only the graph that they are
// given, not its regions. They may leave dead nodes unless they say otherwise. Each declaration says what
// its pass needs and leaves beyond that.
#ifndef ATTUNE_OPT_PASSES_H_
#define ATTUNE_OPT_PASSES_H_

#include "opt/pass.h"

namespace attune {

// After: every node reaches an output of the graph.
absl::StatusOr<bool> DeadCodePass(Graph& graph, const PassContext& context);

// After: no if has a constant condition; the branch that it decides for is in its place.
absl::StatusOr<bool> InlineBranchesPass(Graph& graph, const PassContext& context);

// After: no node has constant inputs alone, except where its result is larger than `max_bytes`, has over
// `max_growth` elements more than its inputs (a broadcast costs less as code than as memory), takes more
// than `max_macs` multiply-adds, has dynamic dimensions, or cannot be evaluated.
absl::StatusOr<bool> FoldConstantsPass(Graph& graph, const PassContext& context);

// After: no two nodes compute the same, except data-dependent sizes and regions. Constants count by value.
absl::StatusOr<bool> CommonSubexpressionsPass(Graph& graph, const PassContext& context);

// After: no identity; no cast, reshape, transpose, broadcast, slice, pad, concat, reduction, pool, resize,
// clip, where or maximum that changes nothing; no axes removed by a reduction and restored by a reshape; no
// two casts where one gives the same; no broadcast that an elementwise user does by itself; no slice of a
// slice, or of a concat where it takes from one operand.
absl::StatusOr<bool> EliminatePass(Graph& graph, const PassContext& context);

// After: an operator that only moves or selects elements, and whose operands are 8-bit integers that are
// dequantized alike, moves the integers and is dequantized afterwards; no quantization undoes a
// dequantization.
absl::StatusOr<bool> SinkDequantizePass(Graph& graph, const PassContext& context);

// After: every convolution or matrix product of dequantized 8-bit operands is one of integers, dequantized
// afterwards; every requantization by f32 constants is a dequantization and a quantization. Sums of
// integers are exact, so results are equal up to the rounding that floats had.
absl::StatusOr<bool> IntegerProductsPass(Graph& graph, const PassContext& context);

// After: the exported pieces of sigmoid, SiLU, GELU (erf and tanh), HardSigmoid and HardSwish are one node
// each. Equal to rounding.
absl::StatusOr<bool> RecognizeActivationsPass(Graph& graph, const PassContext& context);

// The same for softmax, log-softmax, layer and RMS normalization, with constant scales and biases.
absl::StatusOr<bool> RecognizeNormalizationsPass(Graph& graph, const PassContext& context);

// The same for attention over [batch, head, position, feature], scaled before or after the product of query
// and key, with an additive mask or without.
absl::StatusOr<bool> RecognizeAttentionPass(Graph& graph, const PassContext& context);

// After: none of the rules of algebra.cc fits. Sums and products of floats with constants may round
// differently, and a division by an f32 constant is a multiplication.
absl::StatusOr<bool> AlgebraPass(Graph& graph, const PassContext& context);

// After: every batch normalization with constant parameters is a multiplication and an addition of
// constants per channel, computed in double.
absl::StatusOr<bool> DecomposeBatchNormPass(Graph& graph, const PassContext& context);

// After: an average pool without padding that gives fewer pixels than it takes stands before a convolution
// of single pixels instead of being its only user. Sums may round differently.
absl::StatusOr<bool> HoistPoolsPass(Graph& graph, const PassContext& context);

// After: a convolution, transposed or not, whose only user adds or multiplies constants per output channel
// has them in its weights and bias, and a matrix product with constant right operand has factors in it (it
// has no bias). Equal to rounding of the weights.
absl::StatusOr<bool> FoldAffinePass(Graph& graph, const PassContext& context);

// After: a transposed convolution over images or volumes of static size, with constant weights, is a
// convolution that makes each of the strides' phases, from the taps that the phase sees, in channels of its
// own, and a depth_to_space (or, where that does not fit, a transposition); with stride 1, a convolution
// with its weights turned around (Shi et al.: Is the deconvolution layer the same as a convolutional
// layer?, 2016). Unless its padding is wider than its kernel.
absl::StatusOr<bool> DecomposeConvTransposePass(Graph& graph, const PassContext& context);

// After: spatial padding by a constant is an attribute of the convolution or pool that uses it, where that
// pads with the same: 0 for convolutions, the lowest value for maximum pools (or 0 around values that are
// not negative), 0 for average pools that count it.
absl::StatusOr<bool> FoldPadPass(Graph& graph, const PassContext& context);

// After: integer products of static shapes take u8 and i8 without zero points. Exact.
absl::StatusOr<bool> FoldZeroPointsPass(Graph& graph, const PassContext& context);

// After: a quantization by a constant scale has the scale 1 where dequantizations, offsets, ReLU, clips and
// constant factors make its operand for it alone: they contain the scale. A bias that can be added to a
// sum's integers is not added to the dequantized sum. Equal to rounding.
absl::StatusOr<bool> FoldScalesPass(Graph& graph, const PassContext& context);

// After: a requantization in fixed point to 8 bits, of integer arithmetic with constants on one or two
// feature maps of 8 bits, is a line that is rounded once, where a line gives the same for all of their
// values. Exact.
absl::StatusOr<bool> LinearizeIntegersPass(Graph& graph, const PassContext& context);

// After: quantizations and dequantizations of f32, except in blocks, and requantizations in fixed point by
// constants are casts, factors, roundings and offsets. Equal to rounding; NaN becomes 0 and not the zero
// point.
absl::StatusOr<bool> DecomposeQuantizationPass(Graph& graph, const PassContext& context);

// After: a gather with constant indices in equal steps is a slice; a slice of a reshape that only adds or
// removes axes of one element is a reshape of the slice; a slice of a transposition of which only slices
// are taken is a transposition of the slice; a gather from a table that an elementwise operator made for it
// alone is that operator on the gathered rows.
absl::StatusOr<bool> PushSlicesPass(Graph& graph, const PassContext& context);

// After: no operand of an elementwise operator, concat, slice, pad, reduction or softmax is a transposition
// used there alone, unless another operand is neither transposed alike nor constant.
absl::StatusOr<bool> SinkTransposesPass(Graph& graph, const PassContext& context);

// After: the same for reshapes and elementwise operators whose other operands are reshaped alike or are
// constants: of one element, along a last axis that the reshape keeps, or of any shape where it only adds
// or removes axes of one element. Where the reshaped value comes from a contraction's kernel, other
// operands are reshaped back, so that a residual sum joins that kernel.
absl::StatusOr<bool> SinkReshapesPass(Graph& graph, const PassContext& context);

// After: a normalization of images by several channels a group, with constant parameters, whose image comes
// from a convolution, is statistics of channels that are combined. Equal to rounding.
absl::StatusOr<bool> DecomposeGroupNormPass(Graph& graph, const PassContext& context);

// After: over volumes of static size, a convolution of one group with constant weights is one of images,
// and so is a pool, unless its size is rounded up or it is a mean over padding or several planes.
absl::StatusOr<bool> FlattenVolumesPass(Graph& graph, const PassContext& context);

// After: between images [D,C,H,W] and rows [1,C,D,H·W], planes and channels change places in images of one
// row, and volumes that are read as images are joined as images.
absl::StatusOr<bool> SwapPlanesPass(Graph& graph, const PassContext& context);

// After: a convolution or pool over one axis of static size is one over the columns of an image of one row.
absl::StatusOr<bool> UnsqueezeImagesPass(Graph& graph, const PassContext& context);

// After: convolutions (of one group) and matrix products with constant weights, the same first input and
// the same geometry are one, with a slice for each, if each has at most `max_channels` output channels or
// `max_columns` columns, in multiples of `multiple`. No dead nodes.
absl::StatusOr<bool> FuseHorizontalPass(Graph& graph, const PassContext& context);

// With `bf16` 1: after: convolutions, products, elementwise operators, pools and data movement take and
// give bf16, and the graph's inputs and outputs are as they were. Equal to rounding to bf16. Layers that
// err by more than `max_error` (narrowing_error.h), and operators that compute their inputs alone, stay in
// f32, where the context has something to measure with and `max_error` is not 0.
absl::StatusOr<bool> NarrowPass(Graph& graph, const PassContext& context);

// With `f16` or `bf16` 1: after: every f32 constant that a contraction multiplies by or a gather takes rows
// of has only numbers of that type, unless its rank is below 2, it comes into an if or loop from outside,
// or more would be lost than by rounding, as with numbers beyond the range of f16. Equal to rounding to
// that type.
absl::StatusOr<bool> RoundWeightsPass(Graph& graph, const PassContext& context);

// With `bf16x3` 1: after: every convolution of images and one group, and every matrix product, of f32, is one
// of bf16 with three times the channels or terms and a sum in f32, unless it has few pixels, rows or columns,
// or its left operand is transposed or has an odd number of terms, or an operand that is no constant has less
// than `min_uses` products for each element. Each product errs by 2^-15 of itself at most, and besides by
// 2^-126 of an operand where parts of the other are below that.
absl::StatusOr<bool> SplitProductsPass(Graph& graph, const PassContext& context);

// After: each index of a gather or a scatter is one that is proven to be in range (integer_range.h), or the
// result of check_index, and no other check_index is left. An error where a constant index is out of range;
// in a region, which may never run, it is checked there. With `unchecked`: no check_index, no errors.
absl::StatusOr<bool> CheckIndicesPass(Graph& graph, const PassContext& context);

// Before: no fused nodes. After: every node other than constants, if, loop and fused is in the region of
// exactly one fused node (fusion_groups.h says which nodes share one), which has the name of the group's
// anchor. Its inputs are the values that the group takes from outside, constants among them, except
// constants of one element, which are inside. Its outputs are the values used outside. No dead nodes.
absl::StatusOr<bool> FusePass(Graph& graph, const PassContext& context);

}  // namespace attune

#endif  // ATTUNE_OPT_PASSES_H_
