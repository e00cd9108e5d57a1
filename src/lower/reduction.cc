// Reductions over axes, positions of extrema, running sums and the largest elements.
#include <algorithm>

#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

MathOp CombinerOf(Op op) {
  switch (op) {
    case Op::kReduceProd:
      return MathOp::kMul;
    case Op::kReduceMax:
    case Op::kArgMax:
      return MathOp::kMax;
    case Op::kReduceMin:
    case Op::kArgMin:
      return MathOp::kMin;
    default:
      return MathOp::kAdd;
  }
}

// The indices into the input for indices of the output and of the reduced axes.
Indices Merged(const Indices& i, const Indices& r, const Ints& axes, size_t rank, bool keepdims) {
  Indices merged;
  size_t next = 0, reduced = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end()) {
      merged.push_back(r[reduced++]);
      if (keepdims) ++next;
    } else {
      merged.push_back(i[next++]);
    }
  }
  return merged;
}

Ints ReducedAxes(const Node& node) {
  if (node.attrs().Has("axes")) return node.attrs().IntList("axes");
  return {node.attrs().Int("axis")};
}

// Whether x comes before y in descending (or ascending) order; NaN counts as larger than every number.
Expr ComesBefore(const Expr& x, const Expr& y, bool largest) {
  const Expr order = largest ? x > y : x < y;
  if (!IsFloat(x->dtype)) return order;
  const Expr x_nan = Apply(MathOp::kIsNan, x), y_nan = Apply(MathOp::kIsNan, y);
  return largest ? Or(order, And(x_nan, Not(y_nan))) : Or(order, And(y_nan, Not(x_nan)));
}

// The names of the loops of an imperative stage over `shape`.
std::vector<std::string> LoopNames(const Node& node, const Definition& definition, size_t rank) {
  std::vector<std::string> names;
  for (size_t d = 0; d < rank; ++d) names.push_back(absl::StrCat(definition.StageName(node), ".d", d));
  return names;
}

}  // namespace

absl::Status DefineReduce(Definition& definition, const Node& node) {
  const Value* x = node.input(0);
  const Shape shape = x->type().shape();
  const Ints axes = ReducedAxes(node);
  const bool keepdims = node.attrs().Int("keepdims", 1) != 0;
  Reduction reduction;
  reduction.combiner = CombinerOf(node.op());
  reduction.dtype = ComputeType(x->type().dtype);
  if (reduction.dtype == DType::kBool)
    reduction.combiner = node.op() == Op::kReduceMax ? MathOp::kOr : MathOp::kAnd;
  int64_t count = 1;
  // The sum for a mean of integers has 64 bits, so that it does not wrap.
  if (node.op() == Op::kReduceMean && IsInt(reduction.dtype))
    reduction.dtype = IsSignedInt(reduction.dtype) ? DType::kI64 : DType::kU64;
  for (int64_t axis : axes) {
    reduction.extents.push_back(shape[static_cast<size_t>(axis)]);
    count *= reduction.extents.back();
  }
  reduction.term = [&](const Indices& i, const Indices& r) {
    return definition.ReadComputed(x, Merged(i, r, axes, shape.size(), keepdims));
  };
  if (node.op() == Op::kReduceMean) {
    reduction.finish = [&](const Expr& total, const Indices&) {
      return total / ConstOf(reduction.dtype, count);
    };
  }
  definition.DefineReduction(node, node.output(), reduction);
  return absl::OkStatus();
}

// Finds the extremum, then the first (or last) position that holds it. Every comparison with NaN fails, so
// a row that begins with NaN has its extremum there; NaNs after a number are passed over.
absl::Status DefineArgReduce(Definition& definition, const Node& node) {
  const Value* x = node.input(0);
  const Shape shape = x->type().shape();
  const int64_t axis = node.attrs().Int("axis");
  const bool keepdims = node.attrs().Int("keepdims", 1) != 0;
  const bool last = node.attrs().Bool("select_last");
  const int64_t size = shape[static_cast<size_t>(axis)];
  const Shape rows = WithoutAxis(shape, axis);

  Reduction extremum;
  extremum.extents = {size};
  extremum.dtype = ComputeType(x->type().dtype);
  const bool is_bool = extremum.dtype == DType::kBool;
  extremum.combiner = CombinerOf(node.op());
  if (is_bool) extremum.dtype = DType::kU8;
  const auto read = [&](const Indices& row, const Expr& at) {
    const Expr element = definition.ReadComputed(x, Inserted(row, axis, at));
    return is_bool ? CastTo(DType::kU8, element) : element;
  };
  const Expr neutral = NeutralElement(extremum.combiner, extremum.dtype);
  extremum.term = [&](const Indices& i, const Indices& r) {
    const Expr element = read(i, r[0]);
    return IsFloat(element->dtype) ? Select(Apply(MathOp::kIsNan, element), neutral, element) : element;
  };
  const Buffer best = definition.AddTemporaryReduction(node, "best", rows, extremum);

  Reduction position;
  position.extents = {size};
  position.dtype = DType::kI64;
  position.combiner = last ? MathOp::kMax : MathOp::kMin;
  position.init = Expr(last ? int64_t{0} : size - 1);
  const auto row_of = [&](const Indices& i) { return keepdims ? Without(i, axis) : i; };
  position.term = [&](const Indices& i, const Indices& r) {
    const Indices row = row_of(i);
    return Select(Equal(read(row, r[0]), Load(best, row)), r[0], position.init);
  };
  if (IsFloat(extremum.dtype)) {
    position.finish = [&](const Expr& found, const Indices& i) {
      return Select(Apply(MathOp::kIsNan, read(row_of(i), Expr(int64_t{0}))), Expr(int64_t{0}), found);
    };
  }
  definition.DefineReduction(node, node.output(), position);
  return absl::OkStatus();
}

