#include "import/tflite/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/tflite/import.h"
#include "import/tflite/metadata_generated.h"
#include "import/tflite/testing/model_builder.h"

namespace attune::tflite {
namespace {

std::vector<uint8_t> Metadata(const std::vector<float>& mean, const std::vector<float>& std) {
  flatbuffers::FlatBufferBuilder builder;
  const auto unit =
      metadata::CreateProcessUnit(builder, metadata::ProcessUnitOptions::NormalizationOptions,
                                  metadata::CreateNormalizationOptionsDirect(builder, &mean, &std).Union());
  const std::vector<flatbuffers::Offset<metadata::ProcessUnit>> units = {metadata::CreateProcessUnit(builder),
                                                                         unit};
  const std::vector<flatbuffers::Offset<metadata::TensorMetadata>> inputs = {
      metadata::CreateTensorMetadataDirect(builder, "ids"),
      metadata::CreateTensorMetadataDirect(builder, "image", nullptr, &units)};
  const std::vector<flatbuffers::Offset<metadata::SubGraphMetadata>> subgraphs = {
      metadata::CreateSubGraphMetadataDirect(builder, nullptr, nullptr, &inputs)};
  metadata::FinishModelMetadataBuffer(
      builder, metadata::CreateModelMetadataDirect(builder, "m", nullptr, "v1", &subgraphs));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// Returns the formats that a model declares for its inputs "ids" and "x", if it has these metadata.
std::vector<std::optional<PictureFormat>> Declared(const std::vector<uint8_t>& bytes,
                                                   const std::string& name = "TFLITE_METADATA") {
  ModelBuilder m;
  m.AddInput({.name = "ids", .shape = {1}});
  const int x = m.AddInput({.name = "x", .shape = {1, 2, 2, 3}});
  const int y = m.Add({.name = "y", .shape = {1, 2, 2, 3}});
  m.AddOp(Code::TANH, {x}, {y});
  m.SetOutputs({y});
  m.AddMetadata("min_runtime_version", {'1'});
  m.AddMetadata(name, bytes);
  const auto parsed = ParseTflite(m.Finish());
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const auto declared = (*parsed)->Declare("");
  EXPECT_TRUE(declared.ok()) << declared.status();
  return {declared->inputs[0].picture, declared->inputs[1].picture};
}

using ::testing::ElementsAre;

TEST(TfliteMetadata, SayTheNumbersOfAnInput) {
  EXPECT_THAT(Declared(Metadata({127.5}, {127.5})), ElementsAre(std::nullopt, PictureFormatNamed("tf")));
  EXPECT_THAT(Declared(Metadata({1, 2, 3}, {4, 5, 6})),
              ElementsAre(std::nullopt, PictureFormat{.mean = {1, 2, 3}, .deviation = {4, 5, 6}}));
}

TEST(TfliteMetadata, AreIgnoredIfTheyMakeNoSense) {
  const auto nothing = ElementsAre(std::nullopt, std::nullopt);
  EXPECT_THAT(Declared(Metadata({127.5}, {0})), nothing);
  EXPECT_THAT(Declared(Metadata({1, 2}, {1})), nothing);
  EXPECT_THAT(Declared(Metadata({}, {})), nothing);
  EXPECT_THAT(Declared(Metadata({NAN}, {1})), nothing);
  EXPECT_THAT(Declared(Metadata({127.5}, {127.5}), "OTHER"), nothing);
  EXPECT_THAT(Declared({}), nothing);
  EXPECT_THAT(Declared({1, 2, 3, 4, 'M', '0', '0', '1'}), nothing);
}

// Each of them cut at each byte, and with each byte changed.
TEST(TfliteMetadata, MayBeDamaged) {
  const std::vector<uint8_t> whole = Metadata({127.5}, {127.5});
  for (size_t i = 0; i < whole.size(); ++i) {
    Declared({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)});
    std::vector<uint8_t> changed = whole;
    changed[i] ^= 0xFF;
    Declared(changed);
  }
}

}  // namespace
}  // namespace attune::tflite
