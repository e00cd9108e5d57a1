#include "pattern_builder.h"

#include <algorithm>

namespace attune::graph_fuzz {

Value* PatternBuilder::Add(Op op, std::vector<Value*> inputs, Attributes attrs) {
  if (std::ranges::count(inputs, nullptr) > 0) return nullptr;
  return maker_.Add(op, std::move(inputs), std::move(attrs));
}

Value* PatternBuilder::PerChannel(const Value* x) {
  if (x == nullptr) return nullptr;
  Shape shape(static_cast<size_t>(x->type().rank() - 1), 1);
  shape[0] = ChannelsOf(x);
  return maker_.New(x->type().dtype, shape, 3);
}

Value* PatternBuilder::PerColumn(const Value* x) {
  return x == nullptr ? nullptr : maker_.New(x->type().dtype, {x->type().dims.back().size}, 3);
}

Value* PatternBuilder::Scalar(const Value* x, double value) {
  return x == nullptr ? nullptr : maker_.Constant(Tensor::Scalar(x->type().dtype, value));
}

Value* PatternBuilder::Weights(const Value* x, const Shape& shape) {
  Range range = maker_.FloatRange();
  range.low /= 4;
  range.high /= 4;
  return x == nullptr ? nullptr : maker_.New(x->type().dtype, shape, range, 3);
}

Value* PatternBuilder::Conv(Value* x, int64_t channels, const ConvOptions& options) {
  if (x == nullptr) return nullptr;
  const int64_t pad = options.kernel / 2;
  Attributes attrs = {{"pads", Ints(4, pad)}, {"strides", Ints(2, options.stride)}, {"group", options.group}};
  Value* w = Weights(x, {channels, ChannelsOf(x) / options.group, options.kernel, options.kernel});
  std::vector<Value*> inputs = {x, w};
  if (options.bias) inputs.push_back(maker_.New(x->type().dtype, {channels}, 3));
  return Add(Op::kConv, std::move(inputs), std::move(attrs));
}

Value* PatternBuilder::Pool(Op op, Value* x, int64_t kernel, int64_t stride) {
  if (x == nullptr) return nullptr;
  return maker_.Add(
      op, {x},
      {{"kernel", Ints(2, kernel)}, {"strides", Ints(2, stride)}, {"pads", Ints(4, (kernel - 1) / 2)}},
      op == Op::kMaxPool ? 1 : -1);
}

Value* PatternBuilder::Dense(Value* x, int64_t columns) {
  if (x == nullptr) return nullptr;
  Value* product = Add(Op::kMatMul, {x, Weights(x, {x->type().dims.back().size, columns})});
  return maker_.OneIn(3) ? product : Add(Op::kAdd, {product, PerColumn(product)});
}

Value* PatternBuilder::Activation(Value* x) {
  const Op op = maker_.OneOf({Op::kRelu, Op::kRelu, Op::kSilu, Op::kHardSwish, Op::kSigmoid, Op::kTanh,
                              Op::kGelu, Op::kClip, Op::kLeakyRelu, Op::kIdentity});
  if (op == Op::kClip) return Add(op, {x}, {{"min", ExactNumber(0.0)}, {"max", ExactNumber(6.0)}});
  if (op == Op::kLeakyRelu) return Add(op, {x}, {{"alpha", 0.1}});
  return Add(op, {x});
}

Value* PatternBuilder::Map() {
  const auto fits = [](const Value& v) {
    return IsFloat(v.type().dtype) && v.type().rank() == 4 && v.type().is_static() &&
           v.type().dims[1].size % 2 == 0 && v.type().num_elements() > 0 && v.type().num_elements() < 8192;
  };
  return maker_.Any(fits, [this] {
    const int64_t channels = 2 * ((maker_.Channels() + 1) / 2);
    return maker_.New(maker_.OneIn(6) ? maker_.FloatType() : DType::kF32,
                      {maker_.OneIn(4) ? 2 : 1, channels, 3 + maker_.Pick(13), 3 + maker_.Pick(13)}, 0);
  });
}

Value* PatternBuilder::Sequence() {
  const auto fits = [](const Value& v) {
    return IsFloat(v.type().dtype) && v.type().rank() == 3 && v.type().is_static() &&
           v.type().num_elements() > 0 && v.type().num_elements() < 8192;
  };
  return maker_.Any(fits, [this] {
    return maker_.New(maker_.OneIn(6) ? maker_.FloatType() : DType::kF32,
                      {maker_.OneIn(3) ? 2 : 1, maker_.Extent(), 4 * (1 + maker_.Pick(10))}, 0);
  });
}

Value* PatternBuilder::ReshapeTo(Value* x, const Shape& shape) {
  return Add(Op::kReshape, {x}, {{"shape", shape}});
}

Value* PatternBuilder::TransposeTo(Value* x, const Ints& perm) {
  return Add(Op::kTranspose, {x}, {{"perm", perm}});
}

}  // namespace attune::graph_fuzz
