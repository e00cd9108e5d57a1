#include "lower/definition.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <set>
#include <utility>

#include "base/checked.h"
#include "base/status.h"
#include "tensor/affine.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

std::string AxisName(const TensorType& type, size_t d) {
  const bool lane = !type.layout.is_plain() && d == type.dims.size();
  return lane ? std::string("v") : absl::StrCat("d", d);
}

// The condition index < size for the blocked axis if its last block is not full; else null.
Expr InsideChannels(const TensorType& type, const Indices& logical) {
  if (type.layout.is_plain()) return Expr();
  const int axis = type.layout.blocked_axis;
  const int64_t size = type.dims[axis].size;
  return size % type.layout.block == 0 ? Expr() : logical[axis] < Expr(size);
}

Expr BothHold(const Expr& a, const Expr& b) {
  if (!a) return b;
  return b ? And(a, b) : a;
}

// Whether the stage's value can be computed for the lanes beyond the last channel of `type`, which are not
// read: every index that depends on the channel stays within its buffer.
bool SafeInPadding(const Stage& stage, const TensorType& type) {
  const Axis& block = stage.axes[static_cast<size_t>(type.layout.blocked_axis)];
  const Axis& lane = stage.axes.back();
  Bounds bounds;
  for (const Axis& axis : {block, lane}) bounds.Set(axis.var, {0, axis.extent - 1});
  bool safe = true;
  VisitExpr(stage.value, [&](const Expr& e) {
    if (e->kind != ExprKind::kLoad) return;
    for (size_t d = 0; d < e->args.size(); ++d) {
      if (!Mentions(e->args[d], block.var) && !Mentions(e->args[d], lane.var)) continue;
      const Interval range = bounds.Range(e->args[d]);
      safe &= range.min >= 0 && range.max < e->buffer->shape[d];
    }
  });
  return safe;
}

bool Computes(const Node& node) {
  return (IsElementwise(node.op()) && node.op() != Op::kCast) || node.op() == Op::kConv ||
         node.op() == Op::kMatMul;
}

// The type of a value within its kernel: if only elementwise formulas read it, the type that they compute
// in, so that it is not rounded before it is stored.
DType TypeWithin(const Graph& region, const Value* value) {
  const DType dtype = value->type().dtype;
  const bool is_passed =
      Computes(*value->producer()) && !region.IsOutput(value) &&
      std::ranges::all_of(value->users(), [](const Node* user) { return IsElementwise(user->op()); });
  return is_passed ? ComputeType(dtype) : dtype;
}

}  // namespace

DType ComputeType(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype; }

Expr NeutralElement(MathOp combiner, DType dtype) {
  switch (combiner) {
    case MathOp::kMul:
    case MathOp::kAnd:
      return ConstOf(dtype, 1);
    case MathOp::kMin:
    case MathOp::kMax: {
      const bool highest = combiner == MathOp::kMin;
      if (dtype == DType::kBool) return BoolConst(highest);
      const double infinity = std::numeric_limits<double>::infinity();
      return ConstOf(dtype, highest ? infinity : -infinity);  // saturates to an integer's highest or lowest
    }
    default:
      return ConstOf(dtype, 0);
  }
}

std::vector<std::string> SymbolsOf(const Graph& region) {
  std::vector<std::string> symbols;
  const auto add = [&](const Value& value) {
    for (const Dim& dim : value.type().dims) {
      const bool known = std::find(symbols.begin(), symbols.end(), dim.symbol) != symbols.end();
      if (!dim.is_constant() && !known) symbols.push_back(dim.symbol);
    }
  };
  for (const Graph::Output& output : region.outputs()) add(*output.value);
  for (const auto& input : region.inputs()) add(*input);
  return symbols;
}

std::string InputName(size_t i) { return absl::StrCat("in", i); }
std::string OutputName(size_t i) { return absl::StrCat("out", i); }
int InputIndex(std::string_view name) { return std::stoi(std::string(name.substr(2))); }
int OutputIndex(std::string_view name) { return std::stoi(std::string(name.substr(3))); }

