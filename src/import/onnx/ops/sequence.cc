// Sequences: lists of tensors that only exist during import. Their length, and the positions to read and
// write, must be known.
#include <algorithm>

#include "base/checked.h"
#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

using Sequence = std::vector<Value*>;

constexpr int64_t kMaxParts = 4096;

const Sequence& SequenceIn(OpContext& c, int i) {
  if (!c.HasInput(i)) Invalid("its input ", i, " is missing");
  const Binding& binding = c.BindingOf(i);
  if (!binding.sequence) Invalid("its input ", i, " is not a sequence");
  return *binding.sequence;
}

Binding Make(Sequence sequence) {
  Binding binding;
  binding.sequence = std::move(sequence);
  return binding;
}

// A position in [0, limit]; negative ones count from the end.
int64_t Position(OpContext& c, int input, int64_t limit) {
  const Ints values = c.KnownInts(c.In(input), "position");
  if (values.size() != 1) Invalid("its position must be a single number");
  const int64_t position = values[0] < 0 ? values[0] + limit : values[0];
  if (position < 0 || position > limit) Invalid("its position ", values[0], " is outside the sequence");
  return position;
}

}  // namespace

Outputs SequenceEmpty(OpContext&) { return {Make({})}; }
Outputs SequenceConstruct(OpContext& c) { return {Make(c.AllIn())}; }

Outputs SequenceInsert(OpContext& c) {
  Sequence sequence = SequenceIn(c, 0);
  const int64_t size = static_cast<int64_t>(sequence.size());
  sequence.insert(sequence.begin() + (c.HasInput(2) ? Position(c, 2, size) : size), c.In(1));
  return {Make(std::move(sequence))};
}

Outputs SequenceErase(OpContext& c) {
  Sequence sequence = SequenceIn(c, 0);
  const int64_t size = static_cast<int64_t>(sequence.size());
  if (size == 0) Invalid("its sequence is empty");
  const int64_t position = c.HasInput(1) ? Position(c, 1, size) : size - 1;
  if (position == size) Invalid("its position ", position, " is outside the sequence");
  sequence.erase(sequence.begin() + position);
  return {Make(std::move(sequence))};
}

Outputs SequenceAt(OpContext& c) {
  const Sequence& sequence = SequenceIn(c, 0);
  const int64_t size = static_cast<int64_t>(sequence.size());
  const int64_t position = Position(c, 1, size);
  if (position == size) Invalid("its position ", position, " is outside the sequence");
  return {sequence[position]};
}

Outputs SequenceLength(OpContext& c) { return {c.Integer(static_cast<int64_t>(SequenceIn(c, 0).size()))}; }

Outputs ConcatFromSequence(OpContext& c) {
  Sequence values = SequenceIn(c, 0);
  if (values.empty()) Invalid("its sequence is empty");
  const bool new_axis = c.Bool("new_axis");
  const int64_t axis = Emitter::Axis(c.Int("axis"), values[0]->type().rank() + (new_axis ? 1 : 0));
  if (new_axis) {
    for (Value*& value : values) value = c.Unsqueeze(value, {axis});
  }
  return {c.Concat(values, axis)};
}

Outputs SplitToSequence(OpContext& c) {
  Value* x = c.In(0);
  const int64_t axis = Emitter::Axis(c.Int("axis", 0), c.InRank(0));
  const int64_t dim = c.DimOf(x, axis);
  const auto check_count = [](int64_t parts) {
    if (parts > kMaxParts) Unsupported("a sequence of ", parts, " parts");
    return parts;
  };
  Ints sizes;
  bool keep = c.Bool("keepdims", true);
  if (c.HasInput(1)) {
    keep = true;
    const Ints split = c.KnownInts(c.In(1), "split");
    if (c.InRank(1) == 1) {
      sizes = split;
    } else {
      if (split.empty() || split[0] < 1) Invalid("the size of its parts is not positive");
      sizes.assign(check_count(CeilDiv(dim, std::min(split[0], std::max<int64_t>(dim, 1)))), split[0]);
      if (!sizes.empty()) sizes.back() = dim - split[0] * (static_cast<int64_t>(sizes.size()) - 1);
    }
  }
  if (!c.HasInput(1)) sizes.assign(check_count(dim), 1);
  Sequence parts;
  int64_t start = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > dim - start) Invalid("its parts exceed the ", dim, " elements along axis ", axis);
    Value* part = c.SliceAxis(x, axis, start, size);
    parts.push_back(keep ? part : c.Squeeze(part, {axis}));
    start += size;
  }
  return {Make(std::move(parts))};
}

// An optional value is either present, or an absent input; import always knows which.
Outputs Optional(OpContext& c) {
  if (c.num_inputs() == 0) Unsupported("an optional value that is empty");
  return {c.BindingOf(0)};
}

Outputs OptionalHasElement(OpContext& c) { return {c.Scalar(DType::kBool, c.HasInput(0))}; }

Outputs OptionalGetElement(OpContext& c) {
  if (!c.HasInput(0)) Invalid("its optional value is empty");
  return {c.BindingOf(0)};
}

// Applies the body to each element of the first sequence; other inputs are passed whole, or element by
// element.
Outputs SequenceMap(OpContext& c) {
  const GraphProto& body = c.Subgraph("body");
  std::vector<Sequence> results(body.output_size());
  for (size_t i = 0; i < SequenceIn(c, 0).size(); ++i) {
    std::vector<Binding> inputs;
    for (int j = 0; j < c.num_inputs(); ++j) {
      const Binding& input = c.BindingOf(j);
      if (input.sequence && input.sequence->size() <= i) Invalid("its sequences differ in length");
      inputs.push_back(input.sequence ? Binding((*input.sequence)[i]) : input);
    }
    const std::vector<Binding> outputs = c.Inline(body, inputs);
    for (size_t j = 0; j < outputs.size(); ++j) results[j].push_back(outputs[j].value);
  }
  Outputs outputs;
  for (Sequence& result : results) outputs.push_back(Make(std::move(result)));
  return outputs;
}

}  // namespace attune::onnx
