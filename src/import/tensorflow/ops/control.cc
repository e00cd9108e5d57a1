// Control flow with functions: calls, branches and loops.
#include <algorithm>

#include "import/tensorflow/importer.h"
#include "import/tensorflow/loop.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

Outputs Arguments(OpContext& c, int first) {
  return Outputs(c.bindings().begin() + std::min(first, c.num_inputs()), c.bindings().end());
}

// A single number is true unless it is 0; any other tensor is true unless it is empty.
bool IsTrue(const Tensor& condition) {
  return condition.num_elements() == 1 ? condition.ToDouble(0) != 0 : condition.num_elements() > 0;
}

// The branch as a region, with an input for each argument that is not a constant.
std::unique_ptr<Graph> BranchRegion(OpContext& c, const NameAttrList& function, const Outputs& arguments) {
  Graph* region = c.importer().NewRegion(function.name());
  Outputs inside;
  for (const Binding& argument : arguments) {
    if (argument.items != nullptr) Unsupported("a list of tensors in a branch that depends on data");
    Binding inner = argument;
    if (argument.value != nullptr && argument.value->constant() != nullptr) {
      inner = region->AddConstant(*argument.value->constant());
    } else if (argument.value != nullptr) {
      inner = region->AddInput(absl::StrCat("argument", region->inputs().size()), argument.value->type());
      c.importer().evaluator().SetAlias(inner.value, argument.value);
    }
    inside.push_back(inner);
  }
  const Outputs outputs = c.Call(function, std::move(inside), region);
  RequireAll(outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].value == nullptr) Unsupported("a branch that gives something other than a tensor");
    region->AddOutput(absl::StrCat("result", i), outputs[i].value);
  }
  return region->Clone();
}

Outputs KeepIf(OpContext& c) {
  const Outputs arguments = Arguments(c, 1);
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(BranchRegion(c, c.FunctionAttribute("then_branch"), arguments));
  regions.push_back(BranchRegion(c, c.FunctionAttribute("else_branch"), arguments));
  std::vector<Value*> operands = {c.Reshape(c.Cast(c.In(0), DType::kBool), {})};
  for (const Binding& argument : arguments) {
    if (argument.value != nullptr && argument.value->constant() == nullptr)
      operands.push_back(argument.value);
  }
  Node* node = c.EmitNode(Op::kIf, std::move(operands), {}, -1, std::move(regions));
  Outputs results;
  for (int i = 0; i < node->num_outputs(); ++i) results.emplace_back(node->output(i));
  return results;
}

Value* Tensorize(const Outputs& outputs) {
  RequireAll(outputs);
  if (outputs.size() != 1 || outputs[0].value == nullptr) Invalid("its condition is not a single tensor");
  return outputs[0].value;
}

}  // namespace

Outputs PartitionedCall(OpContext& c) { return c.Call(c.FunctionAttribute("f"), c.bindings(), c.graph()); }

// If the condition depends on data, both branches are kept. If that fails (one branch does not fit the
// actual shapes, or they disagree about them), the condition determines shapes, and may follow from the
// inputs' values.
Outputs If(OpContext& c) {
  const auto inline_branch = [&c](const Tensor& condition) {
    return c.Call(c.FunctionAttribute(IsTrue(condition) ? "then_branch" : "else_branch"), Arguments(c, 1),
                  c.graph());
  };
  if (const std::optional<Tensor> known = c.KnownConstant(c.In(0))) return inline_branch(*known);
  importing::NotSupportedList& reports = c.importer().not_supported();
  Outputs results;
  const std::optional<ImportFailure> failure = reports.Try([&] { results = KeepIf(c); });
  if (!failure) return results;
  std::optional<Tensor> condition;
  if (reports.Try([&] { condition = c.Known(c.In(0), "condition"); })) throw *failure;
  return inline_branch(*condition);
}

// An index out of range selects the last branch.
Outputs Case(OpContext& c) {
  const AttrValue* attribute = c.Find("branches");
  if (attribute == nullptr || attribute->list().func().empty()) Invalid("it has no branches");
  const auto& branches = attribute->list().func();
  int64_t index = c.KnownInt(c.In(0), "branch index");
  if (index < 0 || index >= branches.size()) index = branches.size() - 1;
  return c.Call(branches.Get(static_cast<int>(index)), Arguments(c, 1), c.graph());
}

Outputs While(OpContext& c) {
  const NameAttrList& condition = c.FunctionAttribute("cond");
  const NameAttrList& body = c.FunctionAttribute("body");
  LoopSteps loop;
  loop.condition = [&](Graph* graph, const Outputs& carried) {
    return Tensorize(c.Call(condition, carried, graph));
  };
  loop.body = [&](Graph* graph, const Outputs& carried) {
    Outputs next = c.Call(body, carried, graph);
    RequireAll(next);
    return next;
  };
  loop.invariant = c.importer().functions().HandedThrough(body.name());
  loop.invariant.resize(c.bindings().size());
  return RunLoop(c, loop, c.bindings());
}

}  // namespace attune::tensorflow
