// Imports and runs models that were built in a test.
#ifndef ATTUNE_IMPORT_TFLITE_TESTING_IMPORT_H_
#define ATTUNE_IMPORT_TFLITE_TESTING_IMPORT_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/text.h"
#include "graph/verify.h"
#include "import/common/import_once_for_test.h"
#include "import/tflite/import.h"
#include "import/tflite/testing/model_builder.h"
#include "reference/interpreter.h"

namespace attune::tflite {

// The graph of a file; expects it to be valid.
inline absl::StatusOr<std::unique_ptr<Graph>> ImportBuilt(const std::string& bytes,
                                                          TfliteImportOptions options = {}) {
  static const Interpreter interpreter;
  options.executor = &interpreter;
  auto graph = importing::ImportOnce(ParseTflite(bytes), options);
  if (graph.ok()) EXPECT_TRUE(Verify(**graph).ok()) << Verify(**graph) << Print(**graph);
  return graph;
}

inline std::string ErrorOf(const std::string& bytes, TfliteImportOptions options = {}) {
  return std::string(ImportBuilt(bytes, std::move(options)).status().message());
}

// The outputs of a file for `inputs`, computed by the reference interpreter.
inline std::vector<Tensor> RunBuilt(const std::string& bytes, const std::vector<Tensor>& inputs) {
  const auto graph = ImportBuilt(bytes);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  absl::StatusOr<std::vector<Tensor>> outputs = Interpreter().Run(**graph, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status() << Print(**graph);
  return outputs.ok() ? *std::move(outputs) : std::vector<Tensor>();
}

inline Tensor FloatTensor(const std::vector<float>& values, Shape shape) {
  return Tensor::FromFloats(values, std::move(shape));
}
inline Tensor IntTensor(const std::vector<int64_t>& values, Shape shape, DType dtype) {
  return Tensor::FromInts(values, dtype).Reshaped(std::move(shape));
}
// All elements of the first tensor, as doubles.
inline std::vector<double> Elements(const std::vector<Tensor>& tensors, size_t which = 0) {
  std::vector<double> values;
  if (tensors.size() <= which) return values;
  for (int64_t i = 0; i < tensors[which].num_elements(); ++i) values.push_back(tensors[which].ToDouble(i));
  return values;
}

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_TESTING_IMPORT_H_
