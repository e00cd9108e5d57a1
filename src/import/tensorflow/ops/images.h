// Operators on images: the position of channels, and sliding windows.
#ifndef ATTUNE_IMPORT_TENSORFLOW_OPS_IMAGES_H_
#define ATTUNE_IMPORT_TENSORFLOW_OPS_IMAGES_H_

#include <string_view>

#include "import/tensorflow/op_context.h"

namespace attune::tensorflow {

// A window over the spatial dimensions; `pads` has all begins, then all ends.
struct SlidingWindow {
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints pads;
};

// The images that a node processes: [N, D1, …, C] unless its attribute data_format says [N, C, D1, …].
// Members throw ImportFailure.
class Images {
 public:
  // `spatial`: the number of spatial dimensions; `input`: the index of the input with the images.
  Images(OpContext& c, int spatial, int input = 0);

  // Moves channels first for the canonical operators, if they come last, and back.
  Value* ChannelsFirst(Value* x) const;
  Value* AsGiven(Value* x) const;

  // The spatial part of a list or shape with one entry per dimension.
  Ints Spatial(const Ints& per_dimension) const;
  // The entry for channels in such a list.
  int64_t Channels(const Ints& per_dimension) const;

  // The window with `kernel` over images with the spatial dimensions `sizes`, from the attributes strides,
  // dilations, padding and explicit_paddings.
  SlidingWindow Window(const Ints& kernel, const Ints& sizes) const;
  // The spatial part of an attribute with one value per dimension; the others must be 1.
  Ints PerDimension(std::string_view name) const;

 private:
  Ints ExplicitPads() const;

  OpContext& c_;
  int spatial_;
  bool channels_last_;
};

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_OPS_IMAGES_H_
