#include "codegen/tile_emitter.h"

#include <algorithm>

#include "base/status.h"
#include "codegen/indices.h"

namespace attune {
namespace {

bool SameAffine(const Affine& a, const Affine& b) {
  Affine difference = a;
  difference.Add(b, -1);
  return difference.is_constant() && difference.constant == 0;
}

}  // namespace

void TileEmitter::Begin(const Buffer& buffer, const TilePlan& plan) {
  std::vector<TileShape> shapes;
  shapes.insert(shapes.end(), static_cast<size_t>(plan.sums), {plan.rows, plan.columns * kGroupBytes});
  shapes.insert(shapes.end(), static_cast<size_t>(plan.lefts), {plan.rows, plan.groups * kGroupBytes});
  shapes.insert(shapes.end(), static_cast<size_t>(plan.rights), {plan.groups, plan.columns * kGroupBytes});
  if (unit_ == nullptr) {
    unit_ = target_.IsModelled(plan.instruction->feature) ? MakeTileModel(ir_, scopes_.function())
                                                          : values_.target().MakeTileUnit(ir_);
  }
  configurations_.push_back({unit_->Configure(shapes), shapes});
  Tiles& tiles = tiles_[buffer.get()];
  const auto first_left = static_cast<int>(plan.sums), first_right = static_cast<int>(plan.sums + plan.lefts);
  for (int i = first_left; i < first_right; ++i) tiles.left.push_back({.tile = i});
  for (int i = first_right; i < first_right + plan.rights; ++i) tiles.right.push_back({.tile = i});
}

void TileEmitter::Emit(const TileStep& step) {
  Tiles& tiles = tiles_[step.sums.get()];
  for (const Var& variable : step.variables) scopes_.Bind(variable, ir_.getInt64(0), {0, 0});
  const Affine at = FlatIndex(step.sums, step.sum_indices, scopes_.bounds());
  if (!at.is_constant()) {
    values_.Fail(ir_.getInt1Ty(),
                 InternalError("tile ", step.sums->name, " is not known when its instructions are emitted"));
    return;
  }
  const auto [known, is_new] = tiles.sums.try_emplace(at.constant, static_cast<int>(tiles.sums.size()));
  const int sums = known->second;
  switch (step.kind) {
    case TileStep::kZero:
      unit_->Zero(sums);
      break;
    case TileStep::kMultiply: {
      const int left = OperandTile(tiles.left, step.left, step.left_stride);
      const int right = OperandTile(tiles.right, step.right, step.right_stride);
      unit_->Multiply(*step.instruction, sums, left, right);
      break;
    }
    case TileStep::kStore:
      unit_->Store(sums, expressions_.Locate(step.store->buffer, step.store->indices).pointer,
                   step.store_stride);
      ForgetOperands();
      break;
  }
  for (const Var& variable : step.variables) scopes_.Unbind(variable);
}

// The register that holds an operand: one that holds it already, or the least recently used, after loading
// it.
int TileEmitter::OperandTile(std::vector<OperandSlot>& slots, const Expr& element, int64_t stride) {
  const Affine at = FlatIndex(element->buffer, element->args, scopes_.bounds());
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].buffer != element->buffer || !SameAffine(slots[i].at, at)) continue;
    std::rotate(slots.begin() + static_cast<ptrdiff_t>(i), slots.begin() + static_cast<ptrdiff_t>(i) + 1,
                slots.end());
    return slots.back().tile;
  }
  std::rotate(slots.begin(), slots.begin() + 1, slots.end());
  OperandSlot& slot = slots.back();
  slot.buffer = element->buffer;
  slot.at = at;
  unit_->Load(slot.tile, expressions_.Locate(element->buffer, element->args).pointer, stride);
  return slot.tile;
}

void TileEmitter::ForgetOperands() {
  for (auto& [buffer, tiles] : tiles_) {
    for (std::vector<OperandSlot>* slots : {&tiles.left, &tiles.right}) {
      for (OperandSlot& slot : *slots) slot.buffer = nullptr;
    }
  }
}

// Configuring takes as long as many products.
void TileEmitter::Finish() {
  if (unit_ == nullptr) return;
  const bool is_one = std::ranges::all_of(
      configurations_, [&](const Configuration& c) { return c.shapes == configurations_.front().shapes; });
  if (is_one && configurations_.front().instruction != nullptr) {
    configurations_.front().instruction->moveBefore(scopes_.EndOfEntry(0));
    for (size_t i = 1; i < configurations_.size(); ++i) configurations_[i].instruction->eraseFromParent();
  }
  unit_->Release();
  unit_.reset();
  configurations_.clear();
}

}  // namespace attune
