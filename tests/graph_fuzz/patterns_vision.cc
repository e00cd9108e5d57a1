#include "pattern_builder.h"
#include "patterns.h"
#include "recipes.h"

namespace attune::graph_fuzz {

void AddResidual(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Map();
  const int64_t channels = PatternBuilder::ChannelsOf(x);
  Value* y = x;
  const int64_t layers = 1 + maker.Pick(3);
  for (int64_t i = 0; i < layers; ++i) {
    const bool last = i + 1 == layers;
    y = b.Conv(y, last ? channels : maker.Channels(), {.kernel = maker.OneOf<int64_t>({1, 3, 3})});
    if (maker.OneIn(3)) y = b.Add(Op::kMul, {y, b.PerChannel(y)});
    if (!last) y = b.Activation(y);
  }
  b.Activation(b.Add(Op::kAdd, maker.OneIn(2) ? std::vector{x, y} : std::vector{y, x}));
}

void AddInvertedResidual(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Map();
  const int64_t channels = PatternBuilder::ChannelsOf(x), wide = channels * (1 + maker.Pick(3));
  Value* y = b.Activation(b.Conv(x, wide, {}));
  y = b.Conv(y, wide, {.kernel = maker.OneOf<int64_t>({3, 5}), .stride = 1 + maker.Pick(2), .group = wide});
  y = b.Activation(y);
  if (y != nullptr && !maker.OneIn(3)) {  // squeeze and excite
    Value* s =
        maker.OneIn(3) ? y : b.Add(Op::kReduceMean, {y}, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{1}}});
    s = b.Add(Op::kRelu, {b.Conv(s, 1 + wide / 4, {})});
    s = b.Add(maker.OneOf({Op::kSigmoid, Op::kTanh}), {b.Conv(s, wide, {})});
    y = b.Add(Op::kMul, maker.OneIn(2) ? std::vector{s, y} : std::vector{y, s});
  }
  y = b.Conv(y, channels, {});
  if (y != nullptr && y->type() == x->type()) b.Add(Op::kAdd, {x, y});
}

void AddInception(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Map();
  std::vector<Value*> branches;
  for (int64_t count = 2 + maker.Pick(3); count > 0; --count) {
    Value* y = maker.OneIn(3) ? b.Pool(maker.OneOf({Op::kMaxPool, Op::kAvgPool}), x, 3, 1)
                              : b.Activation(b.Conv(x, maker.Channels(), {}));
    if (maker.OneIn(2)) y = b.Conv(y, maker.Channels(), {.kernel = 3});
    branches.push_back(maker.OneIn(2) ? b.Activation(y) : y);
  }
  if (maker.OneIn(4)) branches.push_back(branches.front());
  Value* whole = b.Add(Op::kConcat, branches, {{"axis", int64_t{1}}});
  if (maker.OneIn(2)) b.Conv(whole, maker.Channels(), {});
}

void AddDense(GraphMaker& maker) {
  PatternBuilder b(maker);
  std::vector<Value*> parts = {b.Map()};
  for (int64_t layers = 1 + maker.Pick(3); layers > 0; --layers) {
    Value* whole = parts.size() == 1 ? parts[0] : b.Add(Op::kConcat, parts, {{"axis", int64_t{1}}});
    Value* y = b.Activation(b.Add(Op::kMul, {whole, b.PerChannel(whole)}));
    parts.push_back(b.Conv(y, maker.OneIn(2) ? 8 : maker.Channels(), {.kernel = 3}));
  }
  b.Add(Op::kConcat, parts, {{"axis", int64_t{1}}});
}

void AddShuffle(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Map();
  const Shape shape = x->type().shape();
  const int64_t half = shape[1] / 2;
  const auto part = [&](int64_t start) {
    return b.Add(Op::kSlice, {x},
                 {{"starts", Ints{0, start, 0, 0}},
                  {"sizes", Ints{shape[0], half, shape[2], shape[3]}},
                  {"steps", Ints{1, 1, 1, 1}}});
  };
  Value* left = part(0);
  Value* right = b.Activation(b.Conv(part(half), half, {}));
  right = b.Conv(right, half, {.kernel = 3, .group = half});
  right = b.Activation(b.Conv(right, half, {}));
  Value* whole = b.Add(Op::kConcat, {left, right}, {{"axis", int64_t{1}}});
  whole = b.ReshapeTo(whole, {shape[0], 2, half, shape[2], shape[3]});
  whole = b.TransposeTo(whole, {0, 2, 1, 3, 4});
  b.ReshapeTo(whole, shape);
}

