#include "api/opened_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "api/givens.h"
#include "api/network.h"
#include "base/file.h"
#include "base/testing/file_opens.h"
#include "base/testing/temporary_folder.h"
#include "import/onnx/testing/model_builder.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kRows = 1024, kColumns = 1024;  // of the weights, which have 4 MB

// y = x w for x f32[N,kRows], with the weights in the message, or in the file `location`.
std::string ProductModel(const std::string& location = "") {
  onnx::Model model;
  model.AddInput("x", {"N", std::to_string(kRows)});
  onnx::TensorProto* weights = model.proto.mutable_graph()->add_initializer();
  weights->set_name("w");
  weights->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t size : {kRows, kColumns}) weights->add_dims(size);
  if (location.empty()) {
    weights->set_raw_data(std::string(kRows * kColumns * sizeof(float), '\x3C'));
  } else {
    weights->set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto* entry = weights->add_external_data();
    entry->set_key("location");
    entry->set_value(location);
  }
  model.AddNode("MatMul", {"x", "w"}, {"y"});
  model.AddOutput("y");
  return model.proto.SerializeAsString();
}

// The bytes that this process has read by system calls; not set if the system does not count them.
std::optional<int64_t> BytesRead() {
  std::ifstream file("/proc/self/io");
  std::string word;
  int64_t bytes = 0;
  if (!(file >> word >> bytes) || word != "rchar:") return std::nullopt;
  return bytes;
}

std::string Written(const testing::TemporaryFolder& folder, const std::string& name,
                    const std::string& content) {
  const std::string path = folder / name;
  EXPECT_TRUE(WriteFileAtomically(path, content).ok());
  return path;
}

// Opens the model and imports it at four shapes, with what the command line gives.
void ImportAtFourShapes(const std::string& path) {
  absl::StatusOr<OpenedModel> model = OpenedModel::Open(path);
  ASSERT_TRUE(model.ok()) << model.status();
  InputSources inputs;
  inputs.inputs = {"x=random:1"};
  for (const int rows : {1, 2, 3, 4}) {
    const std::vector<std::string> shapes = {"x=" + std::to_string(rows) + "x" + std::to_string(kRows)};
    const absl::StatusOr<Givens> givens = ReadGivens(*model, shapes, inputs, nullptr, {});
    ASSERT_TRUE(givens.ok()) << givens.status();
    EXPECT_EQ(givens->inputs.random.size(), 1);
    const Network network = Network::Load(*model, givens->options);
    ASSERT_TRUE(network.status().ok()) << network.status();
    EXPECT_EQ(network.Inputs()->front().shape, (Shape{rows, kRows}));
    EXPECT_EQ(network.digest(), model->sha256());
  }
}

TEST(OpenedModel, IsOpenedAndReadOnce) {
  const testing::TemporaryFolder folder;
  const std::string path = Written(folder, "net.onnx", ProductModel());
  testing::FileOpens opens(path);
  if (!BytesRead().has_value()) GTEST_SKIP() << "this system does not count what a process reads";
  const int64_t before = *BytesRead();
  ImportAtFourShapes(path);
  const int64_t read = *BytesRead() - before;
  EXPECT_EQ(opens.Count(), 1);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
  EXPECT_GE(read, bytes);
  EXPECT_LE(read, bytes + bytes / 20);
}

TEST(OpenedModel, ReadsExternalDataOnce) {
  const testing::TemporaryFolder folder;
  const std::string path = Written(folder, "net.onnx", ProductModel("weights.bin"));
  const std::string weights =
      Written(folder, "weights.bin", std::string(kRows * kColumns * sizeof(float), '\x3C'));
  testing::FileOpens opens(weights);
  if (!BytesRead().has_value()) GTEST_SKIP() << "this system does not count what a process reads";
  const int64_t before = *BytesRead();
  ImportAtFourShapes(path);
  const int64_t read = *BytesRead() - before;
  EXPECT_EQ(opens.Count(), 1);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(weights));
  EXPECT_GE(read, bytes);
  EXPECT_LE(read, bytes + bytes / 20);
}

TEST(OpenedModel, SaysWhatItsFileDeclares) {
  const testing::TemporaryFolder folder;
  const std::string content = ProductModel("weights.bin");
  const std::string path = Written(folder, "net.onnx", content);
  absl::StatusOr<OpenedModel> model = OpenedModel::Open(path);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_FALSE(model->is_artifact());
  EXPECT_TRUE(model->CheckIsModel().ok());
  EXPECT_EQ(model->format(), ModelFormat::kOnnx);
  EXPECT_EQ(model->path(), path);
  EXPECT_EQ(model->sha256(), Sha256Hex(content));
  const absl::StatusOr<ModelDeclaration> declaration = model->Declare();
  ASSERT_TRUE(declaration.ok()) << declaration.status();
  EXPECT_EQ(declaration->inputs[0].name, "x");
  EXPECT_THAT(declaration->inputs[0].shape, ElementsAre(-1, kRows));
  EXPECT_THAT(declaration->inputs[0].dims, ElementsAre("N", std::to_string(kRows)));
  EXPECT_EQ(declaration->outputs[0].name, "y");
  EXPECT_EQ(declaration->about.at("graph_name"), "test");
  // Only now the file with weights must be there.
  EXPECT_THAT(std::string(model->FilesBeside().status().message()), StartsWith(path + ": "));
  Written(folder, "weights.bin", "1234");
  EXPECT_THAT(*model->FilesBeside(), ElementsAre("weights.bin"));
}

