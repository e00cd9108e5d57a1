#include "write_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "graph/text.h"
#include "io/read_npy_for_test.h"
#include "reference/interpreter.h"
#include "rounding.h"

namespace attune::graph_fuzz {
namespace {

namespace fs = std::filesystem;

Tensor Read(const fs::path& path) {
  const absl::StatusOr<Tensor> tensor = ReadNpy(path.string());
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return tensor.ok() ? *tensor : Tensor();
}

// Writes the graph of the first seed that ONNX can express.
void Write(const fs::path& folder, bool thorough) {
  for (uint64_t seed = 1;; ++seed) {
    const absl::Status status = WriteCase(seed, folder.string(), thorough);
    if (status.ok()) return;
    EXPECT_TRUE(absl::IsUnimplemented(status) || absl::IsNotFound(status)) << status;
  }
}

nlohmann::json ReadDescription(const fs::path& folder) {
  const absl::StatusOr<std::string> text = ReadFile((folder / "case.json").string(), 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status();
  return nlohmann::json::parse(text.ok() ? *text : "{}");
}

TEST(WriteCases, HasAModelAndItsResultsWithinTheirBounds) {
  const testing::TemporaryFolder temporary;
  const fs::path folder = temporary / "case";
  Write(folder, false);
  EXPECT_TRUE(fs::exists(folder / "model.onnx"));
  const nlohmann::json description = ReadDescription(folder);
  for (const auto& name : description["inputs"])
    EXPECT_TRUE(fs::exists(folder / (name.get<std::string>() + ".npy"))) << name;
  EXPECT_FALSE(description["outputs"].empty());
  for (const auto& [name, value] : description["outputs"].items()) {
    const Tensor expected = Read(folder / ("expected_" + name + ".npy"));
    const Tensor actual = Read(folder / ("actual_" + name + ".npy"));
    const Tensor bound = Read(folder / ("bound_" + name + ".npy"));
    ASSERT_EQ(bound.shape(), expected.shape()) << name;
    for (int64_t i = 0; i < expected.num_elements(); ++i)
      EXPECT_LE(std::abs(actual.ToDouble(i) - expected.ToDouble(i)), bound.ToDouble(i)) << name;
  }
}

TEST(WriteCases, AThoroughOneHasEveryValue) {
  const testing::TemporaryFolder temporary;
  const fs::path folder = temporary / "case";
  Write(folder, true);
  EXPECT_TRUE(fs::exists(folder / "all.onnx"));
  for (const auto& node : ReadDescription(folder)["nodes"]) {
    for (const auto& name : node["outputs"])
      EXPECT_TRUE(fs::exists(folder / ("expected_" + name.get<std::string>() + ".npy"))) << name;
    for (const auto& name : node["operands"]) {
      const auto file = name.get<std::string>() + ".npy";
      EXPECT_TRUE(file == ".npy" || fs::exists(folder / file) || fs::exists(folder / ("expected_" + file)))
          << file;
    }
  }
}

TEST(WriteCases, MoreEffortWidensBounds) {
  // A threshold that rounding decides: 1/3 + 1/3 may be more or less than 2/3.
  const auto graph = ParseGraph(R"(
graph @judged(%x: f32[1], %y: f32[1]) {
  %s = add(%x, %x) : f32[1]
  %b = less(%s, %y) : bool[1]
  return "s": %s, "b": %b
})");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<Tensor> inputs = {Tensor::FromFloats(std::vector<float>{1.F / 3}, {1}),
                                      Tensor::FromFloats(std::vector<float>{2.F / 3}, {1})};
  const auto expected = Interpreter().Run(**graph, inputs);
  ASSERT_TRUE(expected.ok());
  Judge judge(**graph, inputs, *expected);
  const std::vector<Tensor> narrow = judge.Bounds(0), wide = judge.Bounds(Judge::kMostEffort);
  EXPECT_GT(narrow[0].ToDouble(0), 0);
  EXPECT_LT(narrow[0].ToDouble(0), wide[0].ToDouble(0));
  EXPECT_GE(wide[1].ToDouble(0), 1);
}

}  // namespace
}  // namespace attune::graph_fuzz