void AddUNet(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Activation(b.Conv(b.Map(), maker.Channels(), {.kernel = 3}));
  if (x == nullptr) return;
  Value* down = b.Pool(Op::kMaxPool, x, 2, 2);
  down = b.Activation(b.Conv(down, maker.Channels(), {.kernel = 3}));
  if (down == nullptr) return;
  const Shape shape = x->type().shape(), small = down->type().shape();
  Value* up = nullptr;
  if (maker.OneIn(2)) {
    up = b.Add(Op::kResize, {down},
               {{"sizes", Ints{small[0], small[1], shape[2], shape[3]}},
                {"scales", Floats{1, 1, static_cast<double>(shape[2]) / static_cast<double>(small[2]),
                                  static_cast<double>(shape[3]) / static_cast<double>(small[3])}},
                {"mode", std::string(maker.OneIn(2) ? "nearest" : "linear")}});
  } else {
    up = b.Add(Op::kConvTranspose, {down, b.Weights(down, {small[1], shape[1], 2, 2})},
               {{"strides", Ints{2, 2}}, {"output_padding", Ints{shape[2] % 2, shape[3] % 2}}});
  }
  b.Activation(b.Conv(b.Add(Op::kConcat, {x, up}, {{"axis", int64_t{1}}}), maker.Channels(), {.kernel = 3}));
}

void AddConvChain(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Map();
  for (int64_t layers = 2 + maker.Pick(4); x != nullptr && layers > 0; --layers) {
    const int64_t channels = PatternBuilder::ChannelsOf(x);
    switch (maker.Pick(4)) {
      case 0:
        x = b.Conv(x, channels, {.kernel = 3, .stride = 1 + maker.Pick(2), .group = channels});
        break;
      case 1:
        x = b.Pool(maker.OneOf({Op::kMaxPool, Op::kAvgPool}), x, 2 + maker.Pick(2), 1 + maker.Pick(2));
        break;
      default:
        x = b.Conv(x, maker.Channels(), {.kernel = maker.OneOf<int64_t>({1, 3}), .bias = !maker.OneIn(3)});
        break;
    }
    x = b.Activation(x);
  }
}

void AddNormalizedConv(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Map();
  if (maker.OneIn(3)) x = b.Add(Op::kPad, {x}, {{"pads", Ints{0, 0, 1, 1, 0, 0, 1, 1}}});
  x = b.Conv(x, maker.Channels(), {.kernel = 3, .stride = 1 + maker.Pick(2), .bias = maker.OneIn(2)});
  if (x == nullptr) return;
  const DType dtype = x->type().dtype;
  const int64_t channels = PatternBuilder::ChannelsOf(x);
  const auto parameter = [&](const Range& range) { return maker.New(dtype, {channels}, range, 3); };
  const Range any = maker.FloatRange();
  if (maker.OneIn(2)) {
    x = b.Add(Op::kBatchNorm,
              {x, parameter(any), parameter(any), parameter(any), parameter({.low = 0.3, .high = 2})},
              {{"epsilon", 1e-5}});
  } else {
    x = b.Add(Op::kGroupNorm, {x, parameter(any), parameter(any)},
              {{"groups", maker.OneOf<int64_t>({1, channels})}, {"epsilon", 1e-5}});
  }
  b.Pool(maker.OneOf({Op::kMaxPool, Op::kAvgPool}), b.Activation(x), 3, 2);
}

// Convolutions write channel blocks; operators that only know plain memory read them.
void AddMapConsumers(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Activation(b.Conv(b.Map(), maker.Channels(), {.kernel = maker.OneOf<int64_t>({1, 3})}));
  if (x == nullptr) return;
  const Shape s = x->type().shape();
  for (int64_t count = 1 + maker.Pick(3); count > 0; --count) {
    switch (maker.Pick(8)) {
      case 0:
        b.Add(Op::kMatMul, {x, b.Weights(x, {s[3], maker.Channels()})});
        break;
      case 1:
        b.Add(Op::kMatMul, {b.Weights(x, {maker.Extent(), s[2]}), x});
        break;
      case 2:
        b.Dense(b.ReshapeTo(x, {s[0], s[1] * s[2] * s[3]}), maker.Channels());
        break;
      case 3:
        b.Dense(b.ReshapeTo(b.TransposeTo(x, {0, 2, 3, 1}), {s[0], s[2] * s[3], s[1]}), maker.Channels());
        break;
      case 4:
        b.Add(Op::kMatMul, {x, x}, {{"transpose_b", int64_t{1}}});
        break;
      case 5:
        b.Add(Op::kGather, {x, maker.Indices({1 + maker.Pick(4)}, s[1])}, {{"axis", int64_t{1}}});
        break;
      case 6:
        b.Add(Op::kConcat, {x, x}, {{"axis", int64_t{maker.Pick(4)}}});
        break;
      default:
        AddReverseSequence(maker, Op::kReverseSequence);
        break;
    }
  }
}

