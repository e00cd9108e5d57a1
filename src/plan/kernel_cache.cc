#include "plan/kernel_cache.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/status.h"
#include "graph/text.h"
#include "lower/flatten.h"

namespace attune {
namespace {

// Multiply-adds count as two operations, everything else as one for each output element.
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
      return 2 * q[0] * q[1] * q[2] * k[2] * (q[3] + node.input(2)->type().shape()[3]);
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
      return GetOpInfo(node.op()).category == OpCategory::kMovement ? 0 : outputs;
  }
}

std::string OperatorText(const Graph& region) {
  std::string text;
  for (const auto& node : region.nodes()) {
    if (node->op() == Op::kConstant) continue;
    if (text.size() > 60) return text + "+…";
    absl::StrAppend(&text, text.empty() ? "" : "+", OpName(node->op()));
  }
  return text;
}

std::string SymbolName(std::string_view operators, std::string_view key) {
  std::string name;
  for (char c : operators.substr(0, 40)) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return absl::StrCat(name, "_", Sha256Hex(key).substr(0, 12));
}

// Whether `node` comes after the anchor (or there is none), so that its elements are the output's.
bool IsEpilogue(const Node* node, const Node* anchor) {
  if (anchor == nullptr) return true;
  for (const Value* input : node->inputs()) {
    if (input == nullptr || input->is_input()) continue;
    if (input->producer() == anchor) return true;
    if (IsEpilogue(input->producer(), anchor) && IsElementwise(input->producer()->op())) return true;
  }
  return false;
}

// Pairs of parameters where the output may take an input's memory: each element of the input is read only for
// the same element of the output.
std::vector<std::pair<int, int>> AliasPairs(const Workload& workload, const LoopNest& nest) {
  std::vector<std::pair<int, int>> pairs;
  const Graph& region = *workload.region;
  // Links of a chain read what lies around an element, and some of it later.
  if (region.outputs().size() != 1 || workload.num_anchors > 1) return pairs;
  const TensorType& output = region.outputs()[0].value->type();
  const auto param = [&](const std::string& name) {
    const auto it = std::find_if(nest.params.begin(), nest.params.end(),
                                 [&](const auto& p) { return p.buffer->name == name; });
    return static_cast<int>(it - nest.params.begin());
  };
  for (size_t i = 0; i < region.inputs().size(); ++i) {
    const Value* input = region.inputs()[i].get();
    if (input->type() != output || param(InputName(i)) == static_cast<int>(nest.params.size())) continue;
    const auto& users = input->users();
    const bool elementwise = std::all_of(users.begin(), users.end(), [&](const Node* user) {
      return IsElementwise(user->op()) && user->output()->type().dims == output.dims &&
             IsEpilogue(user, workload.anchor);
    });
    if (elementwise) pairs.emplace_back(param(InputName(i)), param(OutputName(0)));
  }
  return pairs;
}

}  // namespace

std::string CanonicalText(const Graph& region) {
  const std::unique_ptr<Graph> copy = region.Clone();
  copy->set_name("task");
  int n = 0;
  for (const auto& input : copy->inputs()) input->set_name(absl::StrCat("v", n++));
  for (const auto& node : copy->nodes()) {
    node->set_name("");
    for (int i = 0; i < node->num_outputs(); ++i) node->output(i)->set_name(absl::StrCat("v", n++));
  }
  return Print(*copy);
}

std::string TaskText(const Graph& region, const std::set<int>& constant_inputs) {
  std::string text = CanonicalText(region);
  for (int i : constant_inputs) absl::StrAppend(&text, " constant ", i);
  return text;
}

const KernelCache::Prepared* KernelCache::FindPrepared(int kernel, const std::string& param) const {
  const auto it = prepared_.find({kernel, param});
  return it == prepared_.end() ? nullptr : &it->second;
}

absl::StatusOr<int> KernelCache::Get(const Graph& group_region, const std::set<int>& constant_inputs) {
  const std::unique_ptr<Graph> flat = Flatten(group_region);
  const Graph& region = flat == nullptr ? group_region : *flat;
  const std::string task = TaskText(region, constant_inputs);
  std::string key = task;
  for (const Graph::Output& output : region.outputs()) {
    for (const Dim& dim : output.value->type().dims)
      absl::StrAppend(&key, dim.symbol.empty() ? "" : " ", dim.symbol);
  }
  const auto known = kernels_.find(key);
  if (known != kernels_.end()) return known->second;

  PlannedKernel kernel;
  kernel.operators = OperatorText(region);
  const std::string name = SymbolName(kernel.operators, absl::StrCat(key, target_.name));
  ASSIGN_OR_RETURN(Workload workload, AnalyzeGroup(region, name, plan_.symbols));
  ASSIGN_OR_RETURN(KernelChoice choice, chooser_.Choose(workload, task, target_));
  kernel.measured = choice.measured;
  ASSIGN_OR_RETURN(const ScheduledGroup group,
                   ScheduleBy(*choice.strategy, std::move(workload), std::move(choice.config), target_));
  const int index = static_cast<int>(plan_.kernels.size());
  std::set<std::string> stages;
  for (const auto& [stage, input] : group.schedule.Preparations()) {
    const int place = InputIndex(input);
    if (!constant_inputs.contains(place)) continue;
    ASSIGN_OR_RETURN(LoopNest preparation, group.schedule.LowerPreparation(stage));
    prepared_[{index, stage}] = {place, static_cast<int>(plan_.preparations.size())};
    plan_.preparations.push_back(std::move(preparation));
    stages.insert(stage);
  }
  ASSIGN_OR_RETURN(kernel.nest, group.schedule.Lower(stages));
  kernel.trace = group.schedule.trace();
  kernel.strategy =
      absl::StrCat(group.strategy->name, group.config.empty() ? "" : " ", ToString(group.config));
  kernel.may_alias = AliasPairs(group.workload, kernel.nest);
  for (const auto& node : region.nodes()) kernel.flops += node->op() == Op::kConstant ? 0 : CountFlops(*node);
  for (const auto& input : region.inputs()) kernel.bytes_read += input->type().num_physical_bytes();
  for (const auto& output : region.outputs())
    kernel.bytes_written += output.value->type().num_physical_bytes();
  kernel.task = task;
  kernel.constant_inputs = constant_inputs;
  kernel.region = region.Clone();
  plan_.kernels.push_back(std::move(kernel));
  kernels_[key] = index;
  return index;
}

}  // namespace attune
