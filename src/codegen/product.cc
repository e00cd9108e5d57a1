#include "codegen/product.h"

#include <algorithm>

namespace attune {
namespace {

// The element that `e` widens to the sum's type, or null.
Expr WidenedElement(const Expr& e, DType sum) {
  if (e->kind != ExprKind::kCast || e->dtype != sum) return Expr();
  return e->args[0]->kind == ExprKind::kLoad ? e->args[0] : Expr();
}

// The product that `store` adds to what it overwrites, or null.
Expr AccumulatedProduct(const Stmt& store) {
  const Expr& sum = store->value;
  if (sum->kind != ExprKind::kOp || sum->op != MathOp::kAdd) return Expr();
  const Expr &accumulator = sum->args[0], &product = sum->args[1];
  const bool is_product = product->kind == ExprKind::kOp && product->op == MathOp::kMul;
  return is_product && LoadsOverwritten(accumulator, *store) ? product : Expr();
}

}  // namespace

bool LoadsOverwritten(const Expr& e, const StmtNode& store) {
  return e->kind == ExprKind::kLoad && e->buffer == store.buffer &&
         std::ranges::equal(e->args, store.indices, SameExpr);
}

std::optional<std::array<Expr, 2>> AccumulatedElements(const Stmt& store) {
  const Expr product = AccumulatedProduct(store);
  if (!product) return std::nullopt;
  const DType sum = store->buffer->dtype;
  std::array<Expr, 2> elements = {WidenedElement(product->args[0], sum),
                                  WidenedElement(product->args[1], sum)};
  if (!elements[0] || !elements[1]) return std::nullopt;
  return elements;
}

}  // namespace attune
