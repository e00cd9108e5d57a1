// Networks of integers as importers make them from QDQ models, from TensorFlow Lite files and from
// dynamically quantized models.
#include "pattern_builder.h"
#include "patterns.h"
#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

// A scale. If scales are powers of two, ties in rounding are as likely as possible.
Value* Step(GraphMaker& maker, const Shape& shape = {}) {
  const bool exact = maker.OneIn(3);
  return maker.New(DType::kF32, shape, {.low = 0.015, .high = 0.06, .step = exact ? 0.015625 : 0}, 3);
}

Value* Zero(GraphMaker& maker, DType dtype) {
  if (maker.OneIn(3)) return nullptr;
  return maker.New(dtype, {},
                   {.low = dtype == DType::kI8 ? -20.0 : 90, .high = dtype == DType::kI8 ? 20.0 : 140}, 3);
}

Value* Quantize(GraphMaker& maker, Value* x, DType to) {
  if (x == nullptr) return nullptr;
  return maker.Add(Op::kQuantize, {x, Step(maker), Zero(maker, to)}, {{"to", to}});
}

Value* Dequantize(GraphMaker& maker, Value* x) {
  if (x == nullptr) return nullptr;
  return maker.Add(Op::kDequantize, {x, Step(maker), Zero(maker, x->type().dtype)});
}

DType ByteType(GraphMaker& maker) { return maker.OneOf({DType::kU8, DType::kI8}); }

Value* FloatMap(GraphMaker& maker) {
  return maker.New(DType::kF32, {1, maker.Channels(), 3 + maker.Pick(10), 3 + maker.Pick(10)}, 0);
}

// Takes a sum in i32 [N,C,…], adds a bias at random and scales the result back to bytes.
Value* Rescale(GraphMaker& maker, Value* sum) {
  if (sum == nullptr) return nullptr;
  const int64_t channels = PatternBuilder::ChannelsOf(sum);
  if (maker.OneIn(2)) {
    Value* bias = maker.New(DType::kI32, {channels, 1, 1}, {.low = -3000, .high = 3000}, 3);
    if (sum->type().rank() == 4) sum = maker.Add(Op::kAdd, {sum, bias});
  }
  if (sum == nullptr) return nullptr;
  const bool fixed_point = maker.OneIn(3);
  const Shape scales = maker.OneIn(2) ? Shape{channels} : Shape{};
  Value* scale = maker.New(fixed_point ? DType::kF64 : DType::kF32, scales, {.low = 0.0002, .high = 0.01}, 3);
  const DType to = ByteType(maker);
  return maker.Add(Op::kRequantize, {sum, scale, Zero(maker, to)},
                   {{"to", to}, {"rounding", std::string(fixed_point ? "fixed_point" : "half_even")}});
}

// A convolution of integers whose result is scaled back to bytes.
Value* IntegerLayer(GraphMaker& maker, Value* x) {
  Value* sum = AddConvInteger(maker, Op::kConvInteger);
  if (sum == nullptr) return nullptr;
  Value* out = Rescale(maker, sum);
  if (out != nullptr && maker.OneIn(3))
    return maker.Add(Op::kMaxPool, {out}, {{"kernel", Ints(static_cast<size_t>(out->type().rank() - 2), 2)}},
                     1);
  return out == nullptr ? x : out;
}

}  // namespace

void AddQuantizedChain(GraphMaker& maker) {
  Value* x = Quantize(maker, FloatMap(maker), ByteType(maker));
  for (int64_t layers = 1 + maker.Pick(3); x != nullptr && layers > 0; --layers) x = IntegerLayer(maker, x);
  if (maker.OneIn(2)) Dequantize(maker, x);
}

// An image with a few channels, whose neighbouring pixels are multiplied together.
void AddQuantizedFirstLayer(GraphMaker& maker) {
  PatternBuilder b(maker);
  const Shape shape = {maker.OneIn(4) ? 2 : 1, 1 + maker.Pick(4), 5 + maker.Pick(16), 5 + maker.Pick(16)};
  Value* x = maker.New(DType::kU8, shape, {.low = 0, .high = 255}, 0);
  const int64_t kernel = maker.OneOf<int64_t>({3, 3, 5, 7, 2}), stride = 1 + maker.Pick(2);
  const int64_t channels = maker.OneIn(2) ? 16 * (1 + maker.Pick(3)) : maker.Channels();
  Value* w = maker.New(DType::kI8, {channels, shape[1], kernel, kernel}, {.low = -128, .high = 127}, 3);
  Value* out = Rescale(
      maker, b.Add(Op::kConvInteger, {x, w}, {{"pads", Ints(4, kernel / 2)}, {"strides", Ints(2, stride)}}));
  if (maker.OneIn(2)) Dequantize(maker, out);
}

