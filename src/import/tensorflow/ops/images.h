// Operators on images: where the channels lie, and how a window slides.
#ifndef ATTUNE_IMPORT_TENSORFLOW_OPS_IMAGES_H_
#define ATTUNE_IMPORT_TENSORFLOW_OPS_IMAGES_H_

#include <string_view>

#include "import/tensorflow/op_context.h"

namespace attune::tensorflow {

// A window over the spatial dimensions; `pads` are all begins, then all ends.
struct SlidingWindow {
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints pads;
};

// The images that a node works on: [N, D1, …, C] unless its attribute data_format says [N, C, D1, …]. Members
// throw ImportFailure.
class Images {
 public:
  // `spatial`: the number of spatial dimensions; input `input` has the images.
  Images(OpContext& c, int spatial, int input = 0);

  // Transposed, where channels come last, for an operator that wants them first, and back.
  Value* ChannelsFirst(Value* x) const;
  Value* AsGiven(Value* x) const;

  // The part about spatial dimensions of a list or shape with an entry for each dimension.
  Ints Spatial(const Ints& per_dimension) const;
  // The channels' entry of such a list.
  int64_t Channels(const Ints& per_dimension) const;

  // The window of `kernel` over images with the spatial dimensions `sizes`, as the attributes strides,
  // dilations, padding and explicit_paddings say.
  SlidingWindow Window(const Ints& kernel, const Ints& sizes) const;
  // An attribute with one value a dimension, of which only spatial ones may be other than 1.
  Ints PerDimension(std::string_view name) const;

 private:
  Ints ExplicitPads() const;

  OpContext& c_;
  int spatial_;
  bool channels_last_;
};

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_OPS_IMAGES_H_
