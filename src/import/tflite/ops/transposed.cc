// Transposed convolutions.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "import/tflite/ops/lowerings.h"
#include "import/tflite/ops/products.h"
#include "import/tflite/ops/window.h"

namespace attune::tflite {
namespace {

struct Transposed {
  ProductInputs p;
  Window window;  // the kernel is filled in later
  schema::Padding padding;
  Activation activation;
  Ints output;               // spatial sizes
  Ints weight_perm;          // permutes to [C, M, K1, …]
  int64_t channel_axis = 0;  // the axis of the output channels in the file
};

// The stated output size decides: the window gets the pads of the convolution that this is the transpose
// of, and elements that the last windows do not reach only have the bias.
Attributes TransposedAttributes(Transposed& t, const Ints& input) {
  for (int64_t size : t.output) CheckedSize(size, "output size", 1);
  SetPads(t.window, t.padding, t.output);
  const size_t rank = input.size();
  Ints extra(rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t reach = LastStep(input[i], t.window.strides[i]) + t.window.kernel[i];
    const int64_t beyond = reach - t.window.pads[i] - t.output[i];
    t.window.pads[i + rank] = std::max<int64_t>(beyond, 0);
    extra[i] = std::max<int64_t>(-beyond, 0);
  }
  return {{"strides", t.window.strides}, {"pads", t.window.pads}, {"output_padding", extra}};
}

// Integer products are summed as floats, which is exact up to 2^24, or as doubles, and requantized as
// integers.
Outputs ConvolveTransposed(OpContext& c, Transposed t) {
  const int64_t rank = static_cast<int64_t>(t.weight_perm.size());
  if (c.InRank(t.p.x) != rank || c.InRank(t.p.weight) != rank ||
      static_cast<int64_t>(t.output.size()) != rank - 2) {
    Invalid("its input, weight and output are not of rank ", rank);
  }
  const Shape weight = c.InShape(t.p.weight);
  for (int64_t i = 2; i < rank; ++i) t.window.kernel.push_back(weight[t.weight_perm[i]]);
  const Attributes attrs = TransposedAttributes(t, SpatialSizes(c.InShape(t.p.x)));
  const auto convolve = [&](Value* x, Value* w) {
    return c.Emit(Op::kConvTranspose, {ChannelsFirst(c, x), c.TransposeStored(w, t.weight_perm)}, attrs);
  };
  if (IsIntegerProduct(c, t.p)) {
    const bool is_wide = c.InType(t.p.x) == DType::kI16 || c.InType(t.p.weight) == DType::kI16;
    constexpr int64_t kMostProducts = (1 << 24) / (255 * 255);
    const bool fits = !is_wide && Product(weight) / weight[t.channel_axis] <= kMostProducts;
    const DType real = fits ? DType::kF32 : DType::kF64;
    Value* w = c.Cast(c.Stored(t.p.weight), real);
    if (Value* zero = WeightZero(c, t.p)) {
      if (zero->type().rank() == 1) zero = AlongAxis(c, zero, t.channel_axis, rank);
      w = c.Sub(w, c.Cast(zero, real));
    }
    Value* acc = c.Cast(convolve(c.Cast(c.Centered(t.p.x), real), w), is_wide ? DType::kI64 : DType::kI32);
    return {ChannelsLast(c, FinishIntegerProduct(c, acc, t.p, 1, t.channel_axis, t.activation))};
  }
  Value* y = convolve(c.Cast(c.Real(t.p.x), DType::kF32), c.Cast(c.Real(t.p.weight), DType::kF32));
  if (Value* bias = RealBias(c, t.p)) y = c.Add(y, AlongAxis(c, bias, 1, rank));
  return {ChannelsLast(c, c.Activate(y, t.activation))};
}

// The spatial part of the output shape, which is an input.
Ints OutputSizes(OpContext& c, int64_t rank) {
  const Ints shape = c.KnownInts(0, "output shape");
  if (static_cast<int64_t>(shape.size()) != rank) Invalid("its output shape has ", shape.size(), " values");
  return Ints(shape.begin() + 1, shape.end() - 1);
}

}  // namespace

// (output shape, weight [M, H, W, C], x, bias?)
Outputs TransposeConv(OpContext& c) {
  const auto& options = c.Options<schema::TransposeConvOptions>();
  return ConvolveTransposed(
      c, {.p = {.x = 2, .weight = 1, .bias = 3, .single = c.InType(2) == DType::kU8},
          .window = {.kernel = {}, .strides = {options.stride_h(), options.stride_w()}, .dilations = {1, 1}},
          .padding = options.padding(),
          .activation = options.fused_activation_function(),
          .output = OutputSizes(c, 4),
          .weight_perm = {3, 0, 1, 2},
          .channel_axis = 0});
}

// (output shape, weight [D, H, W, M, C], x, bias?)
Outputs Conv3dTranspose(OpContext& c) {
  const auto& options = c.Options<schema::Conv3DOptions>();
  if (options.dilation_d_factor() != 1 || options.dilation_h_factor() != 1 ||
      options.dilation_w_factor() != 1) {
    Unsupported("dilations");
  }
  return ConvolveTransposed(
      c, {.p = {.x = 2, .weight = 1, .bias = 3},
          .window = {.kernel = {},
                     .strides = {options.stride_d(), options.stride_h(), options.stride_w()},
                     .dilations = {1, 1, 1}},
          .padding = options.padding(),
          .activation = options.fused_activation_function(),
          .output = OutputSizes(c, 5),
          .weight_perm = {4, 3, 0, 1, 2},
          .channel_axis = 3});
}

// The custom operator (x, weight [M, H, W, C], bias). Its options are three 32-bit integers: the padding (1
// is SAME, 2 is VALID), and the strides of width and height.
Outputs TransposeConvBias(OpContext& c) {
  const std::string_view options = c.CustomOptions();
  int32_t values[3] = {};
  if (options.size() != sizeof(values)) Invalid("its options are ", options.size(), " bytes, not 12");
  std::memcpy(values, options.data(), sizeof(values));
  if (values[0] != 1 && values[0] != 2) Invalid("its padding is of kind ", values[0]);
  const bool same = values[0] == 1;
  const Ints strides = {CheckedSize(values[2], "stride", 1), CheckedSize(values[1], "stride", 1)};
  if (c.InRank(1) != 4) Invalid("its weight is not of rank 4");
  Ints output = SpatialSizes(c.InShape(0));
  for (size_t i = 0; i < output.size() && i < 2; ++i) {
    output[i] =
        same ? Multiply(output[i], strides[i]) : LastStep(output[i], strides[i]) + c.InShape(1)[i + 1];
  }
  return ConvolveTransposed(c, {.p = {},
                                .window = {.kernel = {}, .strides = strides, .dilations = {1, 1}},
                                .padding = same ? schema::Padding::SAME : schema::Padding::VALID,
                                .activation = Activation::NONE,
                                .output = output,
                                .weight_perm = {3, 0, 1, 2},
                                .channel_axis = 0});
}

}  // namespace attune::tflite
