#include "io/image_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Image kTwoPixels = {2, 1, {10, 20, 30, 40, 50, 60}};

std::vector<double> Values(const Shape& shape, const PictureFormat& format = {}, DType dtype = DType::kF32) {
  const auto tensor = ImageToTensor(kTwoPixels, shape, dtype, format);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  std::vector<double> values;
  for (int64_t i = 0; tensor.ok() && i < tensor->num_elements(); ++i) values.push_back(tensor->ToDouble(i));
  return values;
}

std::string Message(const Shape& shape) {
  return std::string(ImageToTensor(kTwoPixels, shape, DType::kF32).status().message());
}

TEST(ImageToTensor, TakesTheLayoutFromTheShape) {
  EXPECT_THAT(Values({1, 3, 1, 2}), ElementsAre(10, 40, 20, 50, 30, 60));
  EXPECT_THAT(Values({3, 1, 2}), ElementsAre(10, 40, 20, 50, 30, 60));
  EXPECT_THAT(Values({1, -1, 2, 3}), ElementsAre(10, 20, 30, 40, 50, 60));
  // The luminance of (10, 20, 30) is 18.15.
  EXPECT_THAT(Values({1, 1, 1, 2}), ElementsAre(18, 48));
}

TEST(ImageToTensor, FillsFreeDimensionsFromTheImage) {
  const auto tensor = ImageToTensor(kTwoPixels, {-1, 3, -1, -1}, DType::kF32);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->shape(), ElementsAre(1, 3, 1, 2));
}

TEST(ImageToTensor, NormalizesByTheTensorsChannels) {
  PictureFormat format = {.mean = {1, 2, 3}, .deviation = {1, 2, 4}};
  EXPECT_THAT(Values({3, 1, 2}, format), ElementsAre(9, 39, 9, 24, 6.75, 14.25));
  format.order = ChannelOrder::kBgr;
  EXPECT_THAT(Values({3, 1, 2}, format), ElementsAre(29, 59, 9, 24, 1.75, 9.25));
}

TEST(ImageToTensor, RoundsAndSaturatesIntegers) {
  const PictureFormat format = {.deviation = {1 / 0.19, 0.1, 1}};
  EXPECT_THAT(Values({3, 1, 2}, format, DType::kU8), ElementsAre(2, 8, 200, 255, 30, 60));
  EXPECT_THAT(Values({3, 1, 2}, {}, DType::kF16), ElementsAre(10, 40, 20, 50, 30, 60));
}

TEST(ImageToTensor, ResizesToTheShape) {
  const auto tensor = ImageToTensor(kTwoPixels, {1, 3, 4, 5}, DType::kF32);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->ToDouble(0), 10);
  EXPECT_EQ(tensor->ToDouble(2), 25);
  EXPECT_EQ(tensor->ToDouble(4), 40);
}

TEST(ImageToTensor, SaysWhyAShapeDoesNotFit) {
  EXPECT_EQ(Message({1, 4, 2, 2}),
            "an image does not fit an input of shape [1,4,2,2]: neither 1 nor 3 channels");
  EXPECT_THAT(Message({2, 3, 8, 8}), HasSubstr("the batch must be 1"));
  EXPECT_THAT(Message({1, 1000}), HasSubstr("it must be [N,C,H,W]"));
  EXPECT_THAT(Message({1, 3, 0, 8}), HasSubstr("no pixels"));
  EXPECT_THAT(Message({1, 3, int64_t{1} << 40, int64_t{1} << 40}), HasSubstr("too many pixels"));
}

}  // namespace
}  // namespace attune
