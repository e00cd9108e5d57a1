#include "import/common/emitter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "absl/strings/str_join.h"
#include "graph/index_bounds.h"
#include "graph/infer.h"
#include "import/common/names.h"

namespace attune::importing {
namespace {

// The code of a kernel grows with the number of parts it joins, hence the limit.
constexpr size_t kMaxParts = 256;

// `value` as contiguous elements of `from` along an axis, beginning at `start`: either a slice, or the
// whole tensor.
struct Part {
  Value* from;
  int64_t start;
};
Part PartOf(Value* value, int64_t axis) {
  const Part whole{value, 0};
  const Node* slice = value->producer();
  if (slice == nullptr || slice->op() != Op::kSlice) return whole;
  const Ints& starts = slice->attrs().IntList("starts");
  const Ints& steps = slice->attrs().IntList("steps");
  const std::vector<Dim>& from = slice->input(0)->type().dims;
  for (int64_t i = 0; i < value->type().rank(); ++i) {
    if (steps[i] != 1 || (i != axis && value->type().dims[i] != from[i])) return whole;
  }
  return {slice->input(0), starts[axis]};
}

}  // namespace

void Budget::SpendNodes(int64_t count) {
  nodes -= count;
  made += count;
  // Not Cancelled, which has another meaning as an ImportFailure.
  const absl::Status status = control.Continue("importing", made);
  if (!status.ok()) throw ImportFailure{absl::AbortedError(status.message())};
  if (nodes >= 0) return;
  throw ImportFailure{
      absl::ResourceExhaustedError("the model unrolls to too many operators (loops and calls multiply)")};
}

void Budget::SpendNamed(size_t name_bytes) {
  SpendNodes(1 + static_cast<int64_t>(name_bytes / kMaxNameLength));
}

void Budget::SpendBytes(int64_t count) {
  bytes -= count;
  if (bytes >= 0) return;
  throw ImportFailure{absl::ResourceExhaustedError("the model asks for tables that are too large")};
}

Node* Emitter::EmitNode(Op op, std::vector<Value*> inputs, Attributes attrs, int num_outputs,
                        std::vector<std::unique_ptr<Graph>> regions) {
  budget_->SpendNodes();
  absl::StatusOr<Node*> node =
      graph_->Add(op, inputs, std::move(attrs), name_, nullptr, std::move(regions), num_outputs);
  if (!node.ok()) throw ImportFailure{AsFailureOf(inputs, std::move(node).status())};
  return *node;
}

Value* Emitter::Constant(Tensor data) {
  budget_->SpendNodes();
  OrThrow(CheckType(TensorType(data.dtype(), data.shape())));
  return graph_->AddConstant(std::move(data));
}

Value* Emitter::NewConstant(Tensor data) {
  budget_->SpendBytes(data.num_bytes());
  return Constant(std::move(data));
}

Tensor Emitter::NewTable(DType dtype, const Shape& shape) {
  budget_->SpendBytes(Multiply(Product(shape), DTypeSize(dtype)));
  return OrThrow(Tensor::Allocate(dtype, shape));
}

Value* Emitter::Count(DType dtype, int64_t count) {
  constexpr int64_t kMaxStored = 4096;
  if (count < 0) Invalid("a count of ", count);
  if (count <= kMaxStored) return Cast(IntVector(Iota(count)), dtype);
  Value* ones = Filled(DType::kI64, 1, {count});
  return Cast(Emit(Op::kCumSum, {ones}, {{"axis", int64_t{0}}, {"exclusive", int64_t{1}}}), dtype);
}

// Division truncates, which is one too many where there is a remainder and the signs differ.
Value* Emitter::FloorDiv(Value* a, Value* b) {
  Value* quotient = Div(a, b);
  if (IsUnsignedInt(a->type().dtype)) return quotient;
  const auto is_negative = [this](Value* x) { return Emit(Op::kLess, {x, ScalarLike(x, 0)}); };
  Value* rest = Emit(Op::kMod, {a, b}, {{"truncate", int64_t{1}}});  // of the sign of a
  Value* is_exact = Emit(Op::kEqual, {rest, ScalarLike(rest, 0)});
  Value* differ = Emit(Op::kXor, {is_negative(rest), is_negative(b)});
  Value* excess = Emit(Op::kAnd, {Emit(Op::kNot, {is_exact}), differ});
  return Sub(quotient, Cast(excess, quotient->type().dtype));
}

Value* Emitter::Cast(Value* x, DType to) {
  return x->type().dtype == to ? x : Emit(Op::kCast, {x}, {{"to", to}});
}

Value* Emitter::Clip(Value* x, const ExactNumber& min, const ExactNumber& max) {
  Attributes attrs;
  if (!std::isinf(min.ToDouble())) attrs.Set("min", min);
  if (!std::isinf(max.ToDouble())) attrs.Set("max", max);
  return attrs.empty() ? x : Emit(Op::kClip, {x}, std::move(attrs));
}

Value* Emitter::Reshape(Value* x, const Shape& shape) {
  if (x->type().is_static() && x->type().shape() == shape) return x;
  return Emit(Op::kReshape, {x}, {{"shape", shape}});
}

Value* Emitter::Transpose(Value* x, const Ints& perm) {
  return perm == Iota(x->type().rank()) ? x : Emit(Op::kTranspose, {x}, {{"perm", perm}});
}

Value* Emitter::Broadcast(Value* x, const Shape& shape) {
  if (x->type().is_static() && x->type().shape() == shape) return x;
  return Emit(Op::kBroadcast, {x}, {{"shape", shape}});
}

Value* Emitter::Slice(Value* x, Ints starts, Ints sizes, Ints steps) {
  if (x->type().is_static() && x->type().shape() == sizes &&
      std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 1; })) {
    return x;
  }
  return Emit(Op::kSlice, {x},
              {{"starts", std::move(starts)}, {"sizes", std::move(sizes)}, {"steps", std::move(steps)}});
}

