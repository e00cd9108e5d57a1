#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/status.h"
#include "codegen/emitter.h"
#include "llvm/IR/Constants.h"

namespace attune {
namespace {

using llvm::Value;

bool IsComparison(MathOp op) { return op >= MathOp::kEqual && op <= MathOp::kGreaterEqual; }

bool IsDivision(MathOp op) { return op == MathOp::kFloorDiv || op == MathOp::kFloorMod; }

}  // namespace

// Subexpressions may be shared (the graph of nodes is not a tree), hence the memo.
Value* NestEmitter::EmitExpr(const Expr& e) {
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
    value = LoadFrom(e->buffer, Locate(e->buffer, e->args));
  } else if (e->kind == ExprKind::kCast) {
    const Expr& from = e->args[0];
    const bool rounds =
        from->kind == ExprKind::kOp && from->op == MathOp::kRound && from->dtype == DType::kF32;
    value = rounds ? values_.RoundTo(e->dtype, EmitExpr(from->args[0]))
                   : values_.Cast(from->dtype, e->dtype, EmitExpr(from));
  } else if (e->kind == ExprKind::kBitcast) {
    value = values_.Bitcast(e->dtype, EmitExpr(e->args[0]));
  } else {
    value = EmitOp(e);
  }
  memo_[e.get()] = {e, value};
  return value;
}

Value* NestEmitter::EmitVariable(const Expr& e) {
  const auto it = bindings_.find(e->var.get());
  if (it == bindings_.end()) {
    return values_.Fail(values_.ScalarType(e->dtype),
                        InvalidInput("variable ", e->var->name, " is not bound"));
  }
  return it->second.value;
}

Value* NestEmitter::EmitOp(const Expr& e) {
  const std::vector<Expr>& args = e->args;
  if (e->op == MathOp::kSelect) {
    if (const std::optional<bool> known = bounds_.Prove(args[0])) return EmitExpr(args[*known ? 1 : 2]);
    Value* condition = EmitExpr(args[0]);
    Value* then_value = EmitExpr(args[1]);
    return values_.Select(condition, then_value, EmitExpr(args[2]));
  }
  if (e->dtype == DType::kBool) {
    if (const std::optional<bool> known = bounds_.Prove(e)) return ir_.getInt1(*known);
    if (IsComparison(e->op)) {
      if (Value* lanes = EmitLaneComparison(e)) return lanes;
    }
  }
  if (e->dtype == DType::kI64 && IsDivision(e->op)) return EmitIndexDivision(e);
  if (const Contraction::MultiplyAdd sum = contraction_.Find(e); sum.a) {
    Value* a = EmitExpr(sum.a);
    Value* b = EmitExpr(sum.b);
    return values_.Fma(a, b, EmitExpr(sum.c));
  }
  const DType dtype = args[0]->dtype;
  Value* a = EmitExpr(args[0]);
  if (args.size() == 1) return values_.Unary(e->op, dtype, a);
  return values_.Binary(e->op, dtype, a, EmitExpr(args[1]));
}

// Floor division and remainder of indices. What is known of the numerator takes most of them away, makes the
// rest unsigned, and lets it run in 32 bits, where vectors have a multiplication.
Value* NestEmitter::EmitIndexDivision(const Expr& e) {
  const Affine simplified = bounds_.Normalize(e);
  const bool unchanged =
      simplified.terms.size() == 1 && simplified.constant == 0 && simplified.terms[0].coefficient == 1 &&
      simplified.terms[0].atom->kind == ExprKind::kOp && IsDivision(simplified.terms[0].atom->op);
  if (!unchanged) return EmitAffine(simplified);

  const Expr& division = simplified.terms[0].atom;
  Value* a = EmitExpr(division->args[0]);
  Value* b = EmitExpr(division->args[1]);
  const Interval numerator = bounds_.Range(division->args[0]), divisor = bounds_.Range(division->args[1]);
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
Value* NestEmitter::EmitLaneComparison(const Expr& e) {
  if (!lanes_ || e->args[0]->dtype != DType::kI64) return nullptr;
  Affine difference = bounds_.Normalize(e->args[0]);
  difference.Add(bounds_.Normalize(e->args[1]), -1);
  const Affine::Term* term = difference.Find(lanes_->var);
  if (term == nullptr) return nullptr;
  const int64_t step = term->coefficient;
  const Interval range = bounds_.Range(difference);
  Affine uniform;
  uniform.constant = difference.constant;
  for (const Affine::Term& t : difference.terms) {
    if (&t != term) uniform.terms.push_back(t);
  }
  uniform.Add(bounds_.Normalize(lanes_->min), step);
  for (const Affine::Term& t : uniform.terms) {
    if (DependsOnLane(t.atom)) return nullptr;
  }
  const Interval steps{std::min<int64_t>(0, step * (lanes_->lanes - 1)),
                       std::max<int64_t>(0, step * (lanes_->lanes - 1))};
  if (!FitsInt32(range) || !FitsInt32(bounds_.Range(uniform)) || !FitsInt32(steps)) return nullptr;

  std::vector<llvm::Constant*> limits;
  for (int64_t lane = 0; lane < lanes_->lanes; ++lane) {
    limits.push_back(ir_.getInt32(static_cast<uint32_t>(-step * lane)));
  }
  Value* scalar = ir_.CreateTrunc(EmitAffine(uniform), ir_.getInt32Ty());
  return values_.Compare(e->op, DType::kI32, values_.Broadcast(scalar, lanes_->lanes),
                         llvm::ConstantVector::get(limits));
}

Value* NestEmitter::EmitAffine(const Affine& a) {
  Value* sum = nullptr;
  for (const Affine::Term& term : a.terms) {
    Value* product = values_.Binary(MathOp::kMul, DType::kI64, EmitExpr(term.atom),
                                    values_.Integer(DType::kI64, term.coefficient));
    sum = sum == nullptr ? product : values_.Binary(MathOp::kAdd, DType::kI64, sum, product);
  }
  Value* constant = values_.Integer(DType::kI64, a.constant);
  return sum == nullptr ? constant : values_.Binary(MathOp::kAdd, DType::kI64, sum, constant);
}

// Whether the lanes of the current loop can see different values.
bool NestEmitter::DependsOnLane(const Expr& e) const {
  if (!lanes_) return false;
  if (e->kind == ExprKind::kVar) {
    const auto it = bindings_.find(e->var.get());
    return it != bindings_.end() && ValueBuilder::LanesOf(it->second.value) > 1;
  }
  return std::any_of(e->args.begin(), e->args.end(), [this](const Expr& arg) { return DependsOnLane(arg); });
}

}  // namespace attune
