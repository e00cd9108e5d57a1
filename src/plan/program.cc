#include "plan/program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "artifact/artifact.h"
#include "base/memory_plan.h"
#include "base/status.h"
#include "graph/index_bounds.h"
#include "plan/concat.h"
#include "plan/kernel_cache.h"
#include "plan/loop_control.h"
#include "plan/narrow_constants.h"
#include "plan/witnesses.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

class Planner {
 public:
  Planner(const Target& target, const KernelChooser& chooser, Witnesses witnesses = {})
      : target_(target), cache_(plan_, target, chooser), witnesses_(std::move(witnesses)) {
    plan_.sizes = witnesses_.sizes();
  }

  absl::StatusOr<NetworkPlan> Run(const Graph& graph) {
    CollectSymbols(graph);
    constant_bytes_ = ConstantBytes(graph);
    Bindings bindings;
    for (const auto& input : graph.inputs()) {
      const int tensor = NewTensorFor(input->name(), *input, /*pinned=*/true);
      bindings[input.get()] = tensor;
      plan_.inputs.emplace_back(input->name(), tensor);
    }
    RETURN_IF_ERROR(EmitGraph(graph, bindings));
    if (!unsupported_.empty()) {
      std::string lines;
      for (const std::string& line : unsupported_) absl::StrAppend(&lines, lines.empty() ? "" : "\n", line);
      return absl::UnimplementedError(lines);
    }
    EmitOutputs(graph, bindings);
    ShareInPlace();
    if (plan_.sizes.empty()) PlaceStorages();
    return std::move(plan_);
  }

 private:
  using Bindings = std::map<const Value*, int>;  // tensors by value

