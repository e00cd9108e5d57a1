#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

// A number tensor in which no axis is empty.
Value* Reducible(GraphMaker& maker) {
  return maker.Any(
      [](const Value& v) {
        const bool number = IsFloat(v.type().dtype) || IsInt(v.type().dtype);
        return number && v.type().rank() >= 1 && v.type().is_static() && v.type().num_elements() > 0;
      },
      [&] {
        Shape shape(static_cast<size_t>(1 + maker.Pick(4)));
        for (int64_t& size : shape) size = 1 + maker.Pick(13);
        return maker.New(maker.OneIn(4) ? maker.IntType() : maker.FloatType(), shape, 0);
      });
}

}  // namespace

Value* AddReduction(GraphMaker& maker, Op op) {
  Value* x = Reducible(maker);
  Ints axes;
  const bool pixels = x->type().rank() == 4 && maker.OneIn(2);
  for (int64_t axis = 0; axis < x->type().rank(); ++axis) {
    if (pixels ? axis >= 2 : maker.OneIn(2)) axes.push_back(axis);
  }
  return maker.Add(op, {x}, {{"axes", axes}, {"keepdims", maker.Pick(2)}});
}

Value* AddArgExtreme(GraphMaker& maker, Op op) {
  Value* x = Reducible(maker);
  const int64_t axis = maker.Pick(x->type().rank());
  Value* out =
      maker.Add(op, {x}, {{"axis", axis}, {"keepdims", maker.Pick(2)}, {"select_last", maker.Pick(2)}});
  if (out != nullptr) maker.SetIndexLimit(out, x->type().shape()[static_cast<size_t>(axis)]);
  return out;
}

Value* AddScan(GraphMaker& maker, Op op) {
  Value* x = Reducible(maker);
  return maker.Add(
      op, {x},
      {{"axis", maker.Pick(x->type().rank())}, {"exclusive", maker.Pick(2)}, {"reverse", maker.Pick(2)}});
}

Value* AddTopK(GraphMaker& maker, Op op) {
  Value* x = Reducible(maker);
  const int64_t axis = maker.Pick(x->type().rank());
  const int64_t size = x->type().shape()[static_cast<size_t>(axis)];
  Value* out = maker.Add(op, {x},
                         {{"axis", axis},
                          {"k", maker.OneIn(4) ? size : 1 + maker.Pick(size)},
                          {"largest", maker.Pick(2)},
                          {"sorted", int64_t{1}}});
  if (out == nullptr) return nullptr;
  maker.SetIndexLimit(out->producer()->output(1), size);
  const int64_t k = out->type().shape()[static_cast<size_t>(axis)];
  if (k > 0 && maker.OneIn(4)) {  // sorting again changes nothing
    const Attributes& attrs = out->producer()->attrs();
    Value* again = maker.Add(
        op, {out}, {{"axis", axis}, {"k", k}, {"largest", attrs.Int("largest")}, {"sorted", int64_t{1}}});
    if (again != nullptr) maker.StateSame(out, again);
  }
  return out;
}

}  // namespace attune::graph_fuzz
