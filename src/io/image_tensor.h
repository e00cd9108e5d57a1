// Converts a picture to a network's input.
#ifndef ATTUNE_IO_IMAGE_TENSOR_H_
#define ATTUNE_IO_IMAGE_TENSOR_H_

#include "absl/status/statusor.h"
#include "base/picture_format.h"
#include "graph/tensor.h"
#include "io/image.h"

namespace attune {

// Resizes `image` (ResizeBilinear) as `format` says, normalizes it, and returns a tensor of `shape` and
// `dtype`. The shape is [1, C, H, W], [1, H, W, C], or either without the 1; C is 3, or 1 for luminance
// (ITU-R 601), for which element 0 of mean and deviation applies. A negative dimension is free and becomes
// the image's own height or width, or a batch of 1; where both are free, the image keeps its size. Integers
// are rounded to nearest and saturate. An error says what is wrong with the shape.
absl::StatusOr<Tensor> ImageToTensor(const Image& image, const Shape& shape, DType dtype,
                                     const PictureFormat& format = {});

}  // namespace attune

#endif  // ATTUNE_IO_IMAGE_TENSOR_H_
