// Problem: partition the graph into kernels so that as few intermediate tensors as possible go through
// memory, without making kernels wait for each other in a cycle (a residual connection can).
//
// Idea: a group has one exit, a node that every other node of the group reaches, and only the exit's results
// are used outside. Groups of this form can never be in a cycle: a path from the exit of group A through
// other groups back into A would continue within A to A's exit, a cycle of nodes. So nothing has to be
// searched for reachability.
//
// Groups grow in three steps. Contractions, then the other anchors, take the pointwise nodes that follow
// them and have the anchor's output shape; several at a time where a value has several uses that join
// again (x · sigmoid(x)). Attention takes the data movement around it as well. The pointwise nodes that are
// left form groups backward from their last node. At last such a pointwise group joins an anchor's group if
// it is used there alone. Within each step later nodes choose first, so that a sum of two convolutions
// belongs to the one computed last.
//
// Cost: linear in nodes and uses, times the bound on how far a join is searched for.
#include "opt/fusion_groups.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/node_rules.h"
#include "opt/formula_size.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// How many nodes a value's uses may take to join again.
constexpr size_t kMaxJoin = 12;

bool IsGroupable(const Node& node) {
  return node.op() != Op::kConstant && node.op() != Op::kIf && node.op() != Op::kLoop &&
         node.op() != Op::kFused;
}

bool IsMovementOfOne(const Node& node) {
  return node.op() == Op::kReshape || node.op() == Op::kTranspose || node.op() == Op::kSlice ||
         node.op() == Op::kCast;
}

// Whether a pool reads an element more than once.
bool WindowsOverlap(const Node& pool) {
  const Ints& kernel = pool.attrs().IntList("kernel");
  const Ints strides = pool.attrs().IntList("strides", Ints(kernel.size(), 1));
  for (size_t d = 0; d < kernel.size(); ++d) {
    if (strides[d] < kernel[d]) return true;
  }
  return !AllAre(pool.attrs().IntList("dilations", {}), 1);
}

class Partitioner {
 public:
  Partitioner(const Graph& graph, const FusionOptions& options) : options_(options) {
    for (const auto& node : graph.nodes()) {
      order_.emplace(node.get(), static_cast<int>(nodes_.size()));
      nodes_.push_back(node.get());
    }
    group_of_.resize(nodes_.size(), kNone);
    for (const Graph::Output& output : graph.outputs()) graph_outputs_.insert(output.value);
  }

  std::vector<FusionGroup> Run() {
    StartAnchors([](const Node& node) { return GetOpInfo(node.op()).category == OpCategory::kContraction; });
    if (options_.prologues) TakeOperandMovement();
    if (options_.epilogues) TakeResultTranspose();
    StartAnchors([](const Node& node) { return !IsPointwise(node); });
    StartPointwise();
    if (options_.epilogues || options_.prologues) JoinPointwise();
    return Finish();
  }

 private:
  static constexpr int kNone = -1;

  int Order(const Node* node) const { return order_.find(node)->second; }
  int& GroupOf(const Node* node) { return group_of_[Order(node)]; }

  int Start(Node* anchor) {
    const int group = static_cast<int>(groups_.size());
    groups_.push_back({anchor, {anchor}});
    GroupOf(anchor) = group;
    return group;
  }