Value* Emitter::SliceAxis(Value* x, int64_t axis, int64_t start, int64_t size, int64_t step) {
  Ints sizes = x->type().shape();  // bounds stand for the whole of a dynamic axis
  Ints starts(sizes.size(), 0);
  Ints steps(sizes.size(), 1);
  axis = Axis(axis, x->type().rank());
  starts[axis] = start;
  sizes[axis] = size;
  steps[axis] = step;
  return Slice(x, std::move(starts), std::move(sizes), std::move(steps));
}

Value* Emitter::Concat(const std::vector<Value*>& values, int64_t axis) {
  if (values.size() == 1) return values[0];
  if (values.empty()) Invalid("concatenates nothing");
  axis = Axis(axis, values[0]->type().rank());
  if (values.size() <= kMaxParts) return Emit(Op::kConcat, values, {{"axis", axis}});
  if (Value* gathered = GatherParts(values, axis)) return gathered;
  std::vector<Value*> joined;
  for (auto begin = values.begin(); begin != values.end();) {
    const auto end = begin + std::min<std::ptrdiff_t>(kMaxParts, values.end() - begin);
    joined.push_back(Concat({begin, end}, axis));
    begin = end;
  }
  return Concat(joined, axis);
}

Value* Emitter::GatherParts(const std::vector<Value*>& values, int64_t axis) {
  constexpr size_t kMaxIndices = 1 << 16;
  Value* from = PartOf(values[0], axis).from;
  if (from == nullptr || !from->type().is_static()) return nullptr;
  Ints indices;
  for (Value* value : values) {
    const Part part = PartOf(value, axis);
    if (part.from != from || !value->type().is_static()) return nullptr;
    const int64_t size = value->type().dims[axis].size;
    if (static_cast<size_t>(size) > kMaxIndices - indices.size()) return nullptr;
    for (int64_t i = 0; i < size; ++i) indices.push_back(part.start + i);
  }
  return Gather(from, IntVector(indices), axis);
}

Value* Emitter::Pad(Value* x, Ints pads, const ExactNumber& value) {
  if (std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; })) return x;
  return Emit(Op::kPad, {x},
              {{"pads", std::move(pads)}, {"mode", std::string("constant")}, {"value", value}});
}

