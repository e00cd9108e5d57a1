// The decoders for image.cc, one per format. Messages do not name the file.
#ifndef ATTUNE_IO_DECODERS_H_
#define ATTUNE_IO_DECODERS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "io/image.h"

namespace attune {

absl::StatusOr<Image> DecodeJpeg(std::string_view bytes);
absl::StatusOr<Image> DecodePng(std::string_view bytes);
absl::StatusOr<Image> DecodeBmp(std::string_view bytes);

// Refuses sizes below 1, above kMaxImagePixels, or above `most` pixels, the maximum for a file of its
// length.
absl::Status CheckImageSize(int64_t width, int64_t height, int64_t most);

}  // namespace attune

#endif  // ATTUNE_IO_DECODERS_H_
