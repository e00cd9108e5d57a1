#include "compile/compile.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "artifact/compress.h"
#include "artifact/writer.h"
#include "base/file.h"
#include "base/status.h"
#include "compile/constants.h"
#include "compile/flips.h"
#include "compile/kernels.h"
#include "graph/text.h"
#include "plan/averages.h"
#include "plan/chains.h"
#include "plan/channel_scales.h"
#include "plan/layout.h"
#include "plan/program.h"
#include "plan/widen_bytes.h"

namespace attune {
namespace {

class Stopwatch {
 public:
  // Seconds since the last call, or since construction.
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

absl::Status DumpKernels(const NetworkPlan& plan, const std::vector<CompiledKernel>& compiled,
                         const std::string& folder) {
  for (size_t i = 0; i < compiled.size(); ++i) {
    const PlannedKernel& kernel = plan.kernels[i];
    const std::string stem = absl::StrCat(folder, "/", kernel.nest.name);
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".graph", Print(*kernel.region)));
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".json", ToJson(kernel.trace)));
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".loops", Print(kernel.nest)));
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".ll", compiled[i].llvm_ir));
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".s", compiled[i].assembly));
  }
  return absl::OkStatus();
}

TensorInfo DescribeTensor(const PlannedTensor& tensor, const NetworkPlan& plan,
                          const ConstantSection& constants) {
  const Storage& storage = plan.storages[static_cast<size_t>(tensor.storage)];
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
  const bool constant = storage.constant.has_value();
  info.place = constant ? Place::kConstant : Place::kArena;
  info.offset =
      constant ? constants.offsets[static_cast<size_t>(tensor.storage)]
               : static_cast<uint64_t>(plan.offsets[static_cast<size_t>(tensor.storage)] + tensor.offset);
  info.bytes = static_cast<uint64_t>(tensor.type.num_physical_bytes());
  return info;
}

Instruction Translate(const Step& step) {
  Instruction instruction;
  instruction.opcode = step.kind == StepKind::kJump            ? Opcode::kJump
                       : step.kind == StepKind::kBranchIfFalse ? Opcode::kBranchIfFalse
                       : step.kind == StepKind::kCopy          ? Opcode::kCopy
                                                               : Opcode::kCall;
  instruction.tensors.assign(step.tensors.begin(), step.tensors.end());
  instruction.label = step.label;
  return instruction;
}

// The plan's steps as instructions: a call for each phase of a kernel.
void WriteProgram(const NetworkPlan& plan, const std::vector<CompiledKernel>& compiled, Manifest& manifest) {
  std::vector<uint32_t> first_phase;  // of each kernel, in the manifest's kernels
  uint32_t phases = 0;
  for (const CompiledKernel& kernel : compiled) {
    first_phase.push_back(phases);
    phases += static_cast<uint32_t>(kernel.phases.size());
  }
  std::vector<uint32_t> starts;
  for (const Step& step : plan.steps) {
    starts.push_back(static_cast<uint32_t>(manifest.program.size()));
    const size_t calls =
        step.kind == StepKind::kCall ? compiled[static_cast<size_t>(step.kernel)].phases.size() : 1;
    for (size_t phase = 0; phase < calls; ++phase) {
      Instruction instruction = Translate(step);
      if (step.kind == StepKind::kCall) {
        instruction.kernel = first_phase[static_cast<size_t>(step.kernel)] + static_cast<uint32_t>(phase);
      }
      manifest.program.push_back(std::move(instruction));
    }
  }
  starts.push_back(static_cast<uint32_t>(manifest.program.size()));
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].kind == StepKind::kJump || plan.steps[i].kind == StepKind::kBranchIfFalse) {
      manifest.program[starts[i]].target = starts[static_cast<size_t>(plan.steps[i].target)];
    }
  }
}

// How each phase of the kernel is called, but for where it starts.
KernelInterface DescribeInterface(const PlannedKernel& kernel, const CompiledKernel& compiled) {
  KernelInterface interface;
  interface.scratch_bytes = static_cast<uint64_t>(compiled.scratch_bytes);
  if (kernel.nest.dims_buffer)
    interface.num_dims = static_cast<uint32_t>(kernel.nest.dims_buffer->num_elements());
  for (const LoopNest::Param& param : kernel.nest.params) {
    const auto bytes = static_cast<uint64_t>(param.buffer->num_elements() * DTypeSize(param.buffer->dtype));
    interface.operands.push_back(
        {static_cast<uint8_t>(param.buffer->dtype), param.role != BufferRole::kInput, bytes, {}});
  }
  for (const auto& [in, out] : kernel.may_alias)
    interface.operands[static_cast<size_t>(out)].in_place_of.push_back(static_cast<uint32_t>(in));
  return interface;
}

void WriteKernels(const NetworkPlan& plan, const std::vector<CompiledKernel>& compiled,
                  const LinkedCode& code, Manifest& manifest) {
  for (size_t i = 0; i < compiled.size(); ++i) {
    const PlannedKernel& kernel = plan.kernels[i];
    const std::string digest = Sha256Hex(compiled[i].object);
    for (size_t phase = 0; phase < compiled[i].phases.size(); ++phase) {
      KernelInfo info;
      info.name = compiled[i].phases[phase].symbol;
      info.op = kernel.operators;
      info.strategy = kernel.strategy;
      info.digest = digest;
      info.interface = DescribeInterface(kernel, compiled[i]);
      info.interface.code_offset = static_cast<uint64_t>(code.symbols.at(info.name));
      info.interface.parallel = compiled[i].phases[phase].parallel;
      // The last phase is the one that finishes the group's work.
      const bool counted = phase + 1 == compiled[i].phases.size();
      info.flops = counted ? static_cast<uint64_t>(kernel.flops) : 0;
      info.bytes_read = counted ? static_cast<uint64_t>(kernel.bytes_read) : 0;
      info.bytes_written = counted ? static_cast<uint64_t>(kernel.bytes_written) : 0;
      manifest.kernels.push_back(std::move(info));
    }
    manifest.scratch_bytes =
        std::max(manifest.scratch_bytes, static_cast<uint64_t>(compiled[i].scratch_bytes));
  }
}

