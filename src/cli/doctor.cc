// attune doctor
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/doctor_checks.h"

namespace attune {
namespace {

Json ToJson(const std::vector<Finding>& findings) {
  Json checks = Json::object();
  for (const Finding& finding : findings) {
    Json check = {{"ok", finding.way_out.empty()}, {"text", finding.text}};
    if (!finding.way_out.empty()) check["way_out"] = finding.way_out;
    check.update(finding.facts);
    checks[finding.name] = std::move(check);
  }
  return {{"ok", std::ranges::all_of(findings, [](const Finding& f) { return f.way_out.empty(); })},
          {"checks", std::move(checks)}};
}

std::string ToText(const std::vector<Finding>& findings) {
  size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.name.size());
  std::string text;
  for (const Finding& finding : findings) {
    const bool ok = finding.way_out.empty();
    absl::StrAppend(&text, ok ? "ok       " : "problem  ", finding.name,
                    std::string(width - finding.name.size() + 2, ' '), WithoutControls(finding.text), "\n");
    if (!ok) absl::StrAppend(&text, std::string(9 + width + 2, ' '), WithoutControls(finding.way_out), "\n");
  }
  const auto problems = std::ranges::count_if(findings, [](const Finding& f) { return !f.way_out.empty(); });
  return absl::StrCat(
      text,
      problems == 0 ? "no problem found" : absl::StrCat(problems, problems == 1 ? " problem" : " problems"),
      "; attune doctor --json - gives all of this for a report\n");
}

absl::Status Doctor(const std::string& json) {
  const std::vector<Finding> findings = ExamineThisMachine();
  if (!json.empty()) RETURN_IF_ERROR(WriteJson(ToJson(findings), json));
  if (json != "-") PrintResult(ToText(findings));
  return absl::OkStatus();
}

}  // namespace

void AddDoctorCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Say what this machine has and what is in the way of fast and steady runs; for reports, too");
  auto json = std::make_shared<std::string>();
  command->add_option("--json", *json, "write the results as JSON to this file, or to stdout for -");
  command->callback([json, &action] { action = [json] { return Doctor(*json); }; });
}

}  // namespace attune
