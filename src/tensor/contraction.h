// Which sums of a product are computed with one rounding.
//
// Processors add to a product what is to be added in the same instruction, for nothing and without rounding
// the product. That is faster and mostly more exact, but the product is then not the number that it is where
// it is computed by itself: of two equal products, one rounded and one not, the difference is the rounding
// error and not 0. So a sum is contracted where nothing can stand against the product:
//   - an fma of the IR always: whoever writes it says so;
//   - an addition a b + c where c is computed, as far as the expression says, without any product: what is
//     loaded, a constant, a quotient, a maximum of such. This covers what sums of contractions accumulate,
//     scale and bias, polynomials, a residual;
//   - no subtraction, and no addition of two products: both may cancel.
#ifndef ATTUNE_TENSOR_CONTRACTION_H_
#define ATTUNE_TENSOR_CONTRACTION_H_

#include <unordered_map>

#include "tensor/expr.h"

namespace attune {

// Decides for expressions that share parts, each of which is looked at once. Not thread-safe.
class Contraction {
 public:
  // a b + c of a sum that is contracted: an fma, or an addition of f32 or f64 by the rule above. A null `a`
  // for anything else.
  struct MultiplyAdd {
    Expr a, b, c;
  };
  MultiplyAdd Find(const Expr& e);

 private:
  bool HasProduct(const Expr& e);

  // The expressions are kept alive: another one could take the place of one in memory.
  struct Known {
    Expr expr;
    bool has_product;
  };
  std::unordered_map<const ExprNode*, Known> known_;
};

}  // namespace attune

#endif  // ATTUNE_TENSOR_CONTRACTION_H_
