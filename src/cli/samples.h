// Flags for the samples to quantize with, and for the accuracy that may be lost.
#ifndef ATTUNE_CLI_SAMPLES_H_
#define ATTUNE_CLI_SAMPLES_H_

#include "CLI/CLI.hpp"
#include "api/samples.h"

namespace attune {

// Adds --data, --samples, --max-drop and --agreement. `needed`: whether --data is required.
void AddSampleFlags(CLI::App& command, SampleOptions& flags, bool needed);

}  // namespace attune

#endif  // ATTUNE_CLI_SAMPLES_H_
