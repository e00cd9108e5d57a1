#include "api/pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/network.h"
#include "graph/text.h"
#include "import/onnx/testing/model_builder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

InputDeclaration Input(DType dtype, Shape shape, std::optional<PictureFormat> picture = {}) {
  InputDeclaration input;
  input.name = "x";
  input.dtype = dtype;
  input.shape = std::move(shape);
  input.picture = picture;
  return input;
}

const PictureFormat kTf = *PictureFormatNamed("tf");
const Shape kShape = {1, 3, 8, 8};

PictureFormat Format(const PictureSettings& settings, const InputDeclaration& input) {
  const absl::StatusOr<PictureFormat> format = PictureFormatFor(settings, input);
  EXPECT_TRUE(format.ok()) << format.status();
  return format.value_or(PictureFormat());
}

std::string Error(const PictureSettings& settings) {
  return std::string(PictureFormatFor(settings, Input(DType::kF32, kShape)).status().message());
}

TEST(Pictures, SettingsComeBeforeTheModel) {
  const InputDeclaration plain = Input(DType::kF32, kShape), said = Input(DType::kF32, kShape, kTf);
  EXPECT_EQ(Format({}, plain), PictureFormat());
  EXPECT_EQ(Format({}, said), kTf);
  EXPECT_EQ(Format({.preprocess = "caffe"}, said), PictureFormatNamed("caffe"));
  PictureFormat bgr = kTf;
  bgr.order = ChannelOrder::kBgr;
  EXPECT_EQ(Format({.image_order = "bgr"}, said), bgr);
  PictureFormat expected = *PictureFormatNamed("torch");
  expected.mean = {1, 2, 3};
  expected.resize = ResizeMode::kLetterbox;
  expected.crop = 1;
  EXPECT_EQ(Format({.preprocess = "torch", .image_mean = "1,2,3", .image_resize = "letterbox"}, said),
            expected);
  EXPECT_EQ(Format({.image_scale = "0.5"}, plain).deviation[2], 2);
  EXPECT_EQ(Format({.image_std = "2"}, plain), Format({.image_scale = "0.5"}, plain));
}

TEST(Pictures, IntegersTakeBytes) {
  EXPECT_EQ(Format({}, Input(DType::kU8, kShape, kTf)), PictureFormat());
  EXPECT_EQ(Format({}, Input(DType::kI8, kShape, kTf)), (PictureFormat{.mean = {128, 128, 128}}));
  EXPECT_EQ(Format({.preprocess = "caffe"}, Input(DType::kU8, kShape)),
            (PictureFormat{.order = ChannelOrder::kBgr}));
  EXPECT_EQ(Format({.image_mean = "5"}, Input(DType::kI8, kShape)), (PictureFormat{.mean = {5, 5, 5}}));
}

TEST(Pictures, WrongSettingsAreNamed) {
  EXPECT_THAT(Error({.preprocess = "keras"}), HasSubstr("preprocess: \"keras\" is none of none, torch"));
  EXPECT_THAT(Error({.image_mean = "1,2"}), HasSubstr("image_mean: \"1,2\" is neither a number nor three"));
  EXPECT_EQ(Error({.image_std = "1,0,1"}), "image_std: must not be 0");
  EXPECT_EQ(Error({.image_scale = "0"}), "image_scale: must not be 0");
  EXPECT_THAT(Error({.image_std = "1", .image_scale = "1"}), HasSubstr("give one of them"));
  EXPECT_THAT(Error({.image_order = "grb"}), HasSubstr("image_order: \"grb\""));
  EXPECT_THAT(Error({.image_resize = "fit"}), HasSubstr("image_resize: \"fit\""));
}

TEST(Pictures, AnOrderAloneSaysNoNumbers) {
  const InputDeclaration input = Input(DType::kF32, kShape);
  EXPECT_FALSE(SaysNumbers({}, input));
  EXPECT_FALSE(SaysNumbers({.image_order = "bgr", .image_resize = "crop"}, input));
  EXPECT_TRUE(SaysNumbers({.preprocess = "none"}, input));
  EXPECT_TRUE(SaysNumbers({.image_scale = "1"}, input));
  EXPECT_TRUE(SaysNumbers({}, Input(DType::kF32, kShape, PictureFormat())));
}

