// Finds another program of the same installation.
#ifndef ATTUNE_BASE_PROCESS_SIBLING_PROGRAM_H_
#define ATTUNE_BASE_PROCESS_SIBLING_PROGRAM_H_

#include <string>

namespace attune {

// Returns the path of the program with this name: beside this program, or else the first in PATH. Empty if
// there is none.
std::string SiblingProgram(const std::string& name);

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_SIBLING_PROGRAM_H_
