// Rewriting a graph by rules.
#ifndef ATTUNE_OPT_APPLY_RULES_H_
#define ATTUNE_OPT_APPLY_RULES_H_

#include <span>

#include "absl/status/statusor.h"
#include "opt/pass.h"
#include "opt/rule.h"

namespace attune {

// Applies the first rule that fits each node, in graph order, until none fits anywhere. Erases nodes that
// are not needed any more; the others keep their order. Returns whether anything changed.
absl::StatusOr<bool> ApplyRules(Graph& graph, std::span<const Rule> rules, const PassContext& context);

// Applies `rule` at `node`, which it may erase, if it fits.
bool ApplyRule(Graph& graph, Node* node, const Rule& rule, const PassContext& context);

}  // namespace attune

#endif  // ATTUNE_OPT_APPLY_RULES_H_
