// For the tests of inference: a node written as its operator, its inputs' types and its attributes, and the
// types or the error that inference gives.
#ifndef ATTUNE_GRAPH_OPS_INFER_CASE_H_
#define ATTUNE_GRAPH_OPS_INFER_CASE_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/graph.h"

namespace attune::infer {

struct InferCase {
  std::string op;
  std::vector<std::string> inputs;  // as ToString(TensorType) writes them; "_" is absent
  Attributes attrs;
  // The output types, separated by spaces; or "invalid: " or "not supported: " and a part of the message.
  std::string expected;
  int num_outputs = -1;
};

// The type that ToString() writes as `text`.
inline TensorType TypeFromString(std::string_view text) {
  const size_t open = text.find('[');
  const size_t close = text.find(']');
  TensorType type;
  type.dtype = ParseDType(text.substr(0, open)).value();
  for (std::string_view item :
       absl::StrSplit(text.substr(open + 1, close - open - 1), ',', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(item, "<=");
    int64_t size = 0;
    EXPECT_TRUE(absl::SimpleAtoi(parts.back(), &size)) << text;
    type.dims.push_back(parts.size() == 2 ? Dim(parts[0], size) : Dim(size));
  }
  if (close + 1 < text.size()) {  // {c1/16}
    const std::string layout(text.substr(close + 3, text.size() - close - 4));
    const std::vector<std::string> parts = absl::StrSplit(layout, '/');
    EXPECT_TRUE(absl::SimpleAtoi(parts.at(0), &type.layout.blocked_axis)) << text;
    EXPECT_TRUE(absl::SimpleAtoi(parts.at(1), &type.layout.block)) << text;
  }
  return type;
}

inline std::string Describe(const absl::StatusOr<Node*>& node) {
  if (node.ok()) {
    std::vector<std::string> types;
    for (int i = 0; i < (*node)->num_outputs(); ++i) types.push_back(ToString((*node)->output(i)->type()));
    return absl::StrJoin(types, " ");
  }
  const bool invalid = node.status().code() == absl::StatusCode::kInvalidArgument;
  return absl::StrCat(invalid ? "invalid: " : "not supported: ", node.status().message());
}

inline void CheckCase(const InferCase& c) {
  Graph graph;
  std::vector<Value*> inputs;
  for (const std::string& text : c.inputs) {
    inputs.push_back(text == "_" ? nullptr : graph.AddInput("", TypeFromString(text)));
  }
  const Op op = ParseOp(c.op).value();
  const std::string actual = Describe(graph.Add(op, inputs, c.attrs, "", nullptr, {}, c.num_outputs));
  SCOPED_TRACE(absl::StrCat(c.op, "(", absl::StrJoin(c.inputs, ", "), ")"));
  for (const char* kind : {"invalid: ", "not supported: "}) {
    if (!absl::StartsWith(c.expected, kind)) continue;
    EXPECT_TRUE(absl::StartsWith(actual, absl::StrCat(kind, c.op, ": "))) << actual;
    EXPECT_TRUE(absl::StrContains(actual, c.expected.substr(std::string(kind).size()))) << actual;
    return;
  }
  EXPECT_EQ(actual, c.expected);
}

}  // namespace attune::infer

#endif  // ATTUNE_GRAPH_OPS_INFER_CASE_H_