absl::StatusOr<std::string> WriteNetwork(const Graph& graph, const NetworkPlan& plan,
                                         const CompileOptions& options,
                                         const std::vector<CompiledKernel>& compiled, const LinkedCode& code,
                                         const ConstantSection& constants) {
  Manifest manifest;
  manifest.target = {options.target.arch, options.target.name, options.target.required_features};
  manifest.provenance = {options.model_name, options.model_sha256, std::string(kCompilerVersion),
                         options.pass_plan, ""};
  manifest.graph_summary = Print(graph, {.max_constant_elements = 8});
  for (const PlannedTensor& tensor : plan.tensors)
    manifest.tensors.push_back(DescribeTensor(tensor, plan, constants));
  for (const auto& [name, tensor] : plan.inputs)
    manifest.inputs.push_back({name, static_cast<uint32_t>(tensor)});
  for (const auto& [name, tensor] : plan.outputs)
    manifest.outputs.push_back({name, static_cast<uint32_t>(tensor)});
  manifest.num_dims = static_cast<uint32_t>(plan.symbols.size());
  manifest.arena_bytes = static_cast<uint64_t>(plan.arena_bytes);
  WriteKernels(plan, compiled, code, manifest);
  WriteProgram(plan, compiled, manifest);
  CompressedConstants compressed;
  if (options.compress_constants) compressed = CompressConstants(constants.bytes, constants.sizes);
  const bool is_compressed = !compressed.ranges.empty();
  manifest.constant_ranges = std::move(compressed.ranges);
  const std::span<const std::byte> section = is_compressed ? compressed.section : constants.bytes;
  const std::span<const char> code_bytes(code.bytes.data(), code.bytes.size());
  return WriteArtifact({std::move(manifest), std::as_bytes(code_bytes), section});
}

// Kernels that the compiler of today makes other code for than that which was measured.
int CountChanged(const NetworkPlan& plan, const std::vector<CompiledKernel>& compiled) {
  int changed = 0;
  for (size_t i = 0; i < compiled.size(); ++i) {
    const std::string& measured = plan.kernels[i].measured_code;
    changed += !measured.empty() && measured != Sha256Hex(compiled[i].object);
  }
  return changed;
}

int CountBy(const NetworkPlan& plan, ChosenBy by) {
  return static_cast<int>(std::ranges::count(plan.kernels, by, &PlannedKernel::by));
}

}  // namespace

absl::StatusOr<int> ArrangeGroups(Graph& graph, const Target& target, const BlockFlips& flips) {
  RETURN_IF_ERROR(WidenBytes(graph, target));
  ASSIGN_OR_RETURN(const int classes, AssignLayouts(graph, target, flips));
  RETURN_IF_ERROR(ScaleWeights(graph, target));
  RETURN_IF_ERROR(FormChains(graph, target));
  RETURN_IF_ERROR(FuseAverages(graph, target));
  return classes;
}

absl::StatusOr<NetworkPlan> ArrangeAndPlan(Graph& graph, const CompileOptions& options) {
  const KernelChooser& chooser = options.chooser == nullptr ? AnalyticChooser() : *options.chooser;
  std::optional<BlockFlips> flips = options.flips;
  if (!flips.has_value()) {
    ASSIGN_OR_RETURN(flips, ChooseFlips(graph, options.target, chooser));
  }
  RETURN_IF_ERROR(ArrangeGroups(graph, options.target, *flips).status());
  return PlanNetwork(graph, options.target, chooser);
}

absl::StatusOr<std::string> Compile(Graph& graph, const CompileOptions& options, CompileReport* report) {
  CompileReport local;
  CompileReport& times = report == nullptr ? local : *report;
  Stopwatch watch;
  ASSIGN_OR_RETURN(const NetworkPlan plan, ArrangeAndPlan(graph, options));
  ASSIGN_OR_RETURN(times.contractions, ListContractions(plan, options.target));
  times.plan_seconds = watch.Lap();
  times.num_kernels = static_cast<int>(plan.kernels.size());
  times.num_measured = CountBy(plan, ChosenBy::kRecords);
  times.num_similar = CountBy(plan, ChosenBy::kSimilarRecords);

  std::vector<KernelJob> jobs;
  for (const PlannedKernel& kernel : plan.kernels) {
    jobs.push_back(
        {&kernel.nest, {.may_alias = kernel.may_alias, .keep_text = !options.dump_folder.empty()}});
  }
  ASSIGN_OR_RETURN(const std::vector<CompiledKernel> compiled,
                   CompileKernels(jobs, options.target, options.jobs));
  times.codegen_seconds = watch.Lap();
  times.num_changed = CountChanged(plan, compiled);
  if (!options.dump_folder.empty()) RETURN_IF_ERROR(DumpKernels(plan, compiled, options.dump_folder));
  watch.Lap();

  ASSIGN_OR_RETURN(const ConstantSection constants, BuildConstants(plan, options.jobs));
  times.pack_seconds = watch.Lap();
  std::vector<const std::string*> objects;
  for (const CompiledKernel& kernel : compiled) objects.push_back(&kernel.object);
  LinkedCode code;
  if (!objects.empty()) {
    ASSIGN_OR_RETURN(code, Link(objects));
  }
  times.link_seconds = watch.Lap();
  return WriteNetwork(graph, plan, options, compiled, code, constants);
}

}  // namespace attune
