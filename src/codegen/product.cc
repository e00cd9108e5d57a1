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
  const bool accumulates = accumulator->kind == ExprKind::kLoad && accumulator->buffer == store->buffer &&
                           std::equal(accumulator->args.begin(), accumulator->args.end(),
                                      store->indices.begin(), store->indices.end(), SameExpr);
  return accumulates && product->kind == ExprKind::kOp && product->op == MathOp::kMul ? product : Expr();
}

}  // namespace

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
