// Which sums of a product are computed with one rounding.
//
// Processors add a term to a product in the same instruction, for nothing and without rounding the product.
// That is faster and mostly more exact, but the product is then another number than where it is computed by
// itself: the difference of two equal products, one rounded and one not, is the rounding error and not 0.
// So a sum is contracted only where nothing can cancel against the product:
//   - an fma of the IR always: it asks for that;
//   - an addition a b + c where the expression of c has no product in it: loads, constants, quotients,
//     maxima of such. This covers the sums that contractions accumulate, scale and bias, polynomials,
//     a residual;
//   - no subtraction, and no addition of two products: both may cancel.
#ifndef ATTUNE_TENSOR_CONTRACTION_H_
#define ATTUNE_TENSOR_CONTRACTION_H_

#include <unordered_map>

#include "tensor/expr.h"

namespace attune {

// Decides for expressions that share parts, each of which is looked at once. Not thread-safe.
class Contraction {
 public:
  // The a b + c of a contracted sum: an fma, or an addition of f32 or f64 by the rule above. `a` is null
  // for anything else.
  struct MultiplyAdd {
    Expr a, b, c;
  };
  MultiplyAdd Find(const Expr& e);

 private:
  bool HasProduct(const Expr& e);

  // Keeps the expression alive: another one could be allocated at its address.
  struct Known {
    Expr expr;
    bool has_product;
  };
  std::unordered_map<const ExprNode*, Known> known_;
};

}  // namespace attune

#endif  // ATTUNE_TENSOR_CONTRACTION_H_
