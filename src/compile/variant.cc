#include "compile/variant.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/status.h"
#include "compile/kernels.h"
#include "compile/size_code.h"
#include "graph/text.h"

namespace attune {
namespace {

// The numbers of a program that depend on its sizes, each once.
class ProgramNumbers {
 public:
  explicit ProgramNumbers(const std::vector<SizeParam>& sizes) : sizes_(sizes) {}

  uint32_t IndexOf(const Expr& number) {
    SizeCode code = CodeOf(number, sizes_);
    const auto known = std::ranges::find(codes_, code);
    const auto index = static_cast<uint32_t>(known - codes_.begin());
    if (known == codes_.end()) codes_.push_back(std::move(code));
    return index;
  }
  std::vector<SizeCode> Take() { return std::move(codes_); }

 private:
  const std::vector<SizeParam>& sizes_;
  std::vector<SizeCode> codes_;
};

// The block of each storage of a program with open sizes. Constants, and storages that no tensor has, have
// -1.
using Blocks = std::vector<int32_t>;

TensorInfo DescribeTensor(const PlannedTensor& tensor, const NetworkPlan& plan,
                          const std::vector<PlacedWeights::Location>& locations, const Blocks& blocks,
                          ProgramNumbers& numbers) {
  TensorInfo info;
  info.name = tensor.name;
  info.dtype = static_cast<uint8_t>(tensor.type.dtype);
  info.shape = tensor.type.physical_shape();
  info.dim_slots.assign(info.shape.size(), -1);
  for (size_t d = 0; d < tensor.type.dims.size(); ++d) {
    const Dim& dim = tensor.type.dims[d];
    if (dim.is_constant()) continue;
    const auto slot = std::find(plan.symbols.begin(), plan.symbols.end(), dim.symbol) - plan.symbols.begin();
    info.dim_slots[d] = static_cast<int32_t>(slot);
  }
  const auto storage = static_cast<size_t>(tensor.storage);
  if (plan.storages[storage].constant.has_value()) {
    info.place = locations[storage].place;
    info.offset = locations[storage].offset;
  } else if (plan.sizes.empty()) {
    info.offset = static_cast<uint64_t>(plan.offsets[storage] + tensor.offset);
  } else {
    info.block = blocks[storage];
    info.offset = static_cast<uint64_t>(tensor.offset);
  }
  info.bytes = static_cast<uint64_t>(tensor.type.num_physical_bytes());
  if (tensor.open.empty()) return info;
  info.bytes = 0;
  const Bounds bounds = BoundsOf(plan.sizes);
  for (size_t d = 0; d < tensor.open.size(); ++d) {
    const Expr& size = tensor.open[d];
    info.open_shape.push_back(size ? static_cast<int32_t>(numbers.IndexOf(size)) : -1);
    if (size) info.shape[d] = bounds.Range(size).max;
  }
  return info;
}

// The storages of the arena as blocks; `starts` has the first instruction of each step, and their number.
std::vector<ArenaBlock> DescribeBlocks(const NetworkPlan& plan, const std::vector<uint32_t>& starts,
                                       Blocks& blocks, ProgramNumbers& numbers) {
  std::set<int> used;
  for (const PlannedTensor& tensor : plan.tensors) used.insert(tensor.storage);
  std::vector<ArenaBlock> described;
  blocks.assign(plan.storages.size(), -1);
  for (const int storage : used) {
    const Storage& one = plan.storages[static_cast<size_t>(storage)];
    if (one.constant.has_value()) continue;
    blocks[static_cast<size_t>(storage)] = static_cast<int32_t>(described.size());
    const auto last_step = std::min(static_cast<size_t>(one.last), plan.steps.size() - 1);
    const Expr bytes = one.open_bytes ? one.open_bytes : Expr(one.bytes);
    described.push_back({.bytes = numbers.IndexOf(bytes),
                         .first = starts[std::min(static_cast<size_t>(one.first), last_step)],
                         .last = starts[last_step + 1] - 1,
                         .pinned = one.pinned});
  }
  return described;
}

Instruction Translate(const Step& step) {
  Instruction instruction;
  instruction.opcode = step.kind == StepKind::kJump            ? Opcode::kJump
                       : step.kind == StepKind::kBranchIfFalse ? Opcode::kBranchIfFalse
                       : step.kind == StepKind::kCopy          ? Opcode::kCopy
                       : step.kind == StepKind::kCheckIndices  ? Opcode::kCheckIndices
                                                               : Opcode::kCall;
  instruction.tensors.assign(step.tensors.begin(), step.tensors.end());
  instruction.label = step.label;
  return instruction;
}

// A range of a variant's kernels in its manifest: the phases of one compiled kernel follow one another.
struct Phases {
  uint32_t first = 0, count = 0;
};

// The plan's steps as instructions: a call for each phase of a kernel. `phases` are by the plan's kernels.
// Sets `starts` to the first instruction of each step, and the number of all.
std::vector<Instruction> Translate(const NetworkPlan& plan, const std::vector<Phases>& phases,
                                   std::vector<uint32_t>& starts, ProgramNumbers& numbers) {
  std::vector<Instruction> instructions;
  for (const Step& step : plan.steps) {
    starts.push_back(static_cast<uint32_t>(instructions.size()));
    const bool is_call = step.kind == StepKind::kCall;
    const Phases called = is_call ? phases[static_cast<size_t>(step.kernel)] : Phases{0, 1};
    for (uint32_t phase = 0; phase < called.count; ++phase) {
      instructions.push_back(Translate(step));
      if (is_call) instructions.back().kernel = called.first + phase;
      for (const Expr& size : step.sizes) instructions.back().sizes.push_back(numbers.IndexOf(size));
    }
  }
  starts.push_back(static_cast<uint32_t>(instructions.size()));
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].kind == StepKind::kJump || plan.steps[i].kind == StepKind::kBranchIfFalse)
      instructions[starts[i]].target = starts[static_cast<size_t>(plan.steps[i].target)];
  }
  return instructions;
}

