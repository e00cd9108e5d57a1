// Sends a graph through passes, blocks, plan, code generation, artifact and runtime, and judges the
// results.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_CHECK_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_CHECK_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "api/network.h"
#include "graph_maker.h"
#include "rounding.h"
#include "setting.h"

namespace attune::graph_fuzz {

// Why a graph failed; the order means nothing.
enum class Failure {
  kNone,
  kRefused,    // not supported, and the error says so: no failure
  kReference,  // the reference or the text form cannot do it
  kError,      // neither compiled nor refused
  kWrong,      // other numbers than expected
  kFact,       // a fact (facts.h) does not hold exactly
  kBytes,      // compiling or running it again gave other bytes
  kCrash,      // or it ran too long
};
std::string_view NameOf(Failure failure);

struct Verdict {
  Failure failure = Failure::kNone;
  std::string message;
  // The strategies of the kernels that ran, and the instruction sets that they used: "AVX2", "AVX-512".
  std::set<std::string> strategies, instructions;

  bool ok() const { return failure == Failure::kNone || failure == Failure::kRefused; }
};

// A graph's inputs with their names.
std::vector<NamedTensor> NamedInputs(const Graph& graph, const std::vector<Tensor>& inputs);

// The outputs of the graph, compiled for this machine and one thread. Errors: those of the compiler and the
// runtime.
absl::StatusOr<std::vector<NamedTensor>> RunCompiled(const Graph& graph,
                                                     const std::vector<NamedTensor>& inputs);

// Checks that the graph verifies, prints and parses back, and that the reference can compute it; `expected`
// receives the reference's outputs.
Verdict CheckReference(const RandomCase& random, std::vector<Tensor>* expected);

// `judge` belongs to the graph. A setting that does nothing for the graph (no layer to quantize) is not a
// failure.
Verdict Check(const RandomCase& random, const Setting& setting, Judge& judge);

// Runs CheckReference(), then Check() with one setting after the other until one fails: that one goes to
// `failed`.
Verdict CheckAll(const RandomCase& random, const std::vector<Setting>& settings, Setting* failed = nullptr);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_CHECK_H_
