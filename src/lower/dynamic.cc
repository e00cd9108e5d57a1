// Operators whose output size depends on the data. They write the output from its start, fill what is left
// of its bound with zeros, and store how many elements there are as a dynamic dimension.
#include <algorithm>
#include <limits>

#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

Expr Zero() { return Expr(int64_t{0}); }
Expr One() { return Expr(int64_t{1}); }

Stmt Increment(const Cell& cell) { return cell.Set(cell.Get() + One()); }

Stmt Store(const Definition& definition, const Value* value, const Indices& i, const Expr& element) {
  return MakeStore(definition.BufferOf(value), Definition::Physical(value->type(), i),
                   CastTo(value->type().dtype, element));
}

std::vector<std::string> Numbered(const std::string& prefix, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(absl::StrCat(prefix, i));
  return names;
}

// Zeros from `count` on along axis `axis` of `value`, and the count as that axis's size.
Stmt Finish(Definition& definition, const Node& node, const Value* value, int64_t axis, const Expr& count) {
  const Dim& dim = value->type().dims[static_cast<size_t>(axis)];
  const std::string prefix = absl::StrCat(definition.StageName(node), ".rest", value->index());
  const Shape others = WithoutAxis(value->type().shape(), axis);
  const Var var = MakeVar(prefix);
  const Stmt clear = MakeLoops(Numbered(prefix + ".d", others.size()), others, [&](const Indices& i) {
    return Store(definition, value, Inserted(i, axis, Expr(var)), ConstOf(value->type().dtype, 0));
  });
  const Stmt rest = MakeFor(var, count, Expr(dim.size) - count, LoopKind::kSerial, clear);
  const Stmt store = MakeStore(definition.DimsBuffer(), {Expr(definition.DimIndex(dim.symbol))}, count);
  return MakeSequence({rest, store});
}

}  // namespace

absl::Status DefineNonZero(Definition& definition, const Node& node) {
  const Value *x = node.input(0), *y = node.output();
  const std::string name = definition.StageName(node);
  const Shape shape = x->type().shape();
  const Cell count(name + ".count", DType::kI64);
  // A scalar has no axis for its position to be found along.
  const Stmt search = MakeLoops(Numbered(name + ".d", shape.size()), shape, [&](const Indices& i) {
    std::vector<Stmt> found;
    for (size_t d = 0; d < i.size(); ++d)
      found.push_back(Store(definition, y, {Expr(static_cast<int64_t>(d)), count.Get()}, i[d]));
    found.push_back(Increment(count));
    const Expr element = definition.ReadComputed(x, i);
    return MakeIf(NotEqual(element, ConstOf(element->dtype, 0)), MakeSequence(std::move(found)));
  });
  std::vector<Stmt> steps = {count.Set(Zero())};
  if (!shape.empty()) steps.push_back(search);
  steps.push_back(Finish(definition, node, y, 1, count.Get()));
  definition.DefineImperative(node, "", {y}, WithBuffers({count.buffer}, MakeSequence(std::move(steps))));
  return absl::OkStatus();
}

absl::Status DefineCompress(Definition& definition, const Node& node) {
  const Value *x = node.input(0), *condition = node.input(1), *y = node.output();
  const std::string name = definition.StageName(node);
  const int64_t axis = node.attrs().Int("axis");
  const Cell count(name + ".count", DType::kI64);
  const Shape others = WithoutAxis(x->type().shape(), axis);
  const Stmt select = MakeLoops({name + ".i"}, condition->type().shape(), [&](const Indices& at) {
    const Stmt copy = MakeLoops(Numbered(name + ".d", others.size()), others, [&](const Indices& i) {
      return Store(definition, y, Inserted(i, axis, count.Get()),
                   definition.Read(x, Inserted(i, axis, at[0])));
    });
    return MakeIf(definition.Read(condition, at), MakeSequence({copy, Increment(count)}));
  });
  const Stmt body = MakeSequence({count.Set(Zero()), select, Finish(definition, node, y, axis, count.Get())});
  definition.DefineImperative(node, "", {y}, WithBuffers({count.buffer}, body));
  return absl::OkStatus();
}

namespace {

// Greedy non-max suppression: of each batch and class, the best box that is left is taken and those that
// overlap it are struck off, until none is left or enough are taken. O(boxes · taken) for each class.
class NonMaxSuppression {
 public:
  NonMaxSuppression(Definition& definition, const Node& node)
      : definition_(definition),
        node_(node),
        name_(definition.StageName(node)),
        shape_(node.input(1)->type().shape()),
        corners_(MakeBuffer(name_ + ".corners", DType::kF64, {std::max<int64_t>(shape_[2], 1), 4},
                            MemorySpace::kScratch)),
        alive_(MakeBuffer(name_ + ".alive", DType::kBool, {std::max<int64_t>(shape_[2], 1)},
                          MemorySpace::kScratch)),
        count_(name_ + ".count", DType::kI64),
        taken_(name_ + ".taken", DType::kI64),
        best_(name_ + ".best", DType::kI64),
        best_score_(name_ + ".score", DType::kF64) {}

