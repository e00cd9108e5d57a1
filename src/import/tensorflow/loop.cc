#include "import/tensorflow/loop.h"

#include <algorithm>
#include <utility>

#include "import/tensorflow/importer.h"

namespace attune::tensorflow {
namespace {

// A loop with more steps is kept instead of unrolled.
constexpr int64_t kMaxUnrolledSteps = 4096;

// A carried value inside the region. Invariant constants stay constants, so that values computed from them
// are known. Lists cannot be carried, since their length would depend on data.
Binding Inside(OpContext& c, Graph* region, const Binding& outside, bool invariant) {
  if (outside.items != nullptr) {
    Unsupported("a list of tensors in a loop whose number of steps depends on data");
  }
  if (outside.value == nullptr) return outside;
  if (invariant && outside.value->constant() != nullptr)
    return region->AddConstant(*outside.value->constant());
  Value* input = region->AddInput(absl::StrCat("carried", region->inputs().size()), outside.value->type());
  if (invariant) c.importer().evaluator().SetAlias(input, outside.value);
  return input;
}

// The condition as a single bool.
Value* Condition(OpContext& c, const LoopSteps& loop, Graph* graph, const Outputs& carried) {
  Emitter emitter = c.Within(graph);
  return emitter.Reshape(emitter.Cast(loop.condition(graph, carried), DType::kBool), {});
}

bool IsInput(const Binding& binding) { return binding.value != nullptr && binding.value->is_input(); }

Outputs KeepLoop(OpContext& c, const LoopSteps& loop, const Outputs& carried) {
  Graph* region = c.importer().NewRegion(c.name());
  region->AddInput("step", TensorType(DType::kI64, Shape{}));
  region->AddInput("condition", TensorType(DType::kBool, Shape{}));
  Outputs inside;
  for (size_t i = 0; i < carried.size(); ++i) {
    inside.push_back(Inside(c, region, carried[i], loop.invariant[i]));
  }
  Outputs after = loop.body(region, inside);
  if (after.size() != carried.size()) Invalid("its body gives ", after.size(), " values of ", carried.size());
  for (size_t i = 0; i < after.size(); ++i) {
    if (loop.invariant[i]) after[i] = inside[i];
  }
  region->AddOutput("condition", Condition(c, loop, region, after));
  std::vector<Value*> operands = {c.Integer(INT64_MAX), Condition(c, loop, c.graph(), carried)};
  std::vector<size_t> slots;  // for each further operand, the index of its carried value
  for (size_t i = 0; i < carried.size(); ++i) {
    if (!IsInput(inside[i])) continue;
    if (after[i].value == nullptr) Unsupported("a carried value that stops being a tensor");
    region->AddOutput(absl::StrCat("carried", i), after[i].value);
    operands.push_back(carried[i].value);
    slots.push_back(i);
  }
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(region->Clone());
  Node* node = c.EmitNode(Op::kLoop, std::move(operands), {}, -1, std::move(regions));
  Outputs results = carried;
  for (size_t k = 0; k < slots.size(); ++k) results[slots[k]] = node->output(static_cast<int>(k));
  return results;
}

}  // namespace

void RequireAll(const Outputs& values) {
  for (const Binding& value : values) {
    if (value.failed) throw ImportFailure{absl::CancelledError("reported")};
    if (value.dead) Invalid("a value of a branch that is not taken leaves it");
  }
}

// If the condition depends on data from some step on, the earlier steps are unrolled and the rest of the
// loop is kept.
Outputs RunLoop(OpContext& c, const LoopSteps& loop, Outputs carried) {
  const Outputs initial = carried;
  for (int64_t step = 0;; ++step) {
    const std::optional<Tensor> condition = c.KnownConstant(Condition(c, loop, c.graph(), carried));
    if (!condition) return KeepLoop(c, loop, carried);
    if (condition->ToDouble(0) == 0) return carried;
    if (step == kMaxUnrolledSteps) return KeepLoop(c, loop, initial);
    Outputs next = loop.body(c.graph(), carried);
    if (next.size() != carried.size()) Invalid("its body gives ", next.size(), " values of ", carried.size());
    carried = std::move(next);
  }
}

}  // namespace attune::tensorflow
