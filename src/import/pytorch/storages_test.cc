#include "import/pytorch/storages.h"

#include <gtest/gtest.h>

#include "graph/graph.h"

namespace attune::pytorch {
namespace {

class StoragesTest : public ::testing::Test {
 protected:
  Binding Make(DType dtype = DType::kF32) {
    return graph_.AddInput(std::string(1, next_name_++), TensorType(dtype, Shape{2, 3}));
  }

  Graph graph_{"graph"};
  char next_name_ = 'a';
  Storages storages_;
};

TEST_F(StoragesTest, ANewTensorSharesNothing) {
  Binding a = Make(), b = Make(), c = Make();
  storages_.PlaceNew(a);
  storages_.PlaceNew(b);
  storages_.Place(c, a, Memory::kNew);
  EXPECT_NE(a.storage, b.storage);
  EXPECT_NE(a.tensor, b.tensor);
  EXPECT_NE(c.storage, a.storage);
  EXPECT_NE(c.tensor, a.tensor);
}

TEST_F(StoragesTest, AViewHasTheMemoryAndTheSameTensorAlsoTheNumber) {
  Binding a = Make(), view = Make(), same = Make();
  storages_.PlaceNew(a);
  storages_.Place(view, a, Memory::kView);
  storages_.Place(same, a, Memory::kSame);
  EXPECT_EQ(view.storage, a.storage);
  EXPECT_NE(view.tensor, a.tensor);
  EXPECT_EQ(same.storage, a.storage);
  EXPECT_EQ(same.tensor, a.tensor);
}

TEST_F(StoragesTest, AConvertedTensorIsACopy) {
  Binding a = Make(), converted = Make(DType::kF16);
  storages_.PlaceNew(a);
  storages_.Place(converted, a, Memory::kView);
  EXPECT_NE(converted.storage, a.storage);
}

TEST_F(StoragesTest, TheMemoryOfWeightsOutlivesARun) {
  Binding input = Make(), weight = Make(), view = Make();
  storages_.PlaceNew(input);
  storages_.PlaceWeight(weight, "fc.weight");
  storages_.Place(view, weight, Memory::kView);
  EXPECT_EQ(storages_.WeightIn(input.storage), nullptr);
  ASSERT_NE(storages_.WeightIn(view.storage), nullptr);
  EXPECT_EQ(*storages_.WeightIn(view.storage), "fc.weight");
}

}  // namespace
}  // namespace attune::pytorch
