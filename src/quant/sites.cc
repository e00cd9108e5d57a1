#include "quant/sites.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "graph/node_rules.h"
#include "opt/rewrite.h"
#include "quant/layers.h"

namespace attune::quant {
namespace {

constexpr int kFeatureMapRank = 4;

bool IsF32(const Value* value) {
  return value != nullptr && value->type().dtype == DType::kF32 && value->constant() == nullptr;
}

// The number of leading inputs whose elements the node's output consists of.
int NumMoved(const Node& node) {
  switch (node.op()) {
    case Op::kBroadcast:
    case Op::kReverseSequence:
    case Op::kGather:
    case Op::kReduceMax:
    case Op::kReduceMin:
      return 0;
    default:
      return NumMovedInputs(node);
  }
}

bool IsMover(const Node& node) {
  const int moved = NumMoved(node);
  for (int i = 0; i < moved; ++i) {
    if (!IsF32(node.input(i))) return false;
  }
  return moved > 0;
}

// Operators that read whole feature maps from memory.
bool IsPool(const Node& node) {
  switch (node.op()) {
    case Op::kAvgPool:
    case Op::kReduceMean:
    case Op::kReduceMax:
    case Op::kResize:
      return true;
    case Op::kMaxPool:
      return node.num_outputs() == 1;
    default:
      return false;
  }
}

bool IsFeatureMap(const Value* value) {
  if (value->type().rank() == kFeatureMapRank) return true;
  return std::ranges::any_of(value->users(), [](const Node* user) { return user->op() == Op::kConv; });
}

// Whether it is a sum, product, … of two feature maps with the same shape.
bool JoinsMaps(const Node& node) {
  return GetOpInfo(node.op()).category == OpCategory::kBinary && IsF32(node.input(0)) &&
         IsF32(node.input(1)) && node.input(0)->type() == node.input(1)->type() &&
         node.output()->type().rank() == kFeatureMapRank && node.output()->type().dtype == DType::kF32;
}

// The same for any other operand, such as a factor for each channel.
bool ChangesMap(const Node& node, const Value& map) {
  return GetOpInfo(node.op()).category == OpCategory::kBinary && map.type().rank() == kFeatureMapRank &&
         node.output()->type() == map.type();
}

class SiteFinder {
 public:
  SiteFinder(const Graph& graph, const std::set<const Node*>& layers) : graph_(graph), layers_(layers) {
    int position = 0;
    for (const auto& node : graph.nodes()) position_[node.get()] = position++;
  }

  Sites Find() {
    std::map<const Node*, int> site_of_layer;
    for (const auto& node : graph_.nodes()) {
      if (layers_.contains(node.get())) site_of_layer[node.get()] = SourceOf(node->input(0));
    }
    for (const auto& node : graph_.nodes()) {
      if (JoinsMaps(*node)) AddOperand(*node);
      if (IsPool(*node) && IsF32(node->input(0)) && node->input(0)->type().rank() == kFeatureMapRank &&
          ComesFromLayers(node->input(0))) {
        SourceOf(node->input(0));
      }
    }
    return Finish(site_of_layer);
  }

 private:
  // Makes sites of the values from which the elements of `value` come. Returns one of them; all are in the
  // same group.
  int SourceOf(Value* value) {
    Node* node = value->producer();
    const bool is_seen_alone = OnlyUser(graph_, value) != nullptr;
    if (node == nullptr || !IsMover(*node) || !(IsFeatureMap(value) || is_seen_alone)) return SiteOf(value);
    const auto known = source_of_.find(value);
    if (known != source_of_.end()) return known->second;
    movers_.insert(node);
    const int first = SourceOf(node->input(0));
    for (int i = 1; i < NumMoved(*node); ++i) Join(first, SourceOf(node->input(i)));
    return source_of_[value] = first;
  }

  int SiteOf(Value* value) {
    const auto [it, is_new] = site_of_.emplace(value, static_cast<int>(values_.size()));
    if (is_new) {
      values_.push_back(value);
      parent_.push_back(it->second);
    }
    return it->second;
  }

  int Root(int site) const {
    while (parent_[static_cast<size_t>(site)] != site) site = parent_[static_cast<size_t>(site)];
    return site;
  }
  void Join(int a, int b) { parent_[static_cast<size_t>(Root(b))] = Root(a); }

