// Convolutions and pools.
#include <algorithm>

#include "import/tensorflow/ops/images.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

Attributes ConvAttributes(const SlidingWindow& w, int64_t group) {
  return {{"strides", w.strides}, {"pads", w.pads}, {"dilations", w.dilations}, {"group", group}};
}

// The shape [K1, …, in, out] of the filter, input 1.
Shape FilterShape(OpContext& c, int spatial) {
  const Shape shape = c.InShape(1);
  if (static_cast<int>(shape.size()) != spatial + 2) Invalid("its filter is ", ToString(c.In(1)->type()));
  return shape;
}

// [K1, …, in, out] → [out, in, K1, …]
Value* OutputsFirst(OpContext& c, Value* filter) {
  const int64_t rank = filter->type().rank();
  Ints perm = {rank - 1, rank - 2};
  for (int64_t i = 0; i < rank - 2; ++i) perm.push_back(i);
  return c.TransposeStored(filter, perm);
}

// If the filter has fewer channels than the images, these are divided into groups.
Outputs Convolution(OpContext& c, int spatial) {
  const Images images(c, spatial);
  const Shape filter = FilterShape(c, spatial);
  const Shape input = c.InShape(0);
  const int64_t channels = images.Channels(input);
  const int64_t per_group = filter[spatial];
  if (per_group < 1 || channels % per_group != 0) {
    Invalid("its images have ", channels, " channels, its filter takes ", per_group);
  }
  const SlidingWindow w = images.Window(Ints(filter.begin(), filter.end() - 2), images.Spatial(input));
  Value* y = c.Emit(Op::kConv, {images.ChannelsFirst(c.In(0)), OutputsFirst(c, c.In(1))},
                    ConvAttributes(w, channels / per_group));
  return {images.AsGiven(y)};
}

// (sizes of the convolution's input, filter, output of the convolution)
Outputs ConvolutionBackward(OpContext& c, int spatial) {
  const Images images(c, spatial, 2);
  const Shape filter = FilterShape(c, spatial);
  const Ints target = c.KnownInts(c.In(0), "input sizes");
  const Ints sizes = static_cast<int>(target.size()) == spatial ? target : images.Spatial(target);
  for (int64_t size : sizes) CheckedSize(size, "input size", 1);
  const Ints input = images.Spatial(c.InShape(2));
  const SlidingWindow w = images.Window(Ints(filter.begin(), filter.end() - 2), sizes);
  if (static_cast<int>(target.size()) > spatial && images.Channels(target) != filter[spatial]) {
    Unsupported("groups of channels");
  }
  // The extent that windows reach; positions beyond it stay zero.
  Ints output_padding(spatial);
  for (int i = 0; i < spatial; ++i) {
    const int64_t reached = LastStep(input[i], w.strides[i]) + (w.kernel[i] - 1) * w.dilations[i] + 1 -
                            w.pads[i] - w.pads[i + spatial];
    output_padding[i] = CheckedSize(sizes[i] - reached, "rest of the input size");
  }
  Attributes attrs = ConvAttributes(w, 1);
  attrs.Set("output_padding", output_padding);
  Value* y =
      c.Emit(Op::kConvTranspose, {images.ChannelsFirst(c.In(2)), OutputsFirst(c, c.In(1))}, std::move(attrs));
  return {images.AsGiven(y)};
}

struct PoolWindow {
  Value* x;
  Attributes attrs;
};

PoolWindow ReadPool(OpContext& c, const Images& images) {
  const SlidingWindow w = images.Window(images.PerDimension("ksize"), images.Spatial(c.InShape(0)));
  return {images.ChannelsFirst(c.In(0)),
          {{"kernel", w.kernel}, {"strides", w.strides}, {"pads", w.pads}, {"dilations", w.dilations}}};
}

Outputs MaxPool(OpContext& c, int spatial) {
  const Images images(c, spatial);
  PoolWindow pool = ReadPool(c, images);
  return {images.AsGiven(c.EmitNode(Op::kMaxPool, {pool.x}, std::move(pool.attrs), 1)->output())};
}

// Padding is not counted.
Outputs AvgPool(OpContext& c, int spatial) {
  const Images images(c, spatial);
  PoolWindow pool = ReadPool(c, images);
  return {images.AsGiven(c.Emit(Op::kAvgPool, {pool.x}, std::move(pool.attrs)))};
}

}  // namespace

Outputs Conv2d(OpContext& c) { return Convolution(c, 2); }
Outputs Conv3d(OpContext& c) { return Convolution(c, 3); }
Outputs Conv2dBackward(OpContext& c) { return ConvolutionBackward(c, 2); }
Outputs Conv3dBackward(OpContext& c) { return ConvolutionBackward(c, 3); }

// Filter [h, w, channels, multiplier]: channel c gives the results c multiplier + m.
Outputs DepthwiseConv2d(OpContext& c) {
  const Images images(c, 2);
  const Shape filter = FilterShape(c, 2);
  const Shape input = c.InShape(0);
  const int64_t channels = images.Channels(input);
  if (filter[2] != channels) Invalid("its images have ", channels, " channels, its filter ", filter[2]);
  Value* weight = c.ReshapeStored(c.In(1), {filter[0], filter[1], 1, Multiply(channels, filter[3])});
  const SlidingWindow w = images.Window({filter[0], filter[1]}, images.Spatial(input));
  Value* y = c.Emit(Op::kConv, {images.ChannelsFirst(c.In(0)), OutputsFirst(c, weight)},
                    ConvAttributes(w, channels));
  return {images.AsGiven(y)};
}

Outputs MaxPool2d(OpContext& c) { return MaxPool(c, 2); }
Outputs MaxPool3d(OpContext& c) { return MaxPool(c, 3); }
Outputs AvgPool2d(OpContext& c) { return AvgPool(c, 2); }
Outputs AvgPool3d(OpContext& c) { return AvgPool(c, 3); }

}  // namespace attune::tensorflow
