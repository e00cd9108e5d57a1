// Tests each family of operators on numbers that can be checked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "import/pytorch/targets.h"
#include "import/pytorch/test_program.h"

namespace attune::pytorch {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveDoubleNear;
using ::testing::Pointwise;

struct Case {
  std::string target;
  std::vector<int64_t> shape;
  std::vector<float> x;
  std::vector<std::pair<std::string, nlohmann::json>> arguments;
  std::vector<double> expected;
};

Program ProgramOf(const Case& c) {
  std::vector<std::string> sizes;
  for (int64_t size : c.shape) sizes.push_back(std::to_string(size));
  return OneNode(c.target, sizes, c.arguments);
}

void Check(const Case& c) {
  SCOPED_TRACE(c.target);
  const Tensor y = ProgramOf(c).Run({Floats32(c.x, c.shape)});
  EXPECT_THAT(Values(y), Pointwise(DoubleNear(1e-5), c.expected));
}

TEST(PytorchOps, Elementwise) {
  const std::vector<Case> cases = {
      {"rsqrt.default", {1}, {4}, {}, {0.5}},
      {"trunc.default", {2}, {-1.5, 1.5}, {}, {-1, 1}},
      {"add.Tensor", {2}, {1, 2}, {{"other", I(3)}, {"alpha", I(2)}}, {7, 8}},
      {"rsub.Scalar", {2}, {1, 2}, {{"other", I(3)}}, {2, 1}},
      {"div.Tensor_mode", {2}, {-7, 7}, {{"other", F(2)}, {"rounding_mode", S("floor")}}, {-4, 3}},
      {"div.Tensor_mode", {2}, {-7, 7}, {{"other", F(2)}, {"rounding_mode", S("trunc")}}, {-3, 3}},
      {"remainder.Scalar", {2}, {-7, 7}, {{"other", F(4)}}, {1, 3}},
      {"pow.Tensor_Scalar", {2}, {2, 3}, {{"exponent", I(3)}}, {8, 27}},
      {"clamp.default", {3}, {-2, 0, 2}, {{"min", I(-1)}, {"max", F(1.5)}}, {-1, 0, 1.5}},
      {"ne.Scalar", {2}, {1, 2}, {{"other", I(1)}}, {0, 1}},
      {"hardtanh.default", {2}, {-3, 3}, {{"max_val", F(6)}}, {-1, 3}},
      {"hardsigmoid.default", {2}, {0, 6}, {}, {0.5, 1}},
      {"softshrink.default", {3}, {-1, 0, 1}, {}, {-0.5, 0, 0.5}},
      {"glu.default", {2}, {3, 0}, {}, {1.5}},
      {"leaky_relu.default", {2}, {-1, 1}, {{"negative_slope", F(0.25)}}, {-0.25, 1}},
      {"nan_to_num.default", {2}, {NAN, 1}, {}, {0, 1}},
  };
  for (const Case& c : cases) Check(c);
}

// An operator that PyTorch and the table of operators call by the same name is the same.
TEST(PytorchOps, ElementwiseOperatorsOfTheSameName) {
  const Tensor input = Floats32({-2, -0.5, 0, 0.5, 2}, {5});
  int found = 0;
  for (const OpInfo& info : AllOps()) {
    const std::string name(info.name);
    if (info.category != OpCategory::kUnary || !info.attributes.empty()) continue;
    if (FindTarget("torch.ops.aten." + name + ".default").row == nullptr) continue;
    SCOPED_TRACE(name);
    ++found;
    Graph graph;
    Value* x = graph.AddInput("x", TensorType(DType::kF32, Shape{5}));
    graph.AddOutput("y", (*graph.Add(info.op, {x}))->output());
    const auto expected = Interpreter().Run(graph, {input});
    ASSERT_TRUE(expected.ok()) << expected.status();
    EXPECT_THAT(Values(OneNode(name + ".default", {"5"}).Run({input})),
                Pointwise(NanSensitiveDoubleNear(1e-5), Values(expected->front())));
  }
  EXPECT_GE(found, 20);
}

TEST(PytorchOps, Movement) {
  const std::vector<Case> cases = {
      {"view.default", {2, 2}, {1, 2, 3, 4}, {{"size", Is({-1})}}, {1, 2, 3, 4}},
      {"t.default", {2, 2}, {1, 2, 3, 4}, {}, {1, 3, 2, 4}},
      {"movedim.int", {1, 2, 2}, {1, 2, 3, 4}, {{"source", I(2)}, {"destination", I(0)}}, {1, 3, 2, 4}},
      {"slice.Tensor",
       {5},
       {0, 1, 2, 3, 4},
       {{"start", I(-4)}, {"end", I(INT64_MAX)}, {"step", I(2)}},
       {1, 3}},
      {"select.int", {2, 2}, {1, 2, 3, 4}, {{"dim", I(1)}, {"index", I(-1)}}, {2, 4}},
      {"flip.default", {3}, {1, 2, 3}, {{"dims", Is({0})}}, {3, 2, 1}},
      {"roll.default", {4}, {1, 2, 3, 4}, {{"shifts", Is({1})}, {"dims", Is({0})}}, {4, 1, 2, 3}},
      {"repeat.default", {2}, {1, 2}, {{"repeats", Is({2, 1})}}, {1, 2, 1, 2}},
      {"repeat_interleave.self_int", {2}, {1, 2}, {{"repeats", I(2)}}, {1, 1, 2, 2}},
      {"constant_pad_nd.default", {1, 2}, {1, 2}, {{"pad", Is({1, -1})}, {"value", I(9)}}, {9, 1}},
      {"pixel_shuffle.default", {4, 1, 1}, {1, 2, 3, 4}, {{"upscale_factor", I(2)}}, {1, 2, 3, 4}},
      {"pixel_unshuffle.default", {1, 2, 2}, {1, 2, 3, 4}, {{"downscale_factor", I(2)}}, {1, 2, 3, 4}},
      {"channel_shuffle.default", {1, 4, 1}, {1, 2, 3, 4}, {{"groups", I(2)}}, {1, 3, 2, 4}},
      {"tril.default", {2, 2}, {1, 2, 3, 4}, {}, {1, 0, 3, 4}},
  };
  for (const Case& c : cases) Check(c);
}

TEST(PytorchOps, WritesIntoAPart) {
  const auto written = [](const std::string& target, const std::vector<std::string>& source,
                          std::vector<std::pair<std::string, nlohmann::json>> arguments) {
    Program program;
    program.AddInput("x", {"2", "3"});
    program.AddInput("part", source);
    arguments.insert(arguments.begin(), {{"self", T("x")}, {"src", T("part")}});
    program.AddNode("torch.ops.aten." + target, "y", arguments);
    program.AddOutput("y");
    Shape shape;
    size_t count = 1;
    for (const std::string& size : source) {
      shape.push_back(std::stoll(size));
      count *= std::stoul(size);
    }
    const Tensor part = Floats32(std::vector<float>(count, 9), shape);
    return Values(program.Run({Floats32({1, 2, 3, 4, 5, 6}, {2, 3}), part}));
  };
  EXPECT_THAT(written("slice_scatter.default", {"2", "2"}, {{"dim", I(1)}, {"start", I(-2)}}),
              ElementsAre(1, 9, 9, 4, 9, 9));
  EXPECT_THAT(written("slice_scatter.default", {"2", "1"}, {{"dim", I(1)}, {"start", I(1)}, {"end", I(2)}}),
              ElementsAre(1, 9, 3, 4, 9, 6));
  EXPECT_THAT(written("slice_scatter.default", {"2", "3"}, {}), ElementsAre(9, 9, 9, 9, 9, 9));
  EXPECT_THAT(written("slice_scatter.default", {"0", "3"}, {{"start", I(1)}, {"end", I(0)}}),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(written("select_scatter.default", {"3"}, {{"dim", I(0)}, {"index", I(-1)}}),
              ElementsAre(1, 2, 3, 9, 9, 9));
}

TEST(PytorchOps, ReductionsAndScans) {
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<Case> cases = {
      {"mean.dim", {2, 2}, x, {{"dim", Is({-1})}, {"keepdim", B(true)}}, {1.5, 3.5}},
      {"sum.default", {2, 2}, x, {}, {10}},
      {"amax.default", {2, 2}, x, {{"dim", Is({0})}}, {3, 4}},
      {"var.correction", {2, 2}, x, {{"dim", Is({1})}, {"correction", I(0)}}, {0.25, 0.25}},
      {"std.dim", {2, 2}, x, {{"dim", Is({1})}}, {std::sqrt(0.5), std::sqrt(0.5)}},
      {"linalg_vector_norm.default", {2}, {3, 4}, {}, {5}},
      {"logsumexp.default", {2}, {0, 0}, {{"dim", Is({0})}}, {std::log(2.0)}},
      {"cumsum.default", {4}, x, {{"dim", I(0)}}, {1, 3, 6, 10}},
      {"argmax.default", {2, 2}, x, {}, {3}},
      {"any.default", {2}, {0, 1}, {}, {1}},
  };
  for (const Case& c : cases) Check(c);
}

TEST(PytorchOps, WindowsAndSampling) {
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<Case> cases = {
      {"max_pool2d.default", {1, 1, 2, 2}, x, {{"kernel_size", Is({2, 2})}}, {4}},
      {"avg_pool2d.default", {1, 2, 2}, x, {{"kernel_size", Is({2})}, {"divisor_override", I(2)}}, {5}},
      {"adaptive_avg_pool2d.default", {1, 1, 2, 2}, x, {{"output_size", Is({1, 1})}}, {2.5}},
      {"adaptive_avg_pool1d.default", {1, 1, 3}, {1, 2, 6}, {{"output_size", Is({2})}}, {1.5, 4}},
      {"upsample_nearest1d.default", {1, 1, 2}, {1, 2}, {{"output_size", Is({4})}}, {1, 1, 2, 2}},
      {"upsample_linear1d.default",
       {1, 1, 2},
       {0, 2},
       {{"output_size", Is({3})}, {"align_corners", B(true)}},
       {0, 1, 2}},
      // Aligned corners lie where the sizes put them: 5 · 0.7 is 3.5, of which 3 are left.
      {"upsample_linear1d.default",
       {1, 1, 5},
       {0, 1, 2, 3, 4},
       {{"output_size", Is({3})}, {"align_corners", B(true)}, {"scales", F(0.7)}},
       {0, 2, 4}},
      {"upsample_linear1d.default",
       {1, 1, 5},
       {0, 1, 2, 3, 4},
       {{"output_size", Is({3})}, {"align_corners", B(false)}, {"scales", F(0.75)}},
       {1 / 6.0, 1.5, 17 / 6.0}},
  };
  for (const Case& c : cases) Check(c);
}

TEST(PytorchOps, ConvolutionPadsAsItIsTold) {
  Program program;
  program.AddWeight("w", {"1", "1", "1", "2"}, {1, 10});
  program.AddInput("x", {"1", "1", "3"});  // without a batch
  program.AddNode("torch.ops.aten.conv2d.padding", "y",
                  {{"input", T("x")}, {"weight", T("p_w")}, {"padding", S("same")}});
  program.AddOutput("y");
  EXPECT_THAT(Values(program.Run({Floats32({1, 2, 3}, {1, 1, 3})})), ElementsAre(21, 32, 3));
}

TEST(PytorchOps, BatchNormInTrainingIsNotSupported) {
  Program program;
  program.AddWeight("v", {"2"}, {1, 4});
  program.AddInput("x", {"1", "2"});
  const auto norm = [&](const std::string& name, bool training) {
    program.AddNode("torch.ops.aten.batch_norm.default", name,
                    {{"input", T("x")},
                     {"weight", None()},
                     {"bias", None()},
                     {"running_mean", T("p_v")},
                     {"running_var", T("p_v")},
                     {"training", B(training)},
                     {"momentum", F(0.1)},
                     {"eps", F(0)}});
  };
  norm("y", false);
  program.AddOutput("y");
  EXPECT_THAT(Values(program.Run({Floats32({2, 8}, {1, 2})})), ElementsAre(1, 2));
  norm("z", true);
  EXPECT_THAT(program.Error(), HasSubstr("not supported: aten.batch_norm.default z: training mode"));
}

TEST(PytorchOps, Attention) {
  Program program;
  for (const char* name : {"q", "k", "v"}) program.AddInput(name, {"1", "2", "1"});
  program.AddNode("torch.ops.aten.scaled_dot_product_attention.default", "y",
                  {{"query", T("q")}, {"key", T("k")}, {"value", T("v")}, {"is_causal", B(true)}});
  program.AddOutput("y");
  const Tensor q = Floats32({0, 0}, {1, 2, 1});
  EXPECT_THAT(Values(program.Run({q, q, Floats32({2, 4}, {1, 2, 1})})), ElementsAre(2, 3));
}

TEST(PytorchOps, Indexing) {
  Program program;
  program.AddInput("x", {"2", "3"});
  program.AddInput("i", {"2"}, /*int64*/ 5);
  program.AddNode(
      "torch.ops.aten.index.Tensor", "columns",
      {{"self", T("x")}, {"indices", {{"as_optional_tensors", nlohmann::json::array({None(), T("i")})}}}});
  program.AddNode("torch.ops.aten.index.Tensor", "pairs", {{"self", T("x")}, {"indices", Ts({"i", "i"})}});
  program.AddNode("torch.ops.aten.embedding.default", "rows", {{"weight", T("x")}, {"indices", T("i")}});
  for (const char* name : {"columns", "pairs", "rows"}) program.AddOutput(name);
  const auto graph = program.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<int64_t> indices = {1, 0};
  const auto outputs =
      Interpreter().Run(**graph, {Floats32({1, 2, 3, 4, 5, 6}, {2, 3}), Tensor::FromInts(indices)});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(Values((*outputs)[0]), ElementsAre(2, 1, 5, 4));
  EXPECT_THAT(Values((*outputs)[1]), ElementsAre(5, 1));
  EXPECT_THAT(Values((*outputs)[2]), ElementsAre(4, 5, 6, 1, 2, 3));
}

// x[i] takes negative indices, and other operators do not.
TEST(PytorchOps, NegativeIndices) {
  using Arguments = std::vector<std::pair<std::string, nlohmann::json>>;
  const std::string indexed = "torch.ops.aten.index.Tensor";
  const std::pair<std::string, Arguments> cases[] = {
      {"torch.ops.aten.embedding.default", {{"weight", T("x")}, {"indices", T("i")}}},
      {"torch.ops.aten.index_select.default", {{"self", T("x")}, {"dim", I(0)}, {"index", T("i")}}},
      {indexed, {{"self", T("x")}, {"indices", Ts({"i"})}}}};
  for (const auto& [op, arguments] : cases) {
    Program program;
    program.AddInput("x", {"2", "3"});
    program.AddInput("i", {"1"}, /*int64*/ 5);
    program.AddNode(op, "y", arguments);
    program.AddOutput("y");
    const auto graph = program.Import();
    ASSERT_TRUE(graph.ok()) << graph.status();
    const auto outputs = Interpreter().Run(
        **graph, {Floats32({1, 2, 3, 4, 5, 6}, {2, 3}), Tensor::FromInts(std::vector<int64_t>{-1})});
    EXPECT_EQ(outputs.ok(), op == indexed);
    if (!outputs.ok())
      EXPECT_THAT(std::string(outputs.status().message()), HasSubstr("index -1 in an axis of size 2"));
  }
}

TEST(PytorchOps, ListsGoInAndComeOut) {
  Program program;
  program.AddInput("x", {"3"});
  program.AddNode("torch.ops.aten.split.Tensor", "parts", {{"self", T("x")}, {"split_size", I(2)}},
                  {Ts({"a", "b"})});
  program.AddNode("torch.ops.aten.cat.default", "y", {{"tensors", Ts({"b", "a"})}});
  program.AddOutput("y");
  EXPECT_THAT(Values(program.Run({Floats32({1, 2, 3}, {3})})), ElementsAre(3, 1, 2));
}

TEST(PytorchOps, TensorsOfNumbers) {
  Program program;
  program.AddInput("x", {"3"});
  program.AddNode("torch.ops.aten.arange.start_step", "steps",
                  {{"start", I(1)}, {"end", I(6)}, {"step", I(2)}});
  program.AddNode("torch.ops.aten.full.default", "twos", {{"size", Is({3})}, {"fill_value", F(2)}});
  program.AddNode("torch.ops.aten.addcmul.default", "y",
                  {{"self", T("x")}, {"tensor1", T("steps")}, {"tensor2", T("twos")}, {"value", F(0.5)}});
  program.AddOutput("y");
  EXPECT_THAT(Values(program.Run({Floats32({0, 0, 1}, {3})})), ElementsAre(1, 3, 6));
}

}  // namespace
}  // namespace attune::pytorch
