// The passes, each in the file of its name. All of them take and leave a verified graph that computes
// the same function of its inputs (to rounding, where that is said), and read only the graph that they
// are given, not its regions. They may leave dead nodes unless they say otherwise. What each one needs
// and leaves beyond that is said at its declaration.
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

// After: no operator that only moves or selects elements has dequantized operands of 8 bits that are alike,
// but moves the integers; no quantization undoes a dequantization.
absl::StatusOr<bool> SinkDequantizePass(Graph& graph, const PassContext& context);

// After: no convolution or matrix product has dequantized operands of 8 bits, but is one of integers,
// dequantized after; every requantization by constants is a dequantization and a quantization. Sums of
// integers are exact, so it is equal to the rounding that floats had.
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
// otherwise, and a division by an f32 constant is a multiplication.
absl::StatusOr<bool> AlgebraPass(Graph& graph, const PassContext& context);

// After: every batch normalization with constant parameters is a multiplication and an addition of
// constants per channel, computed in double.
absl::StatusOr<bool> DecomposeBatchNormPass(Graph& graph, const PassContext& context);

// After: no average pool without padding that gives fewer pixels than it takes is the only user of a
// convolution of single pixels: it stands before it. Sums may round otherwise.
absl::StatusOr<bool> HoistPoolsPass(Graph& graph, const PassContext& context);

// After: a convolution, transposed or not, whose only user adds or multiplies constants per output channel
// has them in its weights and bias, likewise a matrix product with constant right operand (factors only;
// it has no bias). Equal to rounding of the weights.
absl::StatusOr<bool> FoldAffinePass(Graph& graph, const PassContext& context);

// After: a transposed convolution over images, of constant weights and no dilation, is a convolution that
// makes each of the strides' phases from the taps that it sees, in channels of its own, and a depth_to_space
// (or, where strides differ, a transposition); of stride 1, a convolution with its weights turned around (Shi
// et al.: Is the deconvolution layer the same as a convolutional layer?, 2016). Unless its padding is wider
// than its kernel, or it has groups and a stride.
absl::StatusOr<bool> DecomposeConvTransposePass(Graph& graph, const PassContext& context);

// After: spatial padding by a constant is an attribute of the convolution or pool that uses it, where that
// pads with the same: 0 for convolutions, the lowest value for maximum pools (or 0 around values that are
// not negative), 0 for average pools that count it.
absl::StatusOr<bool> FoldPadPass(Graph& graph, const PassContext& context);

// After: integer products of static shapes take u8 and i8 without zero points. Exact.
absl::StatusOr<bool> FoldZeroPointsPass(Graph& graph, const PassContext& context);

// After: a quantization by a constant scale of what dequantizations, offsets, ReLU, clips and constant
// factors make for it alone has the scale 1: it is in theirs. No bias is added to a dequantized sum that can
// be added to its integers. Equal to rounding.
absl::StatusOr<bool> FoldScalesPass(Graph& graph, const PassContext& context);

// After: no requantization in fixed point to 8 bits of what integer arithmetic with constants makes of one
// feature map of 8 bits, or of two, but where no line gives the same for all of their values. Exact.
absl::StatusOr<bool> LinearizeIntegersPass(Graph& graph, const PassContext& context);

// After: no quantization and no dequantization of f32 but of blocks, and none in fixed point by constants:
// they are casts, factors, roundings and offsets. Equal to rounding; what is not a number becomes 0 and not
// the zero point.
absl::StatusOr<bool> DecomposeQuantizationPass(Graph& graph, const PassContext& context);

// After: no gather with constant indices in equal steps, but a slice; no slice of a reshape that only adds or
// removes axes of one element, but a reshape of the slice; no slice of a transposition of which only slices
// are taken, but a transposition of each slice; no gather from a table that an elementwise operator made for
// it alone, but that operator on the gathered rows.
absl::StatusOr<bool> PushSlicesPass(Graph& graph, const PassContext& context);

// After: no operand of an elementwise operator, concat, slice, pad, reduction or softmax is a transposition
// used there alone, unless another operand is neither transposed alike nor constant.
absl::StatusOr<bool> SinkTransposesPass(Graph& graph, const PassContext& context);

// After: the same for reshapes and elementwise operators whose other operands are reshaped alike, or
// constants of one element, along a last axis that the reshape keeps, or of any shape where it only adds or
// removes axes of one element. Where what is reshaped comes from a
// contraction's kernel, other operands are reshaped back, so that a residual sum joins that kernel.
absl::StatusOr<bool> SinkReshapesPass(Graph& graph, const PassContext& context);

// After: no normalization of images by several channels a group, with constant parameters, of what a
// convolution makes, but statistics of channels that are combined. Equal to rounding.
absl::StatusOr<bool> DecomposeGroupNormPass(Graph& graph, const PassContext& context);

// After: no convolution of one group and with constant weights, and no pool without a rounded-up or padded
// mean, over volumes of static size, but such ones of images.
absl::StatusOr<bool> FlattenVolumesPass(Graph& graph, const PassContext& context);

// After: between images [D,C,H,W] and rows [1,C,D,H·W], planes and channels change places in images of one
// row, and volumes that are read as images are joined as images.
absl::StatusOr<bool> SwapPlanesPass(Graph& graph, const PassContext& context);

// After: no convolution and no pool over one axis of static size, but one over the columns of one row.
absl::StatusOr<bool> UnsqueezeImagesPass(Graph& graph, const PassContext& context);

// After: convolutions (of one group) and matrix products with constant weights, the same first input and
// the same geometry are one, with a slice for each, if each has at most `max_channels` output channels or
// `max_columns` columns, in multiples of `multiple`. No dead nodes.
absl::StatusOr<bool> FuseHorizontalPass(Graph& graph, const PassContext& context);

// With `bf16` 1: after: what convolutions, products, elementwise operators, pools and data movement take and
// give is bf16, and the graph's inputs and outputs are as they were. Equal to rounding to bf16. Layers that
// err by more than `max_error` (narrowing_error.h), and what computes their inputs alone, stay in f32, where
// the context has something to measure with and `max_error` is not 0.
absl::StatusOr<bool> NarrowPass(Graph& graph, const PassContext& context);

// With `f16` 1: after: every f32 constant that a contraction multiplies by or a gather takes rows of has only
// numbers that f16 has, unless its rank is below 2, it comes into an if or loop from outside, or f16 would
// lose more of it than rounding does, as of numbers beyond its range. Equal to rounding to f16.
absl::StatusOr<bool> RoundWeightsPass(Graph& graph, const PassContext& context);

// With `bf16x3` 1: after: every convolution of images and one group, and every matrix product, of f32, is one
// of bf16 with three times the channels or terms and a sum in f32, unless it has few pixels, rows or columns,
// or its left operand is transposed or has an odd number of terms, or an operand that is no constant has less
// than `min_uses` products for each element. Each product errs by 2^-15 of itself at most, and besides by
// 2^-126 of an operand where parts of the other are below that.
absl::StatusOr<bool> SplitProductsPass(Graph& graph, const PassContext& context);

// Before: no fused nodes. After: every node other than constants, if, loop and fused is in the region of
// exactly one fused node (fusion_groups.h says which nodes share one), which has the name of the group's
// anchor. Its inputs are the values that the group takes from outside, constants among them, except
// constants of one element, which are inside. Its outputs are the values used outside. No dead nodes.
absl::StatusOr<bool> FusePass(Graph& graph, const PassContext& context);

}  // namespace attune

#endif  // ATTUNE_OPT_PASSES_H_
