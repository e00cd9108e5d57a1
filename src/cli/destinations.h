// Flags that name the files a command writes. At most one of them may be stdout.
#ifndef ATTUNE_CLI_DESTINATIONS_H_
#define ATTUNE_CLI_DESTINATIONS_H_

#include <initializer_list>
#include <string>

#include "CLI/CLI.hpp"

namespace attune {

// Adds a flag for a file to write, or - for stdout.
CLI::Option* AddOutputFlag(CLI::App& command, const std::string& names, std::string& path,
                           const std::string& help);

// Whether none of the files is stdout, so that the command may print there. Empty names are ignored.
bool LeaveStdout(std::initializer_list<std::string> files);
// Throws a validation error, like the checks of flags, if more than one of the files is stdout: their
// contents would be mixed.
void RequireOneStdout(std::initializer_list<std::string> files);

}  // namespace attune

#endif  // ATTUNE_CLI_DESTINATIONS_H_
