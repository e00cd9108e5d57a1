// The definition of attention, for operands as they are and for copies of them in another order.
#ifndef ATTUNE_LOWER_ATTENTION_H_
#define ATTUNE_LOWER_ATTENTION_H_

#include <cstdint>
#include <functional>

#include "lower/definition.h"

namespace attune {

// The elements of the operands, in the compute type, by batch, head, row and column. `keys` and `size` (of a
// query or key) are at least the node's: keys beyond the node's have no weight, and columns beyond must be 0.
struct AttentionOperands {
  int64_t keys, size;
  std::function<Expr(const Indices&)> query, key, value;
  // Whether sums are multiplied by the reciprocal of a row's weights, one division a row instead of one for
  // each of its values: a stage "inverse". It rounds once more.
  bool multiplies = false;
};

// softmax(scale · q kᵀ + mask) v, row by row with the row's maximum subtracted. The exponentials, from 0 to
// 1, have the type of the values that they weight. The stages are "qk", "max", "exp", "sum"
// and "acc".
absl::Status DefineAttentionOf(Definition& definition, const Node& node, const AttentionOperands& operands);

}  // namespace attune

#endif  // ATTUNE_LOWER_ATTENTION_H_
