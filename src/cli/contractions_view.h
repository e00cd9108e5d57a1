// Shows people how a network's contractions are computed.
#ifndef ATTUNE_CLI_CONTRACTIONS_VIEW_H_
#define ATTUNE_CLI_CONTRACTIONS_VIEW_H_

#include <string>
#include <vector>

#include "api/network.h"
#include "cli/output.h"

namespace attune {

// Each with its strategy and the reasons of those that do not apply.
Json ToJson(const std::vector<PlannedContraction>& contractions);

// A line about those that are slow: how many, their share of the work, and the largest with the reasons.
// Empty where none is.
std::string DescribeSlow(const std::vector<PlannedContraction>& contractions);
// The same as JSON, with all that are slow.
Json SlowJson(const std::vector<PlannedContraction>& contractions);

// All, and of those that are slow the reasons of each strategy.
std::string ContractionTables(const std::vector<PlannedContraction>& contractions);

}  // namespace attune

#endif  // ATTUNE_CLI_CONTRACTIONS_VIEW_H_
