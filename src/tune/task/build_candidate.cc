#include "tune/task/build_candidate.h"

#include <utility>

#include "base/file.h"
#include "base/status.h"
#include "compile/kernels.h"
#include "lower/definition.h"

namespace attune {
namespace {

// The kernel's parameters; parameters with prepacked constants are recognized by their names.
std::vector<KernelParam> DescribeParams(const LoopNest& nest, const GroupKernel& kernel) {
  std::vector<KernelParam> params;
  for (const LoopNest::Param& param : nest.params) {
    const std::string& name = param.buffer->name;
    KernelParam described;
    described.dtype = param.buffer->dtype;
    described.bytes = param.buffer->num_elements() * DTypeSize(param.buffer->dtype);
    if (param.role == BufferRole::kWorkspace) {
      described.kind = ParamKind::kWorkspace;
    } else if (param.role == BufferRole::kOutput) {
      described.kind = ParamKind::kOutput;
      described.index = OutputIndex(name);
    } else {
      described.index = -1;
      for (size_t i = 0; i < kernel.prepackings.size(); ++i) {
        if (kernel.prepackings[i].param == name) described.index = static_cast<int>(i);
      }
      described.kind = described.index < 0 ? ParamKind::kInput : ParamKind::kPrepacked;
      if (described.index < 0) described.index = InputIndex(name);
    }
    params.push_back(described);
  }
  return params;
}

absl::StatusOr<KernelCode> LinkKernel(const CompiledKernel& compiled) {
  ASSIGN_OR_RETURN(LinkedCode linked, Link({&compiled.object}));
  KernelCode code;
  code.bytes = std::move(linked.bytes);
  code.scratch_bytes = compiled.scratch_bytes;
  for (const KernelPhase& phase : compiled.phases)
    code.phases.push_back({linked.symbols.at(phase.symbol), phase.parallel});
  return code;
}

// In the form that compile/weights.cc runs: from one buffer to another, in one call.
absl::StatusOr<KernelCode> BuildPrepacking(const GroupKernel::Prepacking& prepacking, const Target& target) {
  ASSIGN_OR_RETURN(const std::vector<CompiledKernel> compiled,
                   CompileKernels({{&prepacking.nest, {}}}, target, 1));
  ASSIGN_OR_RETURN(KernelCode code, LinkKernel(compiled[0]));
  if (prepacking.nest.params.size() != 2 || code.phases.size() != 1)
    return InternalError(prepacking.nest.name, " is not from one buffer to another");
  code.phases[0].parallel = false;
  for (const LoopNest::Param& param : prepacking.nest.params) {
    const bool is_input = param.role == BufferRole::kInput;
    code.params.push_back({is_input ? ParamKind::kInput : ParamKind::kOutput, is_input ? prepacking.input : 0,
                           param.buffer->dtype,
                           param.buffer->num_elements() * DTypeSize(param.buffer->dtype)});
  }
  return code;
}

absl::StatusOr<GroupKernel> LowerCandidate(const TuningTask& task, const Candidate& candidate,
                                           const Target& target) {
  const Strategy* strategy = FindStrategy(candidate.strategy);
  if (strategy == nullptr) return InvalidInput("there is no strategy ", candidate.strategy);
  const GroupIdentity identity = IdentifyGroup(*task.region, task.constant_inputs, target);
  ASSIGN_OR_RETURN(Workload workload,
                   AnalyzeGroup(*identity.region, identity.name, SymbolsOf(*identity.region)));
  if (const std::string reason = strategy->why_not(workload, target); !reason.empty())
    return InvalidInput("strategy ", candidate.strategy, " does not apply: ", reason);
  ASSIGN_OR_RETURN(const ScheduledGroup group,
                   ScheduleBy(*strategy, std::move(workload), candidate.config, target));
  return LowerGroup(group, task.constant_inputs);
}

}  // namespace

absl::StatusOr<BuiltKernel> BuildCandidate(const TuningTask& task, const Candidate& candidate,
                                           const Target& target, const BuildHooks& hooks) {
  if (hooks.before) hooks.before(candidate);
  ASSIGN_OR_RETURN(GroupKernel lowered, LowerCandidate(task, candidate, target));
  if (hooks.lowered) hooks.lowered(candidate, lowered);
  ASSIGN_OR_RETURN(const std::vector<CompiledKernel> compiled,
                   CompileKernels({{&lowered.nest, {.may_alias = lowered.may_alias}}}, target, 1));
  BuiltKernel kernel;
  kernel.code_digest = Sha256Hex(compiled[0].object);
  ASSIGN_OR_RETURN(kernel.code, LinkKernel(compiled[0]));
  kernel.code.params = DescribeParams(lowered.nest, lowered);
  kernel.num_dims = static_cast<int>(SymbolsOf(*task.region).size());
  kernel.spreads_rounding = FindStrategy(candidate.strategy)->spreads_rounding;
  for (const GroupKernel::Prepacking& prepacking : lowered.prepackings) {
    ASSIGN_OR_RETURN(kernel.prepackings.emplace_back(), BuildPrepacking(prepacking, target));
  }
  if (hooks.linked) hooks.linked(candidate, kernel);
  return kernel;
}

}  // namespace attune
