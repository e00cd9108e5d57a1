// attune operators [--format NAME]
#include "import/operators.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"

namespace attune {
namespace {

struct OperatorsFlags {
  std::string format, json;
};

std::vector<FormatOperators> Chosen(const OperatorsFlags& flags) {
  std::vector<FormatOperators> formats = ListFormatOperators();
  if (!flags.format.empty())
    std::erase_if(formats, [&](const FormatOperators& f) { return f.key != flags.format; });
  return formats;
}

Json ToJson(const FormatOperators& format) {
  Json supported = Json::array(), refused = Json::array();
  for (const ListedOperator& listed : format.operators) {
    Json json = {{"name", listed.name}};
    if (!listed.domain.empty()) json["domain"] = listed.domain;
    if (listed.until) json["until_opset"] = *listed.until;
    if (!listed.refused.empty()) json["reason"] = listed.refused;
    (listed.refused.empty() ? supported : refused).push_back(std::move(json));
  }
  return {{"format", format.key},
          {"name", format.name},
          {"remark", format.remark},
          {"operators", std::move(supported)},
          {"refused", std::move(refused)}};
}

std::string NameOf(const ListedOperator& listed) {
  return absl::StrCat(listed.domain, listed.domain.empty() ? "" : ".", listed.name,
                      listed.until ? absl::StrCat(" (until opset ", *listed.until, ")") : "",
                      listed.refused.empty() ? "" : absl::StrCat(" (", listed.refused, ")"));
}

// The names, separated by commas, in lines that are indented and fit a terminal.
std::string Lines(const std::vector<std::string>& names) {
  constexpr size_t kWidth = 100;
  std::string text, line;
  for (const std::string& name : names) {
    if (!line.empty() && line.size() + 2 + name.size() > kWidth) {
      absl::StrAppend(&text, line, ",\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "  " : ", ", name);
  }
  return absl::StrCat(text, line, "\n");
}

std::string ToText(const FormatOperators& format) {
  std::vector<std::string> supported, refused;
  for (const ListedOperator& listed : format.operators)
    (listed.refused.empty() ? supported : refused).push_back(NameOf(listed));
  std::string text = absl::StrCat(format.name, ": ", supported.size(), " operators, ", format.remark, "\n",
                                  Lines(supported));
  if (!refused.empty()) absl::StrAppend(&text, "not supported:\n", Lines(refused));
  return text + "\n";
}

absl::Status Operators(const OperatorsFlags& flags) {
  const std::vector<FormatOperators> formats = Chosen(flags);
  if (!flags.json.empty()) {
    Json all = Json::array();
    for (const FormatOperators& format : formats) all.push_back(ToJson(format));
    RETURN_IF_ERROR(WriteJson({{"formats", std::move(all)}}, flags.json));
  }
  if (flags.json == "-") return absl::OkStatus();
  for (const FormatOperators& format : formats) PrintResult(ToText(format));
  PrintResult(
      "An operator of the list may still be refused for an attribute or a type that is not supported; "
      "importing a "
      "model names all of these at once.\n");
  return absl::OkStatus();
}

}  // namespace

void AddOperatorsCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("operators", "List the operators of each model format that are supported");
  auto flags = std::make_shared<OperatorsFlags>();
  std::vector<std::string> keys;
  for (const FormatOperators& format : ListFormatOperators()) keys.emplace_back(format.key);
  command->add_option("--format", flags->format, "those of one format alone")->check(CLI::IsMember(keys));
  command->add_option("--json", flags->json, "write the results as JSON to this file, or to stdout for -");
  command->callback([flags, &action] { action = [flags] { return Operators(*flags); }; });
}

}  // namespace attune
