// Photographs: decoding and resizing.
#ifndef ATTUNE_IO_IMAGE_H_
#define ATTUNE_IO_IMAGE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace attune {

// Rows from the top, pixels from the left, three bytes per pixel: red, green, blue.
struct Image {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> rgb;
};

// Images with more pixels are refused, and so are files that are far too small for the size they claim:
// neither costs memory.
inline constexpr int64_t kMaxImagePixels = int64_t{1} << 26;

// JPEG, PNG or BMP, recognized by the content. Greyscale becomes RGB, 16-bit samples keep their upper byte,
// transparency is dropped, and colour profiles, gamma and EXIF orientation are not applied (all as in PIL's
// convert("RGB")). Errors name `name` (the file) and what is wrong.
absl::StatusOr<Image> DecodeImage(std::string_view bytes, std::string_view name);

// Resizes bilinearly; if the image shrinks, the triangle filter is as wide as the reduction. The bytes are
// the same as those of PIL's resize(size, BILINEAR). `width` and `height` must be positive.
Image ResizeBilinear(const Image& image, int64_t width, int64_t height);

}  // namespace attune

#endif  // ATTUNE_IO_IMAGE_H_
