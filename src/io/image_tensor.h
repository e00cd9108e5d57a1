// From a picture to a network's input.
#ifndef ATTUNE_IO_IMAGE_TENSOR_H_
#define ATTUNE_IO_IMAGE_TENSOR_H_

#include <array>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "io/image.h"

namespace attune {

enum class ChannelOrder { kRgb, kBgr };

// Element c of a pixel becomes (sample - mean[c]) · scale[c], where c counts the tensor's channels, after
// `order`: with BGR, mean[0] is blue's. Samples are 0 to 255.
struct ImageOptions {
  std::array<double, 3> mean = {0, 0, 0};
  std::array<double, 3> scale = {1, 1, 1};
  ChannelOrder order = ChannelOrder::kRgb;
};

// `image` resized (ResizeBilinear) and normalized as a tensor of `shape` and `dtype`: [1, C, H, W],
// [1, H, W, C], or either without the 1, with C 3, or 1 for luminance (ITU-R 601), for which element 0 of
// mean and scale counts. A negative dimension is free: the image's own height or width, a batch of 1.
// Integers are rounded to nearest and saturate. An error says what is wrong with the shape.
absl::StatusOr<Tensor> ImageToTensor(const Image& image, const Shape& shape, DType dtype,
                                     const ImageOptions& options = {});

}  // namespace attune

#endif  // ATTUNE_IO_IMAGE_TENSOR_H_
