// Commands describe here what bf16, or three products of it, did to a network.
#ifndef ATTUNE_CLI_PRECISION_H_
#define ATTUNE_CLI_PRECISION_H_

#include <optional>
#include <string>
#include <vector>

#include "api/precision.h"
#include "cli/output.h"

namespace attune {

// For people, a line each: how many layers are in bf16 and which are not by their error, and how far each
// output is from f32.
std::vector<std::string> Describe(const PrecisionReport& report);

// Adds the member "bf16" or "bf16x3" to what a command writes as JSON; errors that are not finite or were not
// measured are null. Nothing where there is no report.
void AddPrecision(const std::optional<PrecisionReport>& report, Json& json);

// For commands whose results are something else: the lines on stderr. Nothing where there is no report.
void PrintNotes(const std::optional<PrecisionReport>& report);

}  // namespace attune

#endif  // ATTUNE_CLI_PRECISION_H_
