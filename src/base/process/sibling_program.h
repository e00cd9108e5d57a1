// Finds other files of the same installation.
#ifndef ATTUNE_BASE_PROCESS_SIBLING_PROGRAM_H_
#define ATTUNE_BASE_PROCESS_SIBLING_PROGRAM_H_

#include <string>

namespace attune {

// Returns the path of the program with this name: beside this program, or else the first in PATH. Empty if
// there is none.
std::string SiblingProgram(const std::string& name);

// Returns the path of the shared library that has this code, or of the program if that has it. Empty if it
// is not known.
std::string FileOfThisCode();

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_SIBLING_PROGRAM_H_
