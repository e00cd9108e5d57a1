// Brings a picture to a size with the proportions kept, or not.
#ifndef ATTUNE_IO_FIT_H_
#define ATTUNE_IO_FIT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "base/picture_format.h"
#include "io/image.h"

namespace attune {

// Returns the picture at this size, by the resize mode of the format. Cropping gives the bytes that
// torchvision's Resize and CenterCrop give for an input of equal sides, and what letterbox leaves free is
// grey, 114 of 255, with the picture in its middle. `width` and `height` must be positive. Fails for a
// picture so narrow that, resized for cropping, it has more than kMaxImagePixels.
absl::StatusOr<Image> FitImage(const Image& image, int64_t width, int64_t height,
                               const PictureFormat& format);

}  // namespace attune

#endif  // ATTUNE_IO_FIT_H_
