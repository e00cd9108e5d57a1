#include "fuzz_case.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "graph/text.h"
#include "reference/interpreter.h"

namespace attune::graph_fuzz {
namespace {

constexpr std::string_view kSection = "== ";

std::vector<std::string> Lines(std::string_view text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

std::map<std::string, std::string> Sections(std::string_view text) {
  std::map<std::string, std::string> sections;
  std::string* section = nullptr;
  for (const std::string& line : Lines(text)) {
    if (line.starts_with(kSection)) {
      section = &sections[line.substr(kSection.size())];
    } else if (section != nullptr) {
      absl::StrAppend(section, line, "\n");
    }
  }
  return sections;
}

}  // namespace

std::string PrintCase(const FuzzCase& fuzz_case, const std::string& comment) {
  std::string text;
  for (const std::string& line : Lines(comment)) absl::StrAppend(&text, "// ", line, "\n");
  absl::StrAppend(&text, kSection, "setting\n", ToString(fuzz_case.setting), "\n");
  if (fuzz_case.setting.plan != DefaultPlan()) {
    absl::StrAppend(&text, kSection, "plan\n");
    // Leaves out the reasons that Print() gives.
    for (const std::string& line : Lines(Print(fuzz_case.setting.plan))) {
      if (!line.starts_with('#')) absl::StrAppend(&text, line, "\n");
    }
  }
  absl::StrAppend(&text, kSection, "graph\n", Print(*fuzz_case.random.graph));
  Graph inputs("inputs");
  for (size_t i = 0; i < fuzz_case.random.inputs.size(); ++i) {
    const std::string& name = fuzz_case.random.graph->inputs()[i]->name();
    inputs.AddOutput(name, inputs.AddConstant(fuzz_case.random.inputs[i], name));
  }
  absl::StrAppend(&text, kSection, "inputs\n", Print(inputs));
  return text;
}

absl::StatusOr<FuzzCase> ParseCase(std::string_view text) {
  std::map<std::string, std::string> sections = Sections(text);
  for (const char* needed : {"setting", "graph", "inputs"}) {
    if (!sections.contains(needed)) return InvalidInput("there is no section '", needed, "'");
  }
  std::string line = sections["setting"];
  std::ranges::replace(line, '\n', ' ');
  FuzzCase result;
  ASSIGN_OR_RETURN(result.setting, ParseSetting(line));
  if (sections.contains("plan")) {
    ASSIGN_OR_RETURN(result.setting.plan, ParsePassPlan(sections["plan"]));
  }
  ASSIGN_OR_RETURN(result.random.graph, ParseGraph(sections["graph"]));
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> constants, ParseGraph(sections["inputs"]));
  ASSIGN_OR_RETURN(const std::vector<Tensor> data, Interpreter().Run(*constants, {}));
  for (const auto& input : result.random.graph->inputs()) {
    const auto found = std::ranges::find(constants->outputs(), input->name(), &Graph::Output::name);
    if (found == constants->outputs().end()) return InvalidInput("input \"", input->name(), "\" has no data");
    result.random.inputs.push_back(data[static_cast<size_t>(found - constants->outputs().begin())]);
  }
  return result;
}

}  // namespace attune::graph_fuzz
