// Shows people how a network's contractions are computed.
#ifndef ATTUNE_CLI_CONTRACTIONS_VIEW_H_
#define ATTUNE_CLI_CONTRACTIONS_VIEW_H_

#include <string>
#include <vector>

#include "api/network.h"
#include "cli/common/output.h"

namespace attune {

// Each contraction with its strategy and the reasons why other strategies do not apply.
Json ToJson(const std::vector<PlannedContraction>& contractions);

// One line about the slow contractions: how many, their share of the work, and the largest with the
// reasons. Empty if none is slow.
std::string DescribeSlow(const std::vector<PlannedContraction>& contractions);
// The same as JSON, with all slow contractions.
Json SlowJson(const std::vector<PlannedContraction>& contractions);

// A table of all contractions, and for the slow ones the reason why each strategy does not apply.
std::string ContractionTables(const std::vector<PlannedContraction>& contractions);

}  // namespace attune

#endif  // ATTUNE_CLI_CONTRACTIONS_VIEW_H_
