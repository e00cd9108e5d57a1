// Depth-first fusion of convolutions and pools, in row strips.
//
// Problem: a feature map that does not fit into L2 costs its way to L3 and back between the operator that
// makes it and the one that uses it: MobileNet's widest feature maps lie between an expansion and a
// depthwise convolution that both do little work on each element. Idea: the last operator is computed in
// row strips (`Band`), and each operator before it computes, into scratch, just what a strip needs. An
// operator with the elementwise stages that follow it is a link. If the last link works on each channel by
// itself, a strip is some blocks of channels and some rows, else it is rows of all channels. Neighbouring
// strips share a halo, the rows of the window that both need; these are computed twice, so strips are as
// high as the cache allows.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked.h"
#include "base/status.h"
#include "graph/node_rules.h"
#include "lower/strategies/conv_parts.h"
#include "lower/strategies/conv_tile.h"

namespace attune {
namespace {

bool HasConvOrPool(const Graph& region) {
  return std::ranges::any_of(region.nodes(), [](const auto& node) {
    return IsConv(node->op()) || node->op() == Op::kMaxPool || node->op() == Op::kAvgPool;
  });
}

// The links, each as a workload of its own. Empty if the group is not such a fusion.
std::vector<Workload> LinksOf(const Workload& chain) {
  std::vector<Workload> links;
  const Definition names(*chain.region, "");
  const Node* average = AverageOf(chain);
  for (const auto& node : chain.region->nodes()) {
    if (node->op() == Op::kConstant || node.get() == average) continue;
    // An operator that nothing reads is not computed, so not all links would be.
    if (std::ranges::find(chain.definition.stages, names.StageName(*node), &Stage::name) ==
        chain.definition.stages.end())
      return {};
    if (!IsPointwise(*node)) {
      Workload& link = links.emplace_back(chain);
      link.anchor = node.get();
      link.anchor_stage = names.StageName(*node);
      link.accumulator_stage = link.anchor_stage + ".acc";
      link.elementwise_stages.clear();
      link.num_anchors = link.num_outputs = 1;
    } else if (links.empty()) {
      return {};
    } else if (links.back().output_stage != links.back().anchor_stage) {
      links.back().elementwise_stages.push_back(links.back().output_stage);
    }
    links.back().result = node->output();
    links.back().output_stage = names.StageName(*node);
  }
  return links;
}

// The strategy that has the knobs of a link.
const Strategy& StrategyOf(const Workload& link) {
  return IsChannelwise(*link.anchor) ? kSlidingWindow : kConvDirect;
}

// Rows of the input that `rows` rows of the output need.
int64_t RowsRead(const Workload& link, int64_t rows) {
  const WindowAxis axis = WindowAlong(*link.anchor, 0);
  return std::min((rows - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1, axis.input);
}

int64_t RowBytes(const TensorType& type) {
  return type.physical_shape()[3] * type.layout.block * DTypeSize(type.dtype);
}

// The channel blocks of a link's output that a strip of `blocks` channel blocks needs: as many, or all if a
// later link is dense.
int64_t BlocksComputed(const std::vector<Workload>& links, size_t i, int64_t blocks) {
  for (size_t j = i + 1; j < links.size(); ++j) {
    if (!IsChannelwise(*links[j].anchor)) return links[i].output_type().physical_shape()[1];
  }
  return blocks;
}

// The bytes in L2 while one strip of `blocks` channel blocks is computed: those that each link reads and
// makes.
int64_t WorkingSet(const std::vector<Workload>& links, int64_t rows, int64_t blocks) {
  int64_t bytes = 0;
  for (size_t i = links.size(); i-- > 0;) {
    bytes += rows * RowBytes(links[i].output_type()) * BlocksComputed(links, i, blocks);
    rows = RowsRead(links[i], rows);
  }
  const TensorType& in = links[0].anchor->input(0)->type();
  return bytes + rows * RowBytes(in) * in.physical_shape()[1];
}

constexpr double kCyclesBetweenBands = 200;  // from a strip of all links to the next

struct Band {
  int64_t rows, blocks;
};

int64_t NumBands(const Workload& last, const Band& band) {
  const std::vector<int64_t> shape = last.output_type().physical_shape();
  return CeilDiv(shape[1], band.blocks) * CeilDiv(shape[2], band.rows);
}

// How often each element of the links' outputs is computed, on average.
std::vector<double> TimesComputed(const std::vector<Workload>& links, const Band& band) {
  const auto bands = static_cast<double>(NumBands(links.back(), band));
  std::vector<double> times(links.size());
  int64_t rows = band.rows;
  for (size_t i = links.size(); i-- > 0;) {
    const std::vector<int64_t> shape = links[i].output_type().physical_shape();
    const int64_t elements = rows * BlocksComputed(links, i, band.blocks);
    times[i] =
        std::max(1.0, bands * static_cast<double>(elements) / static_cast<double>(shape[1] * shape[2]));
    rows = RowsRead(links[i], rows);
  }
  return times;
}

// The numbers of channel blocks that strips can have: divisors of all blocks if the last link works on each
// channel by itself, else all blocks.
std::vector<int64_t> BandBlocks(const Workload& last) {
  const int64_t blocks = last.output_type().physical_shape()[1];
  return IsChannelwise(*last.anchor) ? Divisors(blocks, blocks) : std::vector<int64_t>{blocks};
}

// The least predicted cycles of a dense link in a kernel of its own; infinite if no strategy applies.
double AloneCost(const Workload& link, const Target& target) {
  double least = std::numeric_limits<double>::infinity();
  for (const Strategy& strategy : AllStrategies()) {
    if (strategy.cost == nullptr || !strategy.why_not(link, target).empty()) continue;
    least = std::min(least, strategy.cost(link, strategy.analytic_default(link, target), target));
  }
  return least;
}

double ChannelwiseCost(const Workload& link, const Target& target) {
  const std::vector<int64_t> shape = link.output_type().physical_shape();
  const int64_t rows = shape[0] * shape[1] * shape[2] * WindowAlong(*link.anchor, 0).kernel;
  return static_cast<double>(rows) * SlideCost(link, CheapestSlide(link, target), target);
}

// The cycles that a feature map costs on its way from one kernel to the next, beyond those that hide behind
// arithmetic. The kernel that reads it writes another one meanwhile, which drives a part of it out of L2.
double HandOverCost(const TensorType& type, const Target& target) {
  const auto bytes = static_cast<double>(type.num_physical_bytes());
  if (bytes <= target.l2_share_kept * static_cast<double>(target.l2_bytes)) return 0;
  return target.exposed_hand_over * 2 * bytes / target.l3_bytes_per_cycle;
}

// The cycles of each link, computed once.
std::vector<double> LinkCosts(const std::vector<Workload>& links, const Target& target) {
  std::vector<double> costs;
  for (const Workload& link : links) {
    costs.push_back(IsChannelwise(*link.anchor)
                        ? ChannelwiseCost(link, target)
                        : ConvDirectCost(link, ConvDirectDefault(link, target), target));
  }
  return costs;
}

// The cheapest strip: one with little work done twice, whose working set stays in L2, and that divides the
// work evenly among a few threads.
Band CheapestBand(const std::vector<Workload>& links, const Target& target) {
  constexpr int64_t kThreads = 4;
  const Workload& last = links.back();
  const int64_t height = last.output_type().physical_shape()[2];
  const std::vector<double> costs = LinkCosts(links, target);
  const double room = target.l2_share_kept * static_cast<double>(target.l2_bytes);
  Band best = {1, BandBlocks(last).front()};
  double best_cost = std::numeric_limits<double>::infinity();
  for (const int64_t blocks : BandBlocks(last)) {
    for (const int64_t rows : Divisors(height, height)) {
      const std::vector<double> times = TimesComputed(links, {rows, blocks});
      const int64_t bands = NumBands(last, {rows, blocks});
      const double idle = static_cast<double>(RoundUp(bands, kThreads)) / static_cast<double>(bands);
      const double spilled = std::max(1.0, static_cast<double>(WorkingSet(links, rows, blocks)) / room);
      double cost = kCyclesBetweenBands * static_cast<double>(bands);
      for (size_t i = 0; i < links.size(); ++i) cost += times[i] * costs[i];
      cost *= std::min(idle, 1.25) * spilled;
      if (cost < best_cost) {
        best_cost = cost;
        best = {rows, blocks};
      }
    }
  }
  return best;
}

// A link's part of a config: the knobs whose names end with the link's index.
Config ConfigOf(const Config& config, size_t link) {
  const std::string suffix = absl::StrCat(link);
  Config own;
  for (const auto& [name, value] : config) {
    if (name.ends_with(suffix)) own[name.substr(0, name.size() - suffix.size())] = value;
  }
  return own;
}

class ChainSchedule {
 public:
  ChainSchedule(Schedule& schedule, const Workload& chain, const Config& config, const Target& target)
      : s_(schedule), chain_(chain), links_(LinksOf(chain)), config_(config), target_(target) {}

  absl::Status Run() {
    weights_.resize(links_.size());
    for (size_t i = 0; i < links_.size(); ++i) {
      RETURN_IF_ERROR(InlineEpilogue(s_, links_[i]));
      if (!IsChannelwise(*links_[i].anchor)) {
        ASSIGN_OR_RETURN(weights_[i], PackDirect(s_, links_[i], ConfigOf(config_, i), target_));
      } else if (IsConv(links_[i].anchor->op())) {
        RETURN_IF_ERROR(PackDepthwise(s_, links_[i]));
      }
    }
    ASSIGN_OR_RETURN(const LoopHandle band, SplitIntoBands());
    for (size_t i = links_.size() - 1; i-- > 0;) {
      RETURN_IF_ERROR(s_.ComputeWithin(s_.StageNamed(links_[i].output_stage), band, MemorySpace::kScratch));
      if (IsChannelwise(*links_[i].anchor)) {
        RETURN_IF_ERROR(SlideRows(i));
        continue;
      }
      ASSIGN_OR_RETURN(const ConvTileLoops tiles, SplitIntoTiles(s_, links_[i], ConfigOf(config_, i)));
      RETURN_IF_ERROR(AccumulateTiles(i, tiles));
    }
    return absl::OkStatus();
  }

 private:
  // Splits the last link into strips. Returns the loop over them.
  absl::StatusOr<LoopHandle> SplitIntoBands() {
    const size_t last = links_.size() - 1;
    const StageHandle out = s_.StageNamed(links_[last].output_stage);
    LoopHandle row;  // goes over the rows of a strip
    if (IsChannelwise(*links_[last].anchor)) {
      ASSIGN_OR_RETURN(const SplitLoops blocks, s_.Split(s_.Loop(out, "d1"), config_.at("blocks")));
      ASSIGN_OR_RETURN(const SplitLoops rows, s_.Split(s_.Loop(out, "d2"), config_.at("rows")));
      RETURN_IF_ERROR(s_.Reorder({rows.outer, blocks.outer, blocks.inner, rows.inner}));
      RETURN_IF_ERROR(SlideRows(last));
      RETURN_IF_ERROR(ParallelizeOuter(s_, out, 3));
      row = rows.inner;
    } else {
      ASSIGN_OR_RETURN(const ConvTileLoops tiles, SplitIntoTiles(s_, links_[last], ConfigOf(config_, last)));
      ASSIGN_OR_RETURN(const SplitLoops rows, s_.Split(tiles.rows, config_.at("rows")));
      RETURN_IF_ERROR(s_.Reorder({rows.outer, tiles.blocks}));
      RETURN_IF_ERROR(AccumulateTiles(last, tiles));
      RETURN_IF_ERROR(ParallelizeOuter(s_, out, 2));
      row = rows.inner;
    }
    RETURN_IF_ERROR(AverageRows(s_, chain_, row));
    ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s_.Loops(out));
    return loops.front();
  }

  // Schedules the rows of a channelwise link.
  absl::Status SlideRows(size_t i) {
    return SlideAlongRows(s_, links_[i], ConfigOf(config_, i).at("tile_w"));
  }

  // Schedules the tiles of a dense link.
  absl::Status AccumulateTiles(size_t i, const ConvTileLoops& tiles) {
    const Workload& link = links_[i];
    const Config config = ConfigOf(config_, i);
    const Borders peeled = DirectTaps(link, config).peeled;
    if (peeled.front + peeled.back > 0) RETURN_IF_ERROR(s_.Peel(tiles.pixels, peeled.front, peeled.back));
    RETURN_IF_ERROR(
        s_.ComputeAt(s_.StageNamed(link.accumulator_stage), tiles.pixels, MemorySpace::kRegister));
    return AccumulateDirect(s_, link, config, weights_[i], target_);
  }

  Schedule& s_;
  const Workload& chain_;
  std::vector<Workload> links_;
  std::vector<StageHandle> weights_;  // for each dense link: the stage that packs them
  const Config& config_;
  const Target& target_;
};

}  // namespace

std::string ConvChainWhyNot(const Workload& workload, const Target& target) {
  if (workload.num_anchors < 2) return "no chain";
  const bool averages = AverageOf(workload) != nullptr;
  if (workload.num_outputs != 1 && !averages) return "more than one output";
  const std::vector<Workload> links = LinksOf(workload);
  if (static_cast<int>(links.size()) != workload.num_anchors)
    return "something else than convolutions and pools";
  if (averages && !IsChannelwise(*links.back().anchor)) return "a row of all channels is averaged";
  for (size_t i = 0; i < links.size(); ++i) {
    if (std::string reason = StrategyOf(links[i]).why_not(links[i], target); !reason.empty()) return reason;
    if (i > 0 &&
        (links[i].anchor->input(0) != links[i - 1].result || links[i - 1].result->users().size() != 1))
      return "a link's result is used by others than the next";
  }
  return "";
}

std::vector<Knob> ConvChainSpace(const Workload& workload, const Target& target) {
  const std::vector<Workload> links = LinksOf(workload);
  const int64_t height = links.back().output_type().physical_shape()[2];
  std::vector<Knob> knobs = {{"rows", Divisors(height, height)}, {"blocks", BandBlocks(links.back())}};
  for (size_t i = 0; i < links.size(); ++i) {
    const bool channelwise = IsChannelwise(*links[i].anchor);
    for (Knob& knob : channelwise ? SlidingWindowSpace(links[i], target)
                                  : DirectSpace(links[i], /*uneven=*/false, target)) {
      absl::StrAppend(&knob.name, i);
      knobs.push_back(std::move(knob));
    }
  }
  return knobs;
}

Config ConvChainDefault(const Workload& workload, const Target& target) {
  const std::vector<Workload> links = LinksOf(workload);
  const Band band = CheapestBand(links, target);
  Config config = {{"rows", band.rows}, {"blocks", band.blocks}};
  for (size_t i = 0; i < links.size(); ++i) {
    const Config own = IsChannelwise(*links[i].anchor)
                           ? SlidingWindowDefault(links[i], target)
                           : DirectDefault(links[i], BlocksComputed(links, i, band.blocks), target);
    for (const auto& [name, value] : own) config[absl::StrCat(name, i)] = value;
  }
  return config;
}

bool MayChain(const Graph& first, const Graph& second, int) {
  return HasConvOrPool(first) && HasConvOrPool(second);
}

absl::StatusOr<double> ConvChainSavings(const MergedGroups&, const Workload& workload, const Target& target) {
  const std::vector<Workload> links = LinksOf(workload);
  const Config config = ConvChainDefault(workload, target);
  const std::vector<double> times = TimesComputed(links, {config.at("rows"), config.at("blocks")});
  const std::vector<double> costs = LinkCosts(links, target);
  constexpr double kLoss = 0.02;  // by shorter loops and guards
  double saved = 0;
  for (size_t i = 0; i < links.size(); ++i) {
    const bool channelwise = IsChannelwise(*links[i].anchor);
    const double here = channelwise ? costs[i] : ConvDirectCost(links[i], ConfigOf(config, i), target);
    saved += (channelwise ? costs[i] : AloneCost(links[i], target)) - (times[i] + kLoss) * here;
    if (i + 1 < links.size()) saved += HandOverCost(links[i].output_type(), target);
  }
  return saved;
}

absl::Status ConvChainApply(Schedule& schedule, const Workload& workload, const Config& config,
                            const Target& target) {
  return ChainSchedule(schedule, workload, config, target).Run();
}

}  // namespace attune
