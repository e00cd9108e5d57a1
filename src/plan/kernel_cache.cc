#include "plan/kernel_cache.h"

#include <algorithm>
#include <utility>

#include "base/dtype.h"
#include "base/status.h"
#include "graph/demand.h"
#include "graph/flops.h"
#include "plan/group_kernel.h"
#include "plan/open_group.h"

namespace attune {
namespace {

std::string SuffixOf(const NarrowInputs& narrow_inputs) {
  std::string suffix;
  for (const auto& [input, dtype] : narrow_inputs)
    absl::StrAppend(&suffix, "_", InputName(static_cast<size_t>(input)), DTypeName(dtype));
  return suffix;
}

}  // namespace

const KernelCache::Prepared* KernelCache::FindPrepared(int kernel, const std::string& param) const {
  const auto it = prepared_.find({kernel, param});
  return it == prepared_.end() ? nullptr : &it->second;
}

absl::StatusOr<int> KernelCache::Get(const Graph& group_region, const std::set<int>& constant_inputs,
                                     const NarrowInputs& narrow_inputs) {
  GroupIdentity identity = IdentifyGroup(group_region, constant_inputs, target_);
  const std::string narrow = SuffixOf(narrow_inputs);
  identity.name += narrow;
  const std::string key = identity.key + narrow;
  const auto known = kernels_.find(key);
  if (known != kernels_.end()) return known->second;

  ASSIGN_OR_RETURN(Workload workload, AnalyzeGroup(*identity.region, identity.name, plan_.symbols));
  ASSIGN_OR_RETURN(KernelChoice choice, chooser_.Choose(workload, identity.key, target_));
  ASSIGN_OR_RETURN(const ScheduledGroup group,
                   ScheduleBy(*choice.strategy, std::move(workload), choice.config, target_));
  ASSIGN_OR_RETURN(const int kernel,
                   Add(std::move(identity), std::move(choice), group, constant_inputs, narrow_inputs));
  return kernels_[key] = kernel;
}

absl::StatusOr<KernelCache::OpenKernel> KernelCache::GetOpen(const std::vector<const Graph*>& regions,
                                                             const std::set<int>& constant_inputs,
                                                             const NarrowInputs& narrow_inputs,
                                                             const Witnesses& witnesses) {
  std::vector<GroupIdentity> identities;
  std::string key;
  for (const Graph* region : regions) {
    identities.push_back(IdentifyGroup(*region, constant_inputs, target_));
    absl::StrAppend(&key, identities.back().key, "\n");
  }
  if (std::ranges::all_of(identities, [&](const auto& one) { return one.key == identities[0].key; })) {
    ASSIGN_OR_RETURN(const int kernel, Get(*regions[0], constant_inputs, narrow_inputs));
    return OpenKernel{kernel, {}};
  }
  const std::string narrow = SuffixOf(narrow_inputs);
  key += narrow;
  const auto known = open_kernels_.find(key);
  if (known != open_kernels_.end()) return known->second;

  GroupIdentity& first = identities[0];
  first.name = absl::StrCat(OpenKernelName(first.operators, key, target_), narrow);
  std::vector<const Graph*> flat;
  for (const GroupIdentity& identity : identities) flat.push_back(identity.region.get());
  ASSIGN_OR_RETURN(const GroupSizes sizes, SizesOfGroup(regions, flat, witnesses));
  ASSIGN_OR_RETURN(OpenGroup group, ScheduleOpenGroup(flat, first, sizes, target_, chooser_));
  ASSIGN_OR_RETURN(const int kernel, Add(std::move(first), std::move(group.choice), group.scheduled,
                                         constant_inputs, narrow_inputs));
  return open_kernels_[key] = {kernel, sizes.arguments, std::move(group.why_slow)};
}

absl::StatusOr<int> KernelCache::Add(GroupIdentity identity, KernelChoice choice, const ScheduledGroup& group,
                                     const std::set<int>& constant_inputs,
                                     const NarrowInputs& narrow_inputs) {
  const Graph& region = *identity.region;
  PlannedKernel kernel;
  kernel.operators = identity.operators;
  kernel.by = choice.by;
  kernel.measured_code = std::move(choice.code_digest);
  kernel.record = std::move(choice.record);
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
  return index;
}

}  // namespace attune
