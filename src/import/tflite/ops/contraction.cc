// Convolutions and matrix products. Quantized tensors are multiplied as integers; if one side is float, the
// represented numbers are multiplied.
#include <algorithm>

#include "import/tflite/ops/lowerings.h"
#include "import/tflite/ops/products.h"
#include "import/tflite/ops/window.h"

namespace attune::tflite {
namespace {

struct Convolution {
  Window window;
  schema::Padding padding;
  Activation activation;
  // Axes of the weight in the file: the permutation to the canonical order, and the axis of the output
  // channels.
  Ints weight_perm;
  int64_t channel_axis;
  bool depthwise = false;
};

Outputs Convolve(OpContext& c, Convolution conv) {
  const int64_t rank = static_cast<int64_t>(conv.weight_perm.size());
  if (c.InRank(0) != rank || c.InRank(1) != rank) Invalid("its input and weight are not of rank ", rank);
  const Shape weight = c.InShape(1);
  for (int64_t i = 2; i < rank; ++i) conv.window.kernel.push_back(weight[conv.weight_perm[i]]);
  SetPads(conv.window, conv.padding, SpatialSizes(c.InShape(0)));
  const int64_t channels = c.InShape(0).back();
  const int64_t group_size = conv.depthwise ? 1 : weight[conv.weight_perm[1]];
  if (group_size < 1 || channels < 1 || channels % group_size != 0) {
    Invalid("its input has ", channels, " channels, its weight takes ", group_size);
  }
  const Attributes attrs = {{"strides", conv.window.strides},
                            {"pads", conv.window.pads},
                            {"dilations", conv.window.dilations},
                            {"group", channels / group_size}};
  // Kernels for u8 have one multiplier, which they compute differently from those per channel.
  const ProductInputs p{.single = c.InType(0) == DType::kU8};
  if (IsIntegerProduct(c, p)) {
    Value* x = ChannelsFirst(c, c.Stored(0));
    Value* w = c.TransposeStored(c.Stored(1), conv.weight_perm);
    Value* acc = IntegerSum(c, x, w, p, [&](Value* a, Value* b, Value* a_zero, Value* b_zero) {
      return c.Emit(Op::kConvInteger, {a, b, a_zero, b_zero}, attrs);
    });
    return {ChannelsLast(c, FinishIntegerProduct(c, acc, p, 1, conv.channel_axis, conv.activation))};
  }
  Value* x = c.Cast(c.Real(0), DType::kF32);
  Value* w = c.TransposeStored(c.Cast(c.Real(1), DType::kF32), conv.weight_perm);
  Value* y = c.Emit(Op::kConv, {ChannelsFirst(c, x), w, RealBias(c, p)}, attrs);
  return {ChannelsLast(c, c.Activate(y, conv.activation))};
}

// A product [M, N] of rows, where the tensor's other axes are merged, or kept.
struct Dense {
  Shape rows;    // the input; its last axis is that of the weight
  Shape output;  // the shape of the result
};

Dense DenseShapes(OpContext& c, bool keep_axes) {
  const Shape x = c.InShape(0);
  const Shape w = c.InShape(1);
  if (w.size() != 2 || w[1] < 1) Invalid("its weight is ", ToString(c.Stored(1)->type()));
  Dense shapes;
  const int64_t elements = Product(x);
  if (elements % w[1] != 0) Invalid(ToString(c.Stored(0)->type()), " does not divide into rows of ", w[1]);
  shapes.rows = {elements / w[1], w[1]};
  shapes.output = {elements / w[1], w[0]};
  if (!keep_axes) return shapes;
  if (x.empty() || x.back() != w[1]) Invalid("its input's last axis does not fit its weight");
  shapes.output = x;
  shapes.output.back() = w[0];
  return shapes;
}

}  // namespace

Outputs Conv2d(OpContext& c) {
  const auto& options = c.Options<schema::Conv2DOptions>();
  return Convolve(c, {.window = {.kernel = {},
                                 .strides = {options.stride_h(), options.stride_w()},
                                 .dilations = {options.dilation_h_factor(), options.dilation_w_factor()}},
                      .padding = options.padding(),
                      .activation = options.fused_activation_function(),
                      .weight_perm = {0, 3, 1, 2},
                      .channel_axis = 0});
}

// The weight is [1, H, W, C multiplier]: the outputs of one input channel are adjacent.
Outputs DepthwiseConv2d(OpContext& c) {
  const auto& options = c.Options<schema::DepthwiseConv2DOptions>();
  return Convolve(c, {.window = {.kernel = {},
                                 .strides = {options.stride_h(), options.stride_w()},
                                 .dilations = {options.dilation_h_factor(), options.dilation_w_factor()}},
                      .padding = options.padding(),
                      .activation = options.fused_activation_function(),
                      .weight_perm = {3, 0, 1, 2},
                      .channel_axis = 3,
                      .depthwise = true});
}

// The weight is [D, H, W, C, M].
Outputs Conv3d(OpContext& c) {
  const auto& o = c.Options<schema::Conv3DOptions>();
  return Convolve(
      c, {.window = {.kernel = {},
                     .strides = {o.stride_d(), o.stride_h(), o.stride_w()},
                     .dilations = {o.dilation_d_factor(), o.dilation_h_factor(), o.dilation_w_factor()}},
          .padding = o.padding(),
          .activation = o.fused_activation_function(),
          .weight_perm = {4, 3, 0, 1, 2},
          .channel_axis = 4});
}

// x Wᵀ + b. Without keep_num_dims, all axes except the weight's columns are merged into rows.
Outputs FullyConnected(OpContext& c) {
  const auto& options = c.Options<schema::FullyConnectedOptions>();
  if (options.weights_format() != schema::FullyConnectedOptionsWeightsFormat::DEFAULT) {
    Unsupported("shuffled weights");
  }
  const Dense shapes = DenseShapes(c, options.keep_num_dims());
  // The kernel for sparse weights has fixed point.
  const ProductInputs p{.in_doubles = c.InTensor(1).sparsity() == nullptr};
  const Activation activation = options.fused_activation_function();
  if (IsIntegerProduct(c, p)) {
    Value* x = c.Reshape(c.Stored(0), shapes.rows);
    Value* acc = IntegerSum(c, x, c.Stored(1), p, [&](Value* a, Value* b, Value* a_zero, Value* b_zero) {
      return c.Emit(Op::kMatMulInteger, {a, b, a_zero, b_zero}, {{"transpose_b", int64_t{1}}});
    });
    return {c.Reshape(FinishIntegerProduct(c, acc, p, 1, 0, activation), shapes.output)};
  }
  Value* x = c.Reshape(c.Cast(c.Real(0), DType::kF32), shapes.rows);
  Value* y = c.MatMul(x, c.Cast(c.Real(1), DType::kF32), false, true);
  if (Value* bias = RealBias(c, p)) y = c.Add(y, bias);
  return {c.Reshape(c.Activate(y, activation), shapes.output)};
}

Outputs BatchMatMul(OpContext& c) {
  const auto& options = c.Options<schema::BatchMatMulOptions>();
  const ProductInputs p{.single = true};
  if (IsIntegerProduct(c, p)) {
    const auto sum = [&](Value* a, Value* b, Value* a_zero, Value* b_zero) {
      return c.Emit(Op::kMatMulInteger, {a, b, a_zero, b_zero},
                    {{"transpose_a", int64_t{options.adj_x()}}, {"transpose_b", int64_t{options.adj_y()}}});
    };
    Value* acc = IntegerSum(c, c.Stored(0), c.Stored(1), p, sum);
    const int64_t last = acc->type().rank() - 1;
    const int64_t weight_axis = c.InRank(1) - (options.adj_y() ? 2 : 1);
    return {FinishIntegerProduct(c, acc, p, last, weight_axis, Activation::NONE)};
  }
  return {c.MatMul(c.Real(0), c.Real(1), options.adj_x(), options.adj_y())};
}

}  // namespace attune::tflite
