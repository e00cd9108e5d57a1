// Damaged or malicious files: an error, in bounded time and memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/common/import_once_for_test.h"
#include "import/pytorch/test_program.h"

namespace attune::pytorch {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

std::string ErrorOf(const Files& files, bool packed = false) {
  return std::string(Program::ImportFiles(files, {}, packed).status().message());
}

std::string ErrorOfBytes(std::string_view bytes) {
  return std::string(importing::ImportOnce(ParsePytorch(std::string(bytes)), {}).status().message());
}

// A program whose only weight can be tampered with.
Program WithWeight() {
  Program program = OneNode("relu.default", {"2"});
  program.AddWeight("w", {"2", "2"}, {1, 2, 3, 4});
  return program;
}

TEST(PytorchHostile, NotAnArchive) {
  EXPECT_THAT(ErrorOfBytes(""), HasSubstr("empty"));
  EXPECT_THAT(ErrorOfBytes("hello"), HasSubstr("no zip archive"));
  EXPECT_THAT(ErrorOfBytes("PK\x03\x04 and no more"), HasSubstr("damaged or cut short"));
}

TEST(PytorchHostile, AnArchiveCutShortAnywhere) {
  const std::string whole = Zip(OneNode("relu.default", {"2"}).FilesIn("m/"));
  for (size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_FALSE(importing::ImportOnce(ParsePytorch(whole.substr(0, size)), {}).ok()) << size;
  }
}

TEST(PytorchHostile, ChecksumsAreCompared) {
  std::string bytes = Zip(OneNode("relu.default", {"2"}).FilesIn("m/"));
  const size_t at = bytes.find("torch.ops.aten.relu");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 15] = 's';
  EXPECT_THAT(ErrorOfBytes(bytes), HasSubstr("'models/model.json' in the archive is damaged"));
}

TEST(PytorchHostile, AnArchiveThatUnpacksToMuchMore) {
  Files files = OneNode("relu.default", {"2"}).FilesIn("m/");
  files.emplace_back("m/data/weights/weight_0", std::string(64 << 20, '\0'));
  EXPECT_THAT(ErrorOf(files, /*packed=*/true), HasSubstr("unpacks to more than 16 times its size"));
}

TEST(PytorchHostile, NamesThatLeaveTheArchive) {
  for (const char* name : {"../x", "/x", "m/../../x", "m//x", "m/./x", "m\\..\\x"}) {
    EXPECT_THAT(ErrorOf({{"m/archive_format", "pt2"}, {name, ""}}), HasSubstr("an entry of the name"))
        << name;
  }
  Program program = WithWeight();
  program.weights["config"]["w"]["path_name"] = "../../models/model.json";
  EXPECT_THAT(program.Error(), HasSubstr("outside of its folder"));
}

TEST(PytorchHostile, OtherArchives) {
  EXPECT_THAT(ErrorOf({{"m/word/document.xml", ""}}), HasSubstr("not an exported PyTorch program"));
  EXPECT_THAT(ErrorOf({{"m/archive_format", "zip"}}), HasSubstr("format is 'zip'"));
  EXPECT_THAT(ErrorOf({{"m/archive_format", "pt2"}}), HasSubstr("holds no program"));
  EXPECT_THAT(ErrorOf({{"m/archive_format", "pt2"}, {"m/data/aotinductor/model/a.so", ""}}),
              HasSubstr("AOTInductor"));
}

TEST(PytorchHostile, JsonThatIsNone) {
  Files files = OneNode("relu.default", {"2"}).FilesIn("m/");
  const auto with_program = [&](const std::string& text) {
    files[2].second = text;
    return ErrorOf(files);
  };
  EXPECT_THAT(with_program("{\"graph_module\":"), HasSubstr("the program is not a JSON object"));
  EXPECT_THAT(with_program("[1]"), HasSubstr("the program is not a JSON object"));
  EXPECT_THAT(with_program("{\"a\":\"\xff\"}"), HasSubstr("the program is not a JSON object"));
  EXPECT_THAT(with_program(std::string(1 << 20, '[')), HasSubstr("nests more than"));
  EXPECT_THAT(with_program("{}"), HasSubstr("the field"));
}

TEST(PytorchHostile, EveryFieldMayBeMissingOrOfAnotherKind) {
  Program whole = WithWeight();
  whole.AddNode("torch.ops.aten.add.Tensor", "z", {{"self", T("p_w")}, {"other", T("y")}});
  ASSERT_TRUE(whole.Import().ok()) << whole.Error();
  const nlohmann::json flat = whole.json.flatten();
  for (const auto& [path, value] : flat.items()) {
    for (const nlohmann::json& wrong : {nlohmann::json(), nlohmann::json(-1), nlohmann::json("x"),
                                        nlohmann::json::array(), nlohmann::json(INT64_MAX)}) {
      Program program = whole;
      program.json[nlohmann::json::json_pointer(path)] = wrong;
      const auto graph = program.Import();  // may succeed or fail; a returned graph must be valid
      if (!graph.ok()) EXPECT_FALSE(graph.status().message().empty()) << path;
    }
  }
  const nlohmann::json config = whole.weights.flatten();
  for (const auto& [path, value] : config.items()) {
    for (const nlohmann::json& wrong :
         {nlohmann::json(), nlohmann::json(-1), nlohmann::json("x"), nlohmann::json(INT64_MAX)}) {
      Program program = whole;
      program.weights[nlohmann::json::json_pointer(path)] = wrong;
      const auto graph = program.Import();
      if (!graph.ok()) EXPECT_FALSE(graph.status().message().empty()) << path;
    }
  }
}