TEST(Pictures, AreForInputsOfOneOrThreeChannels) {
  EXPECT_TRUE(TakesPictures({1, 3, -1, -1}));
  EXPECT_TRUE(TakesPictures({8, 8, 1}));
  EXPECT_FALSE(TakesPictures({1, 4, 8, 8}));
  EXPECT_FALSE(TakesPictures({1, 3}));
}

bool Scales(const std::string& body) {
  const auto graph = ParseGraph("graph @g(%x: f32[1,8,8,3]) {\n" + body + "  return \"y\": %y\n}\n");
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() && ScalesSamples(*(*graph)->inputs()[0]);
}

std::string Constant(const std::string& name, const std::string& value) {
  return "  %" + name + " = constant() {value = f32[]<" + value + ">} : f32[]\n";
}

TEST(Pictures, NetworksThatScaleSamplesAreFound) {
  const std::string moved = "  %t = transpose(%x) {perm = [0, 3, 1, 2]} : f32[1,3,8,8]\n";
  EXPECT_TRUE(Scales(Constant("c", "127.5") + "  %y = div(%x, %c) : f32[1,8,8,3]\n"));
  EXPECT_TRUE(Scales(Constant("c", "-103.9") + moved + "  %y = add(%t, %c) : f32[1,3,8,8]\n"));
  EXPECT_TRUE(Scales(Constant("c", "0.0078") + "  %y = mul(%c, %x) : f32[1,8,8,3]\n"));
  // Networks that take 0 to 1 do this.
  EXPECT_FALSE(Scales(Constant("c", "0.485") + Constant("d", "0.229") +
                      "  %s = sub(%x, %c) : f32[1,8,8,3]\n" + "  %y = div(%s, %d) : f32[1,8,8,3]\n"));
  EXPECT_FALSE(Scales(Constant("c", "2") + "  %y = mul(%x, %c) : f32[1,8,8,3]\n"));
  EXPECT_FALSE(Scales("  %s = tanh(%x) : f32[1,8,8,3]\n" + Constant("c", "255") +
                      "  %y = div(%s, %c) : f32[1,8,8,3]\n"));
  EXPECT_FALSE(Scales("  %y = mul(%x, %x) : f32[1,8,8,3]\n"));
}

// y = x / divisor for x f32[1,3,2,2], with an entry for pictures unless it is empty.
std::string Divided(float divisor, const std::string& entry) {
  onnx::Model model;
  model.AddInput("x", {"1", "3", "2", "2"});
  onnx::TensorProto* constant = model.proto.mutable_graph()->add_initializer();
  constant->set_name("c");
  constant->set_data_type(onnx::TensorProto::FLOAT);
  constant->add_float_data(divisor);
  model.AddNode("Div", {"x", "c"}, {"y"});
  model.AddOutput("y");
  if (!entry.empty()) {
    auto* metadata = model.proto.add_metadata_props();
    metadata->set_key("attune.picture.x");
    metadata->set_value(entry);
  }
  return model.proto.SerializeAsString();
}

// Returns the format that the artifact of the model carries.
std::optional<PictureFormat> AfterCompiling(const std::string& bytes, const InputOptions& options = {}) {
  absl::StatusOr<OpenedModel> model = OpenedModel::FromBytes(bytes, "m.onnx");
  EXPECT_TRUE(model.ok()) << model.status();
  const Network compiled = Network::Load(*model, options).Optimize().Compile();
  EXPECT_TRUE(compiled.status().ok()) << compiled.status();
  absl::StatusOr<OpenedModel> artifact = OpenedModel::FromBytes(compiled.artifact(), "m.atn");
  EXPECT_TRUE(artifact.ok()) << artifact.status();
  return artifact->Inputs()->front().picture;
}

TEST(Pictures, AnArtifactCarriesWhatIsKnown) {
  EXPECT_THAT(AfterCompiling(Divided(2, ToString(kTf))), Optional(kTf));
  EXPECT_THAT(AfterCompiling(Divided(2, ToString(kTf)),
                             {.shapes = {}, .values = {}, .pictures = {{"x", PictureFormat()}}}),
              Optional(PictureFormat()));
  EXPECT_THAT(AfterCompiling(Divided(2, ""), {.shapes = {}, .values = {}, .pictures = {{"x", kTf}}}),
              Optional(kTf));
  EXPECT_THAT(AfterCompiling(Divided(255, "")), Optional(PictureFormat()));
  EXPECT_EQ(AfterCompiling(Divided(2, "")), std::nullopt);
}

}  // namespace
}  // namespace attune
