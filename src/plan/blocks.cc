// The blocks of channels and the strategies of all groups, chosen jointly.
//
// Problem: channels that do not fill their last block are computed for nothing: with 24 channels in blocks of
// 16, a quarter of the work. Blocks of half a vector waste less, and on processors that run two half vectors
// in the time of a whole one they cost nothing else, except where a strategy needs whole blocks. A feature
// map's block matters to its producer and all its readers, and feature maps that are added or concatenated
// must agree. Idea: feature maps that must agree are a class, with the blocks to choose from as its values.
// Each group tells, for all choices of the classes that it reads and writes, what its cheapest strategy is
// predicted to cost, and the sum over the groups is minimized exactly (plan/elimination.h). In most classes
// all channels fill their blocks and there is nothing to choose: only few groups are asked. After Liu et al.,
// Optimizing CNN model inference on CPUs, USENIX ATC 2019, who choose blocks by dynamic programming where the
// graph is simple enough.
#include "plan/blocks.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/status.h"
#include "plan/elimination.h"
#include "plan/layout.h"

namespace attune {
namespace {

bool IsDepthwise(const Node& conv) {
  const Dim group(conv.attrs().Int("group", 1));
  return conv.input(0)->type().dims[1] == group && conv.output()->type().dims[1] == group;
}

// A convolution that is not depthwise, or null.
const Node* DenseConv(const Graph& region) {
  for (const auto& node : region.nodes()) {
    const bool is_conv = IsConv(node->op()) || node->op() == Op::kConvTranspose;
    if (is_conv && !IsDepthwise(*node)) return node.get();
  }
  return nullptr;
}

// Sets of numbers, merged pair by pair.
class UnionFind {
 public:
  size_t Add() {
    parents_.push_back(parents_.size());
    return parents_.size() - 1;
  }
  size_t Find(size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void Merge(size_t a, size_t b) { parents_[Find(b)] = Find(a); }

 private:
  std::vector<size_t> parents_;
};

// The most classes that vary together in the cost of one group; others count as whole blocks.
constexpr size_t kMaxVariables = 4;

class BlockChooser {
 public:
  BlockChooser(const Graph& graph, const Target& target, const KernelCosts& costs)
      : graph_(graph), target_(target), costs_(costs), whole_(target.Lanes(4)) {}

  absl::StatusOr<BlockChoice> Run(const LayoutOverrides& overrides) {
    for (const auto& node : graph_.nodes()) {
      if (node->op() == Op::kFused) MergeMapsOf(*node);
    }
    for (const auto& node : graph_.nodes()) {
      if (node->op() == Op::kFused) OfferHalves(*node);
    }
    std::vector<Factor> factors;
    for (const auto& node : graph_.nodes()) {
      if (node->op() != Op::kFused) continue;
      ASSIGN_OR_RETURN(Factor factor, CostOf(*node));
      if (!factor.variables.empty()) factors.push_back(std::move(factor));
    }
    chosen_ = MinimizeSum(std::vector<size_t>(variables_.size(), 2), std::move(factors));
    for (size_t v = 0; v < chosen_.size(); ++v) {
      if (overrides.contains(static_cast<int>(v))) chosen_[v] = 1 - chosen_[v];
    }
    BlockChoice choice{.blocks = {}, .classes = static_cast<int>(chosen_.size())};
    for (const auto& node : graph_.nodes()) {
      if (node->op() == Op::kFused) choice.blocks[node.get()] = BlockOf(node->output());
    }
    return choice;
  }

 private:
  // The class of a feature map; a new one at first.
  size_t ClassOf(const Value* map) {
    const auto [it, is_new] = elements_.try_emplace(map, 0);
    if (is_new) it->second = classes_.Add();
    return classes_.Find(it->second);
  }

  // All feature maps of a group agree, except the one that a dense convolution reads.
  void MergeMapsOf(const Node& fused) {
    const Node* conv = DenseConv(fused.region());
    for (int i = 0; i < fused.num_outputs(); ++i) {
      if (IsFeatureMap(fused.output(i)->type()))
        classes_.Merge(ClassOf(fused.output()), ClassOf(fused.output(i)));
    }
    for (int i = 0; i < fused.num_inputs(); ++i) {
      const bool same = conv == nullptr || fused.input(i)->type().dims == fused.output()->type().dims;
      const bool is_read = conv != nullptr && conv->input(0) == fused.region().inputs()[i].get();
      if (IsFeatureMap(fused.input(i)->type()) && same && !is_read)
        classes_.Merge(ClassOf(fused.output()), ClassOf(fused.input(i)));
    }
  }

