#include "tensor/contraction.h"

#include <algorithm>

namespace attune {
namespace {

bool IsOp(const Expr& e, MathOp op) { return e->kind == ExprKind::kOp && e->op == op; }

}  // namespace

// Whether the expression contains a product of floats; products of integers are exact.
bool Contraction::HasProduct(const Expr& e) {
  if (e->kind == ExprKind::kLoad || e->args.empty()) return false;
  if (const auto known = known_.find(e.get()); known != known_.end()) return known->second.has_product;
  const bool is_product = IsFloat(e->dtype) && (IsOp(e, MathOp::kMul) || IsOp(e, MathOp::kFma));
  const bool has_product =
      is_product || std::ranges::any_of(e->args, [this](const Expr& arg) { return HasProduct(arg); });
  known_[e.get()] = {e, has_product};
  return has_product;
}

Contraction::MultiplyAdd Contraction::Find(const Expr& e) {
  if (e->dtype != DType::kF32 && e->dtype != DType::kF64) return {};
  if (IsOp(e, MathOp::kFma)) return {e->args[0], e->args[1], e->args[2]};
  if (!IsOp(e, MathOp::kAdd)) return {};
  const bool is_right = IsOp(e->args[1], MathOp::kMul);
  const Expr &product = e->args[is_right ? 1 : 0], &rest = e->args[is_right ? 0 : 1];
  if (!IsOp(product, MathOp::kMul) || HasProduct(rest)) return {};
  return {product->args[0], product->args[1], rest};
}

}  // namespace attune
