// Operators that rearrange elements, whatever these represent.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "import/common/asked_shapes.h"
#include "import/tflite/ops/integers.h"
#include "import/tflite/ops/lowerings.h"
#include "import/tflite/tensors.h"

namespace attune::tflite {
namespace {

// Requantizes the integers of an input as joining does it: x ratio + offset, rounded in f32.
class Requantization {
 public:
  Requantization(OpContext& c, int input)
      : range_(RangeOf(c.InType(input))),
        zero_(c.InZero(input)),
        ratio_(static_cast<float>(c.InScale(input)) * (1 / static_cast<float>(c.OutScale()))),
        offset_(static_cast<float>(-zero_) * ratio_) {}

  int64_t operator()(int64_t x) const { return std::llround(static_cast<float>(x) * ratio_ + offset_); }

  double ratio() const { return static_cast<double>(ratio_); }
  // Whether (x - zero) ratio, which is computed with what makes x, rounds to the same for every integer, and
  // clearly so.
  bool IsScaling() const {
    constexpr double kClear = 1e-4;
    for (int64_t x = range_.min; x <= range_.max; ++x) {
      const double scaled = static_cast<double>(x - zero_) * ratio();
      const double to_tie = std::abs(std::abs(scaled - std::trunc(scaled)) - 0.5);
      if (to_tie < kClear || std::llround(scaled) != (*this)(x)) return false;
    }
    return true;
  }

