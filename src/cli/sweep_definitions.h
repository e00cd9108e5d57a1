// Asks the command line's own definitions about the options of a sweep.
#ifndef ATTUNE_CLI_SWEEP_DEFINITIONS_H_
#define ATTUNE_CLI_SWEEP_DEFINITIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sweep/command_options.h"

namespace attune {

class CommandLineDefinitions final : public CommandDefinitions {
 public:
  std::vector<CommandOption> OptionsOf(const std::string& command) const override;
  absl::Status CheckValues(const std::string& command, const std::string& option,
                           const std::vector<std::string>& values) const override;
  absl::Status CheckArguments(const std::vector<std::string>& arguments) const override;
};

}  // namespace attune

#endif  // ATTUNE_CLI_SWEEP_DEFINITIONS_H_
