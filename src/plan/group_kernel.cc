#include "plan/group_kernel.h"

#include <algorithm>

#include "base/file.h"
#include "base/status.h"
#include "graph/text.h"
#include "lower/flatten.h"

namespace attune {
namespace {

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

// Whether `node` comes after the anchor (or there is none), so that it works on elements of the output.
bool IsEpilogue(const Node* node, const Node* anchor) {
  if (anchor == nullptr) return true;
  for (const Value* input : node->inputs()) {
    if (input == nullptr || input->is_input()) continue;
    if (input->producer() == anchor) return true;
    if (IsEpilogue(input->producer(), anchor) && IsElementwise(input->producer()->op())) return true;
  }
  return false;
}

bool HaveEqualExtents(const BufferNode& a, const BufferNode& b) {
  return std::ranges::equal(a.extents(), b.extents(),
                            [](const Extent& x, const Extent& y) { return SameExpr(x.expr(), y.expr()); });
}

// Pairs of parameters where the output may take an input's memory: each element of the input is read only for
// the same element of the output.
std::vector<std::pair<int, int>> AliasPairs(const Workload& workload, const LoopNest& nest) {
  std::vector<std::pair<int, int>> pairs;
  const Graph& region = *workload.region;
  // A depth-first fusion also reads the elements around an element, and some of them later.
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
    const int in = param(InputName(i)), out = param(OutputName(0));
    if (elementwise && HaveEqualExtents(*nest.params[static_cast<size_t>(in)].buffer,
                                        *nest.params[static_cast<size_t>(out)].buffer))
      pairs.emplace_back(in, out);
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

GroupIdentity IdentifyGroup(const Graph& group, const std::set<int>& constant_inputs, const Target& target) {
  GroupIdentity identity;
  identity.region = FlatCopy(group);
  identity.key = CanonicalText(*identity.region);
  for (int i : constant_inputs) absl::StrAppend(&identity.key, " constant ", i);
  for (const Graph::Output& output : identity.region->outputs()) {
    for (const Dim& dim : output.value->type().dims)
      absl::StrAppend(&identity.key, dim.symbol.empty() ? "" : " ", dim.symbol);
  }
  identity.operators = OperatorText(*identity.region);
  identity.name = SymbolName(identity.operators, absl::StrCat(identity.key, target.name));
  return identity;
}

std::string OpenKernelName(std::string_view operators, std::string_view key, const Target& target) {
  return SymbolName(operators, absl::StrCat(key, target.name));
}

absl::StatusOr<GroupKernel> LowerGroup(const ScheduledGroup& group, const std::set<int>& constant_inputs) {
  GroupKernel kernel;
  std::set<std::string> stages;
  for (const auto& [stage, input] : group.schedule.Prepackings()) {
    const int place = InputIndex(input);
    if (!constant_inputs.contains(place)) continue;
    ASSIGN_OR_RETURN(LoopNest prepacking, group.schedule.LowerPrepacking(stage));
    kernel.prepackings.push_back({stage, place, std::move(prepacking)});
    stages.insert(stage);
  }
  ASSIGN_OR_RETURN(kernel.nest, group.schedule.Lower(stages));
  kernel.may_alias = AliasPairs(group.workload, kernel.nest);
  return kernel;
}

}  // namespace attune