Definition::Definition(const Graph& region, std::string name, std::vector<std::string> symbols)
    : symbols_(std::move(symbols)) {
  def_.name = std::move(name);
  size_t n = 0;
  for (const auto& input : region.inputs()) {
    const TensorType& type = input->type();
    buffers_[input.get()] = MakeBuffer(InputName(n++), type.dtype, type.physical_shape());
    def_.params.push_back({buffers_[input.get()], BufferRole::kInput});
  }
  n = 0;
  for (const Graph::Output& output : region.outputs()) {
    const TensorType& type = output.value->type();
    const Buffer buffer = MakeBuffer(OutputName(n++), type.dtype, type.physical_shape());
    buffers_.emplace(output.value, buffer);
    def_.params.push_back({buffer, BufferRole::kOutput});
  }
  n = 0;
  for (const auto& node : region.nodes()) {
    const std::string stage = absl::StrCat(OpName(node->op()), n++);
    names_[node.get()] = stage;
    for (int i = 0; i < node->num_outputs(); ++i) {
      const Value* value = node->output(i);
      buffers_.emplace(value, MakeBuffer(i == 0 ? stage : absl::StrCat(stage, ".", i),
                                         TypeWithin(region, value), value->type().physical_shape()));
    }
  }
}

std::string Definition::StageName(const Node& node) const { return names_.at(&node); }
std::string Definition::SuffixedName(const Node& node, const std::string& suffix) const {
  return suffix.empty() ? StageName(node) : absl::StrCat(StageName(node), ".", suffix);
}
Buffer Definition::BufferOf(const Value* value) const { return buffers_.at(value); }

Indices Definition::Physical(const TensorType& type, const Indices& logical) {
  Indices physical = logical;
  if (!type.layout.is_plain()) {
    const int64_t block = type.layout.block;
    const Expr channel = logical[type.layout.blocked_axis];
    physical[type.layout.blocked_axis] = FloorDiv(channel, block);
    physical.push_back(FloorMod(channel, block));
  }
  return physical;
}

Expr Definition::Read(const Value* value, const Indices& indices) const {
  if (const Tensor* constant = value->constant(); constant != nullptr && constant->num_elements() == 1) {
    return ConstOf(constant->dtype(), constant->ToNumber(0));
  }
  return Load(BufferOf(value), PlaceOf(value->type(), indices));
}

Indices Definition::PlaceOf(const TensorType& type, const Indices& logical) const {
  if (type.layout.is_plain()) return logical;
  const auto known = channels_.find(logical[type.layout.blocked_axis].get());
  if (known == channels_.end() || known->second.block_size != type.layout.block)
    return Physical(type, logical);
  Indices physical = logical;
  physical[type.layout.blocked_axis] = known->second.block;
  physical.push_back(known->second.lane);
  return physical;
}

Expr Definition::ReadComputed(const Value* value, const Indices& indices) const {
  const Expr element = Read(value, indices);
  const DType dtype = ComputeType(element->dtype);
  if (element->kind == ExprKind::kFloat) return FloatConst(element->float_value, dtype);
  return CastTo(dtype, element);
}

Expr Definition::ReadBroadcast(const Value* value, const Indices& indices) const {
  const TensorType& type = value->type();
  const size_t skipped = indices.size() - type.dims.size();
  Indices own;
  for (size_t i = 0; i < type.dims.size(); ++i) {
    own.push_back(type.dims[i] == Dim(1) ? Expr(int64_t{0}) : indices[skipped + i]);
  }
  return ReadComputed(value, own);
}

