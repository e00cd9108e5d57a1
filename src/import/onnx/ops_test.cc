// Tests families of operators on numbers that can be checked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/testing/model_builder.h"

namespace attune::onnx {
namespace {

using ::testing::ElementsAre;

// The positions that are hot, [row, column] one after the other, for three indices as `values`.
std::vector<int64_t> HotPositions(TensorProto::DataType type, const Tensor& indices, int64_t depth) {
  Model model;
  model.AddInput("indices", {"3"}, type);
  model.AddInts("depth", {depth});
  model.AddInts("values", {0, 1});
  model.AddNode("OneHot", {"indices", "depth", "values"}, {"y"});
  model.AddOutput("y");
  const auto graph = model.Import();
  EXPECT_TRUE(graph.ok()) << graph.status();
  const auto outputs = Interpreter().Run(**graph, {indices});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<int64_t> hot;
  for (int64_t i = 0; i < outputs->front().num_elements(); ++i) {
    if (outputs->front().ToInt(i) == 0) continue;
    hot.push_back(i / depth);
    hot.push_back(i % depth);
  }
  return hot;
}

// Narrow types do not hold every position, and the largest unsigned number is no -1.
TEST(OnnxOps, OneHotByIndicesOfEachType) {
  const auto ints = [](DType dtype, const Ints& values) { return Tensor::FromInts(values, dtype); };
  EXPECT_THAT(HotPositions(TensorProto::UINT8, ints(DType::kU8, {0, 44, 255}), 300),
              ElementsAre(0, 0, 1, 44, 2, 255));
  EXPECT_THAT(HotPositions(TensorProto::INT8, ints(DType::kI8, {0, -1, 127}), 300),
              ElementsAre(0, 0, 1, 299, 2, 127));
  EXPECT_THAT(HotPositions(TensorProto::INT64, ints(DType::kI64, {4, -5, -6}), 5), ElementsAre(0, 4, 1, 0));
  Tensor large(DType::kU64, {3});
  large.as_mutable<uint64_t>()[0] = UINT64_MAX;
  large.as_mutable<uint64_t>()[1] = 4;
  large.as_mutable<uint64_t>()[2] = uint64_t{1} << 63;
  EXPECT_THAT(HotPositions(TensorProto::UINT64, large, 5), ElementsAre(1, 4));
  Tensor halves(DType::kF16, {3});
  for (const auto& [i, index] : {std::pair<int64_t, double>{0, 2048}, {1, -1}, {2, 3}})
    halves.SetDouble(i, index);
  EXPECT_THAT(HotPositions(TensorProto::FLOAT16, halves, 4096), ElementsAre(0, 2048, 1, 4095, 2, 3));
}

// onnxruntime refuses a sequence that is longer than the axis, and one of negative length.
TEST(OnnxOps, SequencesAreNotLongerThanTheirAxis) {
  for (const auto& [op, gates] : {std::pair<std::string, int>{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}}) {
    for (const bool is_reverse : {false, true}) {
      Model model;
      model.AddInput("x", {"3", "2", "1"});
      model.AddInput("w", {"1", std::to_string(gates), "1"});
      model.AddInput("r", {"1", std::to_string(gates), "1"});
      model.AddInput("lengths", {"2"}, TensorProto::INT32);
      NodeProto* node = model.AddNode(op, {"x", "w", "r", "", "lengths"}, {"y"});
      node->set_name("speech");
      AddAttribute(node, "hidden_size", AttributeProto::INT)->set_i(1);
      AddAttribute(node, "direction", AttributeProto::STRING)->set_s(is_reverse ? "reverse" : "forward");
      model.AddOutput("y");
      const auto graph = model.Import();
      ASSERT_TRUE(graph.ok()) << graph.status();
      std::string reader = op + " \"speech\", lengths up to 3";
      for (char& c : reader) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const auto is_checked = [&](const std::unique_ptr<Node>& n) {
        return n->op() == Op::kCheckIndex && n->attrs().String("reader") == reader;
      };
      EXPECT_TRUE(std::ranges::any_of((*graph)->nodes(), is_checked)) << Print(**graph);
      for (const int64_t length : {-1, 0, 3, 4, INT32_MAX}) {
        const Tensor weight(DType::kF32, {1, gates, 1});
        const auto outputs = Interpreter().Run(**graph, {Tensor(DType::kF32, {3, 2, 1}), weight, weight,
                                                         Tensor::FromInts(Ints{1, length}, DType::kI32)});
        EXPECT_EQ(outputs.ok(), length >= 0 && length <= 3) << op << " " << length;
      }
    }
  }
}

}  // namespace
}  // namespace attune::onnx
