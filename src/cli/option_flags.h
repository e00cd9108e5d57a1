// The flags of options (options/options.toml).
#ifndef ATTUNE_CLI_OPTION_FLAGS_H_
#define ATTUNE_CLI_OPTION_FLAGS_H_

#include <map>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "options/option.h"

namespace attune {

// Adds the flag of each option that has one, with its help, range and default. The options' settings must
// outlive the command. `helps`: other texts than the rows', by the names of options.
void AddOptionFlags(CLI::App& command, const BoundOptions& options,
                    const std::map<std::string_view, std::string>& helps = {});

}  // namespace attune

#endif  // ATTUNE_CLI_OPTION_FLAGS_H_
