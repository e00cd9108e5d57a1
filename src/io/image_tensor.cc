#include "io/image_tensor.h"

#include <cmath>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "io/fit.h"

namespace attune {
namespace {

struct Layout {
  Shape shape;  // without free dimensions
  int64_t channels, height, width;
  bool channels_first;
  bool keeps_size;
};

absl::StatusOr<Layout> FindLayout(const Image& image, Shape shape) {
  const auto refuse = [&](std::string_view reason) {
    return InvalidInput("an image does not fit an input of shape [", absl::StrJoin(shape, ","),
                        "]: ", reason);
  };
  const size_t rank = shape.size();
  if (rank != 3 && rank != 4) return refuse("it must be [N,C,H,W], [N,H,W,C], [C,H,W] or [H,W,C]");
  const size_t first = rank - 3;
  if (rank == 4 && shape[0] < 0) shape[0] = 1;
  if (rank == 4 && shape[0] != 1) return refuse("the batch must be 1; give a .npy file for more");
  const auto is_channels = [](int64_t d) { return d == 1 || d == 3; };
  const bool channels_first = is_channels(shape[first]);
  if (!channels_first && !is_channels(shape[rank - 1])) return refuse("neither 1 nor 3 channels");
  int64_t& height = shape[channels_first ? first + 1 : first];
  int64_t& width = shape[channels_first ? first + 2 : first + 1];
  const bool keeps_size = height < 0 && width < 0;
  if (height < 0) height = image.height;
  if (width < 0) width = image.width;
  if (height == 0 || width == 0) return refuse("it has no pixels");
  if (height > kMaxImagePixels / width) return refuse("it has too many pixels");
  const int64_t channels = shape[channels_first ? first : rank - 1];
  return Layout{shape, channels, height, width, channels_first, keeps_size};
}

// Same weights and rounding as PIL's convert("L").
uint8_t Luminance(const uint8_t* rgb) {
  return static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

}  // namespace

absl::StatusOr<Tensor> ImageToTensor(const Image& image, const Shape& shape, DType dtype,
                                     const PictureFormat& format) {
  ASSIGN_OR_RETURN(const Layout layout, FindLayout(image, shape));
  Image resized = image;
  if (!layout.keeps_size) {
    ASSIGN_OR_RETURN(resized, FitImage(image, layout.width, layout.height, format));
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, layout.shape));
  const int64_t pixels = layout.width * layout.height;
  for (int64_t c = 0; c < layout.channels; ++c) {
    const int64_t sample = format.order == ChannelOrder::kRgb ? c : 2 - c;
    const auto channel = static_cast<size_t>(c);
    for (int64_t i = 0; i < pixels; ++i) {
      const uint8_t* rgb = resized.rgb.data() + i * 3;
      double value = layout.channels == 1 ? Luminance(rgb) : rgb[sample];
      value = (value - format.mean[channel]) / format.deviation[channel];
      if (IsInt(dtype)) value = std::nearbyint(value);
      tensor.SetDouble(layout.channels_first ? c * pixels + i : i * layout.channels + c, value);
    }
  }
  return tensor;
}

}  // namespace attune
