#include "codegen/expressions.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/status.h"
#include "codegen/indices.h"
#include "llvm/IR/Constants.h"

namespace attune {
namespace {

using llvm::Value;

bool IsComparison(MathOp op) { return op >= MathOp::kEqual && op <= MathOp::kGreaterEqual; }

bool IsDivision(MathOp op) { return op == MathOp::kFloorDiv || op == MathOp::kFloorMod; }

}  // namespace

void ExpressionEmitter::BeginStatement() {
  memo_.clear();
  contraction_ = Contraction();
}

// Subexpressions may be shared (the graph of nodes is not a tree), hence the memo.
Value* ExpressionEmitter::Emit(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kInt:
      return values_.Integer(e->dtype, e->int_value);
    case ExprKind::kFloat:
      return values_.Float(e->dtype, e->float_value);
    case ExprKind::kVar:
      return EmitVariable(e);
    default:
      break;
  }
  if (const auto it = memo_.find(e.get()); it != memo_.end()) return it->second.value;
  Value* value;
  if (e->kind == ExprKind::kLoad) {
    value = memory_.LoadFrom(e->buffer, Locate(e->buffer, e->args));
  } else if (e->kind == ExprKind::kCast) {
    const Expr& from = e->args[0];
    const bool rounds =
        from->kind == ExprKind::kOp && from->op == MathOp::kRound && from->dtype == DType::kF32;
    value = rounds ? values_.RoundTo(e->dtype, Emit(from->args[0]))
                   : values_.Cast(from->dtype, e->dtype, Emit(from));
  } else if (e->kind == ExprKind::kBitcast) {
    value = values_.Bitcast(e->dtype, Emit(e->args[0]));
  } else {
    value = EmitOp(e);
  }
  memo_[e.get()] = {e, value};
  return value;
}

Value* ExpressionEmitter::EmitVariable(const Expr& e) {
  if (Value* value = scopes_.ValueOf(e->var)) return value;
  return values_.Fail(values_.ScalarType(e->dtype), InvalidInput("variable ", e->var->name, " is not bound"));
}

Value* ExpressionEmitter::EmitOp(const Expr& e) {
  const std::vector<Expr>& args = e->args;
  if (e->op == MathOp::kSelect) {
    if (const std::optional<bool> known = scopes_.bounds().Prove(args[0])) return Emit(args[*known ? 1 : 2]);
    Value* condition = Emit(args[0]);
    Value* then_value = Emit(args[1]);
    return values_.Select(condition, then_value, Emit(args[2]));
  }
  if (e->dtype == DType::kBool) {
    if (const std::optional<bool> known = scopes_.bounds().Prove(e)) return ir_.getInt1(*known);
    if (IsComparison(e->op)) {
      if (Value* lanes = EmitLaneComparison(e)) return lanes;
    }
  }
  if (e->dtype == DType::kI64 && IsDivision(e->op)) return EmitIndexDivision(e);
  if (const Contraction::MultiplyAdd sum = contraction_.Find(e); sum.a) {
    Value* a = Emit(sum.a);
    Value* b = Emit(sum.b);
    return values_.Fma(a, b, Emit(sum.c));
  }
  const DType dtype = args[0]->dtype;
  Value* a = Emit(args[0]);
  if (args.size() == 1) return values_.Unary(e->op, dtype, a);
  return values_.Binary(e->op, dtype, a, Emit(args[1]));
}