  void Define() {
    const Value* y = node_.output();
    const Stmt select = MakeLoops({name_ + ".b"}, {shape_[0]}, [&](const Indices& b) {
      const Stmt classes =
          MakeLoops({name_ + ".c"}, {shape_[1]}, [&](const Indices& c) { return Class(b[0], c[0]); });
      return MakeSequence({ReadBoxes(b[0]), classes});
    });
    std::vector<Stmt> steps = {count_.Set(Zero())};
    if (y->type().num_elements() > 0) steps.push_back(select);
    steps.push_back(Finish(definition_, node_, y, 0, count_.Get()));
    definition_.DefineImperative(
        node_, "", {y},
        WithBuffers({corners_, alive_, count_.buffer, taken_.buffer, best_.buffer, best_score_.buffer},
                    MakeSequence(std::move(steps))));
  }

 private:
  Expr Score(const Expr& b, const Expr& c, const Expr& i) const {
    return CastTo(DType::kF64, definition_.Read(node_.input(1), {b, c, i}));
  }
  Expr Corner(const Expr& box, int64_t i) const { return Load(corners_, {box, Expr(i)}); }

  // Each box of a batch as top, left, bottom, right.
  Stmt ReadBoxes(const Expr& b) const {
    return MakeLoops({name_ + ".box"}, {shape_[2]}, [&](const Indices& i) {
      const auto value = [&](int64_t k) {
        return CastTo(DType::kF64, definition_.Read(node_.input(0), {b, i[0], Expr(k)}));
      };
      const bool centered = node_.attrs().Bool("center_point_box");
      std::vector<Stmt> stores;
      for (int64_t k = 0; k < 4; ++k) {
        Expr corner = k < 2 ? Min(value(k), value(k + 2)) : Max(value(k - 2), value(k));
        if (centered) {  // x, y, width, height
          const Expr middle = value(k % 2 == 0 ? 1 : 0);
          const Expr half = value(k % 2 == 0 ? 3 : 2) * FloatConst(0.5, DType::kF64);
          corner = k < 2 ? middle - half : middle + half;
        }
        stores.push_back(MakeStore(corners_, {i[0], Expr(k)}, corner));
      }
      return MakeSequence(std::move(stores));
    });
  }

  Stmt Class(const Expr& b, const Expr& c) const {
    const Stmt start = MakeLoops({name_ + ".start"}, {shape_[2]}, [&](const Indices& i) {
      const Expr score = Score(b, c, i[0]);
      Expr counts = Not(Apply(MathOp::kIsNan, score));
      if (node_.attrs().Has("score_threshold"))
        counts = score > FloatConst(node_.attrs().Float("score_threshold"), DType::kF64);
      return MakeStore(alive_, {i[0]}, counts);
    });
    const Expr limit(node_.attrs().Int("max_per_class"));
    const Stmt take =
        MakeSequence({Store(definition_, node_.output(), {count_.Get(), Zero()}, b),
                      Store(definition_, node_.output(), {count_.Get(), One()}, c),
                      Store(definition_, node_.output(), {count_.Get(), Expr(int64_t{2})}, best_.Get()),
                      Increment(count_), Increment(taken_), StrikeOff(), FindBest(b, c)});
    const Expr more = And(best_.Get() >= Zero(), taken_.Get() < limit);
    return MakeSequence({start, taken_.Set(Zero()), FindBest(b, c), MakeWhile(more, take)});
  }

  // The first box with the highest score, or -1.
  Stmt FindBest(const Expr& b, const Expr& c) const {
    const Stmt search = MakeLoops({name_ + ".find"}, {shape_[2]}, [&](const Indices& i) {
      const Expr better = Or(best_.Get() < Zero(), Score(b, c, i[0]) > best_score_.Get());
      return MakeIf(And(Load(alive_, {i[0]}), better),
                    MakeSequence({best_.Set(i[0]), best_score_.Set(Score(b, c, i[0]))}));
    });
    return MakeSequence({best_.Set(Expr(int64_t{-1})), best_score_.Set(FloatConst(0, DType::kF64)), search});
  }

  // The box taken last, and what overlaps it too much.
  Stmt StrikeOff() const {
    const Expr zero = FloatConst(0, DType::kF64);
    return MakeLoops({name_ + ".strike"}, {shape_[2]}, [&](const Indices& i) {
      const Expr a = i[0], b = Clamp(best_.Get(), 0, shape_[2] - 1);
      const auto area = [&](const Expr& box) {
        return (Corner(box, 2) - Corner(box, 0)) * (Corner(box, 3) - Corner(box, 1));
      };
      const Expr height = Min(Corner(a, 2), Corner(b, 2)) - Max(Corner(a, 0), Corner(b, 0));
      const Expr width = Min(Corner(a, 3), Corner(b, 3)) - Max(Corner(a, 1), Corner(b, 1));
      const Expr common = height * width;
      const Expr meets = And(And(height > zero, width > zero), And(area(a) > zero, area(b) > zero));
      const Expr ratio = Select(meets, common / (area(a) + area(b) - common), zero);
      const Expr overlaps = ratio > FloatConst(node_.attrs().Float("iou_threshold"), DType::kF64);
      return MakeIf(Or(Equal(a, best_.Get()), overlaps), MakeStore(alive_, {a}, BoolConst(false)));
    });
  }

  Definition& definition_;
  const Node& node_;
  const std::string name_;
  const Shape shape_;  // batches, classes, boxes
  const Buffer corners_, alive_;
  const Cell count_, taken_, best_, best_score_;
};

}  // namespace

absl::Status DefineNonMaxSuppression(Definition& definition, const Node& node) {
  NonMaxSuppression(definition, node).Define();
  return absl::OkStatus();
}

}  // namespace attune
