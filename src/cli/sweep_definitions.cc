#include "cli/sweep_definitions.h"

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/model_flags.h"

namespace attune {
namespace {

// The definitions of the commands that a sweep can run, for one use: parsing changes them.
struct SweptCommands {
  SweptCommands() {
    AddQuantizeCommand(app, action);
    AddTuneCommand(app, action);
    AddCompileCommand(app, action);
    AddBenchCommand(app, action);
  }

  CLI::App app{"", "attune"};
  Action action;
};

CommandOption::Kind KindOf(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return CommandOption::Kind::kFlag;
  return option.get_items_expected_max() > 1 ? CommandOption::Kind::kValues : CommandOption::Kind::kValue;
}

// The parser's errors are exceptions.
template <typename Parse>
absl::Status StatusOf(const Parse& parse) {
  try {
    parse();
  } catch (const CLI::ParseError& error) {
    return InvalidInput(error.what());
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<CommandOption> CommandLineDefinitions::OptionsOf(const std::string& command) const {
  const SweptCommands commands;
  std::vector<CommandOption> options;
  for (const CLI::Option* option : commands.app.get_subcommand(command)->get_options({})) {
    if (option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    options.push_back({.name = name, .kind = KindOf(*option), .is_for_models = IsForCompiling(name)});
  }
  return options;
}

absl::Status CommandLineDefinitions::CheckValues(const std::string& command, const std::string& option,
                                                 const std::vector<std::string>& values) const {
  SweptCommands commands;
  CLI::Option* checked = commands.app.get_subcommand(command)->get_option("--" + option);
  for (const std::string& value : values) checked->add_result(value);
  return StatusOf([&] { checked->run_callback(); });
}

absl::Status CommandLineDefinitions::CheckArguments(const std::vector<std::string>& arguments) const {
  SweptCommands commands;
  // The parser takes them from the end.
  return StatusOf(
      [&] { commands.app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend())); });
}

}  // namespace attune
