#include "import/pytorch/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/common/shared_weights_for_test.h"
#include "import/pytorch/test_program.h"

namespace attune::pytorch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PytorchImport, ComputesWithWeights) {
  Program program;
  program.AddWeight("fc.weight", {"2", "3"}, {1, 2, 3, 4, 5, 6});
  program.AddWeight("fc.bias", {"2"}, {10, 20});
  program.AddInput("x", {"1", "3"});
  program.AddNode("torch.ops.aten.linear.default", "linear",
                  {{"input", T("x")}, {"weight", T("p_fc.weight")}, {"bias", T("p_fc.bias")}});
  program.AddOutput("linear");
  EXPECT_THAT(Values(program.Run({Floats32({1, 1, 1}, {1, 3})})), ElementsAre(16, 35));
  const auto graph = program.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->inputs()[0]->name(), "x");
  EXPECT_EQ((*graph)->outputs()[0].name, "linear");
}

TEST(PytorchImport, WeightsMayShareAStorageAndLieInItAnyHow) {
  Program program;
  program.AddWeight("whole", {"6"}, {1, 2, 3, 4, 5, 6});
  nlohmann::json& turned = program.AddWeight("turned", {"2", "2"}, {0});
  turned["path_name"] = "weight_0";
  turned["tensor_meta"]["strides"] = {{{"as_int", 1}}, {{"as_int", 2}}};
  turned["tensor_meta"]["storage_offset"] = {{"as_int", 2}};
  program.AddInput("x", {"2", "2"});
  program.AddNode("torch.ops.aten.add.Tensor", "y", {{"self", T("x")}, {"other", T("p_turned")}});
  program.AddOutput("y");
  EXPECT_THAT(Values(program.Run({Floats32({0, 0, 0, 0}, {2, 2})})), ElementsAre(3, 5, 4, 6));
}

TEST(PytorchImport, ReadsPackedAndFlatArchives) {
  const Program program = OneNode("relu.default", {"2"});
  EXPECT_TRUE(Program::ImportFiles(program.FilesIn("m/"), {}, /*packed=*/true).ok());
  EXPECT_TRUE(Program::ImportFiles(program.FilesIn("")).ok());
}

TEST(PytorchImport, AnOperatorInPlaceChangesWhatItsTensorMeans) {
  Program program;
  program.AddInput("x", {"2"});
  program.AddNode("torch.ops.aten.neg.default", "neg", {{"self", T("x")}});
  program.AddNode("torch.ops.aten.detach.default", "same", {{"self", T("neg")}});
  program.AddNode("torch.ops.aten.relu_.default", "relu_", {{"self", T("neg")}});
  program.AddNode("torch.ops.aten.dropout_.default", "dropout_", {{"self", T("relu_")}, {"p", F(0.0)}});
  program.AddNode("torch.ops.aten.add.Tensor", "sum", {{"self", T("same")}, {"other", T("dropout_")}});
  program.AddOutput("sum");
  EXPECT_THAT(Values(program.Run({Floats32({1, -2}, {2})})), ElementsAre(0, 4));
}

TEST(PytorchImport, ACopyIsNotChangedInPlace) {
  Program program;
  program.AddInput("x", {"2"});
  program.AddNode("torch.ops.aten.clone.default", "copy", {{"self", T("x")}});
  program.AddNode("torch.ops.aten.relu_.default", "relu_", {{"self", T("copy")}});
  program.AddNode("torch.ops.aten.sub.Tensor", "y", {{"self", T("relu_")}, {"other", T("x")}});
  program.AddOutput("y");
  EXPECT_THAT(Values(program.Run({Floats32({1, -2}, {2})})), ElementsAre(0, 2));
}

TEST(PytorchImport, AViewOfWhatChangedInPlaceIsNotSupported) {
  Program program;
  program.AddInput("x", {"2", "2"});
  program.AddNode("torch.ops.aten.neg.default", "neg", {{"self", T("x")}});
  program.AddNode("torch.ops.aten.select.int", "row", {{"self", T("neg")}, {"dim", I(0)}, {"index", I(0)}});
  program.AddNode("torch.ops.aten.relu_.default", "relu_", {{"self", T("row")}});
  program.AddNode("torch.ops.aten.exp.default", "y", {{"self", T("neg")}});
  program.AddOutput("y");
  EXPECT_EQ(program.Error(),
            "not supported: aten.exp.default y: its argument 'neg' shares memory with 'row', which 'relu_' "
            "has changed in place");
}

TEST(PytorchImport, StateThatOutlivesARunIsNotSupported) {
  Program program;
  program.AddWeight("count", {"1"}, {1});
  program.AddInput("x", {"1"});
  program.AddNode("torch.ops.aten.add_.Tensor", "add_", {{"self", T("p_count")}, {"other", I(1)}});
  program.AddOutput("x");
  EXPECT_THAT(program.Error(), HasSubstr("not supported: aten.add_.Tensor add_: it changes 'count'"));
}

TEST(PytorchImport, ListsEverythingThatIsNotSupportedAtOnce) {
  Program program = OneNode("relu.default", {"s0", "2"});
  program.AddNode("torch.ops.aten.frobnicate.default", "first", {{"self", T("y")}});
  program.AddNode("torch.ops.aten.relu.default", "after", {{"self", T("first")}});
  program.AddNode("torch.ops.mine.scan.default", "second", {{"self", T("after")}});
  EXPECT_EQ(program.Error(),
            "not supported: aten.frobnicate.default first: no such operator\n"
            "not supported: mine.scan.default second: no such operator");
  program.AddNode("torch.ops.aten.randn_like.default", "third", {{"self", T("x")}});
  const absl::Status status = program.Import({.input_shapes = {{"x", {1, 2}}}}).status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("not supported: aten.randn_like.default third: it makes random numbers"));
}

