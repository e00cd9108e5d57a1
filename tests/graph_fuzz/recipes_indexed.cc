#include <algorithm>

#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

Value* Indexable(GraphMaker& maker) {
  return maker.Any(
      [](const Value& v) {
        return v.type().rank() >= 1 && v.type().is_static() && v.type().num_elements() > 0;
      },
      [&] {
        return maker.New(maker.AnyType(), {1 + maker.Pick(6), 1 + maker.Pick(9), 1 + maker.Pick(20)}, 1);
      });
}

// `shape` with some axes cut shorter, and another extent along `axis`.
Shape Within(GraphMaker& maker, Shape shape, size_t axis, int64_t most) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d == axis) shape[d] = 1 + maker.Pick(most);
    if (d != axis && maker.OneIn(3)) shape[d] = 1 + maker.Pick(shape[d]);
  }
  return shape;
}

// Indices into the `tuple` axes of `shape` from `first` on, all in range: [..., tuple].
Value* Positions(GraphMaker& maker, const Shape& shape, size_t first, int64_t tuple, Shape batch) {
  int64_t limit = shape[first];
  for (int64_t i = 1; i < tuple; ++i) limit = std::min(limit, shape[first + static_cast<size_t>(i)]);
  batch.push_back(tuple);
  return maker.Indices(batch, limit);
}

std::string Reduction(GraphMaker& maker, DType dtype) {
  if (dtype == DType::kBool) return "none";
  return maker.OneOf<const char*>({"none", "add", "mul", "min", "max"});
}

// A scatter that only writes is well defined only if no index occurs twice: so a row of distinct indices.
Value* DistinctIndices(GraphMaker& maker, const Shape& shape, size_t axis, int64_t limit) {
  Tensor data(DType::kI64, shape);
  int64_t inner = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  const int64_t shift = maker.Pick(limit);
  for (int64_t i = 0; i < data.num_elements(); ++i) data.SetInt(i, (i / inner % shape[axis] + shift) % limit);
  return maker.Constant(std::move(data));
}

}  // namespace

Value* AddGather(GraphMaker& maker, Op op) {
  Value* x = Indexable(maker);
  const int64_t axis = maker.Pick(x->type().rank());
  const Shape shape =
      maker.OneIn(4) ? Shape{} : Shape(static_cast<size_t>(1 + maker.Pick(2)), 1 + maker.Pick(7));
  Value* indices = maker.Indices(shape, x->type().shape()[static_cast<size_t>(axis)]);
  return maker.Add(op, {x, indices}, {{"axis", axis}});
}

Value* AddGatherElements(GraphMaker& maker, Op op) {
  Value* x = Indexable(maker);
  const auto axis = static_cast<size_t>(maker.Pick(x->type().rank()));
  const Shape shape = x->type().shape();
  Value* indices = maker.Indices(Within(maker, shape, axis, 9), shape[axis]);
  return maker.Add(op, {x, indices}, {{"axis", static_cast<int64_t>(axis)}});
}

Value* AddGatherNd(GraphMaker& maker, Op op) {
  Value* x = Indexable(maker);
  const Shape shape = x->type().shape();
  const int64_t batch = maker.OneIn(3) ? maker.Pick(x->type().rank()) : 0;
  const int64_t tuple = 1 + maker.Pick(x->type().rank() - batch);
  Shape positions(shape.begin(), shape.begin() + batch);
  if (!maker.OneIn(4)) positions.push_back(1 + maker.Pick(6));
  Value* indices = Positions(maker, shape, static_cast<size_t>(batch), tuple, positions);
  return maker.Add(op, {x, indices}, {{"batch_dims", batch}});
}

Value* AddScatterElements(GraphMaker& maker, Op op) {
  Value* x = Indexable(maker);
  const auto axis = static_cast<size_t>(maker.Pick(x->type().rank()));
  const Shape shape = x->type().shape();
  const std::string reduction = Reduction(maker, x->type().dtype);
  Shape part = Within(maker, shape, axis, reduction == "none" ? shape[axis] : 9);
  Value* indices = reduction == "none" ? DistinctIndices(maker, part, axis, shape[axis])
                                       : maker.Indices(part, shape[axis]);
  Value* updates = maker.Like(TensorType(x->type().dtype, part));
  return maker.Add(op, {x, indices, updates},
                   {{"axis", static_cast<int64_t>(axis)}, {"reduction", reduction}});
}

Value* AddScatterNd(GraphMaker& maker, Op op) {
  Value* x = Indexable(maker);
  const Shape shape = x->type().shape();
  const std::string reduction = Reduction(maker, x->type().dtype);
  const int64_t tuple = reduction == "none" ? 1 : 1 + maker.Pick(x->type().rank());
  const int64_t count = 1 + maker.Pick(reduction == "none" ? shape[0] : 6);
  Value* indices = reduction == "none" ? DistinctIndices(maker, {count, 1}, 0, shape[0])
                                       : Positions(maker, shape, 0, tuple, {count});
  Shape updates = {count};
  updates.insert(updates.end(), shape.begin() + tuple, shape.end());
  return maker.Add(op, {x, indices, maker.Like(TensorType(x->type().dtype, updates))},
                   {{"reduction", reduction}});
}

// As importers put it before a gather whose indices do not count from the end.
Value* AddCheckIndex(GraphMaker& maker, Op op) {
  const int64_t size = 1 + maker.Pick(9);
  const bool negative = maker.OneIn(3);
  const Shape shape(static_cast<size_t>(maker.Pick(3)), 1 + maker.Pick(7));
  Value* indices = maker.Indices(shape, size, negative);
  const bool columns = !shape.empty() && maker.OneIn(3);
  const Ints sizes(columns ? static_cast<size_t>(shape.back()) : 1, size);
  Value* checked = maker.Add(
      op, {indices}, {{"sizes", sizes}, {"negative", int64_t{negative}}, {"reader", std::string("gather")}});
  if (checked != nullptr && !negative) maker.SetIndexLimit(checked, size);
  return checked;
}

}  // namespace attune::graph_fuzz
