#include "io/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A picture whose pixels have the red values `red`, and no green or blue.
Image Reds(int64_t width, int64_t height, const std::vector<uint8_t>& red) {
  Image image = {width, height, {}};
  for (const uint8_t value : red) image.rgb.insert(image.rgb.end(), {value, 0, 0});
  return image;
}

std::vector<int> RedsOf(const absl::StatusOr<Image>& image) {
  EXPECT_TRUE(image.ok()) << image.status();
  std::vector<int> reds;
  for (size_t i = 0; image.ok() && i < image->rgb.size(); i += 3) reds.push_back(image->rgb[i]);
  return reds;
}

const Image kWide = Reds(4, 2, {1, 2, 3, 4, 5, 6, 7, 8});

TEST(FitImage, CropsTheMiddle) {
  const PictureFormat crop = {.resize = ResizeMode::kCrop};
  EXPECT_THAT(RedsOf(FitImage(kWide, 2, 2, crop)), ElementsAre(2, 3, 6, 7));
  const Image tall = Reds(2, 4, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_THAT(RedsOf(FitImage(tall, 2, 2, crop)), ElementsAre(3, 4, 5, 6));
  // Half of the height is used, and half of the width that is as long.
  EXPECT_THAT(RedsOf(FitImage(kWide, 2, 1, {.resize = ResizeMode::kCrop, .crop = 0.5})), ElementsAre(2, 3));
}

TEST(FitImage, CropsOneRowOfAnOddRest) {
  const Image tall = Reds(1, 4, {1, 2, 3, 4});
  // The middle would be 1.5 rows down; 2 rows are cut.
  EXPECT_THAT(RedsOf(FitImage(tall, 1, 1, {.resize = ResizeMode::kCrop})), ElementsAre(3));
}

TEST(FitImage, LetterboxFillsWithGrey) {
  const PictureFormat letterbox = {.resize = ResizeMode::kLetterbox};
  EXPECT_THAT(RedsOf(FitImage(kWide, 4, 4, letterbox)),
              ElementsAre(114, 114, 114, 114, 1, 2, 3, 4, 5, 6, 7, 8, 114, 114, 114, 114));
  EXPECT_THAT(RedsOf(FitImage(kWide, 5, 2, letterbox)), ElementsAre(1, 2, 3, 4, 114, 5, 6, 7, 8, 114));
}

TEST(FitImage, StretchesToAnyProportions) {
  EXPECT_THAT(RedsOf(FitImage(Reds(1, 1, {9}), 2, 3, {})), ElementsAre(9, 9, 9, 9, 9, 9));
}

TEST(FitImage, RefusesToCropALine) {
  const Image line = Reds(1, 400'000, std::vector<uint8_t>(400'000));
  EXPECT_THAT(FitImage(line, 224, 224, {.resize = ResizeMode::kCrop}).status().message(),
              HasSubstr("1x400000 pixels is too narrow to be cropped"));
  EXPECT_TRUE(FitImage(line, 8, 8, {.resize = ResizeMode::kLetterbox}).ok());
}

}  // namespace
}  // namespace attune