TEST(PytorchImport, SymbolsAreBoundByTheGivenShapes) {
  Program program = OneNode("relu.default", {"s0", "3"});
  program.AddInput("z", {"s0"});
  EXPECT_THAT(program.Error(),
              HasSubstr("input 'x' [s0,3], 'z' [s0]; give the shapes, for example --shape x=1x3"));
  const auto graph = program.Import({.input_shapes = {{"x", {5, 3}}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->inputs()[1]->type().shape(), Shape({5}));
  EXPECT_THAT(program.Error({.input_shapes = {{"x", {5, 4}}}}),
              HasSubstr("is [s0,3] in the program, but [5,4]"));
  EXPECT_THAT(program.Error({.input_shapes = {{"x", {5, 3}}, {"z", {4}}}}), HasSubstr("input 'z'"));
}

TEST(PytorchImport, SizesAreNumbersAtImport) {
  Program program;
  program.AddInput("x", {"s0", "4"});
  const nlohmann::json size = {{"as_sym_int", {{"as_name", "size"}}}};
  const nlohmann::json half = {{"as_sym_int", {{"as_name", "half"}}}};
  program.AddNode("torch.ops.aten.sym_size.int", "size", {{"self", T("x")}, {"dim", I(0)}}, {size});
  program.AddNode("_operator.floordiv", "half", {{"a", size}, {"b", I(2)}}, {half});
  const nlohmann::json sizes = nlohmann::json::array({half["as_sym_int"], I(-1)});
  program.AddNode("torch.ops.aten.view.default", "y", {{"self", T("x")}, {"size", {{"as_sym_ints", sizes}}}});
  program.AddOutput("y");
  const auto graph = program.Import({.input_shapes = {{"x", {6, 4}}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->outputs()[0].value->type().shape(), Shape({3, 8}));
}

TEST(PytorchImport, GraphsOfOperatorsTakeTheirPlace) {
  Program program;
  program.AddInput("x", {"2"});
  const nlohmann::json self = {{"name", "self"}, {"arg", T("a")}};
  const nlohmann::json negate = {{"target", "torch.ops.aten.neg.default"},
                                 {"inputs", nlohmann::json::array({self})},
                                 {"outputs", nlohmann::json::array({T("b")})}};
  const nlohmann::json body = {{"inputs", nlohmann::json::array({T("a")})},
                               {"outputs", nlohmann::json::array({T("b")})},
                               {"nodes", nlohmann::json::array({negate})},
                               {"tensor_values", nlohmann::json::object()}};
  program.AddNode("torch.ops.higher_order.wrap_with_set_grad_enabled", "y",
                  {{"", B(false)}, {"", {{"as_graph", {{"name", "body"}, {"graph", body}}}}}, {"", T("x")}});
  program.AddOutput("y");
  EXPECT_THAT(Values(program.Run({Floats32({1, -2}, {2})})), ElementsAre(-1, 2));
}

TEST(PytorchImport, AnOutputWithoutAResultMayStayUnused) {
  Program program;
  program.AddInput("x", {"1", "2"});
  program.AddNode("torch.ops.aten.native_layer_norm.default", "norm",
                  {{"input", T("x")}, {"normalized_shape", Is({2})}, {"weight", None()}, {"eps", F(0)}},
                  {T("y"), T("mean"), T("deviation")});
  program.AddOutput("y");
  EXPECT_THAT(Values(program.Run({Floats32({1, 3}, {1, 2})})), ElementsAre(-1, 1));
  program.AddOutput("mean");
  EXPECT_THAT(program.Error(), HasSubstr("not supported: Output mean"));
}

TEST(PytorchImport, DeclaresItsInputs) {
  const auto parsed = ParsePytorch(Zip(OneNode("relu.default", {"s0", "3"}).FilesIn("m/")));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto declared = (*parsed)->Declare("");
  ASSERT_TRUE(declared.ok()) << declared.status();
  EXPECT_EQ(declared->inputs[0].name, "x");
  EXPECT_THAT(declared->inputs[0].dims, ElementsAre("s0", "3"));
}

TEST(PytorchImport, PicklesGetTheAdviceToExportToOnnx) {
  const auto message = [](const std::string& bytes) {
    return std::string(importing::ImportOnce(ParsePytorch(bytes), {}).status().message());
  };
  const std::string advice = "torch.onnx.export(model, (x,), \"model.onnx\")";
  for (const char* file :
       {"data.pkl", "constants.pkl", "data/weights/model.pt", "serialized_exported_program.json"}) {
    EXPECT_THAT(message(Zip({{std::string("m/") + file, "x"}, {"m/version", "3"}})), HasSubstr(advice))
        << file;
  }
  EXPECT_THAT(message("\x80\x02}q\x01."), HasSubstr(advice));
  Program program = OneNode("relu.default", {"1"});
  program.AddWeight("w", {"1"}, {1})["use_pickle"] = true;
  EXPECT_TRUE(program.Import().ok());  // nothing uses it
  program.AddNode("torch.ops.aten.neg.default", "z", {{"self", T("p_w")}});
  EXPECT_THAT(program.Error(), HasSubstr(advice));
}

TEST(PytorchImport, GraphsAtSeveralShapesShareWeights) {
  Program program;
  program.AddWeight("w", {"2"}, {1, 2});
  program.AddInput("x", {"s0", "2"});
  program.AddNode("torch.ops.aten.add.Tensor", "y", {{"self", T("x")}, {"other", T("p_w")}});
  program.AddOutput("y");
  importing::ExpectSharedWeights(ParsePytorch(Zip(program.FilesIn("model/"))), 2);
}

}  // namespace
}  // namespace attune::pytorch
