// Resizes images, and moves elements between space, depth and batch.
#include <algorithm>
#include <string>

#include "import/tflite/ops/integers.h"
#include "import/tflite/ops/lowerings.h"
#include "import/tflite/ops/window.h"

namespace attune::tflite {
namespace {

struct Resizing {
  std::string mode;
  bool align_corners;
  bool half_pixel_centers;
};

constexpr int64_t kUnit = 1 << 10;  // of positions in integers

// The rows and columns that the image gets.
Ints ResizedSizes(OpContext& c, const Resizing& r) {
  if (r.align_corners && r.half_pixel_centers) Invalid("it has both aligned corners and half-pixel centers");
  Ints target = c.KnownInts(1, "size");
  const Shape shape = c.InShape(0);
  if (target.size() != 2 || shape.size() != 4) {
    Invalid("it resizes rank ", shape.size(), " to ", target.size(), " sizes");
  }
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] < 1 || shape[i + 1] < 1)
      Invalid("it resizes ", shape[i + 1], " rows or columns to ", target[i]);
    CheckedSize(target[i], "size");
  }
  return target;
}

// Nearest positions are rounded up on a tie, unless they are truncated.
Value* Resize(OpContext& c, Value* x, const Resizing& r) {
  const Ints target = ResizedSizes(c, r);
  const Shape shape = c.InShape(0);
  const auto scale = [&](size_t i) {
    return static_cast<double>(target[i]) / static_cast<double>(shape[i + 1]);
  };
  const std::string coordinates = r.align_corners        ? "align_corners"
                                  : r.half_pixel_centers ? "half_pixel"
                                                         : "asymmetric";
  const bool cut_off = !r.align_corners && !r.half_pixel_centers;
  Value* y = c.Emit(Op::kResize, {ChannelsFirst(c, x)},
                    {{"sizes", Ints{shape[0], shape[3], target[0], target[1]}},
                     {"scales", Floats{1, 1, scale(0), scale(1)}},
                     {"mode", r.mode},
                     {"coordinate_mode", coordinates},
                     {"nearest_mode", std::string(cut_off ? "floor" : "round_prefer_ceil")}});
  return ChannelsLast(c, y);
}

// Where the rows (or columns) of a result lie in the input, in 1/1024: between row `first` and the next one,
// whose weight is `weight`.
struct Positions {
  Ints first, second, weight;
};

// As ResizeBilinearInteger does it in tensorflow/lite/kernels/internal/reference/resize_bilinear.h.
Positions PositionsOf(int64_t size, int64_t target, const Resizing& r) {
  int64_t step = (kUnit * size + target / 2) / target;
  if (r.align_corners && target > 1) step = (kUnit * (size - 1) + (target - 1) / 2) / (target - 1);
  Positions positions;
  for (int64_t i = 0; i < target; ++i) {
    const int64_t place = i * step + (r.half_pixel_centers ? step / 2 - kUnit / 2 : 0);
    const int64_t first = std::max<int64_t>(place / kUnit, 0);
    positions.first.push_back(std::min(first, size - 1));
    positions.second.push_back(std::min((place + kUnit - 1) / kUnit, size - 1));
    positions.weight.push_back(place - kUnit * first);
  }
  return positions;
}

// `x` between its neighbours along an axis, times 1024.
Value* Interpolated(OpContext& c, Value* x, int64_t axis, const Positions& at) {
  const auto rows = [&](const Ints& indices) { return c.Gather(x, c.IntVector(indices), axis); };
  Shape shape(static_cast<size_t>(x->type().rank()), 1);
  shape[static_cast<size_t>(axis)] = static_cast<int64_t>(at.weight.size());
  Ints rest;
  for (const int64_t weight : at.weight) rest.push_back(kUnit - weight);
  const auto weights = [&](const Ints& numbers) {
    return c.NewConstant(Tensor::FromInts(numbers, x->type().dtype).Reshaped(shape));
  };
  return c.Add(c.Mul(rows(at.first), weights(rest)), c.Mul(rows(at.second), weights(at.weight)));
}

Value* ResizeIntegers(OpContext& c, const Resizing& r) {
  const Ints target = ResizedSizes(c, r);
  const Shape shape = c.InShape(0);
  // Bytes with 20 binary places fit 32 bits.
  Value* x = c.Cast(c.Stored(0), c.InType(0) == DType::kI16 ? DType::kI64 : DType::kI32);
  for (int64_t axis = 1; axis <= 2; ++axis) {
    const auto i = static_cast<size_t>(axis);
    x = Interpolated(c, x, axis, PositionsOf(shape[i], target[i - 1], r));
  }
  // The constant is exact, and the quotient saturates.
  constexpr double kPlaces = 20;
  Value* wide = RoundedShift(c, x, c.Scalar(DType::kI64, kPlaces));
  return c.Cast(wide, c.OutType());
}

// The block sizes [m] for the spatial axes of a tensor [N, D1 … Dm, …].
Ints ReadBlock(OpContext& c) {
  const Ints block = c.KnownInts(1, "block shape");
  if (block.empty() || static_cast<int64_t>(block.size()) + 1 > c.InRank(0)) {
    Invalid("its block has ", block.size(), " axes, its input rank ", c.InRank(0));
  }
  for (int64_t size : block) CheckedSize(size, "block size", 1);
  return block;
}

Ints ReadPairs(OpContext& c, const Ints& block, const char* what) {
  const Ints pairs = c.KnownInts(2, what);
  if (pairs.size() != 2 * block.size())
    Invalid("it has ", pairs.size(), " ", what, " for ", block.size(), " axes");
  for (int64_t value : pairs) CheckedSize(value, what);
  return pairs;
}