  bool IsStored(const Value* value) const { return site_of_.contains(value) || source_of_.contains(value); }

  // Whether the value is computed from the result of an integer layer, or of a sum of such results, element
  // by element.
  bool ComesFromLayers(const Value* value) const {
    std::vector<const Value*> pending = {value};
    std::set<const Value*> seen;
    while (!pending.empty()) {
      const Value* v = pending.back();
      pending.pop_back();
      const Node* node = v == nullptr ? nullptr : v->producer();
      if (node == nullptr || !seen.insert(v).second) continue;
      if (layers_.contains(node)) return true;
      const bool is_moved = IsElementwise(node->op()) || IsMover(*node) || node->op() == Op::kAvgPool;
      if (is_moved) pending.insert(pending.end(), node->inputs().begin(), node->inputs().end());
    }
    return false;
  }

  // Stores one operand of a sum: if neither is stored yet, the earlier one.
  void AddOperand(const Node& sum) {
    Value* a = sum.input(0);
    Value* b = sum.input(1);
    if (a == b || IsStored(a) || IsStored(b) || !(ComesFromLayers(a) || ComesFromLayers(b))) return;
    const auto place = [this](const Value* v) { return v->is_input() ? -1 : position_.at(v->producer()); };
    SourceOf(place(a) < place(b) ? a : b);
  }

  bool Takes(const Node* user, const Value* value) const {
    if (layers_.contains(user)) return user->input(0) == value;
    if (movers_.contains(user)) return true;
    return IsFeatureMap(value) && (IsMover(*user) || IsPool(*user) || ChangesMap(*user, *value));
  }

  Sites Finish(const std::map<const Node*, int>& site_of_layer) {
    Sites result;
    std::map<int, int> group_of_root;
    const auto group = [&](int site) {
      const auto [it, is_new] = group_of_root.emplace(Root(site), result.num_groups);
      result.num_groups += is_new;
      return it->second;
    };
    std::vector<int> order(values_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [this](int site) {
      const Value* value = values_[static_cast<size_t>(site)];
      return std::pair(value->is_input() ? -1 : position_.at(value->producer()), site);
    });
    for (int site : order) {
      Value* value = values_[static_cast<size_t>(site)];
      Site found{value, {}, group(site)};
      for (Node* user : value->users()) {
        const bool is_known = std::ranges::find(found.users, user) != found.users.end();
        if (!is_known && Takes(user, value)) found.users.push_back(user);
      }
      result.sites.push_back(std::move(found));
    }
    for (const auto& [layer, site] : site_of_layer) result.group_of_layer[layer] = group(site);
    return result;
  }

  const Graph& graph_;
  const std::set<const Node*>& layers_;
  std::unordered_map<const Node*, int> position_;
  std::vector<Value*> values_;  // by site
  std::vector<int> parent_;     // a forest: sites with the same root are in the same group
  std::unordered_map<const Value*, int> site_of_;
  std::unordered_map<const Value*, int> source_of_;  // for results of movers
  std::set<const Node*> movers_;                     // movers that SourceOf looked through
};

}  // namespace

Sites FindSites(const Graph& graph, const std::set<const Node*>& layers) {
  return SiteFinder(graph, layers).Find();
}

std::vector<Value*> CandidateValues(const Graph& graph) {
  std::vector<Value*> values;
  std::set<const Value*> seen;
  const auto add = [&](Value* value) {
    if (IsF32(value) && value->type().is_static() && seen.insert(value).second) values.push_back(value);
  };
  // Backwards, so that all users of a mover's output are visited before the mover.
  std::set<const Value*> wanted;
  for (auto it = graph.nodes().rbegin(); it != graph.nodes().rend(); ++it) {
    const Node& node = **it;
    const bool is_moved = IsMover(node) && wanted.contains(node.output());
    int operands = IsLayer(node) || IsPool(node) ? 1 : 0;
    if (JoinsMaps(node)) operands = 2;
    if (is_moved) operands = NumMoved(node);
    for (int i = 0; i < operands; ++i) {
      wanted.insert(node.input(i));
      add(node.input(i));
    }
  }
  std::ranges::reverse(values);
  return values;
}

}  // namespace attune::quant
