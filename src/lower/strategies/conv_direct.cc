// Direct convolution in blocked layout.
//
// Problem: a convolution reads each input element for every output channel and every tap; it runs at the
// speed of the multiply-add units only if operands come from registers and L1. Idea: a tile of tile_w
// pixels × tile_c channel blocks of accumulators stays in registers over the whole reduction. For each
// input channel and tap, tile_c vectors of packed weights are loaded once and tile_w input elements are
// broadcast, straight from memory, so every weight load feeds tile_w multiply-adds. Taps that fall into the
// padding are decided at compile time: rows by a branch outside of the inner loops, columns because border
// tiles are peeled and fully unrolled. Without padding, a last tile that is not full is shifted inwards,
// and threads share all tiles one by one. If weights have a factor per input channel, the kernel first
// multiplies all of them. If a vector's lanes are channels of several groups, each input vector is shuffled
// once for each channel of a group, so that all lanes of a group have it. Blocks that no tile of a good
// size divides, such as seven, are shared unevenly where the tuner finds that faster: in tiles of four and
// three. After Georganas et al., Anatomy of high-performance deep learning convolutions on SIMD
// architectures, SC 2018.
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/status.h"
#include "lower/strategies/conv_parts.h"
#include "lower/strategies/conv_tile.h"

namespace attune {
namespace {

// With no more output pixels than this, weights are used up faster than the hardware prefetches them:
// prefetching made the kernels of EfficientNet-B0 and ResNet-50 up to 13 % faster. With more pixels, there
// was no difference.
constexpr int64_t kFewPixels = 1024;
// How often weights are prefetched: with each block of channels, or with each unrolled part of one, fewer
// at a time. Other loads wait for prefetches under way: EfficientNet-B0's last convolution took 0.22 ms
// with seven lines for every 16 channels, and 0.18 with four for every 8.
constexpr int64_t kSeldom = 1, kOften = 2;
constexpr int64_t kFewChannels = 4;  // those of an image

struct Shape2d {
  int64_t lanes, channels, kernel_w, taps;
  int64_t dot;    // channels that one instruction takes
  int64_t inner;  // instructions of the innermost loop over channels: of a block, or of all
  TiledConv tiled;
};

// The group's node that multiplies the weights by a factor of each input channel, or null.
const Node* ScaleOf(const Node& conv) {
  const Node* scale = conv.input(1)->producer();
  if (scale == nullptr || scale->op() != Op::kMul) return nullptr;
  const TensorType &weights = scale->input(0)->type(), &factors = scale->input(1)->type();
  if (!scale->input(0)->is_input() || !scale->input(1)->is_input()) return nullptr;
  const TensorType& out = scale->output()->type();
  const bool fills_blocks = out.layout.is_plain() || out.dims[1].size % out.layout.block == 0;
  const bool by_channel = weights.dims == out.dims && weights.layout.is_plain() && fills_blocks &&
                          factors.rank() == weights.rank() && factors.dims[1] == weights.dims[1] &&
                          factors.num_elements() == factors.dims[1].size;
  return by_channel && weights.dtype == DType::kF32 && factors.dtype == DType::kF32 ? scale : nullptr;
}

// Whether blocks hold whole groups with as many input as output channels. Then all lanes of a group read
// the same element of the input's vector, and a shuffle gives it to them.
bool HasGroupsInBlocks(const Node& conv) {
  const TensorType &in = conv.input(0)->type(), &out = conv.output()->type();
  const int64_t group = conv.attrs().Int("group", 1), channels = out.shape()[1] / group;
  return group > 1 && in.dims[1] == out.dims[1] && in.layout == out.layout && channels > 1 &&
         channels < out.layout.block && out.layout.block % channels == 0;
}

Shape2d ShapeOf(const Workload& workload, const Target& target) {
  const Node& conv = *workload.anchor;
  const Shape out = conv.output()->type().shape(), w = conv.input(1)->type().shape();
  const int64_t lanes = conv.output()->type().layout.block;
  const int64_t group = conv.attrs().Int("group", 1);
  // Neighbours in memory are neighbouring channels only if the input is blocked.
  const bool blocked = !conv.input(0)->type().layout.is_plain();
  // All lanes take the terms of an instruction from one input address; those of several groups cannot.
  const int64_t dot = blocked && !HasGroupsInBlocks(conv) ? DotTerms(workload, w[1], target) : 1;
  const bool padded = ReadsPadding(WindowAlong(conv, 1));
  const int64_t block = conv.input(0)->type().layout.block;
  const bool by_blocks = blocked && w[1] > block && w[1] % block == 0;
  return {lanes,
          w[1],
          w[3],
          w[2] * w[3],
          dot,
          (by_blocks ? block : w[1]) / dot,
          {.blocks = CeilDiv(out[1], lanes),
           .group_blocks = CeilDiv(out[1] / group, lanes),
           .lanes = lanes,
           .width = out[3],
           .rows = out[0] * out[2],
           .steps = w[1] / dot * w[2] * w[3],
           .padded = padded,
           .uneven = !padded && group == 1 && out[1] % lanes == 0,
           .slowdown = DotSlowdown(conv, dot, target),
           .widens = dot == 1 && conv.input(0)->type().dtype == DType::kBF16}};
}

}  // namespace

bool IsDenseConv(const Node& node) { return IsConv(node.op()) && !IsChannelwise(node); }

std::string ConvDirectWhyNot(const Workload& workload, const Target& target) {
  if (std::string reason = BlockedConvWhyNot(workload, target); !reason.empty()) return reason;
  const Node& conv = *workload.anchor;
  const int first_stored = ScaleOf(conv) == nullptr ? 1 : 2;
  if (std::string reason = ComputedWeightsWhyNot(workload, first_stored); !reason.empty()) return reason;
  const TensorType& out = conv.output()->type();
  const int64_t group = conv.attrs().Int("group", 1);
  if (group > 1 && out.shape()[1] / group % out.layout.block != 0 && !HasGroupsInBlocks(conv))
    return "a channel block has parts of groups";
  return "";
}

std::vector<Knob> DirectSpace(const Workload& workload, bool uneven, const Target& target) {
  Shape2d s = ShapeOf(workload, target);
  s.tiled.uneven &= uneven;
  std::vector<Knob> knobs = TileSpace(s.tiled, target);
  knobs.push_back({"unroll_c", Divisors(s.inner, 8)});
  knobs.push_back({"prefetch", {0, kSeldom, kOften}});
  return knobs;
}

std::vector<Knob> ConvDirectSpace(const Workload& workload, const Target& target) {
  return DirectSpace(workload, /*uneven=*/true, target);
}

Config DirectDefault(const Workload& workload, int64_t blocks, const Target& target) {
  Shape2d s = ShapeOf(workload, target);
  s.tiled.group_blocks = std::gcd(s.tiled.group_blocks, blocks);
  Config best = CheapestTile(s.tiled, TileRegisters(workload, target), target);
  // Enough work between branches. A loop over the few channels of an image costs more than unrolling it,
  // which takes registers for weights: unrolled, the first kernels of MobileNet v2 and EfficientNet-B0 took
  // a quarter less time.
  constexpr int64_t kEnough = 32;
  const int64_t tile = best["tile_w"] * best["tile_c"];
  const bool is_small = tile <= kLargestUnrolledTile && tile * s.kernel_w <= kEnough;
  const bool is_unrolled = is_small || s.channels <= kFewChannels || HasGroupsInBlocks(*workload.anchor);
  best["unroll_c"] = Divisors(s.inner, is_unrolled ? 8 : 1).back();
  const Shape out = workload.anchor->output()->type().shape();
  best["prefetch"] = out[0] * out[2] * out[3] <= kFewPixels ? kOften : 0;
  return best;
}

Config ConvDirectDefault(const Workload& workload, const Target& target) {
  return DirectDefault(workload, ShapeOf(workload, target).tiled.blocks, target);
}

double ConvDirectCost(const Workload& workload, const Config& config, const Target& target) {
  const Shape2d s = ShapeOf(workload, target);
  const double compute = static_cast<double>(s.tiled.rows * s.tiled.steps) *
                         TileCost(s.tiled, config.at("tile_w"), config.at("tile_c"), target);
  const TensorType& weights = workload.anchor->input(1)->type();
  const int64_t bytes = weights.num_elements() * DTypeSize(weights.dtype);
  const double scale =
      ScaleOf(*workload.anchor) == nullptr ? 0 : 2 * static_cast<double>(bytes) / target.l2_bytes_per_cycle;
  return scale + WithMemoryTraffic(compute, bytes, target);
}

TapUnrolling DirectTaps(const Workload& workload, const Config& config) {
  const int64_t statements = config.at("tile_w") * config.at("tile_c") * config.at("unroll_c");
  return UnrollTaps(WindowAlong(*workload.anchor, 1), config.at("tile_w"), statements);
}

absl::StatusOr<StageHandle> PackDirect(Schedule& s, const Workload& workload, const Config& config,
                                       const Target& target) {
  const Shape2d shape = ShapeOf(workload, target);
  const Value* weights = workload.anchor->input(1);
  const Buffer buffer = BufferOf(workload, weights);
  const StageHandle acc = s.StageNamed(workload.accumulator_stage);
  // Weights are in the order of the loops: block group, row, channel, column, lane, channel of one
  // instruction. For uneven tiles they are packed block by block: in groups, the last one would have to be
  // filled up.
  const int64_t group = HasEvenTiles(workload, config) ? config.at("tile_c") : 1;
  const std::pair<int64_t, int64_t> lanes = {0, shape.lanes * group};
  const Ints order = {0, 3, 2, 4, 1};
  if (shape.dot > 1) return s.Pack(buffer, acc, {lanes, {1, shape.dot}}, {0, 4, 2, 5, 1, 3});
  const Node* scale = ScaleOf(*workload.anchor);
  if (scale == nullptr) return s.Pack(buffer, acc, {lanes}, order);
  // The product of weights and factors is in this order, computed from weights in this order.
  const bool blocked = !weights->type().layout.is_plain();
  ASSIGN_OR_RETURN(const StageHandle product,
                   s.Pack(buffer, acc, {lanes}, blocked ? Ints{0, 3, 2, 5, 4, 1} : order));
  RETURN_IF_ERROR(s.Inline(s.StageNamed(StageNameOf(workload, *scale))));
  RETURN_IF_ERROR(s.Pack(BufferOf(workload, scale->input(0)), product, {lanes}, order).status());
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s.Loops(product));
  RETURN_IF_ERROR(s.Vectorize(loops.back()));
  if (IsWorthSharing(weights->type().num_elements()))
    RETURN_IF_ERROR(ParallelizeOuter(s, product, loops.size() - 1));
  return product;
}

