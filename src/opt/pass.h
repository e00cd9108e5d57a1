// The definition of a pass, and the one table of passes.
//
// A pass is a free function that rewrites a graph without changing what it computes. Its precondition
// and postcondition are stated in the table (pass_table.inc). It neither times, verifies, dumps nor
// switches itself off, and it does not look into the regions of if and loop: the driver (driver.h) does
// all of that, and calls the pass once for the graph and once for each such region.
#ifndef ATTUNE_OPT_PASS_H_
#define ATTUNE_OPT_PASS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/executor.h"
#include "graph/graph.h"

namespace attune {

using PassParameters = std::map<std::string, int64_t, std::less<>>;

// Computes one node for constant inputs (nullptr inputs are empty tensors).
using Evaluator = std::function<absl::StatusOr<std::vector<Tensor>>(const Node&, const std::vector<Tensor>&)>;

struct NarrowingReport;  // narrowing_error.h

// The means to measure where decisions depend on a network's numbers.
struct ErrorProbe {
  const Executor* executor = nullptr;  // nullptr: nothing is measured
  // One tensor for each input of the graph, not nullptr where `executor` is not.
  const std::vector<Tensor>* examples = nullptr;
};

struct PassContext {
  // Every parameter of the pass's table row, at its default or as the plan says.
  PassParameters parameters;
  Evaluator evaluate;
  // Empty for the regions of if and loop, whose inputs are not known.
  ErrorProbe measurement;
  // The if or loop whose region the graph is; nullptr for the whole graph.
  const Node* owner = nullptr;
  NarrowingReport* narrowing = nullptr;  // passes add to it; nullptr where no report is wanted
  // Takes one line without a newline; never null.
  std::function<void(std::string_view)> log = [](std::string_view) {};

  int64_t Parameter(std::string_view name) const { return parameters.find(name)->second; }
};

// Whether the graph changed. On an error the graph is in an unspecified, destroyable state.
using PassFunction = absl::StatusOr<bool> (*)(Graph&, const PassContext&);

struct PassParameter {
  std::string_view name;
  int64_t default_value;
  std::string_view meaning;
};

struct PassInfo {
  std::string_view name;
  PassFunction function;
  std::string_view reason;  // for its place in the default plan
  std::vector<PassParameter> parameters;
};

// The default plan's rows in order (pass_table.inc). A pass that is worth running again has a row for each
// place; function and parameters are the same in all of them.
std::span<const PassInfo> PassTable();

// The first row of that name, or nullptr.
const PassInfo* FindPass(std::string_view name);

}  // namespace attune

#endif  // ATTUNE_OPT_PASS_H_
