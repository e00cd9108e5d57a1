// Problem: AVX2 multiplies bytes and adds neighbouring products in 16 bits, where two of 255 · 127
// saturate. Its exact instruction multiplies pairs of i16 into i32 (vpmaddwd), at the same peak.
//
// Idea: operands of products are i16 in memory. Widening a byte where it is made costs less than an
// instruction, and using it costs nothing: an instruction takes a pair for all its lanes straight from
// memory. Weights take twice the memory. Operators that move numbers or take the largest, alone in their
// group, work on i16 as well, so that nothing is narrowed and widened between two layers.
#include "plan/widen_bytes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "graph/node_rules.h"
#include "plan/group_merge.h"
#include "target/products.h"

namespace attune {
namespace {

bool IsByte(const Value* value) {
  return value->type().dtype == DType::kU8 || value->type().dtype == DType::kI8;
}

// With fewer rows than this, reading the weights takes longer than computing, and bytes are read faster.
constexpr int64_t kLeastRows = 4;

// Whether an instruction for pairs computes the product, and its speed bounds that of the product.
bool GainsByPairs(const Node& node, const Target& target) {
  if (!IsIntegerProduct(node.op()) || HasZeroPoints(node) || !node.output()->type().is_static() ||
      !node.input(1)->type().is_static() || !IsByte(node.input(0)) || !IsByte(node.input(1)))
    return false;
  const Shape out = node.output()->type().shape(), w = node.input(1)->type().shape();
  if (node.op() == Op::kMatMulInteger) {
    const TensorType& a = node.input(0)->type();
    return !node.attrs().Bool("transpose_a") && a.is_static() && a.shape().back() % 2 == 0 &&
           out[out.size() - 2] >= kLeastRows;
  }
  constexpr size_t kImage = 4;
  if (out.size() != kImage || out[0] * out[2] * out[3] < kLeastRows) return false;
  const int64_t group = node.attrs().Int("group", 1), lanes = target.Lanes(4);
  if (group == 1) return w[1] % 2 == 0 || w[1] < lanes;  // pairs of channels, or of taps
  return w[1] % 2 == 0 && w[0] / group % lanes == 0;
}

// The group's only node, if it gives nothing but numbers that it was given; or null.
Node* OnlyMover(const Graph& region) {
  Node* only = nullptr;
  for (const auto& node : region.nodes()) {
    if (node->op() == Op::kConstant || only != nullptr) return nullptr;
    only = node.get();
  }
  if (only == nullptr || only->num_outputs() != 1) return nullptr;
  switch (only->op()) {
    case Op::kMaxPool:
    case Op::kConcat:
    case Op::kSlice:
    case Op::kPad:
    case Op::kReshape:
    case Op::kTranspose:
      return only;
    default:
      return nullptr;
  }
}

TensorType As(TensorType type, DType dtype) {
  type.dtype = dtype;
  return type;
}

class Widening {
 public:
  Widening(Graph& graph, const Target& target) : graph_(graph), target_(target) {}

  absl::Status Run() {
    for (const auto& node : graph_.nodes()) {
      if (node->op() == Op::kFused) FindMultiplied(*node);
    }
    for (auto it = graph_.nodes().begin(); it != graph_.nodes().end();) {
      Node* const node = (it++)->get();
      if (node->op() != Op::kFused) continue;
      TakeWidened(*node);
      for (int i = 0; i < node->num_outputs(); ++i) GiveWidened(*node, i);
    }
    return absl::OkStatus();
  }

 private:
  static Value* Outside(const Node& fused, const Value* inner) {
    const int input = InputIndex(fused.region(), inner);
    return input < 0 ? nullptr : fused.input(input);
  }

  // Notes the operands of the group's products. Operands that no group makes are widened at once.
  void FindMultiplied(Node& fused) {
    for (const auto& node : fused.region().nodes()) {
      if (!GainsByPairs(*node, target_)) continue;
      Value *const left = Outside(fused, node->input(0)), *const right = Outside(fused, node->input(1));
      if (left == nullptr || right == nullptr) continue;
      for (Value* value : {left, right}) {
        if (CanBeMadeWide(value)) {
          made_wide_.insert(value);
        } else {
          Replace(fused, value);
        }
      }
    }
  }

  // Whether a group makes the value, and all its readers are groups whose products have no zero points of
  // its type.
  bool CanBeMadeWide(const Value* value) const {
    const Node* producer = value->producer();
    return producer != nullptr && producer->op() == Op::kFused && !graph_.IsOutput(value) &&
           std::ranges::all_of(value->users(), [](const Node* user) {
             return user->op() == Op::kFused &&
                    std::ranges::none_of(user->region().nodes(),
                                         [](const auto& node) { return HasZeroPoints(*node); });
           });
  }

