// The definition of a group whose sizes are open, from its definitions at several sizes.
#ifndef ATTUNE_LOWER_OPEN_DEFINITION_H_
#define ATTUNE_LOWER_OPEN_DEFINITION_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sizes/fit.h"
#include "tensor/compute.h"

namespace attune {

// The least general definition that is definitions[i] where the open dimensions have the values points[i]
// (anti-unification: Plotkin, A note on inductive generalization, 1970). Where the definitions have different
// numbers, it has expressions of its sizes, one a dimension of `dims`. Variables and buffers that have no
// open extent are those of the first definition. Fails with NotSupported where the definitions differ in more
// than numbers, or where a number follows no expression.
absl::StatusOr<ComputeDef> OpenDefinition(std::span<const ComputeDef> definitions,
                                          std::span<const SizePoint> points, std::span<const OpenDim> dims);

// The expression of the variables that stand for the open dimensions.
Expr ToExpr(const SizeExpr& size, std::span<const SizeParam> params);

}  // namespace attune

#endif  // ATTUNE_LOWER_OPEN_DEFINITION_H_
