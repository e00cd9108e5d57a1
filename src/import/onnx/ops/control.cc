// If, Loop and Scan: folded or unrolled if the condition and the number of steps are known.
#include <algorithm>
#include <cmath>

#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

// A loop with at most this many steps is unrolled.
constexpr int64_t kMaxUnrolledSteps = 4096;

std::vector<TensorType> TypesOf(const std::vector<Value*>& values) {
  std::vector<TensorType> types;
  for (const Value* value : values) types.push_back(value->type());
  return types;
}

// A single bool, of any shape, as [].
Value* Condition(OpContext& c, Value* x) { return c.Reshape(x, {}); }

// Regions that were built earlier may lack inputs for the captures of later ones.
void AddMissingInputs(Graph& region, const std::vector<Value*>& captured, size_t first) {
  for (size_t i = region.inputs().size() - first; i < captured.size(); ++i) {
    region.AddInput(absl::StrCat("captured", i), captured[i]->type());
  }
}

// Joins the values of all steps along a new axis `axis`.
Value* Stack(OpContext& c, const std::vector<Value*>& values, int64_t axis, bool reverse) {
  std::vector<Value*> parts;
  for (Value* value : values)
    parts.push_back(c.Unsqueeze(value, {Emitter::Axis(axis, value->type().rank() + 1)}));
  if (reverse) std::reverse(parts.begin(), parts.end());
  return c.Concat(parts, Emitter::Axis(axis, parts[0]->type().rank()));
}

std::vector<Binding> CarriedInputs(OpContext& c, int first) {
  std::vector<Binding> carried;
  for (int i = first; i < c.num_inputs(); ++i) carried.push_back(c.BindingOf(i));
  return carried;
}

// Body: (iteration, condition, carried…) → (condition, carried…, one scan output per step…). Runs at most
// `steps` times; if `stops`, each step's condition must be known.
Outputs UnrollLoop(OpContext& c, const GraphProto& body, int64_t steps, bool stops) {
  std::vector<Binding> carried = CarriedInputs(c, 2);
  const size_t count = carried.size();
  if (body.output_size() < static_cast<int>(count) + 1) {
    Invalid("its body has ", body.output_size(), " outputs for ", count, " carried values");
  }
  std::vector<std::vector<Value*>> scanned(body.output_size() - 1 - count);
  bool running = true;
  for (int64_t step = 0; running && step < steps; ++step) {
    if (step == kMaxUnrolledSteps) Unsupported("more than ", kMaxUnrolledSteps, " steps");
    std::vector<Binding> inputs = {c.Integer(step), c.Scalar(DType::kBool, 1)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<Binding> outputs = c.Inline(body, inputs);
    carried.assign(outputs.begin() + 1, outputs.begin() + 1 + static_cast<int64_t>(count));
    for (size_t i = 0; i < scanned.size(); ++i) scanned[i].push_back(outputs[i + 1 + count].value);
    running = !stops || c.KnownScalar(outputs[0].value, "condition") != 0;
  }
  Outputs results(carried.begin(), carried.end());
  for (const std::vector<Value*>& values : scanned) {
    if (values.empty()) Unsupported("a scan output of a loop without steps");
    results.emplace_back(Stack(c, values, 0, false));
  }
  return results;
}

// Emits a canonical loop. Values of the enclosing graph that the body uses are carried through unchanged.
Outputs KeepLoop(OpContext& c, const GraphProto& body) {
  std::vector<Value*> inputs;
  for (int i = 2; i < c.num_inputs(); ++i) inputs.push_back(c.In(i));
  if (body.output_size() != static_cast<int>(inputs.size()) + 1) {
    Unsupported("scan outputs of a loop whose number of steps depends on data");
  }
  std::vector<TensorType> types = TypesOf(inputs);
  types.insert(types.begin(), {TensorType(DType::kI64, Shape{}), TensorType(DType::kBool, Shape{})});
  std::vector<Value*> captured;
  std::unique_ptr<Graph> region = c.Region(body, types, &captured);
  const size_t first = types.size();
  for (size_t i = 0; i < captured.size(); ++i) {
    region->AddOutput(absl::StrCat("captured", i), region->inputs()[first + i].get());
  }
  std::vector<Value*> operands = {c.HasInput(0) ? c.Reshape(c.In(0), {}) : c.Integer(INT64_MAX),
                                  c.HasInput(1) ? Condition(c, c.In(1)) : c.Scalar(DType::kBool, 1)};
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  operands.insert(operands.end(), captured.begin(), captured.end());
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(std::move(region));
  Node* node = c.EmitNode(Op::kLoop, std::move(operands), {}, -1, std::move(regions));
  Outputs results;
  for (size_t i = 0; i < inputs.size(); ++i) results.emplace_back(node->output(static_cast<int>(i)));
  return results;
}

Outputs KeepIf(OpContext& c) {
  std::vector<Value*> captured;
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(c.Region(c.Subgraph("then_branch"), {}, &captured));
  regions.push_back(c.Region(c.Subgraph("else_branch"), {}, &captured));
  AddMissingInputs(*regions[0], captured, 0);
  std::vector<Value*> operands = {Condition(c, c.In(0))};
  operands.insert(operands.end(), captured.begin(), captured.end());
  Node* node = c.EmitNode(Op::kIf, std::move(operands), {}, -1, std::move(regions));
  Outputs results;
  for (int i = 0; i < node->num_outputs(); ++i) results.emplace_back(node->output(i));
  return results;
}

// Whether the body passes its condition through, or sets it to true.
bool NeverStops(const GraphProto& body) {
  if (body.output_size() == 0 || body.input_size() < 2) return false;
  std::string name = body.output(0).name();
  for (int i = body.node_size() - 1; i >= 0; --i) {
    const NodeProto& node = body.node(i);
    if (node.output_size() != 1 || node.output(0) != name) continue;
    if (node.op_type() == "Identity" && node.input_size() == 1) {
      name = node.input(0);
    } else if (node.op_type() == "Constant" && node.attribute_size() == 1) {
      const TensorProto& value = node.attribute(0).t();
      return (value.raw_data().size() == 1 && value.raw_data()[0] != 0) ||
             (value.int32_data_size() == 1 && value.int32_data(0) != 0);
    }
  }
  return name == body.input(1).name();
}

// A step's slice of a scan input, with the scanned axis removed.
Value* TakeStep(OpContext& c, Value* x, int64_t axis, int64_t step) {
  return c.Squeeze(c.SliceAxis(x, axis, step, 1), {axis});
}

}  // namespace

