#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "base/status.h"
#include "tensor/schedule/transforms.h"
#include "tensor/schedule_expr.h"
#include "tensor/spelling.h"

namespace attune {
namespace {

constexpr int64_t kMaxBlock = 1 << 20;

// How the axes of a buffer become those of its packed copy.
struct Packing {
  std::vector<std::pair<int64_t, int64_t>> splits;  // axis, block
  std::vector<int64_t> order;

  // The copy's indices of an element of the buffer.
  std::vector<Expr> Map(const std::vector<Expr>& indices) const {
    std::vector<Expr> split;
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      const int64_t block = BlockOf(axis);
      if (block == 0) {
        split.push_back(indices[axis]);
      } else {
        split.push_back(FloorDiv(indices[axis], block));
        split.push_back(FloorMod(indices[axis], block));
      }
    }
    std::vector<Expr> permuted;
    for (int64_t place : order) permuted.push_back(split[static_cast<size_t>(place)]);
    return permuted;
  }

  int64_t BlockOf(size_t axis) const {
    for (const auto& [a, block] : splits) {
      if (a == static_cast<int64_t>(axis)) return block;
    }
    return 0;
  }
};

absl::StatusOr<Packing> ParsePacking(const std::vector<int64_t>& numbers, size_t rank) {
  Packing packing;
  const size_t splits = numbers.empty() ? 0 : static_cast<size_t>(numbers[0]);
  if (numbers.empty() || splits > rank || numbers.size() != 1 + 2 * splits + rank + splits) {
    return InvalidInput("pack: wrong number of arguments for a buffer of rank ", rank);
  }
  for (size_t i = 0; i < splits; ++i) {
    const int64_t axis = numbers[1 + 2 * i], block = numbers[2 + 2 * i];
    if (axis < 0 || axis >= static_cast<int64_t>(rank) || block < 1 || block > kMaxBlock)
      return InvalidInput("pack: no axis ", axis, " or bad block ", block);
    packing.splits.emplace_back(axis, block);
  }
  packing.order.assign(numbers.begin() + static_cast<ptrdiff_t>(1 + 2 * splits), numbers.end());
  std::vector<int64_t> sorted = packing.order, expected(sorted.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected) return InvalidInput("pack: the order is not a permutation");
  return packing;
}

// The stage that copies the buffer.
absl::StatusOr<ScheduledStage> PackedCopy(const LoopTree& tree, const Buffer& source,
                                          const Packing& packing) {
  // The copy's axes before the permutation, and each element's indices in the source.
  std::vector<Axis> split;
  std::vector<Expr> from;
  Expr inside;
  for (size_t axis = 0; axis < source->shape.size(); ++axis) {
    const int64_t block = packing.BlockOf(axis);
    const Extent size = source->extent(axis);
    const Quotient blocks = block == 0 ? Quotient{size, true} : DivideUp(tree.LoopBounds(), size, block);
    const Axis outer{MakeVar(absl::StrCat("i", axis)), blocks.extent};
    split.push_back(outer);
    if (block == 0) {
      from.push_back(Expr(outer.var));
      continue;
    }
    const Axis lane{MakeVar(absl::StrCat("i", axis, "v")), block};
    split.push_back(lane);
    from.push_back(Expr(outer.var) * Expr(block) + Expr(lane.var));
    if (!blocks.is_exact) {
      const Expr here = from.back() < size.expr();
      inside = inside ? And(inside, here) : here;
      from.back() = Min(from.back(), size.expr() - Expr(1));
    }
  }
  ScheduledStage copy;
  copy.stage.name = source->name + ".packed";
  std::vector<Extent> shape;
  for (int64_t place : packing.order) {
    copy.stage.axes.push_back(split[static_cast<size_t>(place)]);
    shape.push_back(copy.stage.axes.back().extent);
  }
  copy.stage.output = MakeOpenBuffer(copy.stage.name, source->dtype, shape);
  if (!IsBufferSizeValid(*copy.stage.output))
    return InvalidInput("pack: the copy of '", source->name, "' would be too large");
  const Expr element = Load(source, from);
  copy.stage.value = inside ? Select(inside, element, ConstOf(source->dtype, 0)) : element;
  LoopTree::ResetLoops(copy);
  return copy;
}

}  // namespace

absl::Status PackBuffer(LoopTree& tree, const std::string& name, ScheduledStage& reader,
                        const std::vector<int64_t>& layout) {
  const std::string& stage = reader.stage.name;
  const Buffer source = FindRead(reader.stage, name);
  if (!source) return InvalidInput("pack: stage '", stage, "' does not read '", name, "'");
  if (reader.follows()) return InvalidInput("pack: stage '", stage, "' is computed after another one");
  if (tree.AttachedStageOf(source) != nullptr)
    return InvalidInput("pack: '", name, "' is computed at a loop");
  RETURN_IF_ERROR(tree.CheckNewName(name + ".packed", "pack"));
  ASSIGN_OR_RETURN(const Packing packing, ParsePacking(layout, source->shape.size()));

  ASSIGN_OR_RETURN(ScheduledStage copy, PackedCopy(tree, source, packing));

  ExprRewriter rewriter;
  rewriter.load = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
    return buffer == source ? Load(copy.stage.output, packing.Map(indices)) : Expr();
  };
  reader.stage.value = Rewrite(reader.stage.value, rewriter);
  tree.InsertBefore(reader, std::move(copy));
  return absl::OkStatus();
}

}  // namespace attune