// Floor division and remainder of indices. The range of the numerator removes most of them, makes the
// others unsigned, and lets them run in 32 bits, where vectors have a multiplication.
Value* ExpressionEmitter::EmitIndexDivision(const Expr& e) {
  const Bounds& bounds = scopes_.bounds();
  const Affine simplified = bounds.Normalize(e);
  const bool unchanged =
      simplified.terms.size() == 1 && simplified.constant == 0 && simplified.terms[0].coefficient == 1 &&
      simplified.terms[0].atom->kind == ExprKind::kOp && IsDivision(simplified.terms[0].atom->op);
  if (!unchanged) return EmitAffine(simplified);

  const Expr& division = simplified.terms[0].atom;
  Value* a = Emit(division->args[0]);
  Value* b = Emit(division->args[1]);
  const Interval numerator = bounds.Range(division->args[0]), divisor = bounds.Range(division->args[1]);
  if (numerator.min < 0 || divisor.min <= 0) return values_.Binary(division->op, DType::kI64, a, b);

  const bool narrow = FitsInt32(numerator) && FitsInt32(divisor);
  if (narrow) {
    a = values_.Cast(DType::kI64, DType::kU32, a);
    b = values_.Cast(DType::kI64, DType::kU32, b);
  }
  values_.Match(&a, &b);
  Value* result = division->op == MathOp::kFloorDiv ? ir_.CreateUDiv(a, b) : ir_.CreateURem(a, b);
  return narrow ? values_.Cast(DType::kU32, DType::kI64, result) : result;
}

// A comparison of indices that differ between lanes by a constant step alone: one scalar, broadcast and
// compared with a constant vector, in 32 bits. Null where that does not hold.
Value* ExpressionEmitter::EmitLaneComparison(const Expr& e) {
  const LaneLoop* const lanes = scopes_.lanes();
  if (lanes == nullptr || e->args[0]->dtype != DType::kI64) return nullptr;
  const Bounds& bounds = scopes_.bounds();
  Affine difference = bounds.Normalize(e->args[0]);
  difference.Add(bounds.Normalize(e->args[1]), -1);
  const Affine::Term* term = difference.Find(lanes->var);
  if (term == nullptr) return nullptr;
  const int64_t step = term->coefficient;
  const Interval range = bounds.Range(difference);
  Affine uniform;
  uniform.constant = difference.constant;
  for (const Affine::Term& t : difference.terms) {
    if (&t != term) uniform.terms.push_back(t);
  }
  uniform.Add(bounds.Normalize(lanes->min), step);
  for (const Affine::Term& t : uniform.terms) {
    if (scopes_.DependsOnLane(t.atom)) return nullptr;
  }
  const Interval steps{std::min<int64_t>(0, step * (lanes->lanes - 1)),
                       std::max<int64_t>(0, step * (lanes->lanes - 1))};
  if (!FitsInt32(range) || !FitsInt32(bounds.Range(uniform)) || !FitsInt32(steps)) return nullptr;

  std::vector<llvm::Constant*> limits;
  for (int64_t lane = 0; lane < lanes->lanes; ++lane) {
    limits.push_back(ir_.getInt32(static_cast<uint32_t>(-step * lane)));
  }
  Value* scalar = ir_.CreateTrunc(EmitAffine(uniform), ir_.getInt32Ty());
  return values_.Compare(e->op, DType::kI32, values_.Broadcast(scalar, lanes->lanes),
                         llvm::ConstantVector::get(limits));
}

Value* ExpressionEmitter::EmitAffine(const Affine& a) {
  Value* sum = nullptr;
  for (const Affine::Term& term : a.terms) {
    Value* product = values_.Binary(MathOp::kMul, DType::kI64, Emit(term.atom),
                                    values_.Integer(DType::kI64, term.coefficient));
    sum = sum == nullptr ? product : values_.Binary(MathOp::kAdd, DType::kI64, sum, product);
  }
  Value* constant = values_.Integer(DType::kI64, a.constant);
  return sum == nullptr ? constant : values_.Binary(MathOp::kAdd, DType::kI64, sum, constant);
}

Value* ExpressionEmitter::EmitAtEntry(const Expr& e) {
  const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  ir_.SetInsertPoint(scopes_.EndOfEntry(0));
  return EmitElsewhere(scopes_.bounds().Normalize(e));
}

Value* ExpressionEmitter::EmitElsewhere(const Affine& a) {
  Memo memo;
  std::swap(memo, memo_);
  Value* value = EmitAffine(a);
  std::swap(memo, memo_);
  return value;
}

}  // namespace attune
