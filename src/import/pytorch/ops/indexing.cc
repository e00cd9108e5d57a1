// Reads and writes at positions that depend on data.
#include <algorithm>
#include <iterator>

#include "graph/infer.h"
#include "import/common/listed_operator.h"
#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {
namespace {

// The tensors of advanced indexing: one for each indexed axis, all with the same shape.
struct Indices {
  Ints axes;
  Value* stacked = nullptr;  // [..., number of axes]
  Shape shape;               // without the last axis
  bool adjacent = true;      // whether the axes are adjacent
};

Value* IndexValue(Value* value) {
  const DType dtype = value->type().dtype;
  if (dtype == DType::kBool || dtype == DType::kU8) {
    Unsupported("an index of ", DTypeName(dtype), ": how much it chooses depends on the data");
  }
  return value;
}

Indices ReadIndices(OpContext& c) {
  Indices result;
  const std::vector<Value*> given = c.List("indices");
  std::vector<Value*> values;
  std::vector<Dim> dims;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] == nullptr) continue;
    result.axes.push_back(static_cast<int64_t>(i));
    values.push_back(c.Cast(IndexValue(given[i]), DType::kI64));
    dims = OrThrow(BroadcastDims(dims, given[i]->type().dims));
  }
  if (values.empty()) Invalid("it has no indices");
  if (static_cast<int64_t>(given.size()) > c.InRank("self")) Invalid("it has more indices than axes");
  for (const Dim& dim : dims) result.shape.push_back(dim.size);
  for (Value*& value : values) value = c.Unsqueeze(c.Broadcast(value, result.shape), {-1});
  result.stacked = c.Concat(values, -1);
  for (size_t i = 1; i < result.axes.size(); ++i) result.adjacent &= result.axes[i] == result.axes[i - 1] + 1;
  return result;
}

// A permutation that puts `axes` first and keeps the order of the others.
Ints WithFirst(const Ints& axes, int64_t rank) {
  Ints perm = axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) perm.push_back(i);
  }
  return perm;
}

// The part of `x` that has the sizes of the index along all axes except `kept_axis`.
Value* LikeIndex(OpContext& c, Value* x, const Shape& index, int64_t kept_axis) {
  Shape sizes = c.ShapeOf(x);
  if (sizes.size() != index.size()) Invalid("its index and ", ToString(x->type()), " differ in rank");
  for (int64_t i = 0; i < std::ssize(sizes); ++i) {
    if (i == kept_axis) continue;
    if (index[i] > sizes[i]) Invalid("its index is larger than ", ToString(x->type()), " along axis ", i);
    sizes[i] = index[i];
  }
  return c.Slice(x, Ints(sizes.size(), 0), sizes, Ints(sizes.size(), 1));
}

Value* TrianglePart(OpContext& c, bool lower) {
  Value* x = c.In("self");
  const Shape shape = c.ShapeOf(x);
  if (shape.size() < 2) Invalid("it takes a matrix, not ", ToString(x->type()));
  const int64_t rows = shape[shape.size() - 2];
  const int64_t diagonal = std::clamp<int64_t>(c.Int("diagonal", 0), -(int64_t{1} << 40), int64_t{1} << 40);
  Value* row = c.Reshape(c.Add(c.Count(DType::kI64, rows), c.Integer(diagonal)), {rows, 1});
  Value* column = c.Count(DType::kI64, shape.back());
  Value* kept = c.Emit(lower ? Op::kLessEqual : Op::kGreaterEqual, {column, row});
  return c.Where(kept, x, c.ScalarLike(x, 0));
}

}  // namespace

Outputs Embedding(OpContext& c) {
  Value* weight = c.In("weight");
  return {c.Gather(weight, c.NonNegative(IndexValue(c.In("indices")), weight, 0, 1, "gather"), 0)};
}

Outputs IndexSelect(OpContext& c) {
  Value* index = IndexValue(c.In("index"));
  if (index->type().rank() == 0) index = c.Unsqueeze(index, {0});
  Value* x = c.In("self");
  return {c.Gather(x, c.NonNegative(index, x, c.Int("dim"), 1, "gather"), c.Int("dim"))};
}

