#include "codegen/tile_plan.h"

#include <algorithm>
#include <cmath>

#include "codegen/indices.h"
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

int64_t ExtentOf(const Stmt& loop) { return loop == nullptr ? 1 : loop->extent->int_value; }

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

}  // namespace

std::optional<TileStep> TilePlanner::Match(const Stmt& matrix) {
  const std::optional<Loops> loops = LoopsFrom(matrix);
  if (!loops) return std::nullopt;
  TileStep step;
  step.store = loops->store;
  for (const Stmt& loop : {loops->rows, loops->groups, loops->columns, loops->terms}) {
    if (loop == nullptr) continue;
    bounds_.Set(loop->var, {0, ExtentOf(loop) - 1});
    step.variables.push_back(loop->var);
  }
  const bool matches = loops->terms == nullptr
                           ? MatchMove(loops->rows, loops->columns, &step)
                           : MatchProduct(loops->rows, loops->groups, loops->columns, loops->terms, &step);
  for (const Var& variable : step.variables) bounds_.Unset(variable);
  step.rows = ExtentOf(loops->rows);
  step.columns = ExtentOf(loops->columns);
  step.groups = ExtentOf(loops->groups);
  if (!matches || step.rows > kTileRows || step.columns > kTileColumns || step.groups > kTileColumns)
    return std::nullopt;
  return step;
}

// Matches a store of zeros to a tile, or a copy of a tile to memory.
bool TilePlanner::MatchMove(const Stmt& rows, const Stmt& columns, TileStep* step) {
  const Stmt& store = step->store;
  if (DTypeSize(store->buffer->dtype) != 4) return false;
  const Affine to = FlatIndex(store->buffer, store->indices, bounds_);
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
  const Affine from = FlatIndex(step->sums, step->sum_indices, bounds_);
  return Coefficient(from, columns) == 1 && Coefficient(from, rows) != 0;
}

bool TilePlanner::MatchProduct(const Stmt& rows, const Stmt& groups, const Stmt& columns, const Stmt& terms,
                               TileStep* step) {
  const Stmt& store = step->store;
  const std::optional<std::array<Expr, 2>> elements = AccumulatedElements(store);
  if (!elements) return false;
  step->kind = TileStep::kMultiply;
  step->sums = store->buffer;
  step->sum_indices = store->indices;
  const Affine sums = FlatIndex(store->buffer, store->indices, bounds_);
  if (Coefficient(sums, columns) != 1 || Coefficient(sums, rows) == 0) return false;
  for (int first : {0, 1}) {
    step->left = (*elements)[static_cast<size_t>(first)];
    step->right = (*elements)[static_cast<size_t>(1 - first)];
    step->instruction = FindProduct(kMatrixInstructions, target_, store->buffer->dtype,
                                    step->left->buffer->dtype, step->right->buffer->dtype);
    if (step->instruction == nullptr || ExtentOf(terms) != step->instruction->terms) continue;
    const Affine left = FlatIndex(step->left->buffer, step->left->args, bounds_);
    const Affine right = FlatIndex(step->right->buffer, step->right->args, bounds_);
    const int64_t count = step->instruction->terms;
    const bool left_fits = Coefficient(left, terms) == 1 && Coefficient(left, columns) == 0 &&
                           (ExtentOf(groups) == 1 || Coefficient(left, groups) == count);
    const bool right_fits = Coefficient(right, terms) == 1 && Coefficient(right, columns) == count &&
                            Coefficient(right, rows) == 0;
    if (!left_fits || !right_fits) continue;
    step->left_stride = Coefficient(left, rows) * DTypeSize(step->left->buffer->dtype);
    step->right_stride = Coefficient(right, groups) * DTypeSize(step->right->buffer->dtype);
    return true;
  }
  return false;
}

// Collects what happens to a buffer's tiles. False where some access to the buffer is not a tile step.
bool TilePlanner::Collect(const Stmt& s, const Buffer& buffer, std::vector<Stmt>& unrolled, TilePlan* plan) {
  if (s == nullptr) return true;
  if (s->kind == StmtKind::kFor && s->loop == LoopKind::kMatrix) {
    const std::optional<TileStep> step = Match(s);
    if (step && step->sums == buffer) return Add(*step, unrolled, plan);
  }
  if (s->kind == StmtKind::kStore && s->buffer == buffer) return false;
  for (const Expr& e : {s->value, s->condition, s->min, s->extent}) {
    if (Reads(e, buffer)) return false;
  }
  for (const Expr& index : s->indices) {
    if (Reads(index, buffer)) return false;
  }
  const bool is_loop = s->kind == StmtKind::kFor, is_unrolled = is_loop && s->loop == LoopKind::kUnrolled;
  if (is_loop) bounds_.Set(s->var, LoopInterval(s, bounds_));
  if (is_unrolled) unrolled.push_back(s);
  bool all = Collect(s->body, buffer, unrolled, plan) && Collect(s->else_body, buffer, unrolled, plan);
  for (const Stmt& child : s->children) all = all && Collect(child, buffer, unrolled, plan);
  if (is_unrolled) unrolled.pop_back();
  if (is_loop) bounds_.Unset(s->var);
  return all;
}

// All steps must agree on the tiles' shapes: a register keeps its shape as long as it holds something.
bool TilePlanner::Add(const TileStep& step, const std::vector<Stmt>& unrolled, TilePlan* plan) {
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
  // How many different operands the surrounding unrolled loops use.
  int64_t left = 1, right = 1;
  const Affine left_at = FlatIndex(step.left->buffer, step.left->args, bounds_);
  const Affine right_at = FlatIndex(step.right->buffer, step.right->args, bounds_);
  for (const Stmt& loop : unrolled) {
    if (Coefficient(left_at, loop) != 0) left *= ExtentOf(loop);
    if (Coefficient(right_at, loop) != 0) right *= ExtentOf(loop);
  }
  plan->lefts = std::max(plan->lefts, left);
  plan->rights = std::max(plan->rights, right);
  return true;
}

std::optional<TilePlan> TilePlanner::Plan(const Stmt& allocate) {
  if (!HasProducts(kMatrixInstructions, target_)) return std::nullopt;
  TilePlan plan;
  std::vector<Stmt> unrolled;
  if (!Collect(allocate->body, allocate->buffer, unrolled, &plan)) return std::nullopt;
  if (plan.instruction == nullptr) return std::nullopt;
  const int64_t tile = plan.rows * plan.columns, elements = allocate->buffer->num_elements();
  plan.sums = elements / tile;
  if (elements % tile != 0 || plan.sums + 2 > kTileRegisters) return std::nullopt;
  // Operands that the unrolled loops use again and again all get a register, where there are enough.
  const int64_t rest = kTileRegisters - plan.sums;
  if (plan.lefts + plan.rights > rest) {
    plan.lefts = std::min(plan.lefts, std::max<int64_t>(1, rest - plan.rights));
    plan.rights = rest - plan.lefts;
  }
  return plan;
}

}  // namespace attune