  // Makes the group read a widened copy.
  void Replace(Node& fused, Value* value) {
    Value*& copy = copies_[value];
    if (copy == nullptr) copy = CopyOf(value, &fused);
    for (int i = 0; i < fused.num_inputs(); ++i) {
      if (fused.input(i) == value) fused.SetInput(i, copy);
    }
  }

  Value* CopyOf(Value* value, Node* before) {
    if (const Tensor* constant = value->constant()) {
      Tensor wide(DType::kI16, constant->shape());
      const std::vector<int64_t> numbers = constant->ToInts();
      std::ranges::transform(numbers, wide.as_mutable<int16_t>().begin(),
                             [](int64_t number) { return static_cast<int16_t>(number); });
      return graph_.AddConstant(std::move(wide), value->name(), before);
    }
    const auto fused = AddGroupOf(graph_, value, Op::kCast, {{"to", DType::kI16}}, "widen", before);
    return (*fused)->output();
  }

  static Value* Cast(Graph& region, Value* value, DType to, Node* before) {
    return region.Make(Op::kCast, {value}, {{"to", to}}, before);
  }

  // Adapts the group to those of its inputs that are wide now.
  void TakeWidened(Node& fused) {
    Graph& region = fused.region();
    for (int i = 0; i < fused.num_inputs(); ++i) {
      Value* const inner = region.inputs()[static_cast<size_t>(i)].get();
      const DType narrow = inner->type().dtype;
      if (fused.input(i)->type().dtype == narrow) continue;
      inner->set_type(As(inner->type(), DType::kI16));
      Node* const mover = OnlyMover(region);
      if (mover != nullptr) {
        mover->output()->set_type(As(mover->output()->type(), DType::kI16));
        continue;
      }
      NarrowForOthers(region, inner, narrow);
    }
    if (Node* const mover = OnlyMover(region); mover != nullptr) WidenOthers(region, *mover);
  }

  // Users that are not products take the type that they took before.
  static void NarrowForOthers(Graph& region, Value* wide, DType narrow) {
    const std::vector<Node*> users = wide->users();
    Value* narrowed = nullptr;
    for (Node* user : users) {
      if (IsIntegerProduct(user->op()) && !HasZeroPoints(*user)) continue;
      if (narrowed == nullptr) narrowed = Cast(region, wide, narrow, region.nodes().front().get());
      for (int i = 0; i < user->num_inputs(); ++i) {
        if (user->input(i) == wide && user != narrowed->producer()) user->SetInput(i, narrowed);
      }
    }
  }

  // All operands of a concatenation are of one type.
  static void WidenOthers(Graph& region, Node& mover) {
    if (mover.output()->type().dtype != DType::kI16) return;
    for (int i = 0; i < mover.num_inputs(); ++i) {
      if (mover.input(i) != nullptr && IsByte(mover.input(i)))
        mover.SetInput(i, Cast(region, mover.input(i), DType::kI16, &mover));
    }
  }

  // Gives an output of the group the type that its readers expect.
  void GiveWidened(Node& fused, int i) {
    Graph& region = fused.region();
    Value* const inner = region.outputs()[static_cast<size_t>(i)].value;
    Value* const value = fused.output(i);
    const bool is_wide = inner->type().dtype == DType::kI16, was_wide = value->type().dtype == DType::kI16;
    const bool shall_be = made_wide_.contains(value);
    if (shall_be && !is_wide) region.SetOutput(i, Cast(region, inner, DType::kI16, nullptr));
    if (!shall_be && is_wide && !was_wide)
      region.SetOutput(i, Cast(region, inner, value->type().dtype, nullptr));
    if (shall_be) value->set_type(As(value->type(), DType::kI16));
  }

  Graph& graph_;
  const Target& target_;
  std::set<const Value*> made_wide_;
  std::map<const Value*, Value*> copies_;
};

bool MultipliesPairsAlone(const Target& target) {
  const auto has = [&](DType left, DType right) {
    return FindProduct(kDotInstructions, target, DType::kI32, left, right) != nullptr;
  };
  return has(DType::kI16, DType::kI16) && !has(DType::kU8, DType::kI8);
}

}  // namespace

absl::Status WidenBytes(Graph& graph, const Target& target) {
  if (!MultipliesPairsAlone(target)) return absl::OkStatus();
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kFused) continue;
    for (int r = 0; r < node->num_regions(); ++r) RETURN_IF_ERROR(WidenBytes(node->region(r), target));
  }
  return Widening(graph, target).Run();
}

}  // namespace attune
