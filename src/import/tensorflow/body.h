// The nodes of a graph or a function, by name, and the loops among them.
#ifndef ATTUNE_IMPORT_TENSORFLOW_BODY_H_
#define ATTUNE_IMPORT_TENSORFLOW_BODY_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/tensorflow/vocabulary.h"

namespace attune::tensorflow {

using NodeList = google::protobuf::RepeatedPtrField<NodeDef>;

// The name by which a node refers to its operand: "node", "node:1"; in a function, "node:output:1",
// "argument"; "^node" only has to run before.
struct Reference {
  std::string_view node;
  std::string_view output;  // the name of one of the node's output lists; empty: refers to all outputs
  int index = 0;            // index into that list
  bool control = false;
};
Reference ParseReference(std::string_view text);

// A variable of a loop made of control flow operators: Enter → Merge ← NextIteration, Merge → Switch →
// Exit.
struct LoopVariable {
  const NodeDef* enter = nullptr;
  const NodeDef* merge = nullptr;
  const NodeDef* next = nullptr;
  std::vector<const NodeDef*> switches;
  std::vector<const NodeDef*> exits;
};

struct LoopFrame {
  std::vector<LoopVariable> variables;
  std::vector<const NodeDef*> constants;  // the Enters of loop invariants
  const NodeDef* condition = nullptr;     // LoopCond
};

// Refers to the nodes that it is made from. Members throw ImportFailure.
class Body {
 public:
  explicit Body(const NodeList& nodes);
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  const NodeList& nodes() const { return nodes_; }
  // nullptr if there is no node of this name.
  const NodeDef* Find(std::string_view name) const;
  // The node that computes input i of `node`; nullptr if it is an argument or missing.
  const NodeDef* Producer(const NodeDef& node, int i) const;
  // The loop that an Exit belongs to.
  const LoopFrame& FrameOf(const NodeDef& exit) const;

 private:
  void FindLoops();
  void FindMerges(std::unordered_map<const NodeDef*, LoopFrame*>& frame_of);
  void FindSwitches(const std::unordered_map<const NodeDef*, LoopFrame*>& frame_of);

  const NodeList& nodes_;
  std::unordered_map<std::string_view, const NodeDef*> by_name_;
  std::unordered_map<std::string, LoopFrame> frames_;  // by name
  std::unordered_map<const NodeDef*, const LoopFrame*> frame_of_exit_;
};

// Whether `node` has this operator (Placeholder, Switch, Enter, …), or the one for references to variables.
bool IsOp(const NodeDef& node, std::string_view op);

// The tensors among the inputs, without nodes that only have to run before.
std::vector<Reference> DataInputs(const NodeDef& node);

// Whether a control input tells in which branch a node is: an identity of one side of a Switch.
bool IsPivot(const Body& body, std::string_view name);

// The names of the nodes and arguments that must be imported before `node`, which leaves a loop as a whole.
std::vector<std::string_view> NeededNodes(const NodeDef& node, const Body& body);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_BODY_H_
