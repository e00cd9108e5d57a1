// Control flow with single operators. A Switch passes its input to one of two sides; a Merge takes the
// input that arrives. In a loop, Enter passes values in, and each step goes from Merge through Switch to
// NextIteration, until the condition makes Switch send them to Exit.
#include "import/tensorflow/importer.h"
#include "import/tensorflow/loop.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

Reference InputOf(const NodeDef& node) {
  const std::vector<Reference> inputs = DataInputs(node);
  if (inputs.empty()) Invalid("'", node.name(), "' has no input");
  return inputs[0];
}

// The scope of one step. `carried` has the loop's variables, then its constants.
Scope StepScope(const Scope& outer, const LoopFrame& frame, Graph* graph, const Outputs& carried) {
  Scope step{.outer = &outer,
             .graph = graph,
             .body = outer.body,
             .attributes = outer.attributes,
             .prefix = outer.prefix};
  const size_t variables = frame.variables.size();
  for (size_t i = 0; i < variables; ++i) {
    step.results[frame.variables[i].merge->name()].outputs = {carried[i]};
  }
  for (size_t i = 0; i < frame.constants.size(); ++i) {
    step.results[frame.constants[i]->name()].outputs = {carried[variables + i]};
  }
  return step;
}

// In the body, both sides of a Switch on the condition are the value itself.
void BindSwitches(Scope& step, const LoopFrame& frame, const Outputs& carried) {
  for (size_t i = 0; i < frame.variables.size(); ++i) {
    for (const NodeDef* node : frame.variables[i].switches) {
      step.results[node->name()].outputs = {carried[i], carried[i]};
    }
  }
}

LoopSteps StepsOf(OpContext& c, const LoopFrame& frame) {
  const Scope& outer = c.scope();
  Importer& importer = c.importer();
  LoopSteps loop;
  loop.condition = [&outer, &frame, &importer](Graph* graph, const Outputs& carried) {
    Scope step = StepScope(outer, frame, graph, carried);
    const Binding condition = importer.Demand(InputOf(*frame.condition), step);
    RequireAll({condition});
    if (condition.value == nullptr) Invalid("the loop's condition is not a tensor");
    return condition.value;
  };
  loop.body = [&outer, &frame, &importer](Graph* graph, const Outputs& carried) {
    Scope step = StepScope(outer, frame, graph, carried);
    BindSwitches(step, frame, carried);
    Outputs next = carried;
    for (size_t i = 0; i < frame.variables.size(); ++i) {
      next[i] = importer.Demand(InputOf(*frame.variables[i].next), step);
    }
    RequireAll(next);
    return next;
  };
  loop.invariant.assign(frame.variables.size(), false);
  loop.invariant.resize(frame.variables.size() + frame.constants.size(), true);
  return loop;
}

}  // namespace

// Runs the whole loop for the first of its Exits that is needed.
Outputs ExitLoop(OpContext& c) {
  Scope& outer = c.scope();
  const LoopFrame& frame = outer.body->FrameOf(c.node());
  Outputs carried;
  for (const LoopVariable& variable : frame.variables) {
    carried.push_back(c.importer().Demand(InputOf(*variable.enter), outer));
  }
  for (const NodeDef* enter : frame.constants) carried.push_back(c.importer().Demand(InputOf(*enter), outer));
  RequireAll(carried);
  const Outputs results = RunLoop(c, StepsOf(c, frame), carried);
  Outputs own;
  for (size_t i = 0; i < frame.variables.size(); ++i) {
    for (const NodeDef* exit : frame.variables[i].exits) {
      outer.results[exit->name()].outputs = {results[i]};
      if (exit == &c.node()) own = {results[i]};
    }
  }
  return own;
}

// The input arrives at side 0 if the condition is false, at side 1 if it is true.
Outputs Switch(OpContext& c) {
  const Tensor condition = c.Known(c.In(1), "condition");
  if (condition.num_elements() != 1) Invalid("its condition must be a single truth value");
  Outputs sides = {c.BindingOf(0), c.BindingOf(0)};
  Binding dead;
  dead.dead = true;
  sides[condition.ToDouble(0) != 0 ? 0 : 1] = dead;
  return sides;
}

Outputs Merge(OpContext& c) {
  int taken = -1;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.BindingOf(i).dead) continue;
    if (taken >= 0) Unsupported("more than one of its inputs arrives");
    taken = i;
  }
  if (taken < 0) {
    Binding dead;
    dead.dead = true;
    return {dead, dead};
  }
  return {c.BindingOf(taken), c.Scalar(DType::kI32, taken)};
}

}  // namespace attune::tensorflow
