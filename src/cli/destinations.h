// Commands write into the files that flags name. Stdout takes one of them.
#ifndef ATTUNE_CLI_DESTINATIONS_H_
#define ATTUNE_CLI_DESTINATIONS_H_

#include <initializer_list>
#include <string>

#include "CLI/CLI.hpp"

namespace attune {

// A flag for a file to write, or - for stdout.
CLI::Option* AddOutputFlag(CLI::App& command, const std::string& names, std::string& path,
                           const std::string& help);

// Whether none of the files is stdout, so that the command may print there. Empty names are none.
bool LeaveStdout(std::initializer_list<std::string> files);
// Throws as the checks of flags do where more than one of them is: nobody could tell them apart.
void RequireOneStdout(std::initializer_list<std::string> files);

}  // namespace attune

#endif  // ATTUNE_CLI_DESTINATIONS_H_