void AddQuantizedResidual(GraphMaker& maker) {
  PatternBuilder b(maker);
  const DType dtype = ByteType(maker);
  const Shape shape = {1, maker.Channels(), 2 + maker.Pick(8), 2 + maker.Pick(8)};
  Value* a = maker.Like(TensorType(dtype, shape));
  Value* c = maker.Like(TensorType(dtype, shape));
  Value* sum = b.Add(Op::kAdd, {Dequantize(maker, a), Dequantize(maker, c)});
  if (maker.OneIn(2)) sum = b.Add(Op::kRelu, {sum});
  Quantize(maker, sum, dtype);
}

// Each layer stands between quantizations and dequantizations, its weights too.
void AddFakeQuantizedConv(GraphMaker& maker) {
  PatternBuilder b(maker);
  Value* x = Dequantize(maker, Quantize(maker, FloatMap(maker), ByteType(maker)));
  for (int64_t layers = 1 + maker.Pick(2); x != nullptr && layers > 0; --layers) {
    const int64_t inputs = PatternBuilder::ChannelsOf(x), outputs = maker.Channels();
    const bool depthwise = maker.OneIn(3);
    const int64_t kernel = maker.OneOf<int64_t>({1, 3});
    Value* w = maker.New(DType::kI8, {depthwise ? inputs : outputs, depthwise ? 1 : inputs, kernel, kernel},
                         {.low = -127, .high = 127}, 3);
    Attributes along;
    Shape scales;
    if (maker.OneIn(2)) along.Set("axis", int64_t{0}), scales = {depthwise ? inputs : outputs};
    w = b.Add(Op::kDequantize, {w, Step(maker, scales)}, std::move(along));
    Attributes attrs = {{"pads", Ints(4, kernel / 2)}};
    if (depthwise) attrs.Set("group", inputs);
    Value* bias = maker.New(DType::kF32, {depthwise ? inputs : outputs}, 3);
    x = b.Add(Op::kConv, {x, w, bias}, std::move(attrs));
    if (maker.OneIn(2)) x = b.Activation(x);
    x = Dequantize(maker, Quantize(maker, x, ByteType(maker)));
  }
}

// Operators that move, select or bound elements, between floats that were bytes and become bytes again.
void AddMovedIntegers(GraphMaker& maker) {
  constexpr Op kOps[] = {Op::kReshape, Op::kTranspose, Op::kSlice,  Op::kConcat,      Op::kPad,
                         Op::kMaxPool, Op::kRelu,      Op::kGather, Op::kClip,        Op::kReduceMax,
                         Op::kResize,  Op::kBroadcast, Op::kWhere,  Op::kDepthToSpace};
  Value* bytes = maker.New(ByteType(maker), {1, maker.Channels(), 2 + maker.Pick(8), 2 + maker.Pick(8)}, 0);
  Value* x = Dequantize(maker, bytes);
  for (int64_t left = maker.random().Integer(1, 3); x != nullptr && left > 0; --left) {
    maker.Prefer(x);
    const Op op = kOps[maker.Pick(std::ssize(kOps))];
    x = FindRecipe(op)->add(maker, op);
    maker.Prefer(nullptr);
  }
  if (x != nullptr && IsFloat(x->type().dtype) && !maker.OneIn(4)) Quantize(maker, x, ByteType(maker));
}

