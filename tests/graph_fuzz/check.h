// Sends a graph through passes, blocks, plan, code generation, artifact and runtime, and judges what comes
// out.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_CHECK_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_CHECK_H_

#include <set>
#include <string>

#include "graph_maker.h"
#include "rounding.h"
#include "setting.h"

namespace attune::graph_fuzz {

// Why a graph failed; the order is no rank.
enum class Failure {
  kNone,
  kRefused,    // not supported, and said so: no fault
  kReference,  // the reference or the text form cannot do it
  kError,      // neither compiled nor refused
  kWrong,      // other numbers
  kFact,       // what must be exact is not
  kBytes,      // compiled twice, or run twice, to something else
  kCrash,      // or running too long
};
std::string_view NameOf(Failure failure);

struct Verdict {
  Failure failure = Failure::kNone;
  std::string message;
  // By what the kernels that ran were scheduled, and whose instructions they were of: "AVX2", "AVX-512".
  std::set<std::string> strategies, instructions;

  bool ok() const { return failure == Failure::kNone || failure == Failure::kRefused; }
};

// That the graph verifies, prints and parses back, and that the reference computes it; `expected` is what it
// gives.
Verdict CheckReference(const RandomCase& random, std::vector<Tensor>* expected);

// `judge` is the graph's own. A setting that the graph has no use for (no layer to quantize) is no failure.
Verdict Check(const RandomCase& random, const Setting& setting, Judge& judge);

// Both, one setting after the other until one fails: `failed` is that one.
Verdict CheckAll(const RandomCase& random, const std::vector<Setting>& settings, Setting* failed = nullptr);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_CHECK_H_
