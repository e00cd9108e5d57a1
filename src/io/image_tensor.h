// Converts a picture to a network's input.
#ifndef ATTUNE_IO_IMAGE_TENSOR_H_
#define ATTUNE_IO_IMAGE_TENSOR_H_

#include <array>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "io/image.h"

namespace attune {

enum class ChannelOrder { kRgb, kBgr };

// Element c of a pixel becomes (sample - mean[c]) · scale[c], where c is the tensor's channel after
// applying `order`: with BGR, mean[0] is for blue. Samples are 0 to 255.
struct ImageOptions {
  std::array<double, 3> mean = {0, 0, 0};
  std::array<double, 3> scale = {1, 1, 1};
  ChannelOrder order = ChannelOrder::kRgb;
};

// Resizes `image` (ResizeBilinear), normalizes it, and returns a tensor of `shape` and `dtype`. The shape
// is [1, C, H, W], [1, H, W, C], or either without the 1; C is 3, or 1 for luminance (ITU-R 601), for which
// element 0 of mean and scale applies. A negative dimension is free and becomes the image's own height or
// width, or a batch of 1. Integers are rounded to nearest and saturate. An error says what is wrong with
// the shape.
absl::StatusOr<Tensor> ImageToTensor(const Image& image, const Shape& shape, DType dtype,
                                     const ImageOptions& options = {});

}  // namespace attune

#endif  // ATTUNE_IO_IMAGE_TENSOR_H_
