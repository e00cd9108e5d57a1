// Defines attention, for operands that are read directly or from copies in another order.
#ifndef ATTUNE_LOWER_ATTENTION_H_
#define ATTUNE_LOWER_ATTENTION_H_

#include <cstdint>
#include <functional>

#include "lower/definition.h"

namespace attune {

// How to read the operands: elements in the compute type, by batch, head, row and column. `keys` and `size`
// (of a query or key) are at least the node's: keys beyond the node's have no weight, and columns beyond
// the node's must read as 0.
struct AttentionOperands {
  int64_t keys, size;
  std::function<Expr(const Indices&)> query, key, value;
  // Whether sums are multiplied by the reciprocal of a row's total weight, a stage "inverse": one division
  // per row instead of one per value, and one more rounding.
  bool multiplies = false;
};

// softmax(scale · q kᵀ + mask) v, row by row with the row's maximum subtracted. The exponentials, from 0 to
// 1, have the type of the values that they weight. The stages are "qk", "max", "exp", "sum"
// and "acc".
absl::Status DefineAttentionOf(Definition& definition, const Node& node, const AttentionOperands& operands);

}  // namespace attune

#endif  // ATTUNE_LOWER_ATTENTION_H_
