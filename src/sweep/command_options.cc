#include "sweep/command_options.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"
#include "sweep/sweep_value.h"

namespace attune {
namespace {

using Kind = CommandOption::Kind;

// These name what a run writes, or make a command do something else than its work.
constexpr std::string_view kOwnOptions[] = {"output", "json", "events", "report",   "plan",
                                            "dump",   "help", "space",  "log-level"};

bool IsOwn(const std::string& option) {
  return std::ranges::find(kOwnOptions, option) != std::end(kOwnOptions);
}

// "tune.batch" is {"tune", "batch"}, and "threads" {"", "threads"}.
std::pair<std::string, std::string> Split(const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

class Resolver {
 public:
  Resolver(const SweepFile& file, const CommandDefinitions& definitions)
      : file_(file), used_(file.commands.size()) {
    for (const std::string& command : file.commands) options_.push_back(definitions.OptionsOf(command));
  }

  absl::Status Add(const std::string& name, size_t index) {
    if (name == kModelOption) return absl::OkStatus();
    const auto [command, option] = Split(name);
    if (IsOwn(option))
      return InvalidInput("is not for sweeps, which give each run files of its own; leave it out");
    if (option == "records")
      return InvalidInput(
          "is for the whole sweep; give records: own, shared or a file at the file's top level");
    return command.empty() ? AddToAll(option, index) : AddToOne(command, option, index);
  }

  UsedOptions Finish() { return std::move(used_); }

 private:
  const CommandOption* Find(size_t command, const std::string& option) const {
    const auto found = std::ranges::find(options_[command], option, &CommandOption::name);
    return found == options_[command].end() ? nullptr : &*found;
  }

  // Whether the command gets the artifact that a command before it has made.
  bool GetsArtifact(size_t command) const { return file_.commands[command] == "bench" && MakesArtifact(); }
  bool MakesArtifact() const {
    return std::ranges::any_of(
        file_.commands, [](const std::string& command) { return command == "tune" || command == "compile"; });
  }

  absl::Status AddToOne(const std::string& command, const std::string& option, size_t index) {
    const auto found = std::ranges::find(file_.commands, command);
    if (found == file_.commands.end())
      return InvalidInput("\"", Printable(command), "\" is none of the commands of this sweep, which are ",
                          absl::StrJoin(file_.commands, ", "));
    const auto at = static_cast<size_t>(found - file_.commands.begin());
    const CommandOption* known = Find(at, option);
    if (known == nullptr) return Unknown({command}, option);
    if (known->is_for_models && GetsArtifact(at))
      return InvalidInput(
          "has no effect on an artifact, which is what bench gets here; give it to the command that "
          "compiles");
    return Use(at, *known, index);
  }

  absl::Status AddToAll(const std::string& option, size_t index) {
    bool is_used = false;
    for (size_t command = 0; command < options_.size(); ++command) {
      const CommandOption* known = Find(command, option);
      if (known == nullptr || (known->is_for_models && GetsArtifact(command))) continue;
      RETURN_IF_ERROR(Use(command, *known, index));
      is_used = true;
    }
    return is_used ? absl::OkStatus() : Unknown(file_.commands, option);
  }

  absl::Status Use(size_t command, const CommandOption& option, size_t index) {
    for (const UsedOption& used : used_[command]) {
      if (used.option.name == option.name)
        return InvalidInput("sets --", option.name, " of ", file_.commands[command],
                            ", which another option of the file sets, too");
    }
    used_[command].push_back({option, index});
    return absl::OkStatus();
  }

  absl::Status Unknown(const std::vector<std::string>& commands, const std::string& option) const {
    std::set<std::string> names;
    for (size_t i = 0; i < file_.commands.size(); ++i) {
      if (std::ranges::find(commands, file_.commands[i]) == commands.end()) continue;
      for (const CommandOption& known : options_[i])
        if (!IsOwn(known.name) && known.name != "records") names.insert(known.name);
    }
    return InvalidInput("there is no --", Printable(option), " of ", absl::StrJoin(commands, ", "),
                        "; there are ", absl::StrJoin(names, ", "));
  }

  const SweepFile& file_;
  std::vector<std::vector<CommandOption>> options_;  // of each command
  UsedOptions used_;
};

// Ok if a value has the form that options of this kind have.
absl::Status CheckForm(const CommandOption& option, const SweepValue& value) {
  if (value.is_null()) return absl::OkStatus();
  if (option.kind == Kind::kFlag && !value.is_boolean())
    return InvalidInput("is a flag: true gives it, and false leaves it out");
  if (option.kind != Kind::kFlag && value.is_boolean())
    return InvalidInput("is not a flag, and needs a value");
  if (option.kind == Kind::kValue && value.is_array()) return InvalidInput("takes one value, and not a list");
  return absl::OkStatus();
}

std::vector<std::string> TextsOf(const SweepValue& value) {
  if (!value.is_array()) return {SweepValueText(value)};
  std::vector<std::string> texts;
  for (const SweepValue& item : value) texts.push_back(SweepValueText(item));
  return texts;
}

// The key of the file that has the option.
std::string_view KeyOf(const SweepFile& file, const std::string& option) {
  for (const SweepAxis& axis : file.axes)
    if (std::ranges::find(axis.options, option) != axis.options.end()) return axis.key;
  return "options";
}

absl::Status CheckModel(const SweepValue& model) {
  return model.is_string() ? absl::OkStatus() : InvalidInput("is not a name of a file");
}

}  // namespace

std::vector<std::string> ArgumentsOf(const CommandOption& option, const SweepValue& value) {
  if (value.is_null()) return {};
  const std::string flag = absl::StrCat("--", option.name);
  if (option.kind == Kind::kFlag) return value.get<bool>() ? std::vector{flag} : std::vector<std::string>();
  std::vector<std::string> arguments;
  for (const std::string& text : TextsOf(value)) arguments.push_back(absl::StrCat(flag, "=", text));
  return arguments;
}

absl::Status CheckAgentKeys(const SweepFile& file, const ExpandedSweep& expanded, const UsedOptions& used) {
  if (file.agents.empty()) return absl::OkStatus();
  std::set<size_t> indices;
  for (const std::vector<UsedOption>& of_command : used)
    for (const UsedOption& option : of_command)
      if (option.option.name == "on") indices.insert(option.index);
  if (indices.empty())
    return InvalidInput(file.path, ": agents: no run measures there; give the option on: KEY");
  for (const std::vector<SweepValue>& row : expanded.rows) {
    for (const size_t index : indices) {
      const std::string key = SweepValueText(row[index]);
      if (std::ranges::find(file.agents, key, &SweepAgent::key) == file.agents.end())
        return InvalidInput(file.path, ": agents: none has the key \"", Printable(key),
                            "\", which is a value of ", expanded.options[index]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<UsedOptions> ResolveOptions(const SweepFile& file, const ExpandedSweep& expanded,
                                           const CommandDefinitions& definitions) {
  const auto where = [&](const std::string& option) {
    return absl::StrCat(file.path, ": ", KeyOf(file, option), ": ", Printable(option));
  };
  Resolver resolver(file, definitions);
  for (size_t i = 0; i < expanded.options.size(); ++i)
    RETURN_IF_ERROR(Annotate(resolver.Add(expanded.options[i], i), where(expanded.options[i])));
  UsedOptions used = resolver.Finish();

  // A value is checked once, however many runs have it.
  std::vector<std::set<SweepValue>> values(expanded.options.size());
  for (const std::vector<SweepValue>& row : expanded.rows)
    for (size_t i = 0; i < row.size(); ++i) values[i].insert(row[i]);
  for (size_t i = 0; i < values.size(); ++i) {
    if (expanded.options[i] != kModelOption) continue;
    for (const SweepValue& model : values[i])
      RETURN_IF_ERROR(Annotate(CheckModel(model), where(expanded.options[i])));
  }
  for (size_t command = 0; command < used.size(); ++command) {
    for (const auto& [option, index] : used[command]) {
      for (const SweepValue& value : values[index]) {
        RETURN_IF_ERROR(Annotate(CheckForm(option, value), where(expanded.options[index])));
        if (value.is_null() || option.kind == Kind::kFlag) continue;
        RETURN_IF_ERROR(
            Annotate(definitions.CheckValues(file.commands[command], option.name, TextsOf(value)),
                     absl::StrCat(where(expanded.options[index]), ": ", Printable(SweepValueText(value)))));
      }
    }
  }
  return used;
}

}  // namespace attune
