// Matching the left sides of rules.
#ifndef ATTUNE_OPT_MATCH_H_
#define ATTUNE_OPT_MATCH_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "opt/rule.h"

namespace attune {

struct Match {
  std::map<std::string, Value*> values;
  std::map<std::string, Attribute> attributes;
  std::vector<const Node*> nodes;  // those that the pattern's operators stand for, the root first
};

// Every way in which `pattern` fits the graph that ends in `root`. Conditions are not looked at.
std::vector<Match> FindMatches(const Pattern& pattern, Node* root);

// Whether `condition` holds for the match.
bool Holds(const Condition& condition, const Match& match);

// Whether `value` is a constant of one or more elements that all are `number`: a whole number exactly,
// another one to a relative 1e-5, after rounding to the constant's type.
bool IsConstantOf(const Value* value, double number);

// The attribute, or the operator table's default where it is absent and has one.
std::optional<Attribute> AttributeOrDefault(const Node& node, std::string_view name);

}  // namespace attune

#endif  // ATTUNE_OPT_MATCH_H_