// How each phase of the kernel is called, without the offset at which it starts.
KernelInterface DescribeInterface(const LoopNest& nest, const std::vector<std::pair<int, int>>& may_alias,
                                  const CompiledKernel& compiled) {
  KernelInterface interface;
  interface.scratch_bytes = static_cast<uint64_t>(compiled.scratch_bytes);
  if (nest.dims_buffer) interface.num_dims = static_cast<uint32_t>(nest.dims_buffer->num_elements());
  for (const LoopNest::Param& param : nest.params) {
    OperandInfo& operand = interface.operands.emplace_back();
    operand.dtype = static_cast<uint8_t>(param.buffer->dtype);
    operand.is_written = param.role != BufferRole::kInput;
    if (param.buffer->is_open()) {
      operand.open_bytes = CodeOf(BytesOf(*param.buffer), nest.sizes);
    } else {
      operand.bytes = static_cast<uint64_t>(param.buffer->num_elements() * DTypeSize(param.buffer->dtype));
    }
  }
  interface.num_sizes = static_cast<uint32_t>(nest.sizes.size());
  for (const auto& [in, out] : may_alias)
    interface.operands[static_cast<size_t>(out)].in_place_of.push_back(static_cast<uint32_t>(in));
  return interface;
}

Program DescribeProgram(const PlannedProgram& program, const std::vector<PlacedWeights::Location>& locations,
                        const std::vector<Phases>& phases) {
  const NetworkPlan& plan = program.plan;
  Program described;
  described.graph_summary = Print(*program.graph, {.max_constant_elements = 8});
  ProgramNumbers numbers(plan.sizes);
  std::vector<uint32_t> starts;
  described.instructions = Translate(plan, phases, starts, numbers);
  Blocks blocks;
  if (!plan.sizes.empty()) described.blocks = DescribeBlocks(plan, starts, blocks, numbers);
  for (const PlannedTensor& tensor : plan.tensors)
    described.tensors.push_back(DescribeTensor(tensor, plan, locations, blocks, numbers));
  for (const auto& [name, tensor] : plan.inputs)
    described.inputs.push_back({name, static_cast<uint32_t>(tensor)});
  for (const auto& [name, tensor] : plan.outputs)
    described.outputs.push_back({name, static_cast<uint32_t>(tensor)});
  described.num_dims = static_cast<uint32_t>(plan.symbols.size());
  described.arena_bytes = static_cast<uint64_t>(plan.arena_bytes);
  for (const SizeParam& size : plan.sizes) described.sizes.push_back({size.var->name, size.min, size.max});
  described.numbers = numbers.Take();
  return described;
}

}  // namespace