// Little work on feature maps that do not fit in small caches: they are computed together with their
// readers.
void AddWideChain(GraphMaker& maker) {
  PatternBuilder b(maker);
  const Shape shape = {1, maker.OneOf<int64_t>({3, 8, 8, 16}), 10 + maker.Pick(15), 10 + maker.Pick(15)};
  Value* x = maker.New(maker.OneIn(6) ? DType::kBF16 : DType::kF32, shape, 0);
  const int64_t wide = 8 * (2 + maker.Pick(6));
  x = b.Activation(b.Conv(x, wide, {.kernel = maker.OneOf<int64_t>({1, 1, 3})}));
  if (maker.OneIn(3)) {
    x = b.Pool(maker.OneOf({Op::kMaxPool, Op::kAvgPool}), x, 2 + maker.Pick(2), 1 + maker.Pick(2));
  } else {
    const int64_t kernel = maker.OneOf<int64_t>({3, 3, 5});
    x = b.Activation(b.Conv(x, wide, {.kernel = kernel, .stride = 1 + maker.Pick(2), .group = wide}));
  }
  if (maker.OneIn(3)) {
    b.Add(Op::kReduceMean, {x}, {{"axes", Ints{2, 3}}, {"keepdims", maker.Pick(2)}});
  } else if (maker.OneIn(2)) {
    b.Activation(b.Conv(x, maker.OneOf<int64_t>({8, 16, 24}), {}));
  }
}

// An image with a few channels, often in bf16, where neighbouring pixels become pairs.
void AddFirstLayer(GraphMaker& maker) {
  PatternBuilder b(maker);
  const Shape shape = {maker.OneIn(4) ? 2 : 1, 1 + maker.Pick(4), 5 + maker.Pick(16), 5 + maker.Pick(16)};
  Value* x = maker.New(maker.OneIn(3) ? DType::kF32 : DType::kBF16, shape, 0);
  x = b.Activation(b.Conv(x, maker.OneIn(2) ? 16 * (1 + maker.Pick(3)) : maker.Channels(),
                          {.kernel = maker.OneOf<int64_t>({3, 3, 5, 7, 2}),
                           .stride = 1 + maker.Pick(2),
                           .bias = maker.OneIn(2)}));
  if (maker.OneIn(2)) b.Pool(Op::kMaxPool, x, 3, 2);
}

// Windows whose padding has another value than their own padding would have, or other sizes at each side.
void AddPaddedWindows(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = b.Map();
  for (int64_t count = 1 + maker.Pick(2); x != nullptr && count > 0; --count) {
    const auto pad = [&] { return maker.OneOf<int64_t>({0, 1, 1, 2, 3}); };
    Attributes attrs = {{"pads", Ints{0, 0, pad(), pad(), 0, 0, pad(), pad()}}};
    if (!maker.OneIn(4)) attrs.Set("value", maker.OneOf<ExactNumber>({-1, 0.5, 3, -100}));
    x = b.Add(Op::kPad, {x}, std::move(attrs));
    if (maker.OneIn(4)) x = b.Activation(x);
    if (x == nullptr) return;
    const int64_t channels = PatternBuilder::ChannelsOf(x);
    switch (maker.Pick(4)) {
      case 0:
        x = b.Conv(x, maker.Channels(),
                   {.kernel = maker.OneOf<int64_t>({1, 3}), .stride = 1 + maker.Pick(2)});
        break;
      case 1:
        x = b.Conv(x, channels, {.kernel = 3, .stride = 1 + maker.Pick(2), .group = channels});
        break;
      default:
        x = b.Pool(maker.OneOf({Op::kMaxPool, Op::kAvgPool}), x, 2 + maker.Pick(2), 1 + maker.Pick(2));
        break;
    }
  }
}

}  // namespace attune::graph_fuzz
