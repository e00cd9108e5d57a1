#include "api/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

// Constants of samples are at least this, and those of networks' own numbers are smaller.
constexpr double kLeastSample = 8;

absl::Status SetChannels(const std::string& text, std::string_view name, std::array<double, 3>& to) {
  if (text.empty()) return absl::OkStatus();
  const std::optional<std::array<double, 3>> channels = ParseChannels(text);
  if (!channels.has_value())
    return InvalidInput(name, ": \"", text, "\" is neither a number nor three of them");
  to = *channels;
  return absl::OkStatus();
}

absl::Status SetDeviation(const PictureSettings& settings, std::array<double, 3>& deviation) {
  if (!settings.image_std.empty() && !settings.image_scale.empty())
    return InvalidInput("image_std and image_scale: say the same thing; give one of them");
  RETURN_IF_ERROR(SetChannels(settings.image_std, "image_std", deviation));
  std::array<double, 3> scale;
  if (!settings.image_scale.empty()) {
    RETURN_IF_ERROR(SetChannels(settings.image_scale, "image_scale", scale));
    std::ranges::transform(scale, deviation.begin(), [](double factor) { return 1 / factor; });
  }
  const bool divides =
      std::ranges::all_of(deviation, [](double value) { return value != 0 && std::isfinite(value); });
  if (divides) return absl::OkStatus();
  return InvalidInput(settings.image_scale.empty() ? "image_std" : "image_scale", ": must not be 0");
}

// The least and the largest magnitude of a constant's elements.
std::pair<double, double> Magnitudes(const Tensor& constant) {
  double least = INFINITY, most = 0;
  for (int64_t i = 0; i < constant.num_elements(); ++i) {
    const double magnitude = std::abs(constant.ToDouble(i));
    least = std::min(least, magnitude), most = std::max(most, magnitude);
  }
  return {least, most};
}

// The constant that the value is, cast or with another shape; null if it is none.
const Tensor* ConstantOf(const Value* value) {
  while (value != nullptr && value->producer() != nullptr &&
         (value->producer()->op() == Op::kCast || value->producer()->op() == Op::kReshape))
    value = value->producer()->input(0);
  return value == nullptr ? nullptr : value->constant();
}

// Whether the node computes with `value` and a constant as networks do with samples of 0 to 255.
bool IsOfSamples(const Node& node, const Value* value) {
  const Op op = node.op();
  if (op != Op::kAdd && op != Op::kSub && op != Op::kDiv && op != Op::kMul) return false;
  const Tensor* const other = ConstantOf(node.input(node.input(0) == value ? 1 : 0));
  if (other == nullptr) return false;
  const auto [least, most] = Magnitudes(*other);
  if (op == Op::kDiv) return least >= kLeastSample && std::isfinite(least);
  if (op == Op::kMul) return most > 0 && most <= 1 / kLeastSample;
  return most >= kLeastSample;
}

// Whether the value behind the node still has the input's elements, moved or scaled.
bool PassesOn(const Node& node) {
  switch (node.op()) {
    case Op::kCast:
    case Op::kReshape:
    case Op::kTranspose:
    case Op::kSlice:
    case Op::kConcat:
    case Op::kPad:
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool TakesPictures(const Shape& shape) {
  const size_t rank = shape.size();
  if (rank != 3 && rank != 4) return false;
  const auto is_channels = [](int64_t size) { return size == 1 || size == 3; };
  return is_channels(shape[rank - 3]) || is_channels(shape[rank - 1]);
}

bool SaysNumbers(const PictureSettings& settings, const InputDeclaration& input) {
  return input.picture.has_value() || !settings.preprocess.empty() || !settings.image_mean.empty() ||
         !settings.image_std.empty() || !settings.image_scale.empty();
}

absl::StatusOr<PictureFormat> PictureFormatFor(const PictureSettings& settings,
                                               const InputDeclaration& input) {
  PictureFormat format = input.picture.value_or(PictureFormat());
  if (!settings.preprocess.empty()) {
    const std::optional<PictureFormat> named = PictureFormatNamed(settings.preprocess);
    if (!named.has_value())
      return InvalidInput("preprocess: \"", settings.preprocess,
                          "\" is none of none, torch, imagenet, tf and caffe");
    format = *named;
  }
  if (input.dtype.has_value() && IsInt(*input.dtype)) {
    format.mean.fill(*input.dtype == DType::kI8 ? 128 : 0);
    format.deviation.fill(1);
  }
  RETURN_IF_ERROR(SetChannels(settings.image_mean, "image_mean", format.mean));
  RETURN_IF_ERROR(SetDeviation(settings, format.deviation));
  if (!settings.image_order.empty() && !SetOrder(settings.image_order, format))
    return InvalidInput("image_order: \"", settings.image_order, "\" is neither rgb nor bgr");
  if (!settings.image_resize.empty() && !SetResize(settings.image_resize, format))
    return InvalidInput("image_resize: \"", settings.image_resize,
                        "\" is none of stretch, crop and letterbox");
  return format;
}

bool ScalesSamples(const Value& input) {
  constexpr size_t kMostValues = 64;  // normalization is near the input
  std::vector<const Value*> values = {&input};
  std::unordered_set<const Value*> seen = {&input};
  for (size_t i = 0; i < values.size() && i < kMostValues; ++i) {
    for (const Node* node : values[i]->users()) {
      if (IsOfSamples(*node, values[i])) return true;
      if (PassesOn(*node) && seen.insert(node->output()).second) values.push_back(node->output());
    }
  }
  return false;
}

std::string RawPictureNote(std::string_view file, std::string_view input, std::string_view option) {
  return absl::StrCat(
      file, ": goes into input \"", input,
      "\" as numbers of 0 to 255, since nothing says what the network was trained with; give ", option,
      ", mostly torch, tf or caffe, or none if 0 to 255 is right");
}

}  // namespace attune
