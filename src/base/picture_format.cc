#include "base/picture_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace attune {
namespace {

// The shortest decimals that read back as the same number.
std::string ShortestText(double number) {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), number);
  return {text, end.ptr};
}

bool IsDivisor(double number) { return number != 0; }

std::string ResizeText(const PictureFormat& format) {
  switch (format.resize) {
    case ResizeMode::kStretch:
      return "stretch";
    case ResizeMode::kLetterbox:
      return "letterbox";
    case ResizeMode::kCrop:
      break;
  }
  return format.crop == 1 ? "crop" : absl::StrCat("crop:", ShortestText(format.crop));
}

bool SetPart(std::string_view name, std::string_view value, PictureFormat& format) {
  if (name == "order") return SetOrder(value, format);
  if (name == "resize") return SetResize(value, format);
  const std::optional<std::array<double, 3>> channels = ParseChannels(value);
  if (!channels.has_value()) return false;
  if (name == "mean") {
    format.mean = *channels;
    return true;
  }
  format.deviation = *channels;
  return name == "std" && std::ranges::all_of(format.deviation, IsDivisor);
}

}  // namespace

std::optional<std::array<double, 3>> ParseChannels(std::string_view text) {
  std::array<double, 3> channels;
  const std::vector<std::string_view> parts = absl::StrSplit(text, ',');
  if (parts.size() != 1 && parts.size() != 3) return std::nullopt;
  for (size_t c = 0; c < 3; ++c) {
    const bool number = absl::SimpleAtod(parts[parts.size() == 1 ? 0 : c], &channels[c]);
    if (!number || !std::isfinite(channels[c])) return std::nullopt;
  }
  return channels;
}

std::string ChannelsText(std::span<const double> channels) {
  std::string text;
  const bool equal = std::ranges::adjacent_find(channels, std::not_equal_to<>()) == channels.end();
  for (const double channel : equal && !channels.empty() ? channels.first(1) : channels)
    absl::StrAppend(&text, text.empty() ? "" : ",", ShortestText(channel));
  return text;
}

std::optional<PictureFormat> PictureFormatNamed(std::string_view name) {
  if (name == "none") return PictureFormat();
  if (name == "tf") return PictureFormat{.mean = {127.5, 127.5, 127.5}, .deviation = {127.5, 127.5, 127.5}};
  if (name == "caffe") return PictureFormat{.mean = {103.939, 116.779, 123.68}, .order = ChannelOrder::kBgr};
  if (name != "torch" && name != "imagenet") return std::nullopt;
  // 255 times 0.485, 0.456, 0.406 and 0.229, 0.224, 0.225; 224 of 256.
  return PictureFormat{.mean = {123.675, 116.28, 103.53},
                       .deviation = {58.395, 57.12, 57.375},
                       .resize = ResizeMode::kCrop,
                       .crop = 0.875};
}

std::string ToString(const PictureFormat& format) {
  return absl::StrCat("mean=", ChannelsText(format.mean), " std=", ChannelsText(format.deviation),
                      " order=", format.order == ChannelOrder::kBgr ? "bgr" : "rgb",
                      " resize=", ResizeText(format));
}

std::optional<PictureFormat> ParsePictureFormat(std::string_view text) {
  PictureFormat format;
  for (const std::string_view part : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::pair<std::string_view, std::string_view> named = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (!SetPart(named.first, named.second, format)) return std::nullopt;
  }
  return format;
}

bool SetOrder(std::string_view text, PictureFormat& format) {
  if (text != "rgb" && text != "bgr") return false;
  format.order = text == "bgr" ? ChannelOrder::kBgr : ChannelOrder::kRgb;
  return true;
}

bool SetResize(std::string_view text, PictureFormat& format) {
  format.crop = 1;
  if (text == "stretch" || text == "letterbox") {
    format.resize = text == "stretch" ? ResizeMode::kStretch : ResizeMode::kLetterbox;
    return true;
  }
  format.resize = ResizeMode::kCrop;
  if (text == "crop") return true;
  absl::string_view share = text;
  return absl::ConsumePrefix(&share, "crop:") && absl::SimpleAtod(share, &format.crop) &&
         format.crop >= 0.1 && format.crop <= 1;
}

}  // namespace attune
