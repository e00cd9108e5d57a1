// The nodes of a graph or of a function, by name, and the loops among them.
#ifndef ATTUNE_IMPORT_TENSORFLOW_BODY_H_
#define ATTUNE_IMPORT_TENSORFLOW_BODY_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/tensorflow/vocabulary.h"

namespace attune::tensorflow {

using NodeList = google::protobuf::RepeatedPtrField<NodeDef>;

// How a node names what it uses: "node", "node:1"; in a function "node:output:1", "argument"; "^node" is
// what must only have run before.
struct Reference {
  std::string_view node;
  std::string_view output;  // the name of one of the node's output lists; empty: all outputs are meant
  int index = 0;            // in that list
  bool control = false;
};
Reference ParseReference(std::string_view text);

// A variable of a loop made of single operators: Enter → Merge ← NextIteration, Merge → Switch → Exit.
struct LoopVariable {
  const NodeDef* enter = nullptr;
  const NodeDef* merge = nullptr;
  const NodeDef* next = nullptr;
  std::vector<const NodeDef*> switches;
  std::vector<const NodeDef*> exits;
};

struct LoopFrame {
  std::vector<LoopVariable> variables;
  std::vector<const NodeDef*> constants;  // the Enters of what does not change
  const NodeDef* condition = nullptr;     // LoopCond
};

// Points into the messages that it is made of. Members throw ImportFailure.
class Body {
 public:
  explicit Body(const NodeList& nodes);
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  const NodeList& nodes() const { return nodes_; }
  // nullptr: there is none of this name.
  const NodeDef* Find(std::string_view name) const;
  // The node that makes input i of `node`; nullptr where it is an argument or missing.
  const NodeDef* Producer(const NodeDef& node, int i) const;
  // The loop that an Exit leaves.
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

// Placeholder, Switch, Enter, …: whether `node` is of this operator, or of the one on references to
// variables.
bool IsOp(const NodeDef& node, std::string_view op);

// The tensors among the inputs, without what must only have run before.
std::vector<Reference> DataInputs(const NodeDef& node);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_BODY_H_
