#include <algorithm>

#include "base/checked.h"
#include "base/fatal.h"
#include "base/status.h"
#include "graph/node_rules.h"
#include "lower/strategies/access.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

// More code than this takes long to compile, and does not fit into L1.
constexpr int64_t kMaxUnrolledStatements = 1024;

// Integers of 8 bits are for pools, which only choose among them.
bool HasLanesOf32Bits(DType dtype) {
  return ComputeType(dtype) == DType::kF32 || dtype == DType::kI32 || DTypeSize(dtype) == 1;
}

}  // namespace

std::string BlockedImageWhyNot(const Workload& workload, const Target& target, int outputs) {
  if (workload.anchor == nullptr || workload.num_anchors != 1) return "not one operator to compute around";
  if (workload.num_outputs != outputs) return "other outputs than the epilogue's";
  const TensorType& type = workload.anchor->output()->type();
  if (type.rank() != 4 || !type.is_static()) return "not two spatial dimensions";
  if (!HasLanesOf32Bits(type.dtype)) return "computed in another type than f32 and i32";
  const int64_t block = type.layout.block, lanes = target.Lanes(4);
  if (type.layout.blocked_axis != 1 || (block != lanes && block != lanes / 2))
    return "the output's channels are not in blocks of a vector's lanes, or of half of them";
  if (workload.output_type().layout != type.layout) return "the epilogue changes the layout";
  return "";
}

std::string BlockedConvWhyNot(const Workload& workload, const Target& target) {
  if (workload.anchor == nullptr || !IsConv(workload.anchor->op())) return "the anchor is not a convolution";
  if (HasZeroPoints(*workload.anchor)) return "zero points";
  return BlockedImageWhyNot(workload, target);
}

std::string ComputedWeightsWhyNot(const Workload& workload, int first) {
  for (int i = first; i < workload.anchor->num_inputs(); ++i) {
    const Value* input = workload.anchor->input(i);
    if (input == nullptr) continue;
    if (!input->is_input()) return "the weights are computed in the group";
    if (!input->type().layout.is_plain()) return "the weights are in blocks";
  }
  return "";
}

absl::Status InlineEpilogue(Schedule& schedule, const Workload& workload) {
  if (!workload.accumulator_stage.empty() && workload.anchor_stage != workload.output_stage) {
    RETURN_IF_ERROR(schedule.Inline(schedule.StageNamed(workload.anchor_stage)));
  }
  for (const std::string& stage : workload.elementwise_stages)
    RETURN_IF_ERROR(schedule.Inline(schedule.StageNamed(stage)));
  return absl::OkStatus();
}

std::string StageNameOf(const Workload& workload, const Node& node) {
  return Definition(*workload.region, "").StageName(node);
}

StageHandle StageOfAnchor(const Schedule& schedule, const Workload& workload, std::string_view suffix) {
  return schedule.StageNamed(absl::StrCat(workload.anchor_stage, suffix));
}

Buffer BufferOf(const Workload& workload, const Value* value) {
  if (!value->is_input()) return workload.FindStage(StageNameOf(workload, *value->producer())).output;
  const auto& inputs = workload.region->inputs();
  const auto input = std::ranges::find(inputs, value, [](const auto& one) { return one.get(); });
  const std::string name = InputName(static_cast<size_t>(input - inputs.begin()));
  for (const LoopNest::Param& param : workload.definition.params) {
    if (param.buffer->name == name) return param.buffer;
  }
  Fatal("no parameter ", name);
}

absl::Status ParallelizeOuter(Schedule& schedule, const StageHandle& stage, size_t count) {
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, schedule.Loops(stage));
  if (count == 0) return absl::OkStatus();
  LoopHandle fused = loops[0];
  for (size_t i = 1; i < count; ++i) {
    ASSIGN_OR_RETURN(fused, schedule.Fuse(fused, loops[i], absl::StrCat(stage.name(), ".par", i)));
  }
  return schedule.Parallel(fused);
}

absl::StatusOr<ComputeDef> DefineWithAnchor(const Workload& workload, const OperatorDefinition& define) {
  return DefineRegion(
      *workload.region, workload.definition.name, {}, [&](Definition& definition, const Node& node) {
        return &node == workload.anchor ? define(definition, node) : DefineOperator(definition, node);
      });
}

int64_t TileRegisters(const Workload& workload, const Target& target) {
  constexpr int64_t kTemporaries = 4;
  const auto is_expensive = [&](const std::string& stage) { return IsExpensive(workload.FindStage(stage)); };
  const bool expensive =
      is_expensive(workload.output_stage) || std::ranges::any_of(workload.elementwise_stages, is_expensive);
  return target.num_vector_registers - (expensive ? kTemporaries : 0);
}

const ProductInstruction* InstructionFor(const Node& anchor, std::span<const ProductInstruction> instructions,
                                         const Target& target) {
  const DType out = anchor.output()->type().dtype;
  return FindProduct(instructions, target, IsFloat(out) ? DType::kF32 : out, anchor.input(0)->type().dtype,
                     anchor.input(1)->type().dtype);
}

int64_t DotTerms(const Workload& workload, int64_t terms, const Target& target) {
  if (HasZeroPoints(*workload.anchor)) return 1;
  const ProductInstruction* instruction = InstructionFor(*workload.anchor, kDotInstructions, target);
  return instruction != nullptr && terms % instruction->terms == 0 ? instruction->terms : 1;
}

