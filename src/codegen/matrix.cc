// Matrix loops: tiles of sums that stay in tile registers.
//
// Problem: a matrix unit multiplies whole tiles, but only between its few registers, which no other
// instruction reads. Idea: where all that happens to a buffer in registers is what the unit does to tiles, as
// matrix loops ask for it, the buffer becomes tile registers: tiles are set to zero, products are added to
// them, and they are stored. The nests, with rows r, columns v in lanes and terms k and t:
//
//   matrix r { vector v { acc[r, v] = 0 } }
//   matrix r { unroll k { vector v { dot t { acc[r, v] += a[r, k, t] b[k, v, t] }}}}
//   matrix r { vector v { out[r, v] = acc[r, v] } }
//
// If one of them looks different, or the target has no such unit, matrix loops are unrolled and the buffer
// lies in vector registers.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status.h"
#include "codegen/emitter.h"
#include "codegen/product.h"

namespace attune {
namespace {

// The loops from a matrix loop inwards, and the store in them.
struct Loops {
  Stmt rows, groups, columns, terms;  // groups and terms: null where there are none
  Stmt store;
};

bool IsLoop(const Stmt& s, LoopKind kind) {
  return s != nullptr && s->kind == StmtKind::kFor && s->loop == kind && IsConst(s->min, 0) &&
         IsIntConst(s->extent);
}

int64_t Extent(const Stmt& loop) { return loop == nullptr ? 1 : loop->extent->int_value; }

std::optional<Loops> LoopsFrom(const Stmt& matrix) {
  Loops loops;
  if (!IsLoop(matrix, LoopKind::kMatrix)) return std::nullopt;
  loops.rows = matrix;
  Stmt s = matrix->body;
  if (IsLoop(s, LoopKind::kUnrolled)) {
    loops.groups = s;
    s = s->body;
  }
  if (!IsLoop(s, LoopKind::kVectorized)) return std::nullopt;
  loops.columns = s;
  s = s->body;
  if (IsLoop(s, LoopKind::kDot)) {
    loops.terms = s;
    s = s->body;
  }
  if (s == nullptr || s->kind != StmtKind::kStore) return std::nullopt;
  loops.store = s;
  if ((loops.groups == nullptr) != (loops.terms == nullptr)) return std::nullopt;
  return loops;
}

bool IsZero(const Expr& e) {
  return (e->kind == ExprKind::kFloat && e->float_value == 0 && !std::signbit(e->float_value)) ||
         IsConst(e, 0);
}

int64_t Coefficient(const Affine& flat, const Stmt& loop) {
  const Affine::Term* term = loop == nullptr ? nullptr : flat.Find(loop->var);
  return term == nullptr ? 0 : term->coefficient;
}

bool SameAffine(const Affine& a, const Affine& b) {
  Affine difference = a;
  difference.Add(b, -1);
  return difference.is_constant() && difference.constant == 0;
}

}  // namespace

// Matches a matrix loop with an operation of the unit; nothing if there is none that does the same.
std::optional<NestEmitter::TileStep> NestEmitter::MatchTileStep(const Stmt& matrix) {
  const std::optional<Loops> loops = LoopsFrom(matrix);
  if (!loops) return std::nullopt;
  TileStep step;
  step.store = loops->store;
  for (const Stmt& loop : {loops->rows, loops->groups, loops->columns, loops->terms}) {
    if (loop == nullptr) continue;
    bounds_.Set(loop->var, {0, Extent(loop) - 1});
    step.variables.push_back(loop->var);
  }
  const bool matches = loops->terms == nullptr
                           ? MatchMove(loops->rows, loops->columns, &step)
                           : MatchProduct(loops->rows, loops->groups, loops->columns, loops->terms, &step);
  for (const Var& variable : step.variables) bounds_.Unset(variable);
  step.rows = Extent(loops->rows);
  step.columns = Extent(loops->columns);
  step.groups = Extent(loops->groups);
  if (!matches || step.rows > kTileRows || step.columns > kTileColumns || step.groups > kTileColumns)
    return std::nullopt;
  return step;
}

// Zero, or a copy of a tile.
bool NestEmitter::MatchMove(const Stmt& rows, const Stmt& columns, TileStep* step) {
  const Stmt& store = step->store;
  if (DTypeSize(store->buffer->dtype) != 4) return false;
  const Affine to = FlatIndex(store->buffer, store->indices);
  if (Coefficient(to, columns) != 1 || Coefficient(to, rows) == 0) return false;
  step->store_stride = Coefficient(to, rows) * 4;
  if (IsZero(store->value)) {
    step->kind = TileStep::kZero;
    step->sums = store->buffer;
    step->sum_indices = store->indices;
    return true;
  }
  if (store->value->kind != ExprKind::kLoad || store->value->dtype != store->buffer->dtype) return false;
  step->kind = TileStep::kStore;
  step->sums = store->value->buffer;
  step->sum_indices = store->value->args;
  const Affine from = FlatIndex(step->sums, step->sum_indices);
  return Coefficient(from, columns) == 1 && Coefficient(from, rows) != 0;
}

bool NestEmitter::MatchProduct(const Stmt& rows, const Stmt& groups, const Stmt& columns, const Stmt& terms,
                               TileStep* step) {
  const Stmt& store = step->store;
  const std::optional<std::array<Expr, 2>> elements = AccumulatedElements(store);
  if (!elements) return false;
  step->kind = TileStep::kMultiply;
  step->sums = store->buffer;
  step->sum_indices = store->indices;
  const Affine sums = FlatIndex(store->buffer, store->indices);
  if (Coefficient(sums, columns) != 1 || Coefficient(sums, rows) == 0) return false;
  for (int first : {0, 1}) {
    step->left = (*elements)[static_cast<size_t>(first)];
    step->right = (*elements)[static_cast<size_t>(1 - first)];
    step->instruction = FindProduct(kMatrixInstructions, target_, store->buffer->dtype,
                                    step->left->buffer->dtype, step->right->buffer->dtype);
    if (step->instruction == nullptr || Extent(terms) != step->instruction->terms) continue;
    const Affine left = FlatIndex(step->left->buffer, step->left->args);
    const Affine right = FlatIndex(step->right->buffer, step->right->args);
    const int64_t count = step->instruction->terms;
    const bool left_fits = Coefficient(left, terms) == 1 && Coefficient(left, columns) == 0 &&
                           (Extent(groups) == 1 || Coefficient(left, groups) == count);
    const bool right_fits = Coefficient(right, terms) == 1 && Coefficient(right, columns) == count &&
                            Coefficient(right, rows) == 0;
    if (!left_fits || !right_fits) continue;
    step->left_stride = Coefficient(left, rows) * DTypeSize(step->left->buffer->dtype);
    step->right_stride = Coefficient(right, groups) * DTypeSize(step->right->buffer->dtype);
    return true;
  }
  return false;
}

// Collects what happens to a buffer's tiles. False where some access to it is no such step.
bool NestEmitter::CollectTileSteps(const Stmt& s, const Buffer& buffer, std::vector<Stmt>& unrolled,
                                   TilePlan* plan) {
  if (s == nullptr) return true;
  if (s->kind == StmtKind::kFor && s->loop == LoopKind::kMatrix) {
    const std::optional<TileStep> step = MatchTileStep(s);
    if (step && step->sums == buffer) return AddTileStep(*step, unrolled, plan);
  }
  if (s->kind == StmtKind::kStore && s->buffer == buffer) return false;
  for (const Expr& e : {s->value, s->condition, s->min, s->extent}) {
    if (Reads(e, buffer)) return false;
  }
  for (const Expr& index : s->indices) {
    if (Reads(index, buffer)) return false;
  }
  const bool is_loop = s->kind == StmtKind::kFor, is_unrolled = is_loop && s->loop == LoopKind::kUnrolled;
  if (is_loop) bounds_.Set(s->var, LoopInterval(s));
  if (is_unrolled) unrolled.push_back(s);
  bool all = CollectTileSteps(s->body, buffer, unrolled, plan) &&
             CollectTileSteps(s->else_body, buffer, unrolled, plan);
  for (const Stmt& child : s->children) all = all && CollectTileSteps(child, buffer, unrolled, plan);
  if (is_unrolled) unrolled.pop_back();
  if (is_loop) bounds_.Unset(s->var);
  return all;
}

// All steps must agree on the tiles' shapes: a register has one as long as it holds something.
bool NestEmitter::AddTileStep(const TileStep& step, const std::vector<Stmt>& unrolled, TilePlan* plan) {
  if (plan->rows == 0) {
    plan->rows = step.rows;
    plan->columns = step.columns;
  }
  if (step.rows != plan->rows || step.columns != plan->columns) return false;
  if (step.kind != TileStep::kMultiply) return true;
  if (plan->instruction == nullptr) {
    plan->instruction = step.instruction;
    plan->groups = step.groups;
  }
  if (step.instruction != plan->instruction || step.groups != plan->groups) return false;
  // How many operands the unrolled loops around go through.
  int64_t left = 1, right = 1;
  const Affine left_at = FlatIndex(step.left->buffer, step.left->args);
  const Affine right_at = FlatIndex(step.right->buffer, step.right->args);
  for (const Stmt& loop : unrolled) {
    if (Coefficient(left_at, loop) != 0) left *= Extent(loop);
    if (Coefficient(right_at, loop) != 0) right *= Extent(loop);
  }
  plan->lefts = std::max(plan->lefts, left);
  plan->rights = std::max(plan->rights, right);
  return true;
}

// Whether the buffer of an allocation can live in tile registers, and how.
std::optional<NestEmitter::TilePlan> NestEmitter::PlanTiles(const Stmt& allocate) {
  if (lanes_ || !HasProducts(kMatrixInstructions, target_)) return std::nullopt;
  TilePlan plan;
  std::vector<Stmt> unrolled;
  if (!CollectTileSteps(allocate->body, allocate->buffer, unrolled, &plan)) return std::nullopt;
  if (plan.instruction == nullptr) return std::nullopt;
  const int64_t tile = plan.rows * plan.columns, elements = allocate->buffer->num_elements();
  plan.sums = elements / tile;
  if (elements % tile != 0 || plan.sums + 2 > kTileRegisters) return std::nullopt;
  // All operands that the unrolled loops use again and again, where there are registers for them.
  const int64_t rest = kTileRegisters - plan.sums;
  if (plan.lefts + plan.rights > rest) {
    plan.lefts = std::min(plan.lefts, std::max<int64_t>(1, rest - plan.rights));
    plan.rights = rest - plan.lefts;
  }
  return plan;
}

void NestEmitter::EmitTiled(const Stmt& allocate, const TilePlan& plan) {
  std::vector<TileShape> shapes;
  shapes.insert(shapes.end(), static_cast<size_t>(plan.sums), {plan.rows, plan.columns * kGroupBytes});
  shapes.insert(shapes.end(), static_cast<size_t>(plan.lefts), {plan.rows, plan.groups * kGroupBytes});
  shapes.insert(shapes.end(), static_cast<size_t>(plan.rights), {plan.groups, plan.columns * kGroupBytes});
  if (tile_unit_ == nullptr) {
    tile_unit_ = target_.IsModelled(plan.instruction->feature) ? MakeTileModel(ir_, function_)
                                                               : target_emitter_.MakeTileUnit(ir_);
  }
  configurations_.push_back({tile_unit_->Configure(shapes), shapes});
  Tiles& tiles = tiles_[allocate->buffer.get()];
  const auto first_left = static_cast<int>(plan.sums), first_right = static_cast<int>(plan.sums + plan.lefts);
  for (int i = first_left; i < first_right; ++i) tiles.left.push_back({.tile = i});
  for (int i = first_right; i < first_right + plan.rights; ++i) tiles.right.push_back({.tile = i});
  EmitStmt(allocate->body);
  tiles_.erase(allocate->buffer.get());
}

void NestEmitter::EmitMatrix(const Stmt& s) {
  const std::optional<TileStep> step = tiles_.empty() ? std::nullopt : MatchTileStep(s);
  if (!step || !tiles_.contains(step->sums.get())) return EmitUnrolled(s);
  Tiles& tiles = tiles_[step->sums.get()];
  for (const Var& variable : step->variables) Bind(variable, ir_.getInt64(0), {0, 0});
  const Affine at = FlatIndex(step->sums, step->sum_indices);
  if (!at.is_constant())
    return Fail(InternalError("tile ", step->sums->name, " is not known when its instructions are emitted"));
  const auto [known, is_new] = tiles.sums.try_emplace(at.constant, static_cast<int>(tiles.sums.size()));
  const int sums = known->second;
  switch (step->kind) {
    case TileStep::kZero:
      tile_unit_->Zero(sums);
      break;
    case TileStep::kMultiply: {
      const int left = OperandTile(tiles.left, step->left, step->left_stride);
      const int right = OperandTile(tiles.right, step->right, step->right_stride);
      tile_unit_->Multiply(*step->instruction, sums, left, right);
      break;
    }
    case TileStep::kStore:
      tile_unit_->Store(sums, Locate(step->store->buffer, step->store->indices).pointer, step->store_stride);
      ForgetOperands();
      break;
  }
  for (const Var& variable : step->variables) Unbind(variable);
}

// The register that holds an operand: one that does already, or the least recently used, which loads it.
int NestEmitter::OperandTile(std::vector<OperandSlot>& slots, const Expr& element, int64_t stride) {
  const Affine at = FlatIndex(element->buffer, element->args);
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
  tile_unit_->Load(slot.tile, Locate(element->buffer, element->args).pointer, stride);
  return slot.tile;
}

// Called when memory or the values of variables change: registers may hold what operands were before.
void NestEmitter::ForgetOperands() {
  for (auto& [buffer, tiles] : tiles_) {
    for (std::vector<OperandSlot>* slots : {&tiles.left, &tiles.right}) {
      for (OperandSlot& slot : *slots) slot.buffer = nullptr;
    }
  }
}

// Configuring takes as long as many products: where a function needs one configuration, it happens once.
void NestEmitter::FinishTiles() {
  if (tile_unit_ == nullptr) return;
  const bool is_one = std::ranges::all_of(
      configurations_, [&](const Configuration& c) { return c.shapes == configurations_.front().shapes; });
  if (is_one && configurations_.front().instruction != nullptr) {
    configurations_.front().instruction->moveBefore(scopes_.front().entry->getTerminator());
    for (size_t i = 1; i < configurations_.size(); ++i) configurations_[i].instruction->eraseFromParent();
  }
  tile_unit_->Release();
  tile_unit_.reset();
  configurations_.clear();
}

}  // namespace attune
