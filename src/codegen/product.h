// Products that a store adds to what it overwrites: sum[…] = sum[…] + cast(a[…]) * cast(b[…]).
#ifndef ATTUNE_CODEGEN_PRODUCT_H_
#define ATTUNE_CODEGEN_PRODUCT_H_

#include <array>
#include <optional>

#include "tensor/stmt.h"

namespace attune {

// Whether `e` is the element that the store overwrites.
bool LoadsOverwritten(const Expr& e, const StmtNode& store);

// The two elements, loads of narrower types than the sum's, in the order in which the product has them; or
// nothing where the store does anything else.
std::optional<std::array<Expr, 2>> AccumulatedElements(const Stmt& store);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_PRODUCT_H_
