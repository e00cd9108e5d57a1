// How a picture becomes the numbers of a network's input.
#ifndef ATTUNE_BASE_PICTURE_FORMAT_H_
#define ATTUNE_BASE_PICTURE_FORMAT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attune {

enum class ChannelOrder : uint8_t { kRgb, kBgr };

enum class ResizeMode : uint8_t {
  kStretch,    // to the input's size, whatever the proportions
  kCrop,       // keeps the proportions, and only the middle of the picture is used
  kLetterbox,  // keeps the proportions, and grey fills what the picture leaves free
};

// Element c of a pixel becomes (sample - mean[c]) / deviation[c], where samples are 0 to 255 and c counts the
// channels of the tensor: with BGR, mean[0] is for blue.
struct PictureFormat {
  std::array<double, 3> mean = {0, 0, 0};
  std::array<double, 3> deviation = {1, 1, 1};  // finite, and not 0
  ChannelOrder order = ChannelOrder::kRgb;
  ResizeMode resize = ResizeMode::kStretch;
  // For kCrop: the picture is resized so that its shorter side is as long as that of the input divided by
  // this. 0.1 to 1.
  double crop = 1;

  bool operator==(const PictureFormat&) const = default;
};

// "0.5" for all channels, or "123.7,116.3,103.5"; nothing for other texts.
std::optional<std::array<double, 3>> ParseChannels(std::string_view text);
// Such a text, from which the same numbers are read.
std::string ChannelsText(std::span<const double> channels);

// The usual formats:
//   none       the samples as they are
//   torch      0 to 1, less the mean of ImageNet and divided by its standard deviation; the shorter side is
//              resized to 256/224 of the input, and the middle is used: torchvision's recipe for classifiers
//   imagenet   the same
//   tf         -1 to 1
//   caffe      BGR, less the mean of ImageNet
// Nothing for other names.
std::optional<PictureFormat> PictureFormatNamed(std::string_view name);

// "mean=127.5 std=127.5 order=rgb resize=stretch". The resize mode may also be letterbox, crop, or with
// another share than 1, crop:0.875.
std::string ToString(const PictureFormat& format);
// Reads such a text, of which every part may be missing; nothing for other texts.
std::optional<PictureFormat> ParsePictureFormat(std::string_view text);

// An ONNX model's metadata have such a text by this key and the name of an input.
inline constexpr std::string_view kPictureKey = "attune.picture.";

// "rgb" and "bgr"; "stretch", "crop", "crop:0.875" and "letterbox": set a part of the format. False for other
// texts.
bool SetOrder(std::string_view text, PictureFormat& format);
bool SetResize(std::string_view text, PictureFormat& format);

}  // namespace attune

#endif  // ATTUNE_BASE_PICTURE_FORMAT_H_