// One pass along the axis for each line of the tensor.
absl::Status DefineScan(Definition& definition, const Node& node) {
  const Value *x = node.input(0), *y = node.output();
  const Shape shape = x->type().shape();
  const int64_t axis = node.attrs().Int("axis"), size = shape[static_cast<size_t>(axis)];
  const bool product = node.op() == Op::kCumProd, exclusive = node.attrs().Bool("exclusive");
  const bool reverse = node.attrs().Bool("reverse");
  const DType dtype = ComputeType(x->type().dtype);
  const Cell total(definition.StageName(node) + ".total", dtype);
  const Shape lines = WithoutAxis(shape, axis);

  const Stmt body = MakeLoops(LoopNames(node, definition, lines.size()), lines, [&](const Indices& line) {
    const Stmt steps = MakeLoops({definition.StageName(node) + ".step"}, {size}, [&](const Indices& step) {
      const Indices at = Inserted(line, axis, reverse ? Expr(size - 1) - step[0] : step[0]);
      const Expr element = definition.ReadComputed(x, at);
      const Stmt accumulate = total.Set(product ? total.Get() * element : total.Get() + element);
      const Stmt store = MakeStore(definition.BufferOf(y), Definition::Physical(y->type(), at),
                                   CastTo(y->type().dtype, total.Get()));
      return exclusive ? MakeSequence({store, accumulate}) : MakeSequence({accumulate, store});
    });
    return MakeSequence({total.Set(ConstOf(dtype, product ? 1 : 0)), steps});
  });
  definition.DefineImperative(node, "", {y}, WithBuffers({total.buffer}, body));
  return absl::OkStatus();
}

// Inserts into a sorted list of the k best so far, for each line of the tensor: O(n k) at worst, but an
// element that does not make it into the list costs one comparison, and most do not.
absl::Status DefineTopK(Definition& definition, const Node& node) {
  const Value *x = node.input(0), *values = node.output(0), *positions = node.output(1);
  const Shape shape = x->type().shape();
  const int64_t axis = node.attrs().Int("axis"), k = node.attrs().Int("k");
  const int64_t size = shape[static_cast<size_t>(axis)];
  const bool largest = node.attrs().Int("largest", 1) != 0;
  const std::string name = definition.StageName(node);
  const DType dtype = ComputeType(x->type().dtype);
  const Buffer best = MakeBuffer(name + ".best", dtype, {std::max<int64_t>(k, 1)}, MemorySpace::kScratch);
  const Buffer where =
      MakeBuffer(name + ".where", DType::kI64, {std::max<int64_t>(k, 1)}, MemorySpace::kScratch);
  const Cell count(name + ".count", DType::kI64), place(name + ".place", DType::kI64),
      moving(name + ".moving", DType::kBool);
  const Expr zero(int64_t{0}), one(int64_t{1});
  const Shape lines = WithoutAxis(shape, axis);
  const auto before = [&](const Expr& at) { return Max(at - one, zero); };

  // Moves the entries that come after `element` down and inserts it before them.
  const auto insert = [&](const Expr& element, const Expr& at) {
    const auto precedes = [&] {
      const Expr rival = Load(best, {before(place.Get())});
      return And(place.Get() > zero, ComesBefore(element, rival, largest));
    };
    const Stmt shift = MakeSequence({MakeStore(best, {place.Get()}, Load(best, {before(place.Get())})),
                                     MakeStore(where, {place.Get()}, Load(where, {before(place.Get())})),
                                     place.Set(place.Get() - one), moving.Set(precedes())});
    const Stmt fits =
        MakeSequence({place.Set(Min(count.Get(), Expr(k - 1))), moving.Set(precedes()),
                      MakeWhile(moving.Get(), shift), MakeStore(best, {place.Get()}, element),
                      MakeStore(where, {place.Get()}, at), count.Set(Min(count.Get() + one, Expr(k)))});
    const Expr last = Load(best, {Expr(k - 1)});
    return MakeIf(Or(count.Get() < Expr(k), ComesBefore(element, last, largest)), fits);
  };
  const Stmt body = MakeLoops(LoopNames(node, definition, lines.size()), lines, [&](const Indices& line) {
    const Stmt scan = MakeLoops({name + ".i"}, {size}, [&](const Indices& i) {
      return Bind(name + ".x", definition.ReadComputed(x, Inserted(line, axis, i[0])),
                  [&](const Expr& element) { return insert(element, i[0]); });
    });
    const Stmt store = MakeLoops({name + ".k"}, {k}, [&](const Indices& i) {
      const Indices at = Inserted(line, axis, i[0]);
      return MakeSequence({MakeStore(definition.BufferOf(values), Definition::Physical(values->type(), at),
                                     CastTo(values->type().dtype, Load(best, {i[0]}))),
                           MakeStore(definition.BufferOf(positions),
                                     Definition::Physical(positions->type(), at), Load(where, {i[0]}))});
    });
    // Elements are compared with the list's end even before it is filled; its content does not matter then.
    return MakeSequence({count.Set(zero), MakeStore(best, {Expr(k - 1)}, ConstOf(dtype, 0)), scan, store});
  });
  const Stmt stage =
      k == 0 ? MakeSequence({}) : WithBuffers({best, where, count.buffer, place.buffer, moving.buffer}, body);
  definition.DefineImperative(node, "", {values, positions}, stage);
  return absl::OkStatus();
}

}  // namespace attune
