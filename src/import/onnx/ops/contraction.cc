// Convolutions and matrix products.
#include <algorithm>

#include "base/checked.h"
#include "import/onnx/ops/lowerings.h"
#include "import/onnx/ops/window.h"

namespace attune::onnx {
namespace {

// Computes the pads of a transposed convolution that auto_pad and output_shape leave open.
void FitTransposedPads(OpContext& c, const Shape& input, WindowAttributes& w, const Ints& output_padding) {
  const std::string auto_pad = c.Choice("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  const std::optional<Ints> output_shape = c.IntList("output_shape");
  const size_t rank = w.kernel.size();
  if (output_shape && output_shape->size() < rank)
    Invalid("its output_shape has ", output_shape->size(), " values");
  if (!same && !output_shape) return;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const int64_t full = LastStep(input[i + 2], w.strides[i]) + extent + output_padding[i];
    // Some exporters also include batch and channels.
    const int64_t wanted = output_shape ? (*output_shape)[output_shape->size() - rank + i]
                                        : Multiply(input[i + 2], w.strides[i]);
    const int64_t total = std::max<int64_t>(0, full - CheckedSize(wanted, "output_shape"));
    // As in onnx.reference: with SAME_UPPER, an odd pad is at the end, otherwise at the start.
    w.pads[i] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.pads[i + rank] = total - w.pads[i];
  }
}

}  // namespace

Outputs Conv(OpContext& c) {
  const WindowAttributes w = ReadWindow(c, c.InShape(0), KernelOf(c, 1));
  return {c.Emit(
      Op::kConv, {c.In(0), c.In(1), c.OptionalIn(2)},
      {{"strides", w.strides}, {"pads", w.pads}, {"dilations", w.dilations}, {"group", c.Int("group", 1)}})};
}

Outputs ConvTranspose(OpContext& c) {
  const Shape input = c.InShape(0);
  const Ints kernel = KernelOf(c, 1);
  WindowAttributes w = ReadWindow(c, input, kernel);
  const size_t rank = w.kernel.size();
  Ints output_padding = c.IntList("output_padding", Ints(rank, 0));
  if (output_padding.size() != rank) Invalid("its output_padding has ", output_padding.size(), " values");
  for (int64_t pad : output_padding) CheckedSize(pad, "output_padding");
  FitTransposedPads(c, input, w, output_padding);
  // output_shape may exceed what the windows reach: the canonical operator pads at the end.
  if (const std::optional<Ints> shape = c.IntList("output_shape")) {
    for (size_t i = 0; i < rank; ++i) {
      const int64_t reached = LastStep(input[i + 2], w.strides[i]) + (w.kernel[i] - 1) * w.dilations[i] + 1 -
                              w.pads[i] - w.pads[i + rank];
      output_padding[i] = CheckedSize((*shape)[shape->size() - rank + i] - reached, "output_shape");
    }
  }
  return {c.Emit(Op::kConvTranspose, {c.In(0), c.In(1), c.OptionalIn(2)},
                 {{"strides", w.strides},
                  {"pads", w.pads},
                  {"dilations", w.dilations},
                  {"group", c.Int("group", 1)},
                  {"output_padding", output_padding}})};
}

Outputs DeformConv(OpContext& c) {
  const WindowAttributes w = ReadWindow(c, c.InShape(0), KernelOf(c, 1));
  return {c.Emit(Op::kDeformConv, {c.In(0), c.In(2), c.In(1), c.OptionalIn(3), c.OptionalIn(4)},
                 {{"strides", w.strides},
                  {"pads", w.pads},
                  {"dilations", w.dilations},
                  {"group", c.Int("group", 1)},
                  {"offset_group", c.Int("offset_group", 1)}})};
}

// NumPy's matmul: a vector is a row on the left and a column on the right, and its axis is removed from the
// result.
Value* MatMulAnyRank(OpContext& c, Value* a, Value* b, const std::function<Value*(Value*, Value*)>& product) {
  const bool row = a->type().rank() == 1;
  const bool column = b->type().rank() == 1;
  if (row) a = c.Unsqueeze(a, {0});
  if (column) b = c.Unsqueeze(b, {1});
  Value* result = product(a, b);
  if (row) result = c.Squeeze(result, {-2});
  return column ? c.Squeeze(result, {-1}) : result;
}

Outputs MatMul(OpContext& c) {
  return {MatMulAnyRank(c, c.In(0), c.In(1), [&c](Value* a, Value* b) { return c.MatMul(a, b); })};
}

// alpha A' B' + beta C
Outputs Gemm(OpContext& c) {
  Value* product = c.MatMul(c.In(0), c.In(1), c.Bool("transA"), c.Bool("transB"));
  product = c.Mul(product, c.Float("alpha", 1));
  const double beta = c.Float("beta", 1);
  if (!c.HasInput(2) || beta == 0) return {product};
  Value* sum = c.Add(product, c.Mul(c.In(2), beta));
  if (sum->type().dims != product->type().dims) {
    Invalid("its C is ", ToString(c.In(2)->type()), ", which does not broadcast to ",
            ToString(product->type()));
  }
  return {sum};
}

}  // namespace attune::onnx
