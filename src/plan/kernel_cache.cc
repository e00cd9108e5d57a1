#include "plan/kernel_cache.h"

#include <utility>

#include "base/status.h"
#include "plan/group_kernel.h"

namespace attune {
namespace {

// For an element of the output. A function counts as what its approximation in f32 adds, multiplies, divides
// and limits (codegen/elementary.cc): a kernel that is full of them is bound by these.
int64_t OperationsAnElement(Op op) {
  constexpr int64_t kExp = 23, kSigmoid = 19, kLog = 28, kTanh = 28, kErf = 27;
  switch (op) {
    case Op::kExp:
    case Op::kElu:
      return kExp;
    case Op::kLog:
      return kLog;
    case Op::kSigmoid:
    case Op::kSilu:
      return kSigmoid;
    case Op::kTanh:
      return kTanh;
    case Op::kErf:
      return kErf;
    case Op::kGelu:
      return kErf + 4;
    case Op::kSoftplus:
    case Op::kPow:
      return kExp + kLog;
    case Op::kSoftmax:
    case Op::kLogSoftmax:
      return kExp + 4;  // the maximum, the difference from it, the sum, the share
    case Op::kLayerNorm:
      return 8;  // two sums over the element and over its square, what is made of them
    case Op::kRmsNorm:
      return 4;
    default:
      return GetOpInfo(op).category == OpCategory::kMovement ? 0 : 1;
  }
}

// Multiply-adds count as two operations.
int64_t CountFlops(const Node& node) {
  const int64_t outputs = node.output()->type().num_elements();
  switch (node.op()) {
    case Op::kConv:
    case Op::kConvInteger: {
      const Shape w = node.input(1)->type().shape();
      return 2 * outputs * (w[0] == 0 ? 0 : node.input(1)->type().num_elements() / w[0]);
    }
    case Op::kConvTranspose: {
      const Shape w = node.input(1)->type().shape();
      const Shape x = node.input(0)->type().shape();
      return 2 * node.input(0)->type().num_elements() *
             (x[1] == 0 ? 0 : node.input(1)->type().num_elements() / w[0]);
    }
    case Op::kMatMul:
    case Op::kMatMulInteger: {
      const Shape a = node.input(0)->type().shape();
      return 2 * outputs * (node.attrs().Bool("transpose_a") ? a[a.size() - 2] : a.back());
    }
    case Op::kAttention: {
      const Shape q = node.input(0)->type().shape(), k = node.input(1)->type().shape();
      const int64_t scores = q[0] * q[1] * q[2] * k[2], products = q[3] + node.input(2)->type().shape()[3];
      return scores * (2 * products + OperationsAnElement(Op::kSoftmax));
    }
    case Op::kMaxPool:
    case Op::kAvgPool: {
      int64_t taps = 1;
      for (int64_t k : node.attrs().IntList("kernel")) taps *= k;
      return outputs * taps;
    }
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceMax:
    case Op::kReduceMin:
      return node.input(0)->type().num_elements();
    default:
      return outputs * OperationsAnElement(node.op());
  }
}

}  // namespace

const KernelCache::Prepared* KernelCache::FindPrepared(int kernel, const std::string& param) const {
  const auto it = prepared_.find({kernel, param});
  return it == prepared_.end() ? nullptr : &it->second;
}

absl::StatusOr<int> KernelCache::Get(const Graph& group_region, const std::set<int>& constant_inputs) {
  GroupIdentity identity = IdentifyGroup(group_region, constant_inputs, target_);
  const Graph& region = *identity.region;
  const auto known = kernels_.find(identity.key);
  if (known != kernels_.end()) return known->second;

  PlannedKernel kernel;
  kernel.operators = identity.operators;
  ASSIGN_OR_RETURN(Workload workload, AnalyzeGroup(region, identity.name, plan_.symbols));
  ASSIGN_OR_RETURN(KernelChoice choice, chooser_.Choose(workload, identity.key, target_));
  kernel.by = choice.by;
  kernel.measured_code = std::move(choice.code_digest);
  ASSIGN_OR_RETURN(const ScheduledGroup group,
                   ScheduleBy(*choice.strategy, std::move(workload), std::move(choice.config), target_));
  ASSIGN_OR_RETURN(GroupKernel lowered, LowerGroup(group, constant_inputs));
  const int index = static_cast<int>(plan_.kernels.size());
  for (GroupKernel::Preparation& preparation : lowered.preparations) {
    prepared_[{index, preparation.param}] = {preparation.input, static_cast<int>(plan_.preparations.size())};
    plan_.preparations.push_back(std::move(preparation.nest));
  }
  kernel.nest = std::move(lowered.nest);
  kernel.trace = group.schedule.trace();
  kernel.strategy = ToString(group.strategy->name, group.config);
  kernel.may_alias = std::move(lowered.may_alias);
  for (const auto& node : region.nodes()) kernel.flops += node->op() == Op::kConstant ? 0 : CountFlops(*node);
  for (const auto& input : region.inputs()) kernel.bytes_read += input->type().num_physical_bytes();
  for (const auto& output : region.outputs())
    kernel.bytes_written += output.value->type().num_physical_bytes();
  kernel.task = identity.key;
  kernel.constant_inputs = constant_inputs;
  kernel.region = std::move(identity.region);
  plan_.kernels.push_back(std::move(kernel));
  kernels_[identity.key] = index;
  return index;
}

}  // namespace attune