Value* Emitter::PadSymmetric(Value* x, const Ints& pads) {
  const int64_t rank = x->type().rank();
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t size = DimOf(x, axis);
    const int64_t begin = pads[axis];
    const int64_t end = pads[axis + rank];
    if (begin > size || end > size) Invalid("it mirrors ", std::max(begin, end), " of ", size, " elements");
    std::vector<Value*> parts;
    if (begin > 0) parts.push_back(SliceAxis(x, axis, begin - 1, begin, -1));
    parts.push_back(x);
    if (end > 0) parts.push_back(SliceAxis(x, axis, size - 1, end, -1));
    x = Concat(parts, axis);
  }
  return x;
}

Value* Emitter::Squeeze(Value* x, const Ints& axes) {
  const Shape shape = x->type().shape();  // bounds are sufficient
  const Ints removed = Axes(axes, x->type().rank());
  Shape kept;
  for (int64_t i = 0; i < x->type().rank(); ++i) {
    if (!std::binary_search(removed.begin(), removed.end(), i)) {
      kept.push_back(shape[i]);
    } else if (!x->type().dims[i].is_constant()) {
      Unsupported("whether axis ", i, " of ", ToString(x->type()), " is 1 depends on data");
    } else if (shape[i] != 1) {
      Invalid("squeezes axis ", i, " of ", ToString(x->type()), ", which is not 1");
    }
  }
  return Reshape(x, kept);
}

Value* Emitter::Unsqueeze(Value* x, const Ints& axes) {
  const Shape shape = x->type().shape();  // bounds are sufficient
  const int64_t rank = x->type().rank() + static_cast<int64_t>(axes.size());
  const Ints added = Axes(axes, rank);
  if (added.size() != axes.size()) Invalid("unsqueezes an axis twice");
  Shape out;
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    out.push_back(std::binary_search(added.begin(), added.end(), i) ? 1 : shape[next++]);
  }
  return Reshape(x, out);
}

Value* Emitter::Gather(Value* x, Value* indices, int64_t axis) {
  return Emit(Op::kGather, {x, indices}, {{"axis", Axis(axis, x->type().rank())}});
}

Value* Emitter::CheckedIndices(Value* indices, const Ints& sizes, std::string reader) {
  const DType dtype = indices->type().dtype;
  const bool are_indices = (dtype == DType::kI32 || dtype == DType::kI64) && !sizes.empty();
  if (!are_indices) return indices;  // the reader says what is wrong with them
  const Tensor* constant = indices->constant();
  if (constant != nullptr && !FindIndexFault(*constant, {sizes, /*negative=*/false}).has_value())
    return indices;
  return Emit(Op::kCheckIndex, {indices},
              {{"sizes", sizes}, {"negative", int64_t{0}}, {"reader", std::move(reader)}});
}

Value* Emitter::NonNegative(Value* indices, const Ints& sizes, std::string_view reader) {
  return CheckedIndices(indices, sizes, IndexReader(reader, name_));
}

Value* Emitter::NonNegative(Value* indices, const Value* x, int64_t first, int64_t count,
                            std::string_view reader) {
  Ints sizes;
  for (int64_t i = 0; i < count; ++i) sizes.push_back(DimOf(x, first + i));
  return NonNegative(indices, sizes, reader);
}

Value* Emitter::LengthsUpTo(Value* lengths, int64_t most, std::string_view reader) {
  return CheckedIndices(lengths, {most + 1}, LengthReader(reader, name_, most));
}

Value* Emitter::TransposeStored(Value* x, const Ints& perm) {
  const Tensor* data = x->constant();
  if (data == nullptr || perm == Iota(x->type().rank())) return Transpose(x, perm);
  budget_->SpendBytes(data->num_bytes());
  return Constant(Permuted(*data, perm));
}