// If the condition depends on data, both branches are kept. If that fails (one branch does not fit the
// actual shapes, or they disagree about them), the condition determines shapes, and may follow from the
// inputs' values.
Outputs If(OpContext& c) {
  const auto inline_branch = [&c](const Tensor& condition) {
    if (condition.num_elements() != 1) Invalid("its condition must be a single truth value");
    return c.Inline(c.Subgraph(condition.ToDouble(0) != 0 ? "then_branch" : "else_branch"), {});
  };
  if (const std::optional<Tensor> known = c.KnownConstant(c.In(0))) return inline_branch(*known);
  Outputs results;
  const std::optional<ImportFailure> failure = c.Try([&] { results = KeepIf(c); });
  if (!failure) return results;
  std::optional<Tensor> condition;
  if (c.Try([&] { condition = c.Known(c.In(0), "condition"); })) throw *failure;
  return inline_branch(*condition);
}

// The number of steps must be known if the loop collects a value at each step, since shapes depend on it.
// Other loops are kept if the number, or the condition, depends on data.
Outputs Loop(OpContext& c) {
  const GraphProto& body = c.Subgraph("body");
  const bool stops = !NeverStops(body);
  const bool scans = body.output_size() > c.num_inputs() - 1;
  const auto single = [&](int input, const char* what, double absent) -> std::optional<double> {
    if (!c.HasInput(input)) return absent;
    if (!scans && !c.KnownConstant(c.In(input))) return std::nullopt;
    return c.KnownScalar(c.In(input), what).ToDouble();
  };
  const std::optional<double> limit = single(0, "number of steps", HUGE_VAL);
  const std::optional<double> start = single(1, "condition", 1);
  const bool known = limit && start && (!stops || *limit == 0 || *start == 0);
  if (!scans && (!known || *limit > kMaxUnrolledSteps)) return KeepLoop(c, body);
  const double steps = *start == 0 ? 0 : std::clamp(*limit, 0.0, 0x1p40);
  return UnrollLoop(c, body, static_cast<int64_t>(steps), stops);
}

// Opset 8 has a batch axis and sequence lengths; opsets from 9 on take (states…, scan inputs…).
Outputs ScanLoop(OpContext& c) {
  if (c.opset() < 9) Unsupported("Scan of opset 8");
  const GraphProto& body = c.Subgraph("body");
  const int64_t scan_inputs = c.Int("num_scan_inputs");
  const int64_t states = c.num_inputs() - scan_inputs;
  if (scan_inputs < 1 || states < 0 || body.output_size() < states)
    Invalid("its inputs and its body do not fit");
  const int64_t scan_outputs = body.output_size() - states;
  const Ints input_axes = c.IntList("scan_input_axes", Ints(scan_inputs, 0));
  const Ints input_backwards = c.IntList("scan_input_directions", Ints(scan_inputs, 0));
  const Ints output_axes = c.IntList("scan_output_axes", Ints(scan_outputs, 0));
  const Ints output_backwards = c.IntList("scan_output_directions", Ints(scan_outputs, 0));
  if (input_axes.size() != static_cast<size_t>(scan_inputs) || input_backwards.size() != input_axes.size() ||
      output_axes.size() != static_cast<size_t>(scan_outputs) ||
      output_backwards.size() != output_axes.size()) {
    Invalid("its axes or directions have the wrong length");
  }
  const int64_t steps = c.DimOf(c.In(static_cast<int>(states)), input_axes[0]);
  if (steps > kMaxUnrolledSteps) Unsupported("more than ", kMaxUnrolledSteps, " steps");
  std::vector<Binding> state;
  for (int i = 0; i < states; ++i) state.push_back(c.BindingOf(i));
  std::vector<std::vector<Value*>> scanned(scan_outputs);
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<Binding> inputs = state;
    for (int64_t i = 0; i < scan_inputs; ++i) {
      Value* x = c.In(static_cast<int>(states + i));
      if (c.DimOf(x, input_axes[i]) != steps) Invalid("its scan inputs differ in length");
      inputs.emplace_back(TakeStep(c, x, input_axes[i], input_backwards[i] != 0 ? steps - 1 - step : step));
    }
    const std::vector<Binding> outputs = c.Inline(body, inputs);
    state.assign(outputs.begin(), outputs.begin() + states);
    for (int64_t i = 0; i < scan_outputs; ++i) scanned[i].push_back(outputs[states + i].value);
  }
  Outputs results(state.begin(), state.end());
  for (int64_t i = 0; i < scan_outputs; ++i) {
    if (scanned[i].empty()) Unsupported("a scan output of no steps");
    results.emplace_back(Stack(c, scanned[i], output_axes[i], output_backwards[i] != 0));
  }
  return results;
}

}  // namespace attune::onnx