  template <typename Predicate>
  void StartAnchors(Predicate wanted) {
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
      Node* node = *it;
      if (!IsGroupable(*node) || GroupOf(node) != kNone || !wanted(*node)) continue;
      const int group = Start(node);
      if (options_.epilogues && TakesEpilogue(*node)) {
        while (ExtendForward(group)) {
        }
      }
    }
  }

  // Attention reads its operands where the products that made them left them: it takes the slices, transposes
  // and reshapes in between, and the repetition of keys and values for several heads of queries, where no
  // other node uses them.
  void TakeOperandMovement() {
    for (int group = 0; group < static_cast<int>(groups_.size()); ++group) {
      const Node* anchor = groups_[group].anchor;
      if (anchor->op() != Op::kAttention) continue;
      for (int i = 0; i < 3; ++i) {
        Node* producer = anchor->input(i)->producer();
        while (producer != nullptr && (IsMovementOfOne(*producer) || producer->op() == Op::kBroadcast) &&
               GroupOf(producer) == kNone && !IsUsedOutside(*producer, group) &&
               IsWithinLimits(group, {producer})) {
          groups_[group].nodes.push_back(producer);
          GroupOf(producer) = group;
          producer = producer->input(0)->producer();
        }
      }
    }
  }

  // Attention writes its result as the product that follows wants it.
  void TakeResultTranspose() {
    for (int group = 0; group < static_cast<int>(groups_.size()); ++group) {
      if (groups_[group].anchor->op() != Op::kAttention) continue;
      Node* user = FirstUserOutside(group);
      if (user == nullptr || user->op() != Op::kTranspose || GroupOf(user) != kNone) continue;
      groups_[group].nodes.push_back(user);
      GroupOf(user) = group;
      if (HasOneExit(group)) continue;
      groups_[group].nodes.pop_back();
      GroupOf(user) = kNone;
    }
  }

  void StartPointwise() {
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
      if (!IsGroupable(**it) || GroupOf(*it) != kNone) continue;
      ExtendBackward(Start(*it));
    }
  }

  // The first node in graph order outside of `group` that uses one of its values, or nullptr.
  Node* FirstUserOutside(int group) {
    Node* first = nullptr;
    for (const Node* node : groups_[group].nodes) {
      for (int i = 0; i < node->num_outputs(); ++i) {
        for (Node* user : node->output(i)->users()) {
          if (GroupOf(user) != group && (first == nullptr || Order(user) < Order(first))) first = user;
        }
      }
    }
    return first;
  }

  bool IsUsedOutside(const Node& node, int group) {
    for (int i = 0; i < node.num_outputs(); ++i) {
      const Value* output = node.output(i);
      if (graph_outputs_.contains(output)) return true;
      for (const Node* user : output->users()) {
        if (GroupOf(user) != group) return true;
      }
    }
    return false;
  }

  bool HasOneExit(int group) {
    const std::vector<Node*>& nodes = groups_[group].nodes;
    return std::count_if(nodes.begin(), nodes.end(),
                         [&](const Node* node) { return IsUsedOutside(*node, group); }) == 1;
  }

  bool IsWithinLimits(int group, const std::vector<Node*>& more = {}) {
    const auto is_inside = [&](const Node& node) {
      return GroupOf(&node) == group || std::find(more.begin(), more.end(), &node) != more.end();
    };
    FormulaSizes sizes(is_inside);
    std::unordered_set<const Value*> inputs;
    bool formulas_fit = true;
    const auto count = [&](const std::vector<Node*>& nodes) {
      for (const Node* node : nodes) {
        formulas_fit &= sizes.Of(*node) <= kMaxFormulaSize;
        for (const Value* input : node->inputs()) {
          if (input == nullptr) continue;
          const bool inside = input->producer() != nullptr && is_inside(*input->producer());
          const bool scalar = input->constant() != nullptr && input->constant()->num_elements() == 1;
          if (!inside && !scalar) inputs.insert(input);
        }
      }
    };
    count(groups_[group].nodes);
    count(more);
    return formulas_fit && inputs.size() <= static_cast<size_t>(options_.max_inputs) &&
           groups_[group].nodes.size() + more.size() <= static_cast<size_t>(options_.max_nodes);
  }

  const std::vector<Dim>& GroupDims(int group) const { return groups_[group].anchor->output()->type().dims; }

  // Adds the fewest following pointwise nodes, in graph order, with which the group has one exit again.
  // In this order a node is added after everything that leads to it, so that a value with a use that
  // cannot be added is known to stay a second exit.
  bool ExtendForward(int group) {
    std::vector<Node*>& nodes = groups_[group].nodes;
    const size_t size = nodes.size();
    while (nodes.size() < size + kMaxJoin) {
      Node* next = FirstUserOutside(group);
      if (next == nullptr || !IsGroupable(*next) || GroupOf(next) != kNone || !IsPointwise(*next) ||
          next->output()->type().dims != GroupDims(group)) {
        break;
      }
      nodes.push_back(next);
      GroupOf(next) = group;
      if (HasOneExit(group)) {
        if (IsWithinLimits(group)) return true;
        break;
      }
    }
    while (nodes.size() > size) {
      GroupOf(nodes.back()) = kNone;
      nodes.pop_back();
    }
    return false;
  }

  // Adds the pointwise producers of the group's shape that only the group uses, and theirs.
  void ExtendBackward(int group) {
    for (size_t i = 0; i < groups_[group].nodes.size(); ++i) {
      for (const Value* input : groups_[group].nodes[i]->inputs()) {
        Node* producer = input == nullptr ? nullptr : input->producer();
        if (producer == nullptr || !IsGroupable(*producer) || GroupOf(producer) != kNone ||
            !IsPointwise(*producer) || producer->output()->type().dims != GroupDims(group) ||
            IsUsedOutside(*producer, group) || !IsWithinLimits(group, {producer})) {
          continue;
        }
        groups_[group].nodes.push_back(producer);
        GroupOf(producer) = group;
      }
    }
  }

  // Whether `group`, of pointwise nodes alone, may be computed within the group `into`, where all users of
  // its exit are: by the anchor, or by pointwise nodes over the same shape.
  bool MayJoin(int group, int into) {
    const Node* anchor = groups_[into].anchor;
    const Node* exit = groups_[group].anchor;
    bool by_anchor = false;
    bool by_others = false;
    for (const Node* user : exit->output()->users()) (user == anchor ? by_anchor : by_others) = true;
    if (by_anchor == by_others) return false;
    if (by_others) {
      return options_.epilogues && TakesEpilogue(*anchor) && exit->output()->type().dims == GroupDims(into);
    }
    const std::vector<Node*>& nodes = groups_[group].nodes;
    // A normalization computes the operators before it in each of its passes over its input.
    const bool normalization = GetOpInfo(anchor->op()).category == OpCategory::kNormalization;
    return options_.prologues && TakesPrologue(*anchor) &&
           (!normalization ||
            std::ranges::all_of(nodes, [](const Node* n) { return GetOpInfo(n->op()).cheap; }));
  }

  // The one group that uses the results of `group`, or kNone.
  int OnlyUser(int group) {
    const Value* result = groups_[group].anchor->output();
    if (graph_outputs_.contains(result) || result->users().empty()) return kNone;
    const int user = GroupOf(result->users().front());
    return user == kNone || IsUsedOutside(*result->producer(), user) ? kNone : user;
  }

  void JoinPointwise() {
    for (int group = 0; group < static_cast<int>(groups_.size()); ++group) {
      if (!IsPointwise(*groups_[group].anchor)) continue;
      const int into = OnlyUser(group);
      if (into == kNone || IsPointwise(*groups_[into].anchor) || !MayJoin(group, into) ||
          !IsWithinLimits(into, groups_[group].nodes)) {
        continue;
      }
      for (Node* node : groups_[group].nodes) {
        groups_[into].nodes.push_back(node);
        GroupOf(node) = into;
      }
      groups_[group].nodes.clear();
    }
  }

  std::vector<FusionGroup> Finish() {
    const auto before = [this](const Node* a, const Node* b) { return Order(a) < Order(b); };
    std::vector<FusionGroup> result;
    for (FusionGroup& group : groups_) {
      if (group.nodes.empty()) continue;
      std::sort(group.nodes.begin(), group.nodes.end(), before);
      result.push_back(std::move(group));
    }
    std::sort(result.begin(), result.end(), [&](const FusionGroup& a, const FusionGroup& b) {
      return before(a.nodes.back(), b.nodes.back());
    });
    return result;
  }

  FusionOptions options_;
  std::vector<Node*> nodes_;  // in graph order
  std::unordered_map<const Node*, int> order_;
  std::vector<int> group_of_;  // by order
  std::unordered_set<const Value*> graph_outputs_;
  std::vector<FusionGroup> groups_;  // nodes not in order
};

}  // namespace

bool TakesEpilogue(const Node& node) {
  return node.num_outputs() == 1 && GetOpInfo(node.op()).fuses != Fusing::kNothing;
}

bool TakesPrologue(const Node& node) {
  const bool is_pool = node.op() == Op::kMaxPool || node.op() == Op::kAvgPool;
  if (is_pool && (node.num_outputs() != 1 || WindowsOverlap(node))) return false;
  return GetOpInfo(node.op()).fuses == Fusing::kBoth;
}

std::vector<FusionGroup> PartitionForFusion(const Graph& graph, const FusionOptions& options) {
  return Partitioner(graph, options).Run();
}

}  // namespace attune