std::vector<Value*> Emitter::Split(Value* x, int64_t axis, const Ints& sizes) {
  const int64_t dim = DimOf(x, axis);
  std::vector<Value*> parts;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > dim - start) Invalid("its parts exceed the ", dim, " elements along axis ", axis);
    parts.push_back(SliceAxis(x, axis, start, size));
    start += size;
  }
  if (start != dim) Invalid("its parts are ", start, " elements together, axis ", axis, " has ", dim);
  return parts;
}

// [a, b] as [1, a, 1, b], broadcast to [ra, a, rb, b] and flattened.
Value* Emitter::Tile(Value* x, const Ints& repeats) {
  const Shape shape = ShapeOf(x);
  Shape apart, repeated, tiled;
  for (size_t i = 0; i < shape.size(); ++i) {
    apart.insert(apart.end(), {1, shape[i]});
    repeated.insert(repeated.end(), {CheckedSize(repeats[i], "number of repetitions"), shape[i]});
    tiled.push_back(Multiply(repeats[i], shape[i]));
  }
  return tiled == shape ? x : Reshape(Broadcast(Reshape(x, apart), repeated), tiled);
}

Value* Emitter::ReshapeStored(Value* x, const Shape& shape) {
  const Tensor* data = x->constant();
  if (data == nullptr || Product(shape) != data->num_elements()) return Reshape(x, shape);
  return data->shape() == shape ? x : Constant(data->Reshaped(shape));
}

Value* Emitter::Reduce(Op op, Value* x, Ints axes, bool keepdims) {
  return Emit(op, {x}, {{"axes", Axes(std::move(axes), x->type().rank())}, {"keepdims", int64_t{keepdims}}});
}

Value* Emitter::MatMul(Value* a, Value* b, bool transpose_a, bool transpose_b) {
  return Emit(Op::kMatMul, {a, b},
              {{"transpose_a", int64_t{transpose_a}}, {"transpose_b", int64_t{transpose_b}}});
}

Value* Emitter::PerChannel(Value* x, int rank) {
  if (x->type().rank() != 1) Invalid("a value per channel has rank 1, not ", ToString(x->type()));
  Shape shape(std::max(rank - 1, 1), 1);
  shape[0] = DimOf(x, 0);
  return Reshape(x, shape);
}

Shape Emitter::ShapeOf(const Value* x) const {
  if (!x->type().is_static()) Unsupported("a shape that depends on data (", ToString(x->type()), ")");
  return x->type().shape();
}

int64_t Emitter::DimOf(const Value* x, int64_t axis) const {
  const Dim& dim = x->type().dims[Axis(axis, x->type().rank())];
  if (!dim.is_constant()) Unsupported("a dimension that depends on data (", ToString(x->type()), ")");
  return dim.size;
}

int64_t Emitter::Axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) Invalid("axis ", axis, " of a tensor of rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

Ints Emitter::DistinctAxes(Ints axes, int64_t rank) {
  for (int64_t& axis : axes) axis = Axis(axis, rank);
  if (Axes(axes, rank).size() != axes.size()) Invalid("an axis is given twice: ", absl::StrJoin(axes, ", "));
  return axes;
}

Ints Emitter::Axes(Ints axes, int64_t rank) {
  for (int64_t& axis : axes) axis = Axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

Tensor Permuted(const Tensor& x, const Ints& perm) {
  const size_t rank = perm.size();
  Ints strides(rank, 1);  // in elements of x
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * x.shape()[i];
  Shape shape(rank);
  Ints steps(rank);  // from one element of the result to the next along its axis
  for (size_t i = 0; i < rank; ++i) {
    shape[i] = x.shape()[perm[i]];
    steps[i] = strides[perm[i]];
  }
  Tensor result(x.dtype(), shape);
  const int64_t size = DTypeSize(x.dtype());
  Ints index(rank, 0);
  int64_t from = 0;
  for (int64_t to = 0; to < result.num_elements(); ++to) {
    std::memcpy(result.mutable_data() + to * size, x.data() + from * size, size);
    for (size_t i = rank; i-- > 0;) {
      from += steps[i];
      if (++index[i] < shape[i]) break;
      from -= steps[i] * shape[i];
      index[i] = 0;
    }
  }
  return result;
}

}  // namespace attune::importing
