#include "base/picture_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(PictureFormat, ReadsNumbersOfChannels) {
  EXPECT_THAT(ParseChannels("127.5"), Optional(ElementsAre(127.5, 127.5, 127.5)));
  EXPECT_THAT(ParseChannels("1,-2.5,3e1"), Optional(ElementsAre(1, -2.5, 30)));
  for (const char* text : {"", "1,2", "1,2,3,4", "x", "nan", "inf", "1,,3"})
    EXPECT_EQ(ParseChannels(text), std::nullopt);
}

TEST(PictureFormat, IsWrittenAndReadBack) {
  for (const char* name : {"none", "torch", "imagenet", "tf", "caffe"}) {
    const std::optional<PictureFormat> format = PictureFormatNamed(name);
    ASSERT_TRUE(format.has_value()) << name;
    EXPECT_EQ(ParsePictureFormat(ToString(*format)), format) << ToString(*format);
  }
  const PictureFormat letterbox = {.deviation = {255, 255, 255}, .resize = ResizeMode::kLetterbox};
  EXPECT_EQ(ToString(letterbox), "mean=0 std=255 order=rgb resize=letterbox");
  EXPECT_EQ(ParsePictureFormat(ToString(letterbox)), letterbox);
  EXPECT_EQ(ToString(*PictureFormatNamed("caffe")),
            "mean=103.939,116.779,123.68 std=1 order=bgr resize=stretch");
  EXPECT_EQ(ParsePictureFormat("resize=crop:0.875 order=bgr"),
            (PictureFormat{.order = ChannelOrder::kBgr, .resize = ResizeMode::kCrop, .crop = 0.875}));
  EXPECT_EQ(ParsePictureFormat(""), PictureFormat());
}

TEST(PictureFormat, RefusesOtherTexts) {
  EXPECT_EQ(PictureFormatNamed("keras"), std::nullopt);
  for (const char* text : {"mean", "mean=", "mean=1,2", "std=0", "std=1,0,1", "order=grb", "resize=crop:0",
                           "resize=crop:1.5", "resize=fit", "size=3", "resize=crop:nan"}) {
    EXPECT_EQ(ParsePictureFormat(text), std::nullopt) << text;
  }
}

TEST(PictureFormat, TorchIsTheRecipeOfImageNet) {
  const PictureFormat torch = *PictureFormatNamed("torch");
  EXPECT_NEAR((255 - torch.mean[0]) / torch.deviation[0], (1 - 0.485) / 0.229, 1e-12);
  EXPECT_NEAR((0 - torch.mean[2]) / torch.deviation[2], -0.406 / 0.225, 1e-12);
  EXPECT_EQ(PictureFormatNamed("imagenet"), torch);
}

}  // namespace
}  // namespace attune