// A stage over the physical shape of `type`, and the logical indices of its elements.
Stage Definition::MakeStage(const std::string& name, const TensorType& type, const Buffer& output,
                            Indices& logical) {
  Stage stage;
  stage.name = name;
  stage.output = output;
  for (size_t d = 0; d < output->shape.size(); ++d) {
    stage.axes.push_back({MakeVar(AxisName(type, d)), output->shape[d]});
  }
  for (size_t d = 0; d < type.dims.size(); ++d) logical.push_back(Expr(stage.axes[d].var));
  if (!type.layout.is_plain()) {
    Expr& channel = logical[type.layout.blocked_axis];
    const Expr block = channel, lane = Expr(stage.axes.back().var);
    channel = block * Expr(int64_t{type.layout.block}) + lane;
    channels_[channel.get()] = {channel, block, lane, type.layout.block};
  }
  return stage;
}

void Definition::Define(const Node& node, const Value* value,
                        const std::function<Expr(const Indices&)>& formula) {
  Indices logical;
  const std::string name =
      value->index() == 0 ? StageName(node) : absl::StrCat(StageName(node), ".", value->index());
  Stage stage = MakeStage(name, value->type(), BufferOf(value), logical);
  stage.value = CastTo(stage.output->dtype, formula(logical));
  stage.where = InsideChannels(value->type(), logical);
  if (stage.where && SafeInPadding(stage, value->type())) stage.where = Expr();
  def_.stages.push_back(std::move(stage));
}

void Definition::DefinePart(const Node& node, const Value* value, const Part& part,
                            const std::function<Expr(const Indices&)>& formula) {
  Indices logical;
  const TensorType& type = value->type();
  Stage stage = MakeStage(SuffixedName(node, part.suffix), type, BufferOf(value), logical);
  stage.where = InsideChannels(type, logical);
  for (size_t d = 0; d < part.begins.size(); ++d) {
    Axis& axis = stage.axes[d];
    const int64_t begin = part.begins[d], end = begin + part.sizes[d];
    if (static_cast<int>(d) != type.layout.blocked_axis) {
      axis.min = begin;
      axis.extent = end - begin;
      continue;
    }
    const int64_t block = type.layout.block;
    axis.min = begin / block;
    axis.extent = part.sizes[d] == 0 ? 0 : CeilDiv(end, block) - axis.min;
    Expr inside;
    if (begin % block != 0) inside = logical[d] >= Expr(begin);
    // Lanes beyond the last channel are unused.
    if (end % block != 0 && end < type.dims[d].size) inside = BothHold(inside, logical[d] < Expr(end));
    stage.where = BothHold(stage.where, inside);
  }
  stage.value = CastTo(type.dtype, formula(logical));
  def_.stages.push_back(std::move(stage));
}

void Definition::AddReduction(const std::string& name, const TensorType& type, const Buffer& buffer,
                              const Reduction& reduction) {
  Indices logical, reduced;
  Stage stage = MakeStage(name, type, buffer, logical);
  for (size_t i = 0; i < reduction.extents.size(); ++i) {
    stage.reduce_axes.push_back(
        {MakeVar(reduction.names.empty() ? absl::StrCat("r", i) : reduction.names[i]), reduction.extents[i]});
    reduced.push_back(Expr(stage.reduce_axes.back().var));
  }
  stage.combiner = reduction.combiner;
  stage.init = reduction.init ? reduction.init : NeutralElement(reduction.combiner, reduction.dtype);
  stage.value = CastTo(reduction.dtype, reduction.term(logical, reduced));
  if (reduction.where) stage.where = reduction.where(logical, reduced);
  const Expr inside = InsideChannels(type, logical);
  if (inside && !SafeInPadding(stage, type)) stage.where = BothHold(inside, stage.where);
  if (stage.reduce_axes.empty()) {
    stage.value = MakeOp(stage.combiner, {stage.init, stage.value});
    if (stage.where) stage.value = Select(stage.where, stage.value, stage.init);
    stage.where = Expr();
  }
  def_.stages.push_back(std::move(stage));
}