TEST(PytorchHostile, NamesThatAreUndefinedOrDefinedTwice) {
  Program undefined = OneNode("relu.default", {"2"});
  undefined.AddNode("torch.ops.aten.neg.default", "z", {{"self", T("nobody")}});
  EXPECT_THAT(undefined.Error(), HasSubstr("node 'z' (aten.neg.default): it uses 'nobody', which nothing"));
  Program twice = OneNode("relu.default", {"2"});
  twice.AddNode("torch.ops.aten.neg.default", "y", {{"self", T("x")}});
  EXPECT_THAT(twice.Error(), HasSubstr("makes 'y' twice"));
  Program inputs = OneNode("relu.default", {"2"});
  inputs.AddInput("x", {"2"});
  EXPECT_THAT(inputs.Error(), HasSubstr("makes 'x' twice"));
  Program output = OneNode("relu.default", {"2"});
  output.AddOutput("nobody");
  EXPECT_THAT(output.Error(), HasSubstr("'nobody'"));
}

TEST(PytorchHostile, NodesInACycle) {
  Program program;
  program.AddInput("x", {"2"});
  program.AddNode("torch.ops.aten.add.Tensor", "a", {{"self", T("x")}, {"other", T("b")}});
  program.AddNode("torch.ops.aten.add.Tensor", "b", {{"self", T("x")}, {"other", T("a")}});
  program.AddOutput("b");
  EXPECT_THAT(program.Error(),
              HasSubstr("it uses 'b', which nothing before it makes: the nodes form a cycle"));
}

TEST(PytorchHostile, StridesAndOffsetsBeyondTheStorage) {
  const auto with = [](const char* field, const nlohmann::json& value) {
    Program program = WithWeight();
    program.weights["config"]["w"]["tensor_meta"][field] = value;
    return program.Error();
  };
  const auto strides = [](int64_t first) {
    return nlohmann::json::array({nlohmann::json{{"as_int", first}}, nlohmann::json{{"as_int", 1}}});
  };
  EXPECT_THAT(with("storage_offset", {{"as_int", 1}}), HasSubstr("weight 'w': it reaches over 20 bytes"));
  EXPECT_THAT(with("storage_offset", {{"as_int", -1}}), HasSubstr("offset"));
  EXPECT_THAT(with("strides", strides(3)), HasSubstr("it reaches over 20 bytes"));
  EXPECT_THAT(with("strides", strides(INT64_MAX)), AnyOf(HasSubstr("overflow"), HasSubstr("reaches")));
  EXPECT_THAT(with("strides", strides(-2)), HasSubstr("strides are not all known and positive"));
  EXPECT_THAT(with("sizes", strides(INT64_MAX)), AnyOf(HasSubstr("overflow"), HasSubstr("too large")));
}

TEST(PytorchHostile, HugeTensorsOfFewBytes) {
  Program program = WithWeight();
  nlohmann::json& meta = program.weights["config"]["w"]["tensor_meta"];
  meta["sizes"] = nlohmann::json::array({I(1 << 20), I(1 << 16)});
  meta["strides"] = nlohmann::json::array({I(0), I(0)});
  EXPECT_THAT(program.Error(), HasSubstr("tables that are too large"));
  Program input = OneNode("relu.default", {"1099511627776", "1024"});
  EXPECT_THAT(input.Error(), HasSubstr("input 'x'"));
  Program repeat = OneNode("repeat.default", {"2"}, {{"repeats", Is({INT64_MAX})}});
  EXPECT_THAT(repeat.Error(), HasSubstr("node 'y' (aten.repeat.default)"));
  Program split = OneNode("split.Tensor", {"1000000000"}, {{"split_size", I(1)}});
  EXPECT_THAT(split.Error(), HasSubstr("the program names fewer"));
}

TEST(PytorchHostile, WeightsWithoutTheirValues) {
  Program program = WithWeight();
  program.storages[0].second.clear();
  EXPECT_THAT(program.Error(), HasSubstr("saved without the values of its weights"));
  program.storages.clear();
  EXPECT_THAT(program.Error(), HasSubstr("the archive has no 'data/weights/weight_0'"));
}

TEST(PytorchHostile, AProgramThatContradictsItself) {
  Program program = OneNode("relu.default", {"2"});
  program.graph()["tensor_values"]["y"] = Meta({"3"});
  EXPECT_THAT(program.Error(), HasSubstr("'y' is f32[2], but the program says float32[3]"));
  program.json["schema_version"]["major"] = 9;
  EXPECT_THAT(program.Error(), HasSubstr("not supported: Model schema_version"));
}

TEST(PytorchHostile, NumbersThatOverflow) {
  Program program;
  program.AddInput("x", {"2"});
  const nlohmann::json n = {{"as_sym_int", {{"as_name", "n"}}}};
  program.AddNode("_operator.mul", "n", {{"a", I(INT64_MAX)}, {"b", I(2)}}, {n});
  program.AddOutput("x");
  EXPECT_THAT(program.Error(), HasSubstr("overflows"));
  Program divided;
  divided.AddInput("x", {"2"});
  divided.AddNode("_operator.floordiv", "n", {{"a", I(INT64_MIN)}, {"b", I(-1)}}, {n});
  divided.AddOutput("x");
  EXPECT_THAT(divided.Error(), HasSubstr("overflows"));
}

}  // namespace
}  // namespace attune::pytorch