 private:
  const IntegerRange range_;
  const int64_t zero_;
  const float ratio_, offset_;
};

// When joining inputs, requantizes one that does not have the quantization of the output.
Value* AsOutput(OpContext& c, int input) {
  if (!c.OutQuantized() || !c.InQuantized(input) ||
      OpContext::SameQuantization(c.InTensor(input), c.OutTensor())) {
    return c.Stored(input);
  }
  const Requantization requantization(c, input);
  if (!requantization.IsScaling()) return Lookup(c, input, requantization);
  Value* steps = c.Dequantize(c.Stored(input), requantization.ratio(), c.InZero(input));
  return c.Quantize(steps, 1, c.OutZero(), c.OutType());
}

// Converts rows [begin, end] for each axis to all begins, then all ends.
Ints ReadPads(OpContext& c) {
  const Ints pairs = c.KnownInts(1, "paddings");
  const size_t rank = static_cast<size_t>(c.InRank(0));
  if (c.InShape(1) != Shape{c.InRank(0), 2}) {
    Invalid("its paddings are ", ToString(c.Stored(1)->type()), " for rank ", rank);
  }
  Ints pads(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    pads[i] = CheckedSize(pairs[2 * i], "padding");
    pads[i + rank] = CheckedSize(pairs[2 * i + 1], "padding");
  }
  return pads;
}

}  // namespace

// The shape is the second input or, in old files, an option.
Outputs Reshape(OpContext& c) {
  Shape shape =
      c.HasInput(1) ? c.KnownInts(1, "shape") : ToInts(c.Options<schema::ReshapeOptions>().new_shape());
  // This is how old files write a scalar.
  if (!c.HasInput(1) && shape == Shape{0}) shape.clear();
  return {ReshapeToAsked(c, c.Stored(0), std::move(shape))};
}

Outputs Squeeze(OpContext& c) {
  const Ints axes = ToInts(c.Options<schema::SqueezeOptions>().squeeze_dims());
  return {axes.empty() ? SqueezeOnes(c, c.Stored(0)) : c.Squeeze(c.Stored(0), axes)};
}

Outputs ExpandDims(OpContext& c) { return {c.Unsqueeze(c.Stored(0), {c.KnownInt(1, "axis")})}; }

Outputs Transpose(OpContext& c) {
  Ints perm = c.KnownInts(1, "permutation");
  for (int64_t& axis : perm) axis = Emitter::Axis(axis, c.InRank(0));
  return {c.Transpose(c.Stored(0), perm)};
}

Outputs Concatenation(OpContext& c) {
  const auto& options = c.Options<schema::ConcatenationOptions>();
  std::vector<Value*> parts;
  for (int i = 0; i < c.num_inputs(); ++i) parts.push_back(AsOutput(c, i));
  return {c.Activate(c.Concat(parts, options.axis()), options.fused_activation_function())};
}

Outputs Pack(OpContext& c) {
  std::vector<Value*> parts = c.AllIn();
  const auto& options = c.Options<schema::PackOptions>();
  if (options.values_count() != c.num_inputs()) {
    Invalid("it packs ", options.values_count(), " tensors, but has ", c.num_inputs());
  }
  const int64_t axis = Emitter::Axis(options.axis(), parts[0]->type().rank() + 1);
  for (Value*& part : parts) part = c.Unsqueeze(part, {axis});
  return {c.Concat(parts, axis)};
}

Outputs Unpack(OpContext& c) {
  const auto& options = c.Options<schema::UnpackOptions>();
  const int64_t axis = Emitter::Axis(options.axis(), c.InRank(0));
  const int64_t count = c.DimOf(c.Stored(0), axis);
  if (count != c.num_outputs() || count != options.num()) {
    Invalid("it has ", c.num_outputs(), " outputs, states ", options.num(), ", for ", count, " elements");
  }
  Outputs outputs;
  for (int64_t i = 0; i < count; ++i) {
    outputs.push_back(c.Squeeze(c.SliceAxis(c.Stored(0), axis, i, 1), {axis}));
  }
  return outputs;
}

Outputs Tile(OpContext& c) {
  const Shape shape = c.InShape(0);
  const Ints repeats = c.KnownInts(1, "multiples");
  if (repeats.size() != shape.size())
    Invalid("it has ", repeats.size(), " multiples for rank ", shape.size());
  return {c.Tile(c.Stored(0), repeats)};
}

Outputs BroadcastTo(OpContext& c) { return {BroadcastToAsked(c, c.Stored(0), c.KnownInts(1, "shape"))}; }

// A quantized tensor is padded with the integer that represents zero. If the padding value is data, it
// replaces the elements outside a mask that is padded in the same way.
Outputs Pad(OpContext& c) {
  const Ints pads = ReadPads(c);
  Value* x = c.Stored(0);
  if (!c.HasInput(2)) return {c.Pad(x, pads, c.InQuantized(0) ? c.InZero(0) : 0)};
  if (const std::optional<Tensor> value = c.KnownConstant(c.Stored(2))) {
    if (value->num_elements() != 1) Invalid("its padding value must be a single number");
    return {c.Pad(x, pads, value->ToNumber(0))};
  }
  Value* inside = c.Pad(c.Filled(DType::kBool, 1, c.InShape(0)), pads);
  return {c.Where(inside, c.Pad(x, pads), c.Reshape(c.Stored(2), {}))};
}

Outputs MirrorPad(OpContext& c) {
  const Ints pads = ReadPads(c);
  Value* x = c.Stored(0);
  if (c.Options<schema::MirrorPadOptions>().mode() != schema::MirrorPadMode::REFLECT) {
    return {c.PadSymmetric(x, pads)};
  }
  return {c.Emit(Op::kPad, {x}, {{"pads", pads}, {"mode", std::string("reflect")}})};
}

Outputs Reverse(OpContext& c) {
  const Ints axes = Emitter::Axes(c.KnownInts(1, "axes"), c.InRank(0));
  const Shape shape = c.InShape(0);
  Ints starts(shape.size(), 0);
  Ints steps(shape.size(), 1);
  for (int64_t axis : axes) {
    starts[axis] = std::max<int64_t>(shape[axis] - 1, 0);
    steps[axis] = -1;
  }
  return {c.Slice(c.Stored(0), starts, shape, steps)};
}

Outputs ReverseSequence(OpContext& c) {
  const auto& options = c.Options<schema::ReverseSequenceOptions>();
  return {c.Emit(Op::kReverseSequence, {c.Stored(0), c.Stored(1)},
                 {{"batch_axis", Emitter::Axis(options.batch_dim(), c.InRank(0))},
                  {"time_axis", Emitter::Axis(options.seq_dim(), c.InRank(0))}})};
}

}  // namespace attune::tflite
