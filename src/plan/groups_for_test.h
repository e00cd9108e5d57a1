// For tests: what groups a graph has.
#ifndef ATTUNE_PLAN_GROUPS_FOR_TEST_H_
#define ATTUNE_PLAN_GROUPS_FOR_TEST_H_

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "graph/graph.h"

namespace attune {

// The operators of each group, in order: "conv+relu".
using Groups = std::vector<std::string>;

inline Groups OperatorsOfGroups(const Graph& graph) {
  Groups groups;
  for (const auto& node : graph.nodes()) {
    std::vector<std::string> operators;
    for (const auto& inner : node->region().nodes()) operators.emplace_back(OpName(inner->op()));
    groups.push_back(absl::StrJoin(operators, "+"));
  }
  return groups;
}

}  // namespace attune

#endif  // ATTUNE_PLAN_GROUPS_FOR_TEST_H_
