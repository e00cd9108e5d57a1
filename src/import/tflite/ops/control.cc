// Subgraphs: calls are expanded; conditions and loops that depend on data become regions.
#include <memory>
#include <utility>

#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

std::vector<Value*> InputsFrom(OpContext& c, int first) {
  std::vector<Value*> values;
  for (int i = first; i < c.num_inputs(); ++i) values.push_back(c.Stored(i));
  return values;
}

std::vector<Value*> AddInputs(Graph* region, const std::vector<Value*>& like) {
  std::vector<Value*> inputs;
  for (const Value* value : like) {
    inputs.push_back(region->AddInput(absl::StrCat("in", inputs.size()), value->type()));
  }
  return inputs;
}

void AddOutputs(Graph* region, const std::vector<Value*>& values) {
  for (Value* value : values) region->AddOutput(absl::StrCat("out", region->outputs().size()), value);
}

Outputs OutputsOf(Node* node, size_t count) {
  Outputs outputs;
  for (size_t i = 0; i < count; ++i) outputs.push_back(node->output(static_cast<int>(i)));
  return outputs;
}

// A branch as a region. Constants of this graph stay constants inside, so that shapes may depend on them.
std::unique_ptr<Graph> Branch(OpContext& c, int subgraph, const std::vector<Value*>& outer) {
  Graph* region = c.NewRegion(absl::StrCat("subgraph", subgraph));
  std::vector<Value*> inputs = AddInputs(region, outer);
  for (size_t i = 0; i < outer.size(); ++i) {
    if (const Tensor* data = outer[i]->constant()) {
      inputs[i] = region->AddConstant(*data);
    } else {
      c.SetAlias(inputs[i], outer[i]);
    }
  }
  AddOutputs(region, c.Inline(subgraph, region, inputs));
  return region->Clone();
}

Outputs KeepIf(OpContext& c, int then_subgraph, int else_subgraph) {
  const std::vector<Value*> inputs = InputsFrom(c, 1);
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(Branch(c, then_subgraph, inputs));
  regions.push_back(Branch(c, else_subgraph, inputs));
  std::vector<Value*> operands = {c.Reshape(c.Stored(0), {})};
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  Node* node = c.EmitNode(Op::kIf, std::move(operands), {}, -1, std::move(regions));
  return OutputsOf(node, static_cast<size_t>(node->num_outputs()));
}

// Whether the body passes input i through.
bool Forwards(const schema::SubGraph& body, uint32_t i) {
  return i < SizeOf(body.inputs()) && i < SizeOf(body.outputs()) &&
         body.inputs()->Get(i) == body.outputs()->Get(i);
}

// (iteration, condition, carried…) → (condition, carried…). A value that every step passes through has the
// same value inside the loop as before it.
std::unique_ptr<Graph> LoopBody(OpContext& c, const schema::WhileOptions& options,
                                const std::vector<Value*>& carried) {
  const int subgraph = options.body_subgraph_index();
  if (subgraph < 0 || subgraph >= c.model().num_subgraphs()) Invalid("there is no subgraph ", subgraph);
  Graph* region = c.NewRegion(absl::StrCat("subgraph", subgraph));
  region->AddInput("iteration", TensorType(DType::kI64, Shape{}));
  region->AddInput("condition", TensorType(DType::kBool, Shape{}));
  const std::vector<Value*> given = AddInputs(region, carried);
  std::vector<Value*> inputs = given;
  for (size_t i = 0; i < carried.size(); ++i) {
    if (!Forwards(c.model().subgraph(subgraph), static_cast<uint32_t>(i))) continue;
    c.SetAlias(given[i], carried[i]);
    if (const Tensor* data = carried[i]->constant()) inputs[i] = region->AddConstant(*data);
  }
  std::vector<Value*> results = c.Inline(subgraph, region, inputs);
  if (results.size() != carried.size())
    Invalid("its body has ", results.size(), " outputs for ", carried.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == inputs[i]) results[i] = given[i];
  }
  std::vector<Value*> again = results;
  for (size_t i = 0; i < again.size(); ++i) {
    if (results[i] == given[i]) again[i] = inputs[i];
  }
  const std::vector<Value*> condition = c.Inline(options.cond_subgraph_index(), region, again);
  if (condition.size() != 1) Invalid("its condition has ", condition.size(), " outputs");
  region->AddOutput("again", c.Within(region).Reshape(condition[0], {}));
  AddOutputs(region, results);
  return region->Clone();
}

}  // namespace

// If the condition is known, imports its branch. Otherwise both branches are kept. If that fails (one does
// not fit the actual shapes, or they disagree about them), the condition may follow from the inputs'
// values.
Outputs If(OpContext& c) {
  const auto& options = c.Options<schema::IfOptions>();
  const auto inline_branch = [&](const Tensor& condition) {
    if (condition.num_elements() != 1) Invalid("its condition must be a single truth value");
    const bool then = condition.ToDouble(0) != 0;
    return c.Inline(then ? options.then_subgraph_index() : options.else_subgraph_index(), c.graph(),
                    InputsFrom(c, 1));
  };
  if (const std::optional<Tensor> known = c.KnownConstant(c.Stored(0))) return inline_branch(*known);
  Outputs results;
  const std::optional<ImportFailure> failure =
      c.Try([&] { results = KeepIf(c, options.then_subgraph_index(), options.else_subgraph_index()); });
  if (!failure) return results;
  std::optional<Tensor> condition;
  if (c.Try([&] { condition = c.Known(c.Stored(0), "condition"); })) throw *failure;
  return inline_branch(*condition);
}

// Runs the body as long as the condition, which is tested first, holds.
Outputs While(OpContext& c) {
  const auto& options = c.Options<schema::WhileOptions>();
  const std::vector<Value*> carried = InputsFrom(c, 0);
  const std::vector<Value*> first = c.Inline(options.cond_subgraph_index(), c.graph(), carried);
  if (first.size() != 1) Invalid("its condition has ", first.size(), " outputs");
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(LoopBody(c, options, carried));
  std::vector<Value*> operands = {c.Integer(INT64_MAX), c.Reshape(first[0], {})};
  operands.insert(operands.end(), carried.begin(), carried.end());
  Node* node = c.EmitNode(Op::kLoop, std::move(operands), {}, -1, std::move(regions));
  return OutputsOf(node, carried.size());
}

Outputs Call(OpContext& c) {
  const uint32_t subgraph = c.Options<schema::CallOptions>().subgraph();
  if (subgraph >= static_cast<uint32_t>(c.model().num_subgraphs()))
    Invalid("there is no subgraph ", subgraph);
  return c.Inline(static_cast<int>(subgraph), c.graph(), InputsFrom(c, 0));
}

// An operator for which the file also contains a subgraph.
Outputs Composite(OpContext& c) {
  const schema::StableHLOCompositeOptions* options =
      c.node().builtin_options_2_as_StableHLOCompositeOptions();
  if (options == nullptr) Invalid("it does not name its subgraph");
  return c.Inline(options->decomposition_subgraph_index(), c.graph(), InputsFrom(c, 0));
}

}  // namespace attune::tflite