// Sums and products in fixed point of one or two feature maps of bytes, with the semantics of TensorFlow
// Lite.
void AddFixedPoint(GraphMaker& maker) {
  PatternBuilder b(maker);
  const DType dtype = ByteType(maker);
  const Shape shape = {1, 1 + maker.Pick(20), 1 + maker.Pick(6)};
  const auto requantized = [&](Value* sum, double scale, DType to) {
    Value* factor = maker.Constant(Tensor::Scalar(DType::kF64, scale));
    Value* zero = to == DType::kI32 ? nullptr : maker.New(to, {}, {.low = 0, .high = 20}, 3);
    if (sum == nullptr) return sum;
    return maker.Add(Op::kRequantize, {sum, factor, zero},
                     {{"to", to}, {"rounding", std::string("fixed_point")}});
  };
  const auto centered = [&] {
    Value* wide = b.Add(Op::kCast, {maker.Like(TensorType(dtype, shape))}, {{"to", DType::kI32}});
    return b.Add(Op::kSub, {wide, maker.New(DType::kI32, {}, {.low = -20, .high = 120}, 3)});
  };
  if (maker.OneIn(2)) {
    constexpr int kPlaces = 20;
    const auto term = [&] {
      Value* raised =
          b.Add(Op::kMul, {centered(), maker.Constant(Tensor::Scalar(DType::kI32, 1 << kPlaces))});
      return requantized(raised, 0.1 + 0.8 * maker.random().Uniform(), DType::kI32);
    };
    Value* first = term();
    Value* sum = b.Add(maker.OneOf({Op::kAdd, Op::kSub}), {first, term()});
    requantized(sum, (0.5 + maker.random().Uniform()) / (1 << kPlaces), dtype);
  } else {
    Value* first = centered();
    Value* other =
        maker.OneIn(2) ? maker.New(DType::kI32, {shape[1], 1}, {.low = -127, .high = 127}, 3) : centered();
    requantized(b.Add(Op::kMul, {first, other}), 0.002 + 0.01 * maker.random().Uniform(), dtype);
  }
}

// Scale and zero point come from the range of the data, so they are known only at run time.
void AddDynamicQuantization(GraphMaker& maker) {
  PatternBuilder b(maker);
  const bool is_map = maker.OneIn(3);
  Value* x = is_map ? FloatMap(maker) : b.Sequence();
  if (x->type().dtype != DType::kF32) return;
  Ints all = {0, 1, 2};
  if (is_map) all.push_back(3);
  Value* low = b.Add(Op::kMin,
                     {b.Add(Op::kReduceMin, {x}, {{"axes", all}, {"keepdims", int64_t{0}}}), b.Scalar(x, 0)});
  Value* high = b.Add(
      Op::kMax, {b.Add(Op::kReduceMax, {x}, {{"axes", all}, {"keepdims", int64_t{0}}}), b.Scalar(x, 0.1)});
  Value* scale = b.Add(Op::kDiv, {b.Add(Op::kSub, {high, low}), b.Scalar(x, 255)});
  Value* zero = b.Add(Op::kRound, {b.Add(Op::kDiv, {b.Add(Op::kNeg, {low}), scale})});
  zero = b.Add(Op::kCast, {zero}, {{"to", DType::kU8}});
  Value* bytes = b.Add(Op::kQuantize, {x, scale, zero}, {{"to", DType::kU8}});
  if (bytes == nullptr) return;
  const int64_t outputs = maker.Channels(), kernel = maker.OneOf<int64_t>({1, 3});
  const DType dtype = ByteType(maker);
  const Shape shape = is_map ? Shape{outputs, PatternBuilder::ChannelsOf(x), kernel, kernel}
                             : Shape{x->type().dims[2].size, outputs};
  const Range range = {.low = dtype == DType::kI8 ? -128.0 : 0, .high = dtype == DType::kI8 ? 127.0 : 255};
  Value* w = maker.New(dtype, shape, range, maker.OneIn(4) ? 1 : 3);
  Value* w_zero = nullptr;
  if (maker.OneIn(2))
    w_zero = maker.New(dtype, maker.OneIn(2) ? Shape{} : Shape{outputs}, range, maker.OneIn(4) ? 1 : 3);
  Attributes attrs;
  if (is_map) attrs.Set("pads", Ints(4, kernel / 2));
  Value* sum =
      maker.Add(is_map ? Op::kConvInteger : Op::kMatMulInteger, {bytes, w, zero, w_zero}, std::move(attrs));
  if (sum == nullptr) return;
  Value* product = b.Add(Op::kCast, {sum}, {{"to", DType::kF32}});
  Value* factor = is_map ? b.PerChannel(product) : b.PerColumn(product);
  product = b.Add(Op::kMul, {product, b.Add(Op::kMul, {scale, factor})});
  b.Add(Op::kAdd, {product, is_map ? b.PerChannel(product) : b.PerColumn(product)});
}

}  // namespace attune::graph_fuzz