void VariantBuilder::Add(std::unique_ptr<Graph> graph, NetworkPlan plan) {
  PlannedProgram& program = programs_.emplace_back(PlannedProgram{std::move(graph), std::move(plan), {}});
  for (const PlannedKernel& kernel : program.plan.kernels) program.kernels.push_back(IndexOf(kernel));
}

size_t VariantBuilder::IndexOf(const PlannedKernel& kernel) {
  std::string text = Print(kernel.nest);
  for (const auto& [in, out] : kernel.may_alias) absl::StrAppend(&text, " ", in, "=", out);
  const auto [known, is_new] = by_text_.try_emplace(std::move(text), kernels_.size());
  if (!is_new) return known->second;
  LoopNest nest = kernel.nest;
  // Two programs can number the slots of their dynamic dimensions differently.
  for (int n = 2; !names_.insert(nest.name).second; ++n) nest.name = absl::StrCat(kernel.nest.name, "_", n);
  kernels_.push_back({&kernel, std::move(nest), {}});
  return known->second;
}

absl::Status VariantBuilder::Compile(std::vector<LoopNest> prepackings, bool keep_text, int threads,
                                     const WorkControl& control) {
  for (LoopNest& nest : prepackings) prepackings_.push_back({std::move(nest), {}});
  std::vector<KernelJob> jobs;
  for (const Kernel& kernel : kernels_)
    jobs.push_back({&kernel.nest, {.may_alias = kernel.planned->may_alias, .keep_text = keep_text}});
  for (const PrepackingKernel& prepacking : prepackings_) jobs.push_back({&prepacking.nest, {}});
  ASSIGN_OR_RETURN(std::vector<CompiledKernel> compiled, CompileKernels(jobs, target_, threads, control));
  for (size_t i = 0; i < compiled.size(); ++i) {
    (i < kernels_.size() ? kernels_[i].compiled : prepackings_[i - kernels_.size()].compiled) =
        std::move(compiled[i]);
  }
  return absl::OkStatus();
}

std::vector<const std::string*> VariantBuilder::Objects() const {
  std::vector<const std::string*> objects;
  for (const Kernel& kernel : kernels_) objects.push_back(&kernel.compiled.object);
  for (const PrepackingKernel& kernel : prepackings_) objects.push_back(&kernel.compiled.object);
  return objects;
}

absl::Status VariantBuilder::Dump(const std::string& folder) const {
  for (const Kernel& kernel : kernels_) {
    const std::string stem = absl::StrCat(folder, "/", kernel.nest.name);
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".graph", Print(*kernel.planned->region)));
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".json", ToJson(kernel.planned->trace)));
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".loops", Print(kernel.nest)));
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".ll", kernel.compiled.llvm_ir));
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".s", kernel.compiled.assembly));
  }
  return absl::OkStatus();
}

int VariantBuilder::CountBy(ChosenBy by) const {
  const auto chosen = [&](const Kernel& kernel) { return kernel.planned->by == by; };
  return static_cast<int>(std::ranges::count_if(kernels_, chosen));
}

