// Unique: a stable merge sort of positions brings equal values together, their first occurrences in front;
// one pass over the sorted positions forms the groups, and one over the input numbers them. O(n log n).
#include <algorithm>

#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

Expr Zero() { return Expr(int64_t{0}); }
Expr One() { return Expr(int64_t{1}); }

class Unique {
 public:
  Unique(Definition& definition, const Node& node)
      : definition_(definition),
        node_(node),
        name_(definition.StageName(node)),
        size_(node.input(0)->type().dims[0].size),
        order_(Array("order")),
        merged_(Array("merged")),
        group_(Array("group")),
        first_(Array("first")),
        rank_(Array("rank")),
        width_(name_ + ".width", DType::kI64),
        left_(name_ + ".left", DType::kI64),
        right_(name_ + ".right", DType::kI64),
        groups_(name_ + ".groups", DType::kI64) {}

  void Define() {
    std::vector<const Value*> outputs;
    std::vector<Stmt> steps = {groups_.Set(Zero())};
    if (size_ > 0) steps = {Sort(), Group(), Number()};
    for (int k = 0; k < 4; ++k) {
      outputs.push_back(node_.output(k));
      if (k != 2) steps.push_back(Clear(node_.output(k)));
    }
    const std::string& symbol = node_.output()->type().dims[0].symbol;
    steps.push_back(MakeStore(definition_.DimsBuffer(), {Expr(definition_.DimIndex(symbol))}, groups_.Get()));
    definition_.DefineImperative(node_, "", outputs,
                                 WithBuffers({order_, merged_, group_, first_, rank_, width_.buffer,
                                              left_.buffer, right_.buffer, groups_.buffer},
                                             MakeSequence(std::move(steps))));
  }

 private:
  Buffer Array(const std::string& suffix) const {
    return MakeBuffer(absl::StrCat(name_, ".", suffix), DType::kI64, {std::max<int64_t>(size_, 1)},
                      MemorySpace::kScratch);
  }

  Stmt ForEach(const std::string& step, const std::function<Stmt(const Expr&)>& body) const {
    return MakeLoops({absl::StrCat(name_, ".", step)}, {size_}, [&](const Indices& i) { return body(i[0]); });
  }

  Expr Element(const Expr& position) const {
    const Expr x = definition_.ReadComputed(node_.input(0), {Clamp(position, 0, size_ - 1)});
    return x->dtype == DType::kBool ? CastTo(DType::kU8, x) : x;
  }

  // NaNs are equal to each other and above all numbers.
  static Expr Less(const Expr& a, const Expr& b) {
    if (!IsFloat(a->dtype)) return a < b;
    return Or(a < b, And(Not(Apply(MathOp::kIsNan, a)), Apply(MathOp::kIsNan, b)));
  }

  // Merges runs of `width` into runs of twice that, until there is one.
  Stmt Sort() const {
    const Stmt start = ForEach("i", [&](const Expr& i) { return MakeStore(order_, {i}, i); });
    const Expr twice = width_.Get() * Expr(int64_t{2});
    const Var run = MakeVar(name_ + ".run");
    const Stmt merge = MakeFor(run, Zero(), FloorDiv(Expr(size_ - 1) + twice, twice), LoopKind::kSerial,
                               Merge(Expr(run) * twice));
    const Stmt copy =
        ForEach("copy", [&](const Expr& i) { return MakeStore(order_, {i}, Load(merged_, {i})); });
    return MakeSequence(
        {start, width_.Set(One()),
         MakeWhile(width_.Get() < Expr(size_), MakeSequence({merge, copy, width_.Set(twice)}))});
  }

  // Merges order[begin, begin + width) and the run after it into merged_; equal elements keep their order.
  Stmt Merge(const Expr& begin) const {
    return Bind(name_ + ".middle", Min(begin + width_.Get(), Expr(size_)), [&](const Expr& middle) {
      return Bind(name_ + ".end", Min(middle + width_.Get(), Expr(size_)), [&](const Expr& end) {
        const auto at = [&](const Cell& cell) { return Load(order_, {Clamp(cell.Get(), 0, size_ - 1)}); };
        const Expr right_first = Less(Element(at(right_)), Element(at(left_)));
        const Expr left = And(left_.Get() < middle, Or(right_.Get() >= end, Not(right_first)));
        const Var k = MakeVar(name_ + ".k");
        const Stmt take_left =
            MakeSequence({MakeStore(merged_, {Expr(k)}, at(left_)), left_.Set(left_.Get() + One())});
        const Stmt take_right =
            MakeSequence({MakeStore(merged_, {Expr(k)}, at(right_)), right_.Set(right_.Get() + One())});
        return MakeSequence(
            {left_.Set(begin), right_.Set(middle),
             MakeFor(k, begin, end - begin, LoopKind::kSerial, MakeIf(left, take_left, take_right))});
      });
    });
  }

  // Finds the group of each position, and the first position of each group.
  Stmt Group() const {
    const Stmt scan = ForEach("scan", [&](const Expr& k) {
      const Expr here = Load(order_, {k}), before = Load(order_, {Max(k - One(), Zero())});
      const Expr begins = Or(Equal(k, Zero()), Less(Element(before), Element(here)));
      const Stmt start = MakeSequence(
          {groups_.Set(groups_.Get() + One()), MakeStore(first_, {groups_.Get() - One()}, here)});
      return MakeSequence({MakeIf(begins, start), MakeStore(group_, {here}, groups_.Get() - One())});
    });
    return MakeSequence({groups_.Set(Zero()), scan});
  }

  // Numbers the groups in order of the input: a group's first occurrence opens its entry in the outputs.
  Stmt Number() const {
    const bool sorted = node_.attrs().Int("sorted", 1) != 0;
    const Cell& opened = left_;
    const Stmt number = ForEach("number", [&](const Expr& i) {
      return Bind(name_ + ".mine", Load(group_, {i}), [&](const Expr& mine) {
        const Expr place = Load(rank_, {mine});
        const Stmt open = MakeSequence({MakeStore(rank_, {mine}, sorted ? mine : opened.Get()),
                                        opened.Set(opened.Get() + One()),
                                        Store(0, place, definition_.Read(node_.input(0), {i})),
                                        Store(1, place, i), Store(3, place, Zero())});
        return MakeSequence({MakeIf(Equal(Load(first_, {mine}), i), open), Store(2, i, place),
                             Store(3, place, Load(definition_.BufferOf(node_.output(3)), {place}) + One())});
      });
    });
    return MakeSequence({opened.Set(Zero()), number});
  }

  Stmt Store(int output, const Expr& at, const Expr& value) const {
    return MakeStore(definition_.BufferOf(node_.output(output)), {at}, value);
  }

  Stmt Clear(const Value* output) const {
    const Var i = MakeVar(absl::StrCat(name_, ".rest", output->index()));
    return MakeFor(i, groups_.Get(), Expr(size_) - groups_.Get(), LoopKind::kSerial,
                   Store(output->index(), Expr(i), ConstOf(output->type().dtype, 0)));
  }

  Definition& definition_;
  const Node& node_;
  const std::string name_;
  const int64_t size_;
  const Buffer order_, merged_;        // positions, sorted by the elements there
  const Buffer group_, first_, rank_;  // group of a position; first position and rank of a group
  const Cell width_, left_, right_, groups_;
};

}  // namespace

absl::Status DefineUnique(Definition& definition, const Node& node) {
  Unique(definition, node).Define();
  return absl::OkStatus();
}

}  // namespace attune
