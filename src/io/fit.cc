#include "io/fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/status.h"

namespace attune {
namespace {

constexpr uint8_t kGrey = 114;  // what YOLO's networks are trained with

struct Size {
  int64_t width, height;
};

int64_t Rounded(double number) { return std::max<int64_t>(1, std::llround(number)); }

// Copies a rectangle of `from` to `to`; its upper left corner is at these offsets.
void CopyPixels(const Image& from, int64_t from_x, int64_t from_y, Image& to, int64_t to_x, int64_t to_y,
                const Size& size) {
  for (int64_t y = 0; y < size.height; ++y) {
    const auto row = from.rgb.begin() + ((from_y + y) * from.width + from_x) * 3;
    std::copy_n(row, size.width * 3, to.rgb.begin() + ((to_y + y) * to.width + to_x) * 3);
  }
}

Image Grey(int64_t width, int64_t height) {
  return {width, height, std::vector<uint8_t>(static_cast<size_t>(width * height * 3), kGrey)};
}

// The smallest size with the picture's proportions that covers `least`.
Size Covering(const Image& image, const Size& least) {
  const auto scaled = [](int64_t side, int64_t by, int64_t of) {
    return static_cast<int64_t>(static_cast<double>(side) * static_cast<double>(by) /
                                static_cast<double>(of));
  };
  if (image.width * least.height <= image.height * least.width)
    return {least.width, std::max(least.height, scaled(least.width, image.height, image.width))};
  return {std::max(least.width, scaled(least.height, image.width, image.height)), least.height};
}

absl::StatusOr<Image> Crop(const Image& image, int64_t width, int64_t height, double share) {
  const Size covering = Covering(
      image, {Rounded(static_cast<double>(width) / share), Rounded(static_cast<double>(height) / share)});
  if (covering.height > kMaxImagePixels / covering.width) {
    return InvalidInput("an image of ", image.width, "x", image.height,
                        " pixels is too narrow to be cropped; resize it by stretch or letterbox");
  }
  const Image resized = ResizeBilinear(image, covering.width, covering.height);
  Image cropped = Grey(width, height);
  // Halves round to even, as in Python.
  CopyPixels(resized, std::lrint(static_cast<double>(covering.width - width) / 2),
             std::lrint(static_cast<double>(covering.height - height) / 2), cropped, 0, 0, {width, height});
  return cropped;
}

Image Letterbox(const Image& image, int64_t width, int64_t height) {
  const double scale = std::min(static_cast<double>(width) / static_cast<double>(image.width),
                                static_cast<double>(height) / static_cast<double>(image.height));
  const Size size = {std::min(width, Rounded(scale * static_cast<double>(image.width))),
                     std::min(height, Rounded(scale * static_cast<double>(image.height)))};
  const Image resized = ResizeBilinear(image, size.width, size.height);
  Image boxed = Grey(width, height);
  CopyPixels(resized, 0, 0, boxed, (width - size.width) / 2, (height - size.height) / 2, size);
  return boxed;
}

}  // namespace

absl::StatusOr<Image> FitImage(const Image& image, int64_t width, int64_t height,
                               const PictureFormat& format) {
  switch (format.resize) {
    case ResizeMode::kStretch:
      return ResizeBilinear(image, width, height);
    case ResizeMode::kLetterbox:
      return Letterbox(image, width, height);
    case ResizeMode::kCrop:
      break;
  }
  return Crop(image, width, height, format.crop);
}

}  // namespace attune