std::set<std::string> VariantBuilder::Records() const {
  std::set<std::string> records;
  for (const Kernel& kernel : kernels_) {
    if (!kernel.planned->record.empty()) records.insert(kernel.planned->record);
  }
  return records;
}

int VariantBuilder::CountChanged() const {
  const auto is_changed = [](const Kernel& kernel) {
    const std::string& measured = kernel.planned->measured_code;
    return !measured.empty() && measured != Sha256Hex(kernel.compiled.object);
  };
  return static_cast<int>(std::ranges::count_if(kernels_, is_changed));
}

void VariantBuilder::DescribeKernels(const LinkedCode& code, Variant& variant) const {
  const auto add = [&](KernelInfo info, const CompiledKernel& compiled, size_t phase,
                       const std::vector<SizeParam>& sizes) {
    info.name = compiled.phases[phase].symbol;
    info.interface.code_offset = static_cast<uint64_t>(code.symbols.at(info.name));
    info.interface.parallel = compiled.phases[phase].parallel;
    if (const Expr& bytes = compiled.phases[phase].open_scratch_bytes; !IsConst(bytes, 0))
      info.interface.open_scratch = CodeOf(bytes, sizes);
    variant.scratch_bytes = std::max(variant.scratch_bytes, info.interface.scratch_bytes);
    variant.kernels.push_back(std::move(info));
  };
  for (const Kernel& kernel : kernels_) {
    const PlannedKernel& planned = *kernel.planned;
    KernelInfo info;
    info.op = planned.operators;
    info.strategy = planned.strategy;
    info.digest = Sha256Hex(kernel.compiled.object);
    info.interface = DescribeInterface(kernel.nest, planned.may_alias, kernel.compiled);
    for (size_t phase = 0; phase < kernel.compiled.phases.size(); ++phase) {
      // The last phase is the one that finishes the group's work.
      if (phase + 1 == kernel.compiled.phases.size()) {
        info.flops = static_cast<uint64_t>(planned.flops);
        info.bytes_read = static_cast<uint64_t>(planned.bytes_read);
        info.bytes_written = static_cast<uint64_t>(planned.bytes_written);
      }
      add(info, kernel.compiled, phase, kernel.nest.sizes);
    }
  }
  for (const PrepackingKernel& prepacking : prepackings_) {
    KernelInfo info;
    info.op = "prepack";
    info.digest = Sha256Hex(prepacking.compiled.object);
    info.interface = DescribeInterface(prepacking.nest, {}, prepacking.compiled);
    info.bytes_read = info.interface.operands.front().bytes;
    info.bytes_written = info.interface.operands.back().bytes;
    add(std::move(info), prepacking.compiled, 0, {});
  }
}

Variant VariantBuilder::Describe(const LinkedCode& code, const PlacedWeights::OfVariant& weights,
                                 const std::vector<std::vector<PlacedWeights::Location>>& locations) const {
  Variant variant;
  variant.target = {target_.arch, target_.name, target_.required_features};
  DescribeKernels(code, variant);
  std::vector<Phases> phases;
  for (const Kernel& kernel : kernels_) {
    const uint32_t first = phases.empty() ? 0 : phases.back().first + phases.back().count;
    phases.push_back({first, static_cast<uint32_t>(kernel.compiled.phases.size())});
  }
  const auto first_prepacking = static_cast<uint32_t>(variant.kernels.size() - prepackings_.size());
  variant.prepacked_bytes = weights.prepacked_bytes;
  variant.prepackings = weights.prepackings;
  for (Prepacking& prepacking : variant.prepackings) prepacking.kernel += first_prepacking;
  for (size_t i = 0; i < programs_.size(); ++i) {
    std::vector<Phases> of_program;
    for (const size_t kernel : programs_[i].kernels) of_program.push_back(phases[kernel]);
    variant.programs.push_back(DescribeProgram(programs_[i], locations[i], of_program));
  }
  return variant;
}

}  // namespace attune
