// Flags for the values of a network's inputs.
#ifndef ATTUNE_CLI_INPUTS_H_
#define ATTUNE_CLI_INPUTS_H_

#include "CLI/CLI.hpp"
#include "api/inputs.h"

namespace attune {

// Adds --input and the flags of pictures.
void AddInputFlags(CLI::App& command, InputSources& flags);

}  // namespace attune

#endif  // ATTUNE_CLI_INPUTS_H_
