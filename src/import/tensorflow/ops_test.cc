// Tests families of operators on numbers that can be checked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/common/floor_divisions_for_test.h"
#include "import/tensorflow/testing/model_builder.h"

namespace attune::tensorflow {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// All bytes by all bytes.
TEST(TensorflowOps, FloorDivisionIsExact) {
  const Tensor numbers = Tensor::FromInts(importing::AllBytes(), DType::kI8);
  GraphBuilder model;
  model.Placeholder("a", {256, 1}, DT_INT8);
  model.Placeholder("b", {256}, DT_INT8);
  model.Add("FloorDiv", "y", {"a", "b"});
  const std::vector<double> y = model.Run({numbers.Reshaped({256, 1}), numbers});
  ASSERT_EQ(y.size(), 65536U);
  EXPECT_THAT(importing::WrongFloorDivisions(y), IsEmpty());
}

TEST(TensorflowOps, OneHotByNarrowIndices) {
  const auto hot = [](DataType type, const Tensor& indices, int64_t depth) {
    GraphBuilder model;
    model.Placeholder("indices", {3}, type);
    model.Integer("depth", depth);
    model.Floats("on", {}, {1});
    model.Floats("off", {}, {0});
    model.Add("OneHot", "y", {"indices", "depth", "on", "off"});
    const std::vector<double> y = model.Run({indices});
    std::vector<int64_t> positions;  // [row, column], one after the other
    for (size_t i = 0; i < y.size(); ++i) {
      if (y[i] == 0) continue;
      positions.push_back(static_cast<int64_t>(i) / depth);
      positions.push_back(static_cast<int64_t>(i) % depth);
    }
    return positions;
  };
  EXPECT_THAT(hot(DT_UINT8, Tensor::FromInts(Ints{0, 44, 255}, DType::kU8), 300),
              ElementsAre(0, 0, 1, 44, 2, 255));
  EXPECT_THAT(hot(DT_INT8, Tensor::FromInts(Ints{0, -1, 127}, DType::kI8), 256), ElementsAre(0, 0, 2, 127));
  EXPECT_THAT(hot(DT_INT64, Tensor::FromInts(Ints{2, -1, 3}), 3), ElementsAre(0, 2));
}

// The operator applied to the positions of the true elements of six, [n,1].
GraphBuilder OfPositions(const std::string& op, const std::vector<int64_t>& argument) {
  GraphBuilder model;
  model.Placeholder("x", {6}, DT_BOOL);
  model.Add("Where", "found", {"x"});
  if (op == "Squeeze") {
    NodeBuilder node = model.Add(op, "y", {"found"});
    if (!argument.empty()) node.Ints("squeeze_dims", argument);
  } else {
    model.Integers("shape", argument);
    model.Add(op, "y", {"found", "shape"});
  }
  return model;
}

// The bound of a size that data decides is no number of the model.
TEST(TensorflowOps, ShapesThatDataDecides) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{6}, {6, 1}, {1, 6}, {6, -1}, {4, -1}, {5, 1}})
    EXPECT_THAT(OfPositions("Reshape", shape).Error(), HasSubstr("not supported: Reshape y: whether "));
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{6, 1}, {2, 6, 1}, {6, 3}, {5, 1}})
    EXPECT_THAT(OfPositions("BroadcastTo", shape).Error(),
                HasSubstr("not supported: BroadcastTo y: whether "));
  EXPECT_THAT(OfPositions("Squeeze", {}).Error(), HasSubstr("not supported: Squeeze y: which axes of "));
  for (const GraphBuilder& model :
       {OfPositions("Reshape", {-1}), OfPositions("Reshape", {1, -1}), OfPositions("Squeeze", {1})}) {
    EXPECT_THAT(model.Run({Tensor::FromInts(Ints{0, 1, 0, 0, 1, 0}, DType::kBool)}), ElementsAre(1, 4));
  }
}

}  // namespace
}  // namespace attune::tensorflow
