// Describes the effect on a network of bf16, or of three bf16 products in place of one in f32.
#ifndef ATTUNE_CLI_PRECISION_H_
#define ATTUNE_CLI_PRECISION_H_

#include <optional>
#include <string>
#include <vector>

#include "api/precision.h"
#include "cli/common/output.h"

namespace attune {

// For people, one line each: how many layers are in bf16, which layers are not because of their error, and
// how far each output is from f32.
std::vector<std::string> Describe(const PrecisionReport& report);

// Adds the member "bf16" or "bf16x3" to a command's JSON; errors that are not finite or were not measured
// are null. Adds nothing without a report.
void AddPrecision(const std::optional<PrecisionReport>& report, Json& json);

// Prints the lines to stderr, for commands whose results are something else. Prints nothing without a
// report.
void PrintNotes(const std::optional<PrecisionReport>& report);

}  // namespace attune

#endif  // ATTUNE_CLI_PRECISION_H_