void Definition::DefineReduction(const Node& node, const Value* value, const Reduction& reduction) {
  const std::string name = absl::StrCat(StageName(node), ".acc");
  const Buffer accumulator = MakeBuffer(name, reduction.dtype, value->type().physical_shape());
  AddReduction(name, value->type(), accumulator, reduction);
  Define(node, value, [&](const Indices& i) {
    const Expr total = Load(accumulator, Physical(value->type(), i));
    return reduction.finish ? reduction.finish(total, i) : total;
  });
}

Buffer Definition::AddTemporary(const Node& node, const std::string& suffix, const TensorType& type,
                                const std::function<Expr(const Indices&)>& formula) {
  const std::string name = SuffixedName(node, suffix);
  const Buffer buffer = MakeBuffer(name, type.dtype, type.physical_shape());
  Indices logical;
  Stage stage = MakeStage(name, type, buffer, logical);
  stage.value = CastTo(type.dtype, formula(logical));
  def_.stages.push_back(std::move(stage));
  return buffer;
}

Buffer Definition::AddTemporaryReduction(const Node& node, const std::string& suffix,
                                         std::vector<int64_t> shape, const Reduction& reduction) {
  const std::string name = absl::StrCat(StageName(node), ".", suffix);
  const Buffer buffer = MakeBuffer(name, reduction.dtype, shape);
  AddReduction(name, TensorType(reduction.dtype, Shape(shape)), buffer, reduction);
  return buffer;
}

void Definition::DefineImperative(const Node& node, const std::string& suffix,
                                  const std::vector<const Value*>& values, Stmt body) {
  Stage stage;
  stage.name = SuffixedName(node, suffix);
  if (!values.empty()) stage.output = BufferOf(values[0]);
  for (size_t i = 1; i < values.size(); ++i) stage.other_outputs.push_back(BufferOf(values[i]));
  stage.body = std::move(body);
  def_.stages.push_back(std::move(stage));
}

Buffer Definition::DimsBuffer() {
  if (!def_.dims_buffer) {
    def_.dims_buffer =
        MakeBuffer("dims", DType::kI64, {static_cast<int64_t>(std::max<size_t>(symbols_.size(), 1))});
  }
  return def_.dims_buffer;
}

int64_t Definition::DimIndex(const std::string& symbol) const {
  return std::find(symbols_.begin(), symbols_.end(), symbol) - symbols_.begin();
}

Expr Definition::SizeOf(const Dim& dim) {
  if (dim.is_constant()) return Expr(dim.size);
  return Load(DimsBuffer(), {Expr(DimIndex(dim.symbol))});
}

namespace {

// Removes stages that nothing reads. A formula may not need its operand (x is infinite of neither sign, x
// times 0), and a schedule cannot compute a stage at a loop of one that does not read it.
void DropUnread(ComputeDef& def) {
  std::set<const BufferNode*> used;
  for (const LoopNest::Param& param : def.params) used.insert(param.buffer.get());
  std::vector<Stage> kept;
  for (Stage& stage : std::views::reverse(def.stages)) {
    if (!stage.is_imperative() && !used.contains(stage.output.get())) continue;
    for (const Expr& formula : {stage.init, stage.value, stage.where}) CollectBuffers(formula, used);
    if (stage.is_imperative()) CollectBuffers(stage.body, used);
    kept.push_back(std::move(stage));
  }
  std::ranges::reverse(kept);
  def.stages = std::move(kept);
}

}  // namespace

absl::StatusOr<ComputeDef> DefineRegion(const Graph& region, const std::string& name,
                                        const std::vector<std::string>& symbols,
                                        const OperatorDefinition& define) {
  Definition definition(region, name, symbols);
  for (const auto& node : region.nodes()) {
    if (node->op() != Op::kConstant) RETURN_IF_ERROR(define(definition, *node));
  }
  ComputeDef def = definition.Take();
  DropUnread(def);
  return def;
}

}  // namespace attune
