// Which commands an option of a sweep is for, and whether they accept its values.
//
// An option is named as on the command line, without dashes. `tune.batch` is the option --batch of tune;
// `threads` alone is for each command of the sweep that has --threads.
#ifndef ATTUNE_SWEEP_COMMAND_OPTIONS_H_
#define ATTUNE_SWEEP_COMMAND_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sweep/expansion.h"
#include "sweep/sweep_file.h"

namespace attune {

struct CommandOption {
  enum class Kind : uint8_t { kFlag, kValue, kValues };
  std::string name;  // without dashes
  Kind kind = Kind::kValue;
  bool is_for_models = false;  // it says how a model becomes an artifact, and so is nothing for an artifact
};

// The definitions of the command line, as a sweep asks them. Stands for CLI11, and for a few lines in tests.
class CommandDefinitions {
 public:
  virtual ~CommandDefinitions() = default;
  // All options of one of kSweepCommands.
  virtual std::vector<CommandOption> OptionsOf(const std::string& command) const = 0;
  // Ok if the command accepts these values of one of its options.
  virtual absl::Status CheckValues(const std::string& command, const std::string& option,
                                   const std::vector<std::string>& values) const = 0;
  // Ok if the program would begin with these arguments.
  virtual absl::Status CheckArguments(const std::vector<std::string>& arguments) const = 0;
};

// An option of a command, and the index of its value in each row of the sweep.
struct UsedOption {
  CommandOption option;
  size_t index = 0;
};

// For each command of the sweep, in its order, the options that it gets.
using UsedOptions = std::vector<std::vector<UsedOption>>;

// Finds the commands of each option, and checks each value. Errors name the file, the key and the option.
absl::StatusOr<UsedOptions> ResolveOptions(const SweepFile& file, const ExpandedSweep& expanded,
                                           const CommandDefinitions& definitions);

// Ok if the option `on` names agents of the sweep, if it has any, and if all runs measure there.
absl::Status CheckAgentKeys(const SweepFile& file, const ExpandedSweep& expanded, const UsedOptions& used);

// The arguments that give an option this value, which fits its kind: "--batch=32"; none for null.
std::vector<std::string> ArgumentsOf(const CommandOption& option, const SweepValue& value);

}  // namespace attune

#endif  // ATTUNE_SWEEP_COMMAND_OPTIONS_H_
