// One function an operator, or a family: adds the stages that compute a node. The table is in operators.cc.
#ifndef ATTUNE_LOWER_OPERATORS_H_
#define ATTUNE_LOWER_OPERATORS_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "lower/definition.h"

namespace attune {

absl::Status DefineElementwise(Definition& definition, const Node& node);

// contraction.cc
absl::Status DefineConv(Definition& definition, const Node& node);  // conv, conv_integer
absl::Status DefineConvTranspose(Definition& definition, const Node& node);
absl::Status DefineMatMul(Definition& definition, const Node& node);  // matmul, matmul_integer
absl::Status DefineAttention(Definition& definition, const Node& node);

}  // namespace attune

#endif  // ATTUNE_LOWER_OPERATORS_H_