TEST(OpenedModel, ErrorsNameTheFile) {
  const testing::TemporaryFolder folder;
  const auto error = [](const std::string& path, const OpenOptions& options = {}) {
    return std::string(OpenedModel::Open(path, options).status().message());
  };
  EXPECT_THAT(error(folder / "absent.onnx"), StartsWith(folder / "absent.onnx: cannot open"));
  EXPECT_THAT(error(folder.path()), HasSubstr("is a directory without saved_model.pb"));
  const std::string bad = Written(folder, "bad.onnx", "no model");
  EXPECT_THAT(error(bad), StartsWith(bad + ": "));
  const std::string keras = Written(folder, "net.keras", "PK\x03\x04 and more");
  EXPECT_THAT(error(keras),
              AllOf(StartsWith("not supported: Model Keras: "), HasSubstr("(in " + keras + ")")));
  const std::string path = Written(folder, "net.onnx", ProductModel());
  OpenOptions digest, signature;
  digest.artifact.sha256 = std::string(64, '0');
  EXPECT_THAT(error(path, digest), StartsWith(path + ": is a model and not an artifact"));
  signature.signature = "serving";
  absl::StatusOr<OpenedModel> model = OpenedModel::Open(path, signature);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(std::string(model->Inputs().status().message()),
              StartsWith(path + ": there is no signature \"serving\""));
  EXPECT_THAT(std::string(Network::Load(*model).status().message()),
              StartsWith(path + ": there is no signature \"serving\""));
}

// Two sets of input shapes, compiled.
std::string TwoSets() {
  absl::StatusOr<OpenedModel> model = OpenedModel::FromBytes(ProductModel(), "net.onnx");
  EXPECT_TRUE(model.ok()) << model.status();
  InputOptions one, three;
  one.shapes["x"] = {1, kRows};
  three.shapes["x"] = {3, kRows};
  const Network network =
      Network::Load(*model, one).Optimize().WithShapesOf(Network::Load(*model, three).Optimize()).Compile();
  EXPECT_TRUE(network.status().ok()) << network.status();
  return network.artifact();
}

void ExpectTwoSets(absl::StatusOr<OpenedModel> model, const std::string& artifact) {
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(model->is_artifact());
  EXPECT_THAT(std::string(model->CheckIsModel().message()),
              StartsWith(model->path() + ": is compiled already"));
  EXPECT_FALSE(model->FilesBeside().ok());
  EXPECT_FALSE(model->Import({}).ok());
  EXPECT_THAT(model->Inputs()->front().shape, ElementsAre(-1, kRows));
  EXPECT_THAT(model->Declare()->inputs[0].shape, ElementsAre(1, kRows));
  EXPECT_EQ(model->Declare()->outputs.front().shape.front(), -1);
  InputOptions three;
  three.shapes["x"] = {3, kRows};
  const Network network = Network::Load(*model, three);
  ASSERT_TRUE(network.status().ok()) << network.status();
  EXPECT_EQ(network.Inputs()->front().shape, (Shape{3, kRows}));
  EXPECT_TRUE(*network.ArtifactBytes() == artifact);
}

TEST(OpenedModel, AnArtifactHasTheInputsOfItsSets) {
  const testing::TemporaryFolder folder;
  const std::string artifact = TwoSets();
  ExpectTwoSets(OpenedModel::Open(Written(folder, "net.atn", artifact)), artifact);
  ExpectTwoSets(OpenedModel::FromBytes(artifact, "the artifact"), artifact);
}

TEST(OpenedModel, TellsWhichOperatorsAreMissingWithoutShapes) {
  EXPECT_TRUE(OpenedModel::FromBytes(ProductModel(), "net.onnx")->CheckOperators().ok());
  EXPECT_TRUE(OpenedModel::FromBytes(TwoSets(), "net.atn")->CheckOperators().ok());
  onnx::Model poem;
  poem.AddInput("x", {"N", "4"});
  poem.AddNode("Poem", {"x"}, {"y"});
  poem.AddOutput("y");
  const absl::Status status =
      OpenedModel::FromBytes(poem.proto.SerializeAsString(), "poem.onnx")->CheckOperators();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(std::string(status.message()),
              AllOf(StartsWith("not supported: Poem "), HasSubstr("(in poem.onnx)")));
}

TEST(OpenedModel, NamesThatTheModelDoesNotHaveAreRefused) {
  absl::StatusOr<OpenedModel> model = OpenedModel::FromBytes(ProductModel(), "net.onnx");
  absl::StatusOr<OpenedModel> artifact = OpenedModel::FromBytes(TwoSets(), "net.atn");
  InputOptions options;
  options.shapes = {{"x", {1, kRows}}, {"typo", {1}}};
  EXPECT_EQ(Network::Load(*model, options).status().message(),
            "net.onnx: there is no input \"typo\"; the inputs are x");
  EXPECT_EQ(Network::Load(*artifact, options).status().message(),
            "net.atn: there is no input \"typo\"; the inputs are x");
}

TEST(OpenedModel, ADamagedArtifactIsRefusedWhenItIsNeeded) {
  const testing::TemporaryFolder folder;
  const std::string artifact = TwoSets();
  const std::string path = Written(folder, "net.atn", artifact.substr(0, artifact.size() / 2));
  absl::StatusOr<OpenedModel> model = OpenedModel::Open(path);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(std::string(model->Inputs().status().message()), HasSubstr("cut short"));
  EXPECT_THAT(
      std::string(
          OpenedModel::FromBytes(artifact.substr(0, artifact.size() / 2), "bytes").status().message()),
      StartsWith("bytes: "));
}

TEST(OpenedModel, HasTheNetworksOfTheZoo) {
  absl::StatusOr<OpenedModel> model = OpenedModel::FromZoo("squeezenet1_1");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->path(), "squeezenet1_1.onnx");
  EXPECT_TRUE(Network::Load(*model).status().ok());
  EXPECT_EQ(OpenedModel::FromZoo("poem").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace attune
