// For tests: a parsed model is imported at several shapes, and its graphs share the weights.
#ifndef ATTUNE_IMPORT_COMMON_SHARED_WEIGHTS_FOR_TEST_H_
#define ATTUNE_IMPORT_COMMON_SHARED_WEIGHTS_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "graph/graph.h"
#include "graph/tensor.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "import/common/parsed_model.h"
#include "reference/interpreter.h"

namespace attune::importing {

// The largest constant of a graph; a scalar if it has none.
inline Tensor LargestConstant(const Graph& graph) {
  Tensor largest(DType::kF32, {});
  for (const auto& node : graph.nodes()) {
    if (node->op() != Op::kConstant) continue;
    const Tensor& constant = *node->output()->constant();
    if (constant.num_bytes() > largest.num_bytes()) largest = constant;
  }
  return largest;
}

// Imports a model with the input "x" of shape [N, columns] for N = 1, calls `forget`, which may remove what
// the model was read from, and imports it for N = 3 and for N = 1 once more. Expects the largest constant of
// all graphs to be the same bytes in memory.
inline void ExpectSharedWeights(
    absl::StatusOr<std::unique_ptr<ParsedModel>> model, int64_t columns,
    const std::function<void()>& forget = [] {}) {
  ASSERT_TRUE(model.ok()) << model.status();
  const Interpreter interpreter;
  std::optional<Tensor> weights;
  std::string text;
  for (const int64_t rows : {1, 3, 1}) {
    const auto graph = (*model)->Import({.input_shapes = {{"x", {rows, columns}}}, .executor = &interpreter});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_TRUE(Verify(**graph).ok()) << Verify(**graph);
    EXPECT_EQ((*graph)->inputs()[0]->type().shape(), Shape({rows, columns}));
    const Tensor constant = LargestConstant(**graph);
    EXPECT_GT(constant.num_elements(), 1);
    if (!weights.has_value()) {
      weights = constant;
      text = Print(**graph);
      forget();
    }
    EXPECT_EQ(constant.data(), weights->data());
    if (rows == 1) EXPECT_EQ(Print(**graph), text);
  }
}

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_SHARED_WEIGHTS_FOR_TEST_H_