absl::Status AccumulateDirect(Schedule& s, const Workload& workload, const Config& config,
                              const StageHandle& weights, const Target& target) {
  const Shape2d shape = ShapeOf(workload, target);
  const int64_t unroll = config.at("unroll_c");
  const StageHandle acc = s.StageNamed(workload.accumulator_stage);
  const LoopHandle columns = s.Loop(acc, "kw"), pixels = s.Loop(acc, "d3"), blocks = s.Loop(acc, "d1"),
                   lanes = s.Loop(acc, "v");
  // The channel loops: over whole blocks of the input's layout, then an unrolled part, then the channels of
  // one instruction.
  ASSIGN_OR_RETURN(const TermLoops terms, SplitTerms(s, s.Loop(acc, "c"), shape.dot));
  std::vector<LoopHandle> channels = {terms.outer};
  if (shape.inner < shape.channels / shape.dot) {
    ASSIGN_OR_RETURN(const SplitLoops split, s.Split(terms.outer, shape.inner));
    channels = {split.outer, split.inner};
  }
  LoopHandle innermost = channels.back();  // of those that are not unrolled
  if (unroll > 1 && *s.Extent(innermost) % unroll == 0) {
    ASSIGN_OR_RETURN(const SplitLoops split, s.Split(innermost, unroll));
    RETURN_IF_ERROR(s.Unroll(split.inner));
    channels.back() = innermost = split.outer;
    channels.push_back(split.inner);
  }
  std::vector<LoopHandle> order = s.LoopsOver(acc, {"d0", "d2", "kh"});
  order.insert(order.end(), channels.begin(), channels.end());
  order.insert(order.end(), {columns, pixels, blocks, lanes});
  if (terms.instruction) order.push_back(terms.instruction);
  RETURN_IF_ERROR(s.Reorder(order));
  RETURN_IF_ERROR(UnrollInner(s, columns, DirectTaps(workload, config).taps));
  for (const LoopHandle& loop : {blocks, pixels}) RETURN_IF_ERROR(s.Unroll(loop));
  RETURN_IF_ERROR(s.Vectorize(lanes));
  if (terms.instruction) RETURN_IF_ERROR(s.Dot(terms.instruction));
  // Prefetches weights, which come from memory: the next group of blocks while this one is used.
  if (const int64_t how_often = config.at("prefetch"); how_often != 0) {
    ASSIGN_OR_RETURN(const Buffer packed, s.Output(weights));
    RETURN_IF_ERROR(s.Prefetch(packed, how_often == kSeldom ? channels.front() : innermost));
  }
  // Prefetches the pixels of the next tile: with one tap, a tile is soon used up, and is many short pieces.
  const Value* input = workload.anchor->input(0);
  if (!input->type().layout.is_plain() && shape.taps == 1 && input->is_input())
    RETURN_IF_ERROR(s.PrefetchNextTile(BufferOf(workload, input), innermost));
  // Guards stay where a read without them would leave its buffer; and where the last tile has fewer blocks.
  if (HasEvenTiles(workload, config)) s.Overcompute(acc).IgnoreError();
  return absl::OkStatus();
}

absl::Status ConvDirectApply(Schedule& s, const Workload& workload, const Config& config,
                             const Target& target) {
  Workload rest = workload;  // whose elementwise stages are all an epilogue
  if (const Node* scale = ScaleOf(*workload.anchor); scale != nullptr)
    std::erase(rest.elementwise_stages, StageNameOf(workload, *scale));
  RETURN_IF_ERROR(InlineEpilogue(s, rest));
  ASSIGN_OR_RETURN(const StageHandle weights, PackDirect(s, workload, config, target));
  const bool padded = ShapeOf(workload, target).tiled.padded;
  RETURN_IF_ERROR(TileOutput(s, workload, config, padded ? DirectTaps(workload, config).peeled : Borders()));
  return AccumulateDirect(s, workload, config, weights, target);
}

}  // namespace attune