Outputs Gather(OpContext& c) {
  Value* x = c.In("self");
  Value* index = IndexValue(c.In("index"));
  const int64_t axis = Emitter::Axis(c.Int("dim"), x->type().rank());
  x = LikeIndex(c, x, c.ShapeOf(index), axis);
  index = c.NonNegative(index, x, axis, 1, "gather_elements");
  return {c.Emit(Op::kGatherElements, {x, index}, {{"axis", axis}})};
}

// x[:, i, j]: the axes of the indices replace the indexed axes, if these are adjacent; otherwise they come
// first.
Outputs Index(OpContext& c) {
  Value* x = c.In("self");
  const int64_t rank = x->type().rank();
  const Indices indices = ReadIndices(c);
  const int64_t count = static_cast<int64_t>(indices.axes.size());
  if (count == 1) {
    return {c.Gather(x, c.Squeeze(indices.stacked, {-1}), indices.axes[0])};
  }
  Value* y = c.Emit(Op::kGatherNd, {c.Transpose(x, WithFirst(indices.axes, rank)), indices.stacked});
  const int64_t front = indices.adjacent ? indices.axes[0] : 0;
  const int64_t made = static_cast<int64_t>(indices.shape.size());
  Ints perm = Iota(front, made);
  for (int64_t i = 0; i < made; ++i) perm.push_back(i);
  for (int64_t i = made + front; i < made + rank - count; ++i) perm.push_back(i);
  return {c.Transpose(y, perm)};
}

Outputs IndexPut(OpContext& c) {
  Value* x = c.In("self");
  const Shape shape = c.ShapeOf(x);
  const Indices indices = ReadIndices(c);
  if (indices.axes != Iota(static_cast<int64_t>(indices.axes.size()))) {
    Unsupported("indices that leave out a leading axis");
  }
  Shape written = indices.shape;
  written.insert(written.end(), shape.begin() + std::ssize(indices.axes), shape.end());
  Value* values = c.Broadcast(c.Cast(c.In("values"), x->type().dtype), written);
  const std::string reduction = c.Bool("accumulate", false) ? "add" : "none";
  return {c.Emit(Op::kScatterNd, {x, indices.stacked, values}, {{"reduction", reduction}})};
}

Outputs Scatter(OpContext& c, const char* reduction) {
  Value* x = c.In("self");
  Value* index = IndexValue(c.In("index"));
  const int64_t axis = Emitter::Axis(c.Int("dim"), x->type().rank());
  const Shape shape = c.ShapeOf(index);
  index = c.NonNegative(index, x, axis, 1, "scatter_elements");
  if (c.Has("reduce")) Unsupported("a reduction");
  Value* source = nullptr;
  if (c.Has("value")) {
    source = c.Broadcast(c.As(c.Either("value"), x->type().dtype), shape);
  } else {
    source = LikeIndex(c, c.In("src"), shape, -1);
  }
  return {c.Emit(Op::kScatterElements, {x, index, source},
                 {{"axis", axis}, {"reduction", std::string(reduction)}})};
}

Outputs OneHot(OpContext& c) {
  Value* x = c.In("self");
  const int64_t classes = c.Int("num_classes", -1);
  if (classes < 0) Unsupported("a number of classes that depends on the data");
  x = c.NonNegative(x, {CheckedSize(classes, "number of classes")}, "one_hot");
  Value* classes_of = c.Count(x->type().dtype, classes);
  return {c.Cast(c.Emit(Op::kEqual, {c.Unsqueeze(x, {-1}), classes_of}), DType::kI64)};
}

Outputs LowerTriangle(OpContext& c) { return {TrianglePart(c, true)}; }
Outputs UpperTriangle(OpContext& c) { return {TrianglePart(c, false)}; }

Outputs DependsOnData(OpContext&) { Unsupported(kSizeDependsOnData); }

}  // namespace attune::pytorch
