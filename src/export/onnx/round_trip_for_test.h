// Exports a graph and imports it again, for tests.
#ifndef ATTUNE_EXPORT_ONNX_ROUND_TRIP_FOR_TEST_H_
#define ATTUNE_EXPORT_ONNX_ROUND_TRIP_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "export/onnx/export.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "import/common/import_once_for_test.h"
#include "import/onnx/import.h"
#include "reference/compare.h"
#include "reference/interpreter.h"

namespace attune {

// Floats around 0, integers from 0 to 2: valid indices along every axis of the cases.
inline Tensor RandomValue(const TensorType& type, uint64_t seed) {
  Tensor tensor(type.dtype, type.shape());
  Random random(seed);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (IsFloat(type.dtype)) {
      tensor.SetDouble(i, random.Normal());
    } else {
      tensor.SetInt(i, random.Integer(0, type.dtype == DType::kBool ? 1 : 2));
    }
  }
  return tensor;
}

inline std::unique_ptr<Graph> Reimport(const Graph& graph) {
  const absl::StatusOr<std::string> bytes = ExportOnnxBytes(graph);
  if (!bytes.ok()) {
    ADD_FAILURE() << bytes.status() << "\n" << Print(graph);
    return nullptr;
  }
  static const Interpreter interpreter;
  absl::StatusOr<std::unique_ptr<Graph>> imported =
      importing::ImportOnce(ParseOnnx(*bytes, ""), {.executor = &interpreter});
  if (!imported.ok()) {
    ADD_FAILURE() << imported.status() << "\n" << Print(graph);
    return nullptr;
  }
  EXPECT_TRUE(Verify(**imported).ok()) << Verify(**imported) << Print(**imported);
  return *std::move(imported);
}

// Expects that the graph and its re-imported export give the same outputs with the same names.
inline void ExpectRoundTrip(const Graph& graph) {
  ASSERT_TRUE(Verify(graph).ok()) << Verify(graph) << Print(graph);
  const std::unique_ptr<Graph> imported = Reimport(graph);
  if (imported == nullptr) return;
  std::vector<Tensor> inputs;
  for (const auto& input : graph.inputs()) inputs.push_back(RandomValue(input->type(), inputs.size() + 1));
  ASSERT_EQ(imported->inputs().size(), inputs.size()) << Print(*imported);
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(imported->inputs()[i]->name(), graph.inputs()[i]->name());
  const auto expected = Interpreter().Run(graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto actual = Interpreter().Run(*imported, inputs);
  ASSERT_TRUE(actual.ok()) << actual.status() << Print(*imported);
  ASSERT_EQ(actual->size(), expected->size());
  for (size_t i = 0; i < expected->size(); ++i) {
    EXPECT_EQ(imported->outputs()[i].name, graph.outputs()[i].name);
    const Comparison comparison =
        Compare((*expected)[i], (*actual)[i], OperatorTolerance((*expected)[i].dtype()));
    EXPECT_TRUE(comparison.ok()) << comparison.ToString() << "\n" << Print(graph) << Print(*imported);
  }
}

}  // namespace attune

#endif  // ATTUNE_EXPORT_ONNX_ROUND_TRIP_FOR_TEST_H_
