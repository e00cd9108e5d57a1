#include "import/tensorflow/body.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace attune::tensorflow {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// No node has as many outputs. Sums of an index in range and the number of outputs of other lists do not
// overflow.
constexpr int kMaxIndex = 1 << 24;

int ParseIndex(std::string_view digits, std::string_view whole) {
  int index = 0;
  if (!IsNumber(digits) || !absl::SimpleAtoi(digits, &index) || index > kMaxIndex) {
    Invalid("'", whole, "' names no output");
  }
  return index;
}

}  // namespace

Reference ParseReference(std::string_view text) {
  Reference reference;
  if (text.substr(0, 1) == "^") {
    reference.control = true;
    reference.node = text.substr(1);
    return reference;
  }
  const size_t colon = text.find(':');
  reference.node = text.substr(0, colon);
  if (colon == std::string_view::npos) return reference;
  const std::string_view rest = text.substr(colon + 1);
  const size_t second = rest.find(':');
  if (second == std::string_view::npos && IsNumber(rest)) {
    reference.index = ParseIndex(rest, text);
    return reference;
  }
  reference.output = rest.substr(0, second);
  if (second != std::string_view::npos) reference.index = ParseIndex(rest.substr(second + 1), text);
  return reference;
}

bool IsOp(const NodeDef& node, std::string_view op) {
  const std::string_view own = node.op();
  return own == op || (own.substr(0, 3) == "Ref" && own.substr(3) == op);
}

std::vector<Reference> DataInputs(const NodeDef& node) {
  std::vector<Reference> inputs;
  for (const std::string& input : node.input()) {
    const Reference reference = ParseReference(input);
    if (!reference.control) inputs.push_back(reference);
  }
  return inputs;
}

Body::Body(const NodeList& nodes) : nodes_(nodes) {
  bool loops = false;
  for (const NodeDef& node : nodes) {
    if (!by_name_.emplace(node.name(), &node).second) Invalid("two nodes are named '", node.name(), "'");
    loops |= IsOp(node, "Enter");
  }
  if (loops) FindLoops();
}

const NodeDef* Body::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it != by_name_.end() ? it->second : nullptr;
}

const NodeDef* Body::Producer(const NodeDef& node, int i) const {
  const std::vector<Reference> inputs = DataInputs(node);
  return i < static_cast<int>(inputs.size()) ? Find(inputs[i].node) : nullptr;
}

const LoopFrame& Body::FrameOf(const NodeDef& exit) const {
  const auto it = frame_of_exit_.find(&exit);
  if (it == frame_of_exit_.end()) Invalid("the node '", exit.name(), "' leaves no loop");
  return *it->second;
}

// The frame_name of their Enters identifies frames.
void Body::FindLoops() {
  std::unordered_map<const NodeDef*, LoopFrame*> frame_of;  // of Enters, Merges and Switches
  for (const NodeDef& node : nodes_) {
    if (!IsOp(node, "Enter")) continue;
    const auto name = node.attr().find("frame_name");
    if (name != node.attr().end()) frame_of[&node] = &frames_[name->second.s()];
  }
  FindMerges(frame_of);
  FindSwitches(frame_of);
}

void Body::FindMerges(std::unordered_map<const NodeDef*, LoopFrame*>& frame_of) {
  std::unordered_set<const NodeDef*> merged;
  for (const NodeDef& node : nodes_) {
    if (!IsOp(node, "Merge")) continue;
    const NodeDef* enter = Producer(node, 0);
    const NodeDef* next = Producer(node, 1);
    if (enter != nullptr && next != nullptr && IsOp(*next, "Enter")) std::swap(enter, next);
    const auto frame = frame_of.find(enter);
    if (frame == frame_of.end() || next == nullptr || !IsOp(*next, "NextIteration")) continue;
    LoopVariable variable;
    variable.enter = enter;
    variable.merge = &node;
    variable.next = next;
    frame->second->variables.push_back(std::move(variable));
    frame_of[&node] = frame->second;
    merged.insert(enter);
  }
  for (const NodeDef& node : nodes_) {
    const auto frame = frame_of.find(&node);
    if (IsOp(node, "Enter") && frame != frame_of.end() && !merged.contains(&node)) {
      frame->second->constants.push_back(&node);
    }
  }
}

void Body::FindSwitches(const std::unordered_map<const NodeDef*, LoopFrame*>& frame_of) {
  std::unordered_map<const NodeDef*, LoopVariable*> by_merge;
  for (auto& [name, frame] : frames_) {
    for (LoopVariable& variable : frame.variables) by_merge[variable.merge] = &variable;
  }
  std::unordered_map<const NodeDef*, LoopVariable*> by_switch;
  for (const NodeDef& node : nodes_) {
    const NodeDef* condition = IsOp(node, "Switch") ? Producer(node, 1) : nullptr;
    const auto variable = condition != nullptr ? by_merge.find(Producer(node, 0)) : by_merge.end();
    if (variable == by_merge.end() || condition->op() != "LoopCond") continue;
    variable->second->switches.push_back(&node);
    by_switch[&node] = variable->second;
    frame_of.at(variable->first)->condition = condition;
  }
  for (const NodeDef& node : nodes_) {
    const auto variable = IsOp(node, "Exit") ? by_switch.find(Producer(node, 0)) : by_switch.end();
    if (variable == by_switch.end()) continue;
    variable->second->exits.push_back(&node);
    frame_of_exit_[&node] = frame_of.at(variable->second->merge);
  }
}

bool IsPivot(const Body& body, std::string_view name) {
  const NodeDef* node = body.Find(name);
  if (node == nullptr || node->op() != "Identity") return false;
  const NodeDef* source = body.Producer(*node, 0);
  return source != nullptr && IsOp(*source, "Switch");
}

std::vector<std::string_view> NeededNodes(const NodeDef& node, const Body& body) {
  std::vector<std::string_view> needs;
  if (IsOp(node, "Exit")) {
    const LoopFrame& frame = body.FrameOf(node);
    const auto add_inputs = [&needs](const NodeDef& enter) {
      for (const Reference& input : DataInputs(enter)) needs.push_back(input.node);
    };
    for (const LoopVariable& variable : frame.variables) add_inputs(*variable.enter);
    for (const NodeDef* enter : frame.constants) add_inputs(*enter);
    return needs;
  }
  for (const std::string& input : node.input()) {
    const Reference reference = ParseReference(input);
    if (!reference.control || IsPivot(body, reference.node)) needs.push_back(reference.node);
  }
  return needs;
}

}  // namespace attune::tensorflow
