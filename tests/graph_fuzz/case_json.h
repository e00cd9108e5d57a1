// Nodes as JSON, for the programs in Python that judge random graphs.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_CASE_JSON_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_CASE_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "graph/graph.h"

namespace attune::graph_fuzz {

// A value's name; that of a constant is its node's.
const std::string& NameOfValue(const Value& value);

// Operator, attributes, and names and types of operands and results.
nlohmann::ordered_json NodeToJson(const Node& node);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_CASE_JSON_H_