  void CollectSymbols(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      for (int r = 0; r < node->num_regions(); ++r) CollectSymbols(node->region(r));
      for (int i = 0; i < node->num_outputs(); ++i) {
        for (const Dim& dim : node->output(i)->type().dims) {
          auto& symbols = plan_.symbols;
          if (!dim.is_constant() && std::find(symbols.begin(), symbols.end(), dim.symbol) == symbols.end()) {
            symbols.push_back(dim.symbol);
          }
        }
      }
    }
  }

  int NewTensor(std::string name, const TensorType& type, int storage, int64_t offset = 0) {
    plan_.tensors.push_back({std::move(name), type, storage, offset});
    return static_cast<int>(plan_.tensors.size()) - 1;
  }

  int NewStorage(int64_t bytes, bool pinned = false) {
    Storage storage;
    storage.bytes = bytes;
    storage.pinned = pinned;
    storage.first = storage.last = NextStep();
    plan_.storages.push_back(std::move(storage));
    return static_cast<int>(plan_.storages.size()) - 1;
  }

  int NewArenaTensor(std::string name, const TensorType& type, bool pinned, std::vector<Expr> open = {}) {
    const int tensor = NewTensor(std::move(name), type, NewStorage(type.num_physical_bytes(), pinned));
    if (open.empty()) return tensor;
    const Shape shape = type.physical_shape();
    Expr bytes(DTypeSize(type.dtype));
    for (size_t d = 0; d < open.size(); ++d) bytes = bytes * (open[d] ? open[d] : Expr(shape[d]));
    plan_.storages.back().open_bytes = bytes;
    plan_.tensors[tensor].open = std::move(open);
    return tensor;
  }

  int NewTensorFor(std::string name, const Value& value, bool pinned) {
    return NewArenaTensor(std::move(name), value.type(), pinned, witnesses_.OpenShape(value));
  }

  // The tensor that a group writes: in memory of its own, or in that of the value that it is a part of.
  int NewResult(const Value* value) {
    const auto part = parts_.find(value);
    if (part == parts_.end() && !wholes_.contains(value)) return NewTensorFor(value->name(), *value, false);
    const Within place = part == parts_.end() ? Within{value, 0} : part->second;
    const auto whole = wholes_.try_emplace(place.whole, -1).first;
    if (whole->second < 0) {
      whole->second = NewStorage(place.whole->type().num_physical_bytes());
      plan_.storages[whole->second].has_parts = true;
    }
    return NewTensor(value->name(), value->type(), whole->second, place.offset);
  }

  int NextStep() const { return static_cast<int>(plan_.steps.size()); }

  // The tensor of a constant, or of what a prepacking makes of the constant; one for each.
  int ConstantTensor(const Value* value, int prepacking, const TensorType& type) {
    const auto key = std::make_tuple(value, prepacking, type.dtype);
    const auto it = constants_.find(key);
    if (it != constants_.end()) return it->second;
    Storage storage;
    const bool is_narrow = prepacking < 0 && type.dtype != value->type().dtype;
    storage.constant = is_narrow ? Narrowed(*value->constant(), type.dtype) : *value->constant();
    storage.prepacking = prepacking;
    storage.bytes = type.num_physical_bytes();
    plan_.storages.push_back(std::move(storage));
    const bool is_named_by_node = value->name().empty() && value->producer() != nullptr;
    const std::string& name = is_named_by_node ? value->producer()->name() : value->name();
    return constants_[key] = NewTensor(absl::StrCat(name, prepacking < 0 ? "" : ".prepacked"), type,
                                       static_cast<int>(plan_.storages.size()) - 1);
  }

  int TensorOf(const Value* value, const Bindings& bindings) {
    if (value->constant() != nullptr) return ConstantTensor(value, -1, value->type());
    return bindings.at(value);
  }

  absl::Status EmitGraph(const Graph& graph, Bindings& bindings) {
    if (witnesses_.empty()) parts_.merge(PlaceConcatParts(graph));
    for (const auto& node : graph.nodes()) {
      switch (node->op()) {
        case Op::kConstant:
          break;
        case Op::kFused:
          RETURN_IF_ERROR(EmitGroup(*node, bindings));
          break;
        case Op::kIf:
          RETURN_IF_ERROR(EmitIf(*node, bindings));
          break;
        case Op::kLoop:
          RETURN_IF_ERROR(EmitLoop(*node, bindings));
          break;
        default:
          unsupported_.push_back(absl::StrCat(kNotSupportedMark, OpName(node->op()), " ", node->name(),
                                              ": no code is generated for it"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status EmitGroup(const Node& node, Bindings& bindings) {
    if (const Node* check = IndexCheckOf(node); check != nullptr) {
      AddStep({StepKind::kCheckIndices,
               0,
               0,
               {TensorOf(node.input(0), bindings),
                NumbersTensor("bounds", BoundsTable(IndexOperandOf(*check)->bounds))},
               check->attrs().String("reader"),
               OpenAxes(node)});
      EmitView(node, bindings);
      return absl::OkStatus();
    }
    if (IsView(node)) {
      EmitView(node, bindings);
      return absl::OkStatus();
    }
    if (IsConcatInPlace(node, parts_)) {
      bindings[node.output()] = NewResult(node.output());
      return absl::OkStatus();
    }
    std::set<int> constant_inputs;
    for (int i = 0; i < node.num_inputs(); ++i) {
      if (node.input(i)->constant() != nullptr) constant_inputs.insert(i);
    }
    Step step;
    const absl::StatusOr<int> kernel = KernelOf(node, constant_inputs, step.sizes);
    if (absl::IsUnimplemented(kernel.status())) {
      for (int i = 0; i < node.num_outputs(); ++i)
        bindings[node.output(i)] = NewArenaTensor("", node.output(i)->type(), false);
      unsupported_.push_back(absl::StrCat(kNotSupportedMark, node.name(), ": ", kernel.status().message()));
      return absl::OkStatus();
    }
    if (!kernel.ok()) return Annotate(kernel.status(), node.name());
    for (int i = 0; i < node.num_outputs(); ++i) {
      bindings[node.output(i)] = NewResult(node.output(i));
    }
    step.kernel = *kernel;
    step.label = node.name();
    for (const LoopNest::Param& param : plan_.kernels[*kernel].nest.params) {
      step.tensors.push_back(ParamTensor(node, step, param, bindings));
    }
    AddStep(std::move(step));
    return absl::OkStatus();
  }

  // The sizes of the axes that a check of indices is for, if they are open.
  std::vector<Expr> OpenAxes(const Node& node) const {
    if (witnesses_.empty()) return {};
    std::vector<Ints> sizes;
    for (const Node* same : witnesses_.Same(node))
      sizes.push_back(IndexOperandOf(*IndexCheckOf(*same))->bounds.sizes);
    return witnesses_.OpenNumbers(sizes);
  }

  // The kernel of a group, and the sizes that a call of it is given.
  absl::StatusOr<int> KernelOf(const Node& node, const std::set<int>& constant_inputs,
                               std::vector<Expr>& sizes) {
    const NarrowInputs narrow = FindNarrowInputs(node, constant_bytes_, target_);
    if (witnesses_.empty()) return cache_.Get(node.region(), constant_inputs, narrow);
    std::vector<const Graph*> regions;
    for (const Node* same : witnesses_.Same(node)) regions.push_back(&same->region());
    ASSIGN_OR_RETURN(const KernelCache::OpenKernel open,
                     cache_.GetOpen(regions, constant_inputs, narrow, witnesses_));
    sizes = open.sizes;
    if (!open.why_slow.empty())
      plan_.slow_products.push_back(absl::StrCat("\"", node.name(), "\" (", open.why_slow, ")"));
    return open.kernel;
  }

  // The group's output has the memory of its input.
  void EmitView(const Node& node, Bindings& bindings) {
    const int source = TensorOf(node.input(0), bindings);
    bindings[node.output()] = NewTensor(node.output()->name(), node.output()->type(),
                                        plan_.tensors[source].storage, plan_.tensors[source].offset);
    plan_.tensors.back().open = witnesses_.OpenShape(*node.output());
  }

  // The tensor of a kernel's parameter: of an input ("in2"), an output ("out0"), a prepacking, or a
  // workspace.
  int ParamTensor(const Node& node, const Step& step, const LoopNest::Param& param,
                  const Bindings& bindings) {
    const std::string& name = param.buffer->name;
    if (param.role == BufferRole::kWorkspace) return Workspace(*param.buffer, step);
    if (const KernelCache::Prepared* prepared = cache_.FindPrepared(step.kernel, name))
      return ConstantTensor(node.input(prepared->input), prepared->prepacking,
                            TensorType(param.buffer->dtype, Shape(param.buffer->shape)));
    if (param.role == BufferRole::kOutput) return bindings.at(node.output(OutputIndex(name)));
    const Value* input = node.input(InputIndex(name));
    if (input->constant() == nullptr) return bindings.at(input);
    TensorType type = input->type();
    type.dtype = param.buffer->dtype;
    return ConstantTensor(input, -1, type);
  }

  int Workspace(const BufferNode& buffer, const Step& step) {
    std::map<const VarNode*, Expr> values;
    const std::vector<SizeParam>& params = plan_.kernels[step.kernel].nest.sizes;
    for (size_t i = 0; i < params.size(); ++i) values[params[i].var.get()] = step.sizes[i];
    std::vector<Expr> open;
    for (const Expr& size : buffer.open) open.push_back(ReplaceVars(size, values));
    return NewArenaTensor(buffer.name, TensorType(buffer.dtype, Shape(buffer.shape)), false, std::move(open));
  }

  // branch-if-false condition else; then…; copies; jump end; else: …; copies; end:
  absl::Status EmitIf(const Node& node, Bindings& bindings) {
    std::vector<int> results;
    for (int i = 0; i < node.num_outputs(); ++i) {
      results.push_back(NewTensorFor(node.output(i)->name(), *node.output(i), false));
      bindings[node.output(i)] = results.back();
    }
    const int branch = NextStep();
    AddStep({StepKind::kBranchIfFalse, 0, 0, {TensorOf(node.input(0), bindings)}, node.name()});
    int jump = 0;
    for (int r = 0; r < 2; ++r) {
      const Graph& region = node.region(r);
      Bindings inner;
      for (size_t i = 0; i < region.inputs().size(); ++i) {
        inner[region.inputs()[i].get()] = TensorOf(node.input(static_cast<int>(i) + 1), bindings);
      }
      RETURN_IF_ERROR(EmitGraph(region, inner));
      for (size_t i = 0; i < results.size(); ++i) {
        AddStep(
            {StepKind::kCopy, 0, 0, {TensorOf(region.outputs()[i].value, inner), results[i]}, node.name()});
      }
      if (r == 0) {
        jump = NextStep();
        AddStep({StepKind::kJump, 0, 0, {}, node.name()});
        plan_.steps[branch].target = NextStep();
      }
    }
    plan_.steps[jump].target = NextStep();
    return absl::OkStatus();
  }

  // state = counter 0, condition, carried…; test: control; branch-if-false runs end; body…; state = counter
  // after this iteration, the body's results; jump test; end:
  absl::Status EmitLoop(const Node& node, Bindings& bindings) {
    const Graph& body = node.region();
    Bindings inner;
    std::vector<int> state;
    for (size_t i = 0; i < body.inputs().size(); ++i) {
      const Value* input = body.inputs()[i].get();
      state.push_back(inner[input] = NewTensorFor(input->name(), *input, false));
      const int start = i == 0 ? ZeroTensor() : TensorOf(node.input(static_cast<int>(i)), bindings);
      AddStep({StepKind::kCopy, 0, 0, {start, state.back()}, node.name()});
    }
    for (int i = 0; i < node.num_outputs(); ++i) bindings[node.output(i)] = state[static_cast<size_t>(i) + 2];

    const int test = NextStep();
    ASSIGN_OR_RETURN(const Graph control, LoopControl());
    const Node& decides = *control.nodes().front();
    inner[decides.input(0)] = TensorOf(node.input(0), bindings);
    inner[decides.input(1)] = state[0];
    inner[decides.input(2)] = state[1];
    RETURN_IF_ERROR(EmitGroup(decides, inner));
    const int branch = NextStep();
    AddStep({StepKind::kBranchIfFalse, 0, 0, {inner.at(decides.output(0))}, node.name()});
    RETURN_IF_ERROR(EmitGraph(body, inner));
    std::vector<int> results = {inner.at(decides.output(1))};
    for (const Graph::Output& output : body.outputs()) results.push_back(TensorOf(output.value, inner));
    EmitAssignment(results, state, node.name());
    AddStep({StepKind::kJump, 0, test, {}, node.name()});
    plan_.steps[branch].target = NextStep();
    ExtendOverLoop(test);
    return absl::OkStatus();
  }

  int ZeroTensor() { return NumbersTensor("zero", Tensor::FromInts(std::vector<int64_t>{0}).Reshaped({})); }

  // A constant that is no value of the graph.
  int NumbersTensor(std::string name, Tensor numbers) {
    const TensorType type(numbers.dtype(), numbers.shape());
    Storage storage;
    storage.bytes = numbers.num_bytes();
    storage.constant = std::move(numbers);
    plan_.storages.push_back(std::move(storage));
    return NewTensor(std::move(name), type, static_cast<int>(plan_.storages.size()) - 1);
  }

  // Copies each of `values` to the tensor of the same index in `to`, as if at once: a value in memory that
  // another copy overwrites is set aside first.
  void EmitAssignment(std::vector<int> values, const std::vector<int>& to, const std::string& label) {
    const auto storage = [this](int tensor) { return plan_.tensors[tensor].storage; };
    for (size_t i = 0; i < values.size(); ++i) {
      const bool overwritten = std::any_of(
          to.begin(), to.end(), [&](int t) { return t != to[i] && storage(t) == storage(values[i]); });
      if (!overwritten) continue;
      const PlannedTensor& value = plan_.tensors[values[i]];
      const int aside = NewArenaTensor(label, value.type, false, value.open);
      AddStep({StepKind::kCopy, 0, 0, {values[i], aside}, label});
      values[i] = aside;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (storage(values[i]) != storage(to[i])) AddStep({StepKind::kCopy, 0, 0, {values[i], to[i]}, label});
    }
  }

  // A value that was made before step `test` and is used in the loop from there to the last step is used in
  // every iteration.
  void ExtendOverLoop(int test) {
    for (Storage& storage : plan_.storages) {
      if (storage.first < test && storage.last >= test) storage.last = NextStep() - 1;
    }
  }

  void AddStep(Step step) {
    for (int tensor : step.tensors) plan_.storages[plan_.tensors[tensor].storage].last = NextStep();
    plan_.steps.push_back(std::move(step));
  }

  // Outputs lie in storages of their own, which no other port shares.
  void EmitOutputs(const Graph& graph, const Bindings& bindings) {
    for (const Graph::Output& output : graph.outputs()) {
      int tensor = TensorOf(output.value, bindings);
      const Storage& storage = plan_.storages[plan_.tensors[tensor].storage];
      if (storage.pinned || storage.constant.has_value() ||
          storage.bytes != output.value->type().num_physical_bytes()) {
        const int copy = NewTensorFor(output.name, *output.value, /*pinned=*/true);
        AddStep({StepKind::kCopy, 0, 0, {tensor, copy}, output.name});
        tensor = copy;
      }
      plan_.storages[plan_.tensors[tensor].storage].pinned = true;
      plan_.outputs.emplace_back(output.name, tensor);
    }
  }

  static bool HaveEqualOpenBytes(const Storage& a, const Storage& b) {
    if (!a.open_bytes || !b.open_bytes) return !a.open_bytes && !b.open_bytes;
    return SameExpr(a.open_bytes, b.open_bytes);
  }

  // An output takes over the memory of an input without later reads, where the kernel allows it.
  void ShareInPlace() {
    for (int step = 0; step < NextStep(); ++step) {
      const Step& s = plan_.steps[step];
      if (s.kind != StepKind::kCall) continue;
      for (const auto& [in, out] : plan_.kernels[s.kernel].may_alias) {
        const int from = plan_.tensors[s.tensors[in]].storage, to = plan_.tensors[s.tensors[out]].storage;
        Storage& source = plan_.storages[from];
        Storage& result = plan_.storages[to];
        const auto uses = std::count_if(s.tensors.begin(), s.tensors.end(),
                                        [&](int t) { return plan_.tensors[t].storage == from; });
        if (from == to || uses != 1 || source.constant || source.pinned || source.last != step ||
            result.first != step || source.bytes != result.bytes || !HaveEqualOpenBytes(source, result)) {
          continue;
        }
        result.first = source.first;
        for (PlannedTensor& tensor : plan_.tensors) {
          if (tensor.storage == from) tensor.storage = to;
        }
        break;
      }
    }
  }

  void PlaceStorages() {
    std::set<int> used;
    for (const PlannedTensor& tensor : plan_.tensors) used.insert(tensor.storage);
    std::vector<Lifetime> lifetimes;
    std::vector<int> placed;
    for (int i : used) {
      const Storage& storage = plan_.storages[i];
      if (storage.constant.has_value()) continue;
      const int64_t bytes = std::max<int64_t>(storage.bytes, 1);
      lifetimes.push_back(storage.pinned ? Lifetime{bytes, 0, NextStep()}
                                         : Lifetime{bytes, storage.first, storage.last});
      placed.push_back(i);
    }
    std::vector<int64_t> offsets(lifetimes.size());
    plan_.arena_bytes = MemoryPlanner().Plan(lifetimes, static_cast<int64_t>(kTensorAlignment), offsets);
    plan_.offsets.assign(plan_.storages.size(), 0);
    for (size_t i = 0; i < placed.size(); ++i) plan_.offsets[placed[i]] = offsets[i];
  }

  const Target& target_;
  int64_t constant_bytes_ = 0;
  NetworkPlan plan_;
  KernelCache cache_;
  Witnesses witnesses_;
  Parts parts_;
  std::map<const Value*, int> wholes_;  // the storages of values that others are parts of
  std::map<std::tuple<const Value*, int, DType>, int> constants_;
  std::vector<std::string> unsupported_;
};

}  // namespace

absl::StatusOr<NetworkPlan> PlanNetwork(const Graph& graph, const Target& target,
                                        const KernelChooser& chooser) {
  return Planner(target, chooser).Run(graph);
}

absl::StatusOr<NetworkPlan> PlanOpenNetwork(std::span<Graph* const> graphs, std::span<const SizePoint> points,
                                            std::span<const OpenDim> dims, const Target& target,
                                            const KernelChooser& chooser) {
  ASSIGN_OR_RETURN(Witnesses witnesses, Witnesses::Of(graphs, points, dims));
  return Planner(target, chooser, std::move(witnesses)).Run(*graphs[0]);
}

}  // namespace attune
