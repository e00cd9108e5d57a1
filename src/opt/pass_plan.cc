#include "opt/pass_plan.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr size_t kMaxSteps = 1000;

std::string PassNames() {
  std::vector<std::string_view> names;
  for (const PassInfo& info : PassTable()) {
    if (std::find(names.begin(), names.end(), info.name) == names.end()) names.push_back(info.name);
  }
  return absl::StrJoin(names, ", ");
}

absl::Status ParseParameter(std::string_view text, const PassInfo& info, PassParameters& parameters) {
  const std::pair<std::string_view, std::string_view> item = absl::StrSplit(text, absl::MaxSplits('=', 1));
  const bool known = std::any_of(info.parameters.begin(), info.parameters.end(),
                                 [&](const PassParameter& p) { return p.name == item.first; });
  if (!known) return InvalidInput("pass ", info.name, " has no parameter '", item.first, "'");
  int64_t value;
  if (!absl::SimpleAtoi(item.second, &value) || value < 0) {
    return InvalidInput("parameter ", item.first, " of pass ", info.name, " needs a whole number, as in ",
                        item.first, "=1");
  }
  if (!parameters.emplace(item.first, value).second) {
    return InvalidInput("parameter ", item.first, " of pass ", info.name, " is given twice");
  }
  return absl::OkStatus();
}

absl::StatusOr<PassStep> ParseStep(const std::vector<std::string_view>& words) {
  const PassInfo* info = FindPass(words[0]);
  if (info == nullptr) return InvalidInput("no pass '", words[0], "'; the passes are ", PassNames());
  PassStep step{std::string(words[0]), {}};
  for (size_t i = 1; i < words.size(); ++i) {
    RETURN_IF_ERROR(ParseParameter(words[i], *info, step.parameters));
  }
  return step;
}

// The reason of the table row that the plan's occurrence-th `name` stands for.
std::string_view ReasonFor(std::string_view name, int occurrence) {
  std::string_view reason;
  for (const PassInfo& info : PassTable()) {
    if (info.name != name) continue;
    reason = info.reason;
    if (occurrence-- == 0) break;
  }
  return reason;
}

// Whether the plan has the pass.
bool SwitchOn(PassPlan& plan, std::string_view pass, std::string_view parameter) {
  bool found = false;
  for (PassStep& step : plan.steps) {
    if (step.pass != pass) continue;
    step.parameters[std::string(parameter)] = 1;
    found = true;
  }
  return found;
}

bool IsOn(const PassPlan& plan, std::string_view pass, std::string_view parameter) {
  return std::ranges::any_of(plan.steps, [&](const PassStep& step) {
    const auto it = step.parameters.find(parameter);
    return step.pass == pass && it != step.parameters.end() && it->second != 0;
  });
}

}  // namespace

PassPlan DefaultPlan() {
  PassPlan plan;
  for (const PassInfo& info : PassTable()) plan.steps.push_back({std::string(info.name), {}});
  return plan;
}

std::string Print(const PassPlan& plan) {
  std::string text;
  std::map<std::string_view, int> occurrences;
  for (const PassStep& step : plan.steps) {
    absl::StrAppend(&text, "# ", ReasonFor(step.pass, occurrences[step.pass]++), "\n", step.pass);
    if (const PassInfo* info = FindPass(step.pass)) {
      for (const PassParameter& parameter : info->parameters) {
        const auto it = step.parameters.find(parameter.name);
        const int64_t value = it == step.parameters.end() ? parameter.default_value : it->second;
        absl::StrAppend(&text, " ", parameter.name, "=", value);
      }
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

absl::StatusOr<PassPlan> ParsePassPlan(std::string_view text) {
  PassPlan plan;
  int line_number = 0;
  for (std::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    const std::vector<std::string_view> words =
        absl::StrSplit(line.substr(0, line.find('#')), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    absl::StatusOr<PassStep> step = ParseStep(words);
    if (!step.ok()) return Annotate(step.status(), absl::StrCat("pass plan, line ", line_number));
    if (plan.steps.size() == kMaxSteps) return InvalidInput("pass plan: over ", kMaxSteps, " passes");
    plan.steps.push_back(*std::move(step));
  }
  return plan;
}

absl::Status SetBF16(PassPlan& plan) {
  if (SwitchOn(plan, "narrow", "bf16")) return absl::OkStatus();
  return InvalidInput("the plan lacks the pass narrow, which makes values bf16");
}
bool IsBF16(const PassPlan& plan) { return IsOn(plan, "narrow", "bf16"); }

absl::Status SetBF16x3(PassPlan& plan) {
  if (SwitchOn(plan, "split_products", "bf16x3")) return absl::OkStatus();
  return InvalidInput("the plan lacks the pass split_products, which makes three products of bf16");
}
bool IsBF16x3(const PassPlan& plan) { return IsOn(plan, "split_products", "bf16x3"); }

absl::Status SetWeights(PassPlan& plan, DType dtype) {
  if (SwitchOn(plan, "round_weights", DTypeName(dtype))) return absl::OkStatus();
  return InvalidInput("the plan lacks the pass round_weights, which rounds weights to ", DTypeName(dtype));
}
DType WeightsOf(const PassPlan& plan) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    if (IsOn(plan, "round_weights", DTypeName(dtype))) return dtype;
  }
  return DType::kF32;
}

void EnsureIndexChecks(PassPlan& plan) {
  if (std::ranges::any_of(plan.steps, [](const PassStep& s) { return s.pass == "check_indices"; })) return;
  const auto fuse = std::ranges::find(plan.steps, "fuse", &PassStep::pass);
  plan.steps.insert(fuse, {"check_indices", {}});
}
void SetUncheckedIndices(PassPlan& plan) {
  EnsureIndexChecks(plan);
  SwitchOn(plan, "check_indices", "unchecked");
}
bool HasUncheckedIndices(const PassPlan& plan) { return IsOn(plan, "check_indices", "unchecked"); }

}  // namespace attune
