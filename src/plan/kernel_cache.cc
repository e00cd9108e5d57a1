#include "plan/kernel_cache.h"

#include <utility>

#include "base/dtype.h"
#include "base/status.h"
#include "graph/demand.h"
#include "graph/flops.h"
#include "plan/group_kernel.h"

namespace attune {

const KernelCache::Prepared* KernelCache::FindPrepared(int kernel, const std::string& param) const {
  const auto it = prepared_.find({kernel, param});
  return it == prepared_.end() ? nullptr : &it->second;
}

absl::StatusOr<int> KernelCache::Get(const Graph& group_region, const std::set<int>& constant_inputs,
                                     const NarrowInputs& narrow_inputs) {
  GroupIdentity identity = IdentifyGroup(group_region, constant_inputs, target_);
  std::string narrow;
  for (const auto& [input, dtype] : narrow_inputs)
    absl::StrAppend(&narrow, "_", InputName(static_cast<size_t>(input)), DTypeName(dtype));
  identity.name += narrow;
  const Graph& region = *identity.region;
  const std::string key = identity.key + narrow;
  const auto known = kernels_.find(key);
  if (known != kernels_.end()) return known->second;

  PlannedKernel kernel;
  kernel.operators = identity.operators;
  ASSIGN_OR_RETURN(Workload workload, AnalyzeGroup(region, identity.name, plan_.symbols));
  ASSIGN_OR_RETURN(KernelChoice choice, chooser_.Choose(workload, identity.key, target_));
  kernel.by = choice.by;
  kernel.measured_code = std::move(choice.code_digest);
  kernel.record = std::move(choice.record);
  ASSIGN_OR_RETURN(const ScheduledGroup group,
                   ScheduleBy(*choice.strategy, std::move(workload), std::move(choice.config), target_));
  ASSIGN_OR_RETURN(GroupKernel lowered, LowerGroup(group, constant_inputs));
  ReadNarrow(narrow_inputs, lowered);
  const int index = static_cast<int>(plan_.kernels.size());
  for (GroupKernel::Prepacking& prepacking : lowered.prepackings) {
    prepared_[{index, prepacking.param}] = {prepacking.input, static_cast<int>(plan_.prepackings.size())};
    plan_.prepackings.push_back(std::move(prepacking.nest));
  }
  kernel.nest = std::move(lowered.nest);
  kernel.trace = group.schedule.trace();
  kernel.strategy = ToString(group.strategy->name, group.config);
  kernel.may_alias = std::move(lowered.may_alias);
  for (const auto& node : region.nodes()) kernel.flops += node->op() == Op::kConstant ? 0 : CountFlops(*node);
  const Demand demand = DemandOf(region);
  for (size_t i = 0; i < region.inputs().size(); ++i) {
    const auto found = narrow_inputs.find(static_cast<int>(i));
    const DType stored = found == narrow_inputs.end() ? region.inputs()[i]->type().dtype : found->second;
    kernel.bytes_read += static_cast<int64_t>(demand.elements_read[i]) * DTypeSize(stored);
  }
  for (size_t i = 0; i < region.outputs().size(); ++i)
    kernel.bytes_written +=
        static_cast<int64_t>(demand.elements_written[i]) * DTypeSize(region.outputs()[i].value->type().dtype);
  kernel.task = identity.key;
  kernel.constant_inputs = constant_inputs;
  kernel.region = std::move(identity.region);
  plan_.kernels.push_back(std::move(kernel));
  kernels_[key] = index;
  return index;
}

}  // namespace attune