  // Whether groups of a convolution's channels fill half blocks, but share whole blocks with parts of other
  // groups.
  bool WantsHalves(const Node& conv) const {
    const int64_t group = conv.attrs().Int("group", 1);
    const int64_t channels = conv.output()->type().dims[1].size / group;
    return group > 1 && channels % (whole_ / 2) == 0 && channels % whole_ != 0 && whole_ % channels != 0;
  }

  void Offer(const Value* map) { variables_.try_emplace(ClassOf(map), variables_.size()); }

  // Makes the class of a dense convolution's output a variable if half blocks save work. If only they give
  // the convolution a fast kernel, the class of its input becomes a variable too.
  void OfferHalves(const Node& fused) {
    const Node* conv = DenseConv(fused.region());
    if (conv == nullptr || fused.output()->type().layout.is_plain()) return;
    if (WantsHalves(*conv)) {
      Offer(fused.output());
      for (int i = 0; i < fused.num_inputs(); ++i) {
        if (conv->input(0) == fused.region().inputs()[i].get() && !fused.input(i)->type().layout.is_plain())
          Offer(fused.input(i));
      }
      return;
    }
    if (target_.half_fma_per_cycle < 2 * target_.fma_per_cycle) return;
    const int64_t channels = conv->output()->type().dims[1].size, half = whole_ / 2;
    if (CeilDiv(channels, half) % 2 == 0) return;
    Offer(fused.output());
  }

  // The variable of a feature map's class, or none.
  std::optional<size_t> VariableOf(const Value* map) {
    if (!elements_.contains(map)) return std::nullopt;
    const auto it = variables_.find(ClassOf(map));
    return it == variables_.end() ? std::nullopt : std::optional(it->second);
  }

  int64_t BlockOf(const Value* map) {
    const std::optional<size_t> variable = VariableOf(map);
    return !variable || chosen_[*variable] == 0 ? whole_ : whole_ / 2;
  }

  // The cost of the group for all values of its feature maps' variables; empty where it has none.
  absl::StatusOr<Factor> CostOf(const Node& fused) {
    Factor factor;
    for (int i = 0; i < fused.num_outputs(); ++i) AddVariable(fused.output(i), factor.variables);
    for (const Value* input : fused.inputs()) AddVariable(input, factor.variables);
    if (factor.variables.empty()) return factor;
    if (factor.variables.size() > kMaxVariables) factor.variables.resize(kMaxVariables);
    std::ranges::sort(factor.variables);
    const size_t combinations = size_t{1} << factor.variables.size();
    for (size_t c = 0; c < combinations; ++c) {
      chosen_.assign(variables_.size(), 0);
      for (size_t i = 0; i < factor.variables.size(); ++i)
        chosen_[factor.variables[i]] = c >> (factor.variables.size() - 1 - i) & 1;
      ASSIGN_OR_RETURN(factor.cost.emplace_back(), Predict(fused));
    }
    return factor;
  }

  void AddVariable(const Value* map, std::vector<size_t>& variables) {
    const std::optional<size_t> v = VariableOf(map);
    if (v && std::ranges::find(variables, *v) == variables.end()) variables.push_back(*v);
  }

  // The cycles of a group with the blocks in `chosen_`.
  absl::StatusOr<double> Predict(const Node& fused) {
    const std::unique_ptr<Graph> region = fused.region().Clone();
    for (int i = 0; i < fused.num_inputs(); ++i) {
      TensorType type = fused.input(i)->type();
      if (!type.layout.is_plain()) type.layout.block = static_cast<int>(BlockOf(fused.input(i)));
      region->inputs()[i]->set_type(std::move(type));
    }
    AssignInGroup(*region, BlockOf(fused.output()));
    return costs_.CyclesOf(*region, target_);
  }

  const Graph& graph_;
  const Target& target_;
  const KernelCosts& costs_;
  const int64_t whole_;
  std::map<const Value*, size_t> elements_;
  UnionFind classes_;
  std::map<size_t, size_t> variables_;  // by class
  std::vector<size_t> chosen_;          // by variable: 0 for whole blocks, 1 for half ones
};

}  // namespace

bool IsFeatureMap(const TensorType& type) {
  const bool is_quantized = type.dtype == DType::kU8 || type.dtype == DType::kI8 ||
                            type.dtype == DType::kI16 || type.dtype == DType::kI32;
  const bool is_condition = type.dtype == DType::kBool;
  return type.rank() == 4 && (IsFloat(type.dtype) || is_quantized || is_condition) && type.is_static();
}

absl::StatusOr<BlockChoice> ChooseBlocks(const Graph& graph, const Target& target,
                                         const LayoutOverrides& overrides, const KernelCosts& costs) {
  return BlockChooser(graph, target, costs).Run(overrides);
}

}  // namespace attune
