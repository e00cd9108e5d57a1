// Warnings where tensors have other shapes than the model declares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/common/warnings_for_test.h"
#include "import/tensorflow/testing/model_builder.h"

namespace attune::tensorflow {
namespace {

using importing::WarningsOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Warnings(const GraphBuilder& model, const ImportOptions& options = {}) {
  return WarningsOf([&] { EXPECT_TRUE(model.Import(options).ok()); });
}

void Declare(const NodeBuilder& node, const std::vector<std::vector<int64_t>>& shapes) {
  NodeBuilder builder = node;
  auto* list = (*builder.node()->mutable_attr())["_output_shapes"].mutable_list();
  for (const std::vector<int64_t>& shape : shapes) {
    TensorShapeProto* proto = list->add_shape();
    for (int64_t size : shape) proto->add_dim()->set_size(size);
  }
}

// x [2,3] → top 1 of each row → values, whose square root is y.
GraphBuilder Model(const std::vector<std::vector<int64_t>>& top, const std::vector<int64_t>& y,
                   const std::vector<int64_t>& x = {2, 3}) {
  GraphBuilder model;
  model.Placeholder("x", x);
  model.Integer("k", 1);
  Declare(model.Add("TopKV2", "top", {"x", "k"}), top);
  Declare(model.Add("Sqrt", "y", {"top"}), {y});
  return model;
}

TEST(TensorflowShapes, DeclaredShapesAreCompared) {
  EXPECT_THAT(Warnings(Model({{2, 1}, {2, 1}}, {2, 1})), IsEmpty());
  EXPECT_THAT(Warnings(Model({{-1, 1}}, {2, -1})), IsEmpty());
  EXPECT_THAT(Warnings(Model({{2, 1}, {1, 2}}, {1})),
              ElementsAre("a tensor has another shape than the model declares tensor=top:1 shape=[2,1] "
                          "declared=[1,2] others=1"));
}

// tf.image.resize by a factor: what the graph computes in f32 stays f32.
TEST(TensorflowShapes, SizesMayBeComputedByProducts) {
  GraphBuilder model;
  model.Placeholder("x", {1, 100, 20, 1});
  model.Integers("sides", {100, 20});
  model.Floats("factor", {1}, {0.7F});
  model.Add("Cast", "float_sides", {"sides"}).Type("SrcT", DT_INT32).Type("DstT", DT_FLOAT);
  model.Add("Mul", "products", {"float_sides", "factor"});
  model.Add("Cast", "size", {"products"}).Type("SrcT", DT_FLOAT).Type("DstT", DT_INT32);
  model.Add("ResizeBilinear", "y", {"x", "size"});
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->outputs()[0].value->type().shape(), Shape({1, 70, 14, 1}));
}

// Old graphs write an unknown shape like that of a scalar.
TEST(TensorflowShapes, UnknownShapesFit) {
  GraphBuilder model = Model({{2, 1}, {2, 1}}, {});
  EXPECT_THAT(Warnings(model), ElementsAre(HasSubstr(" tensor=y ")));
  model.graph.mutable_versions()->set_producer(23);
  EXPECT_THAT(Warnings(model), IsEmpty());
  Declare(model.Add("Neg", "z", {"y"}), {{7}});
  model.graph.mutable_node(4)
      ->mutable_attr()
      ->at("_output_shapes")
      .mutable_list()
      ->mutable_shape(0)
      ->set_unknown_rank(true);
  EXPECT_THAT(Warnings(model), IsEmpty());
}

TEST(TensorflowShapes, OpenInputsAreNotCompared) {
  EXPECT_THAT(Warnings(Model({{1, 1}}, {1, 1}, {-1, 3}), WithShape("x", {2, 3})), IsEmpty());
}

}  // namespace
}  // namespace attune::tensorflow
