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

// Stores zeros from index `count` on along axis `axis` of `value`, and `count` as that axis's size.
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
  // A scalar has no axes, so it has no positions to find.
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

// Greedy non-max suppression. The candidates of each batch and class are the boxes whose score counts. The
// best candidate is taken; it and those that overlap it are removed, until none is left or enough are
// taken. O(boxes + candidates · taken) for each class.
class NonMaxSuppression {
 public:
  NonMaxSuppression(Definition& definition, const Node& node)
      : definition_(definition),
        node_(node),
        name_(definition.StageName(node)),
        shape_(node.input(1)->type().shape()),
        corners_(Scratch("corners", DType::kF64, {Boxes(), 4})),
        candidates_(Scratch("candidates", DType::kI64, {Boxes()})),
        left_(name_ + ".left", DType::kI64),
        kept_(name_ + ".kept", DType::kI64),
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
    definition_.DefineImperative(node_, "", {y},
                                 WithBuffers({corners_, candidates_, left_.buffer, kept_.buffer,
                                              count_.buffer, taken_.buffer, best_.buffer, best_score_.buffer},
                                             MakeSequence(std::move(steps))));
  }

 private:
  int64_t Boxes() const { return std::max<int64_t>(shape_[2], 1); }
  Buffer Scratch(const std::string& name, DType dtype, const Shape& shape) const {
    return MakeBuffer(absl::StrCat(name_, ".", name), dtype, shape, MemorySpace::kScratch);
  }
  Expr Score(const Expr& b, const Expr& c, const Expr& i) const {
    return CastTo(DType::kF64, definition_.Read(node_.input(1), {b, c, i}));
  }
  Expr Corner(const Expr& box, int64_t i) const { return Load(corners_, {box, Expr(i)}); }
  // The index of candidate k's box, clamped to the boxes.
  Expr Candidate(const Expr& k) const { return Clamp(Load(candidates_, {k}), 0, Boxes() - 1); }

  // A loop over the candidates.
  Stmt ForCandidates(const std::string& name, const std::function<Stmt(const Expr&)>& body) const {
    const Var k = MakeVar(absl::StrCat(name_, ".", name));
    return MakeFor(k, 0, left_.Get(), LoopKind::kSerial, body(Expr(k)));
  }

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
    const Stmt find = MakeLoops({name_ + ".find"}, {shape_[2]}, [&](const Indices& i) {
      const Expr score = Score(b, c, i[0]);
      Expr counts = Not(Apply(MathOp::kIsNan, score));
      if (node_.attrs().Has("score_threshold"))
        counts = score > FloatConst(node_.attrs().Float("score_threshold"), DType::kF64);
      return MakeIf(counts, MakeSequence({MakeStore(candidates_, {left_.Get()}, i[0]), Increment(left_)}));
    });
    const Expr limit(node_.attrs().Int("max_per_class"));
    const Stmt take =
        MakeSequence({FindBest(b, c), Store(definition_, node_.output(), {count_.Get(), Zero()}, b),
                      Store(definition_, node_.output(), {count_.Get(), One()}, c),
                      Store(definition_, node_.output(), {count_.Get(), Expr(int64_t{2})}, best_.Get()),
                      Increment(count_), Increment(taken_), StrikeOff()});
    const Expr more = And(left_.Get() > Zero(), taken_.Get() < limit);
    return MakeSequence({left_.Set(Zero()), find, taken_.Set(Zero()), MakeWhile(more, take)});
  }

  // Finds the first candidate with the highest score. There must be a candidate.
  Stmt FindBest(const Expr& b, const Expr& c) const {
    const auto set = [&](const Expr& box) {
      return MakeSequence({best_.Set(box), best_score_.Set(Score(b, c, box))});
    };
    const Stmt search = ForCandidates("search", [&](const Expr& k) {
      const Expr box = Candidate(k);
      return MakeIf(Score(b, c, box) > best_score_.Get(), set(box));
    });
    return MakeSequence({set(Candidate(Zero())), search});
  }

  // Removes the box taken last and those that overlap it too much; the others move up.
  Stmt StrikeOff() const {
    const Expr zero = FloatConst(0, DType::kF64);
    const Stmt strike = ForCandidates("strike", [&](const Expr& k) {
      const Expr a = Candidate(k), b = best_.Get();
      const auto area = [&](const Expr& box) {
        return (Corner(box, 2) - Corner(box, 0)) * (Corner(box, 3) - Corner(box, 1));
      };
      const Expr height = Min(Corner(a, 2), Corner(b, 2)) - Max(Corner(a, 0), Corner(b, 0));
      const Expr width = Min(Corner(a, 3), Corner(b, 3)) - Max(Corner(a, 1), Corner(b, 1));
      const Expr common = height * width;
      const Expr meets = And(And(height > zero, width > zero), And(area(a) > zero, area(b) > zero));
      const Expr ratio = Select(meets, common / (area(a) + area(b) - common), zero);
      const Expr overlaps = ratio > FloatConst(node_.attrs().Float("iou_threshold"), DType::kF64);
      return MakeIf(Not(Or(Equal(a, b), overlaps)),
                    MakeSequence({MakeStore(candidates_, {kept_.Get()}, a), Increment(kept_)}));
    });
    return MakeSequence({kept_.Set(Zero()), strike, left_.Set(kept_.Get())});
  }

  Definition& definition_;
  const Node& node_;
  const std::string name_;
  const Shape shape_;  // batches, classes, boxes
  const Buffer corners_, candidates_;
  // Counts: candidates of the class that are left, and that remain after the box just taken; boxes taken in
  // all classes, and in this one.
  const Cell left_, kept_, count_, taken_;
  const Cell best_, best_score_;  // the box, and its score
};

}  // namespace

absl::Status DefineNonMaxSuppression(Definition& definition, const Node& node) {
  NonMaxSuppression(definition, node).Define();
  return absl::OkStatus();
}

}  // namespace attune
