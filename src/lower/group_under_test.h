// For tests: fused groups with random inputs, made of short descriptions.
#ifndef ATTUNE_LOWER_GROUP_UNDER_TEST_H_
#define ATTUNE_LOWER_GROUP_UNDER_TEST_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "lower/strategy.h"
#include "target/target.h"

namespace attune {

// One input of a case: a type in text form, then its content: random numbers in a range ("i64[4] -3..2"),
// or the values that follow ("f32[2] 0.5 nan"). Without content: random numbers in [-2, 2].
using InputSpec = std::string;

struct OperatorCase {
  Op op;
  std::vector<InputSpec> inputs;  // "": an optional one that is absent
  Attributes attrs = {};
  // The layout of the first output, as in the text form of a type: "{c1/16}"; empty: plain.
  std::string layout = "";
  // Elementwise operators of one input that follow in the group.
  std::vector<Op> epilogue = {};
  int num_outputs = -1;
  // If it has a name, this strategy alone schedules the group, with this config.
  std::string strategy = "";
  Config config = {};
  // How many elements are there of each dynamic dimension of the inputs; -1: as many as its bound.
  int64_t dynamic_size = -1;
};

// A text that tells a case from others.
std::string Describe(const OperatorCase& test_case);

// The group that a case describes, with its inputs.
struct GroupUnderTest {
  std::string description;
  std::unique_ptr<Graph> region;
  std::vector<Tensor> inputs;
};
absl::StatusOr<GroupUnderTest> MakeGroup(const OperatorCase& test_case);

// A group from the text of a graph, if an OperatorCase cannot describe it.
absl::StatusOr<GroupUnderTest> ParseGroup(const std::string& text);

// Each case plain, and with its first input and its output in blocks of 8 and of 16 channels.
std::vector<OperatorCase> InEachLayout(const std::vector<OperatorCase>& cases);

// Each case with so many configs that are drawn from the space of each strategy that applies to it; those
// that the strategy refuses are left out. The same for the same arguments.
std::vector<OperatorCase> WithDrawnConfigs(const std::vector<OperatorCase>& cases,
                                           const std::vector<std::string>& strategies, const Target& target,
                                           int configs);

// Each case with `from` replaced in its inputs' types by each of `dtypes`.
std::vector<OperatorCase> InEachDType(const std::vector<OperatorCase>& cases, const std::string& from,
                                      const std::vector<std::string>& dtypes);

}  // namespace attune

#endif  // ATTUNE_LOWER_GROUP_UNDER_TEST_H_