int64_t CheckedBlock(int64_t size) { return CheckedSize(size, "block size", 1); }

}  // namespace

// Integers are interpolated as they are, since the scale stays the same, and rounded half away from zero: i8
// and i16 in fixed point, u8 as floats.
Outputs ResizeBilinear(OpContext& c) {
  const auto& options = c.Options<schema::ResizeBilinearOptions>();
  const Resizing r{"linear", options.align_corners(), options.half_pixel_centers()};
  if (!c.OutQuantized()) return {Resize(c, c.Real(0), r)};
  if (c.InType(0) != DType::kU8) return {ResizeIntegers(c, r)};
  return {c.Quantize(Resize(c, c.Cast(c.Stored(0), DType::kF32), r), 1, 0, c.OutType())};
}

Outputs ResizeNearest(OpContext& c) {
  const auto& options = c.Options<schema::ResizeNearestNeighborOptions>();
  return {Resize(c, c.Stored(0), {"nearest", options.align_corners(), options.half_pixel_centers()})};
}

Outputs DepthToSpace(OpContext& c) {
  if (c.InRank(0) != 4) Invalid("its input is not of rank 4");
  const int64_t block = CheckedBlock(c.Options<schema::DepthToSpaceOptions>().block_size());
  return {ChannelsLast(c, c.Emit(Op::kDepthToSpace, {ChannelsFirst(c, c.Stored(0))}, {{"block", block}}))};
}

Outputs SpaceToDepth(OpContext& c) {
  if (c.InRank(0) != 4) Invalid("its input is not of rank 4");
  const int64_t block = CheckedBlock(c.Options<schema::SpaceToDepthOptions>().block_size());
  return {ChannelsLast(c, c.Emit(Op::kSpaceToDepth, {ChannelsFirst(c, c.Stored(0))}, {{"block", block}}))};
}

// Pads [N, D1, …, R], reshapes to [N, D1/b1, b1, …, R], transposes to [b1, …, N, D1/b1, …, R].
Outputs SpaceToBatch(OpContext& c) {
  const Ints block = ReadBlock(c);
  const Ints pairs = ReadPairs(c, block, "paddings");
  const int64_t rank = c.InRank(0);
  const int64_t axes = static_cast<int64_t>(block.size());
  Ints pads(2 * rank, 0);
  for (int64_t i = 0; i < axes; ++i) {
    pads[i + 1] = pairs[2 * i];
    pads[i + 1 + rank] = pairs[2 * i + 1];
  }
  Value* x = c.Pad(c.Stored(0), pads, c.InQuantized(0) ? c.InZero(0) : 0);
  const Shape padded = c.ShapeOf(x);
  Shape apart = {padded[0]};
  Shape result = {Multiply(padded[0], Product(block))};
  Ints perm;
  for (int64_t i = 0; i < axes; ++i) {
    if (padded[i + 1] % block[i] != 0) Invalid("its blocks of ", block[i], " do not divide ", padded[i + 1]);
    apart.insert(apart.end(), {padded[i + 1] / block[i], block[i]});
    result.push_back(padded[i + 1] / block[i]);
    perm.push_back(2 * i + 2);
  }
  perm.push_back(0);
  for (int64_t i = 0; i < axes; ++i) perm.push_back(2 * i + 1);
  for (int64_t i = axes + 1; i < rank; ++i) {
    apart.push_back(padded[i]);
    result.push_back(padded[i]);
    perm.push_back(i + axes);
  }
  return {c.Reshape(c.Transpose(c.Reshape(x, apart), perm), result)};
}

// Reshapes [b1 … bm N, D1, …, R] to [b1, …, N, D1, …, R], transposes to [N, D1, b1, …, R], crops.
Outputs BatchToSpace(OpContext& c) {
  const Ints block = ReadBlock(c);
  const Ints crops = ReadPairs(c, block, "crops");
  const Shape shape = c.InShape(0);
  const int64_t rank = c.InRank(0);
  const int64_t axes = static_cast<int64_t>(block.size());
  const int64_t blocks = Product(block);
  if (blocks == 0 || shape[0] % blocks != 0)
    Invalid("its batch of ", shape[0], " has no ", blocks, " blocks");
  Shape apart(block.begin(), block.end());
  apart.push_back(shape[0] / blocks);
  apart.insert(apart.end(), shape.begin() + 1, shape.end());
  Ints perm = {axes};
  Shape whole = {shape[0] / blocks};
  Ints starts(rank, 0);
  for (int64_t i = 0; i < axes; ++i) {
    perm.insert(perm.end(), {axes + 1 + i, i});
    whole.push_back(Multiply(shape[i + 1], block[i]));
    starts[i + 1] = crops[2 * i];
  }
  for (int64_t i = axes + 1; i < rank; ++i) {
    perm.push_back(axes + i);
    whole.push_back(shape[i]);
  }
  Value* joined = c.Reshape(c.Transpose(c.Reshape(c.Stored(0), apart), perm), whole);
  Shape sizes = whole;
  for (int64_t i = 0; i < axes; ++i) {
    sizes[i + 1] -= crops[2 * i] + crops[2 * i + 1];
    if (sizes[i + 1] < 0) Invalid("it crops more than axis ", i + 1, " has");
  }
  return {c.Slice(joined, starts, sizes, Ints(rank, 1))};
}

}  // namespace attune::tflite
