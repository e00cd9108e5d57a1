#include "import/onnx/pictures.h"

#include "absl/strings/str_cat.h"

namespace attune::onnx {
namespace {

using Metadata = std::map<std::string, std::string>;

constexpr double kMost = 255;  // of a sample

std::string Find(const Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

// The format of a network whose inputs are from `low` to `high`.
PictureFormat InRange(double low, double high) {
  const double deviation = kMost / (high - low), mean = (0 - low) * deviation;
  return {.mean = {mean, mean, mean}, .deviation = {deviation, deviation, deviation}};
}

// By docs/MetadataProps.md of ONNX.
std::optional<PictureFormat> FormatOfImage(const Metadata& metadata) {
  const std::string pixels = Find(metadata, "Image.BitmapPixelFormat");
  const std::string range = Find(metadata, "Image.NominalPixelRange");
  if (pixels.empty() && range.empty()) return std::nullopt;
  PictureFormat format;
  if (range == "Normalized_0_1") format = InRange(0, 1);
  if (range == "Normalized_1_1") format = InRange(-1, 1);
  if (range == "NominalRange_16_235") format = InRange(16, 235);
  if (pixels.starts_with("Bgr")) format.order = ChannelOrder::kBgr;
  return format;
}

// Networks of Ultralytics take 0 to 1; only classifiers cut pictures.
std::optional<PictureFormat> FormatOfUltralytics(const Metadata& metadata) {
  const std::string task = Find(metadata, "task");
  if (Find(metadata, "author") != "Ultralytics" || task.empty()) return std::nullopt;
  PictureFormat format = InRange(0, 1);
  format.resize = task == "classify" ? ResizeMode::kCrop : ResizeMode::kLetterbox;
  return format;
}

}  // namespace

std::optional<PictureFormat> PictureFormatOf(const attune_onnx::ValueInfoProto& input,
                                             const Metadata& metadata) {
  if (const auto own = metadata.find(absl::StrCat(kPictureKey, input.name())); own != metadata.end())
    return ParsePictureFormat(own->second);
  if (input.type().denotation() == "IMAGE") return FormatOfImage(metadata);
  constexpr int kRank = 4;
  if (input.type().tensor_type().shape().dim_size() == kRank) return FormatOfUltralytics(metadata);
  return std::nullopt;
}

}  // namespace attune::onnx