double DotSlowdown(const Node& anchor, int64_t dot, const Target& target) {
  const bool is_bf16 = dot > 1 && anchor.input(0)->type().dtype == DType::kBF16;
  return is_bf16 ? target.fma_per_cycle / target.bf16_dots_per_cycle : 1;
}

absl::StatusOr<TermLoops> SplitTerms(Schedule& schedule, const LoopHandle& loop, int64_t dot) {
  if (dot == 1) return TermLoops{loop, {}};
  ASSIGN_OR_RETURN(const SplitLoops terms, schedule.Split(loop, dot));
  return TermLoops{terms.outer, terms.inner};
}

WindowAxis WindowAlong(const Node& node, size_t d) {
  const Shape in = node.input(0)->type().shape(), out = node.output()->type().shape();
  const size_t spatial = in.size() - 2;
  const auto at = [&](std::string_view name, size_t i, int64_t absent) {
    return node.attrs().Has(name) ? node.attrs().IntList(name)[i] : absent;
  };
  const int64_t kernel =
      node.attrs().Has("kernel") ? at("kernel", d, 1) : node.input(1)->type().shape()[2 + d];
  return {in[2 + d],
          out[2 + d],
          kernel,
          at("strides", d, 1),
          at("dilations", d, 1),
          at("pads", d, 0),
          at("pads", spatial + d, 0)};
}

Expr IsInside(const WindowAxis& axis, const Expr& position) {
  return And(position >= Expr(int64_t{0}), position < Expr(axis.input));
}

bool ReadsPadding(const WindowAxis& axis) {
  const int64_t last = (axis.output - 1) * axis.stride - axis.pad_begin + (axis.kernel - 1) * axis.dilation;
  return axis.pad_begin > 0 || last >= axis.input;
}

Borders PeeledTiles(const WindowAxis& axis, int64_t tile) {
  const int64_t tiles = CeilDiv(axis.output, tile);
  const auto inside = [&](int64_t t) {
    const int64_t first = t * tile, last = first + tile - 1;
    return last < axis.output && first * axis.stride - axis.pad_begin >= 0 &&
           last * axis.stride - axis.pad_begin + (axis.kernel - 1) * axis.dilation < axis.input;
  };
  Borders borders;
  while (borders.front < tiles && !inside(borders.front)) ++borders.front;
  while (borders.front + borders.back < tiles && !inside(tiles - 1 - borders.back)) ++borders.back;
  return borders;
}

absl::Status PeelPadding(Schedule& schedule, const LoopHandle& loop, const Borders& padding) {
  constexpr int64_t kMaxPeeled = 32;
  if (padding.front > kMaxPeeled || padding.back > kMaxPeeled) return absl::OkStatus();
  return schedule.Peel(loop, padding.front, padding.back);
}

TapUnrolling UnrollTaps(const WindowAxis& axis, int64_t tile, int64_t statements) {
  const Borders borders = PeeledTiles(axis, tile);
  if ((1 + borders.front + borders.back) * axis.kernel * statements <= kMaxUnrolledStatements)
    return {axis.kernel, borders};
  // Taps that fall into the padding are then decided at run time, and only a last tile that is not full is
  // peeled.
  const Borders ragged = {0, axis.output % tile == 0 ? 0 : 1};
  const int64_t limit = kMaxUnrolledStatements / ((1 + ragged.back) * statements);
  return {Divisors(axis.kernel, std::max<int64_t>(limit, 1)).back(), ragged};
}

absl::Status UnrollInner(Schedule& schedule, const LoopHandle& loop, int64_t count) {
  ASSIGN_OR_RETURN(const int64_t extent, schedule.Extent(loop));
  if (count == extent) return schedule.Unroll(loop);
  if (count == 1) return absl::OkStatus();
  ASSIGN_OR_RETURN(const SplitLoops split, schedule.Split(loop, count));
  return schedule.Unroll(split.inner);
}

double TileLoadCycles(int64_t rows, int64_t columns, double vector_cycles, const Target& target) {
  const bool shares = columns > 1 && rows * columns + columns + 1 <= target.num_vector_registers;
  const auto elements = static_cast<double>(shares ? rows : rows * columns);
  return static_cast<double>(columns) * vector_cycles + elements / target.broadcasts_per_cycle;
}

double TypicalImbalance(int64_t units) {
  const double of_two = 2 * static_cast<double>(CeilDiv(units, 2)) / static_cast<double>(units);
  return (1 + of_two) / 2;
}

double WithMemoryTraffic(double compute, int64_t bytes, const Target& target) {
  const double memory = static_cast<double>(bytes) / target.dram_bytes_per_cycle;
  return std::max(compute, memory) + target.exposed_memory * std::min(compute, memory);
}

double CyclesThroughCaches(int64_t bytes, const Target& target) {
  return static_cast<double>(bytes) /
         (bytes <= target.l2_bytes ? target.l2_bytes_per_cycle : target.l3_bytes_per_cycle);
}

std::vector<int64_t> Divisors(int64_t n, int64_t limit) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= std::min(n, limit); ++d) {
    if (n % d == 0) divisors.push_back(d);
  }
  return divisors;
}

}  // namespace attune
