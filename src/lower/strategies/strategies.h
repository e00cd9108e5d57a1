// The strategies, one file each, and parts that they share.
#ifndef ATTUNE_LOWER_STRATEGIES_STRATEGIES_H_
#define ATTUNE_LOWER_STRATEGIES_STRATEGIES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lower/strategy.h"
#include "target/products.h"

namespace attune {

// The functions of the strategies, by kind.
Strategy::WhyNot ConvDirectWhyNot, ConvWinogradWhyNot, ConvShallowWhyNot, ConvMatrixWhyNot,
    SlidingWindowWhyNot, ConvChainWhyNot, GemmWhyNot, GemmMatrixWhyNot, AttentionWhyNot,
    AttentionMatrixWhyNot, ContractionWhyNot, LoopsWhyNot;
Strategy::Space ConvDirectSpace, ConvWinogradSpace, ConvShallowSpace, ConvMatrixSpace, SlidingWindowSpace,
    ConvChainSpace, GemmSpace, GemmMatrixSpace, AttentionSpace, AttentionMatrixSpace, ContractionSpace,
    LoopsSpace;
Strategy::Default ConvDirectDefault, ConvWinogradDefault, ConvShallowDefault, ConvMatrixDefault,
    SlidingWindowDefault, ConvChainDefault, GemmDefault, GemmMatrixDefault, AttentionDefault,
    AttentionMatrixDefault, ContractionDefault, LoopsDefault;
Strategy::Apply ConvDirectApply, ConvWinogradApply, ConvShallowApply, ConvMatrixApply, SlidingWindowApply,
    ConvChainApply, GemmApply, GemmMatrixApply, AttentionApply, AttentionMatrixApply, ContractionApply,
    LoopsApply;
Strategy::Define ConvWinogradDefine, ConvShallowDefine, ConvMatrixDefine, AttentionMatrixDefine,
    ContractionDefine;
Strategy::Cost ConvDirectCost, ConvWinogradCost, ConvShallowCost, ConvMatrixCost;

// Convolutions in NCHW[v]c, dense or grouped: a register tile of pixels × channel blocks. conv_direct.cc
bool IsDenseConv(const Node& node);
// Fuses a product of an image with a factor per channel into the convolution that reads it: the weights
// take the factors. scaled_weights.cc
bool MayScaleWeights(const Graph& first, const Graph& second, int input);
absl::Status MoveFactorsToWeights(Graph& merged);
absl::StatusOr<double> ScaledWeightsSavings(const MergedGroups&, const Workload&, const Target&);
inline constexpr GroupFusion kConvDirectFusions[] = {
    {.may_join = MayScaleWeights, .savings = ScaledWeightsSavings, .rewrite = MoveFactorsToWeights}};
inline constexpr Strategy kConvDirect = {.name = "conv_direct",
                                         .version = 4,
                                         .why_not = ConvDirectWhyNot,
                                         .space = ConvDirectSpace,
                                         .analytic_default = ConvDirectDefault,
                                         .apply = ConvDirectApply,
                                         .cost = ConvDirectCost,
                                         .fusions = kConvDirectFusions,
                                         .made_for = IsDenseConv};

// Winograd: 3×3 convolutions in NCHW[v]c with fewer multiplications. conv_winograd.cc
inline constexpr Strategy kConvWinograd = {.name = "conv_winograd",
                                           .version = 3,
                                           .why_not = ConvWinogradWhyNot,
                                           .space = ConvWinogradSpace,
                                           .analytic_default = ConvWinogradDefault,
                                           .apply = ConvWinogradApply,
                                           .define = ConvWinogradDefine,
                                           .cost = ConvWinogradCost,
                                           .spreads_rounding = true,
                                           .least_work = 64.0 / (9 * 36)};  // in tiles of 6×6

// Convolutions of plain images of a few channels, in bf16 or in integers: an instruction takes neighbouring
// taps of a row. conv_shallow.cc
inline constexpr Strategy kConvShallow = {.name = "conv_shallow",
                                          .version = 2,
                                          .why_not = ConvShallowWhyNot,
                                          .space = ConvShallowSpace,
                                          .analytic_default = ConvShallowDefault,
                                          .apply = ConvShallowApply,
                                          .define = ConvShallowDefine,
                                          .cost = ConvShallowCost};

// Convolutions of narrow numbers, in blocks of 16 channels or of a divisor of that, on a matrix unit.
// conv_matrix.cc
inline constexpr Strategy kConvMatrix = {.name = "conv_matrix",
                                         .version = 1,
                                         .why_not = ConvMatrixWhyNot,
                                         .space = ConvMatrixSpace,
                                         .analytic_default = ConvMatrixDefault,
                                         .apply = ConvMatrixApply,
                                         .define = ConvMatrixDefine,
                                         .cost = ConvMatrixCost};

// Depthwise convolutions and pools in NCHW[v]c: channels in lanes, a register tile of pixels.
// sliding_window.cc
bool IsChannelwiseConv(const Node& node);
// Fuses a second group that is the mean over the pixels of each channel of the first one's result.
// average.cc
bool MayAverage(const Graph& first, const Graph& second, int input);
absl::StatusOr<double> AverageSavings(const MergedGroups&, const Workload&, const Target&);
inline constexpr GroupFusion kAverageFusion = {
    .may_join = MayAverage, .savings = AverageSavings, .keeps_first = true};
inline constexpr GroupFusion kSlidingWindowFusions[] = {kAverageFusion};
inline constexpr Strategy kSlidingWindow = {.name = "sliding_window",
                                            .version = 1,
                                            .why_not = SlidingWindowWhyNot,
                                            .space = SlidingWindowSpace,
                                            .analytic_default = SlidingWindowDefault,
                                            .apply = SlidingWindowApply,
                                            .fusions = kSlidingWindowFusions,
                                            .made_for = IsChannelwiseConv};

// Depth-first fusion of convolutions and pools in NCHW[v]c, in row strips. conv_chain.cc
bool MayChain(const Graph& first, const Graph& second, int input);
absl::StatusOr<double> ConvChainSavings(const MergedGroups&, const Workload&, const Target&);
inline constexpr GroupFusion kConvChainFusions[] = {{.may_join = MayChain, .savings = ConvChainSavings},
                                                    kAverageFusion};
inline constexpr Strategy kConvChain = {.name = "conv_chain",
                                        .version = 2,
                                        .why_not = ConvChainWhyNot,
                                        .space = ConvChainSpace,
                                        .analytic_default = ConvChainDefault,
                                        .apply = ConvChainApply,
                                        .fusions = kConvChainFusions};

// Matrix products with a packed right operand: a register tile of rows × column vectors. gemm.cc
bool IsMatrixProduct(const Node& node);
inline constexpr Strategy kGemm = {.name = "gemm",
                                   .version = 3,
                                   .why_not = GemmWhyNot,
                                   .space = GemmSpace,
                                   .analytic_default = GemmDefault,
                                   .apply = GemmApply,
                                   .made_for = IsMatrixProduct};

// Matrix products of narrow numbers on a matrix unit: blocks of tiles. gemm_matrix.cc
inline constexpr Strategy kGemmMatrix = {.name = "gemm_matrix",
                                         .version = 1,
                                         .why_not = GemmMatrixWhyNot,
                                         .space = GemmMatrixSpace,
                                         .analytic_default = GemmMatrixDefault,
                                         .apply = GemmMatrixApply};

// Attention in blocks of query rows: two register-tiled products around a softmax. attention.cc
bool IsAttention(const Node& node);
inline constexpr Strategy kAttention = {.name = "attention",
                                        .version = 3,
                                        .why_not = AttentionWhyNot,
                                        .space = AttentionSpace,
                                        .analytic_default = AttentionDefault,
                                        .apply = AttentionApply,
                                        .made_for = IsAttention};

// The same in bf16 on a matrix unit. attention_matrix.cc
inline constexpr Strategy kAttentionMatrix = {.name = "attention_matrix",
                                              .version = 1,
                                              .why_not = AttentionMatrixWhyNot,
                                              .space = AttentionMatrixSpace,
                                              .analytic_default = AttentionMatrixDefault,
                                              .apply = AttentionMatrixApply,
                                              .define = AttentionMatrixDefine};

// Any sum of products: a register tile of up to three loops, whichever they are. contraction.cc
inline constexpr Strategy kContraction = {.name = "contraction",
                                          .version = 1,
                                          .why_not = ContractionWhyNot,
                                          .space = ContractionSpace,
                                          .analytic_default = ContractionDefault,
                                          .apply = ContractionApply,
                                          .define = ContractionDefine};

// Everything: rows with their temporaries, vectorized across or within them. loops.cc, loops_elements.cc
inline constexpr Strategy kLoops = {.name = "loops",
                                    .version = 2,
                                    .why_not = LoopsWhyNot,
                                    .space = LoopsSpace,
                                    .analytic_default = LoopsDefault,
                                    .apply = LoopsApply};

// Why the group is not one operator with an epilogue that makes images in 32-bit arithmetic, with channels
// in blocks of a vector or half a vector before and after the epilogue, and with `outputs` outputs, the
// first of which is the epilogue's; empty if it is. BlockedConvWhyNot asks this of a convolution without
// zero points.
std::string BlockedImageWhyNot(const Workload& workload, const Target& target, int outputs = 1);
std::string BlockedConvWhyNot(const Workload& workload, const Target& target);
// Why an operand of the anchor, from input `first` on, cannot be packed: it is computed in the group or
// lies in blocks. Empty if all can.
std::string ComputedWeightsWhyNot(const Workload& workload, int first = 1);

// Inlines the elementwise stages, and the anchor's finishing stage where it is not the output.
absl::Status InlineEpilogue(Schedule& schedule, const Workload& workload);

// The stage that computes the node's (first) output.
std::string StageNameOf(const Workload& workload, const Node& node);
// One of the stages that compute the anchor, by the suffix of its name in the definition (".acc").
StageHandle StageOfAnchor(const Schedule& schedule, const Workload& workload, std::string_view suffix);
// The buffer that holds a value of the group: a parameter, or the output of a stage.
Buffer BufferOf(const Workload& workload, const Value* value);

// Whether that much work, elements times terms, is worth waking another thread.
inline bool IsWorthSharing(int64_t work) { return work >= 1 << 14; }
// Fuses the first `count` loops of `stage` into one and runs it in parallel.
absl::Status ParallelizeOuter(Schedule& schedule, const StageHandle& stage, size_t count);

// The definition of the group with `define` for its anchor, for strategies with an algorithm of their own.
absl::StatusOr<ComputeDef> DefineWithAnchor(const Workload& workload, const OperatorDefinition& define);

// Vector registers for a tile of accumulators and its operands: all except those that exponentials and the
// like in the epilogue need beside the accumulators.
int64_t TileRegisters(const Workload& workload, const Target& target);

// The instruction of the target for the products of the anchor's first two operands; null if there is none.
const ProductInstruction* InstructionFor(const Node& anchor, std::span<const ProductInstruction> instructions,
                                         const Target& target);

// How many neighbouring terms of the anchor's sums, `terms` of them, one instruction of the target adds up:
// 2 of bf16 with AVX512_BF16, 4 of u8 and i8 with AVX512_VNNI, and so on (kDotInstructions). 1 if it has
// none, or if that number does not divide `terms`.
int64_t DotTerms(const Workload& workload, int64_t terms, const Target& target);

// The time of a step of `dot` terms, relative to that of an FMA.
double DotSlowdown(const Node& anchor, int64_t dot, const Target& target);

// Splits a loop over the terms of a sum for instructions that take `dot` of them.
struct TermLoops {
  LoopHandle outer;        // the loop itself where an instruction takes one term
  LoopHandle instruction;  // no loop in that case
};
absl::StatusOr<TermLoops> SplitTerms(Schedule& schedule, const LoopHandle& loop, int64_t dot);

// The iterations of a tiled spatial loop to peel, at the front and at the back: those in which some tap of
// the window may fall outside of the input, or the tile goes beyond the output.
struct Borders {
  int64_t front = 0, back = 0;
};
struct WindowAxis {
  int64_t input, output, kernel, stride, dilation, pad_begin, pad_end;
};
Borders PeeledTiles(const WindowAxis& axis, int64_t tile);
// The window of a convolution or pooling node along spatial axis d.
WindowAxis WindowAlong(const Node& node, size_t d);
// Whether an input position along the axis is not in its padding.
Expr IsInside(const WindowAxis& axis, const Expr& position);
// Whether some tap of an output falls outside of the input.
bool ReadsPadding(const WindowAxis& axis);

// Peels the iterations of a loop over a padded row that lie in the padding. If there are many, it peels
// none, and the padding's condition stays in the loop.
absl::Status PeelPadding(Schedule& schedule, const LoopHandle& loop, const Borders& padding);

// For a convolution's row of pixels in tiles of `tile`, whose body unrolls `statements` for each tap: how
// many neighbouring taps are unrolled, a divisor of their number, and the tiles that are peeled. If the
// code stays small, these are all taps, and all tiles at the borders.
struct TapUnrolling {
  int64_t taps;
  Borders peeled;
};
TapUnrolling UnrollTaps(const WindowAxis& axis, int64_t tile, int64_t statements);
// Unrolls the innermost `count` iterations of a loop, a divisor of its extent.
absl::Status UnrollInner(Schedule& schedule, const LoopHandle& loop, int64_t count);

// The cycles of a register tile's loads for one step of its sum: a vector per column, of `vector_cycles`
// each, and a broadcast element per row. The columns share the element in a register if one is left for it;
// if not, each multiply-add reads it by itself.
double TileLoadCycles(int64_t rows, int64_t columns, double vector_cycles, const Target& target);

// The time for `units` of work, each of which one thread computes, relative to work that can be split at
// will: the mean for one thread and for two.
double TypicalImbalance(int64_t units);

// The cycles of work that takes `compute` cycles of arithmetic and streams `bytes` from memory, which overlap
// in part: the hardware prefetches well within a stream, not across the short loops of a kernel.
double WithMemoryTraffic(double compute, int64_t bytes, const Target& target);

// The cycles for reading or writing so many bytes in the cache that holds them, L2 or L3.
double CyclesThroughCaches(int64_t bytes, const Target& target);

// Sorted, distinct divisors of n that are at most `limit`.
std::vector<int64_t> Divisors(int64_t n, int64_t limit);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_STRATEGIES_H_
