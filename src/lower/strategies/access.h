// How a stage's loads move through memory along its axes.
#ifndef ATTUNE_LOWER_STRATEGIES_ACCESS_H_
#define ATTUNE_LOWER_STRATEGIES_ACCESS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tensor/affine.h"
#include "tensor/compute.h"

namespace attune {

// The ranges of a stage's axes.
Bounds AxisBounds(const Stage& stage);

// The stride, in elements, with which a load moves along a variable; nothing if it is not constant.
// `bounds` has the ranges of the stage's axes.
std::optional<int64_t> StrideAlong(const Expr& load, const Var& var, const Bounds& bounds);

// How well the loads of a stage suit lanes along an axis: contiguous and constant loads count for it,
// others against it. At least 0: well enough.
int Contiguity(const Stage& stage, const Axis& axis);
// The same for vectors of `width` lanes that start at multiples of `width` along the axis: memory in blocks
// of that many elements is contiguous within each block, though not along the whole axis.
int Contiguity(const Stage& stage, const Axis& axis, int64_t width);

// Calls `visit` for every load in a stage's value and condition.
void VisitLoads(const Stage& stage, const std::function<void(const Expr&)>& visit);

// Whether two neighbouring axes can be fused: each load, and the store, moves from the last element of a
// row along `inner` to the first element of the next row as it does within the row.
bool CanFuse(const Stage& stage, const Axis& outer, const Axis& inner);

// How many elements of a stage fill one vector register of `vector_bits`.
int64_t LanesOf(const Stage& stage, int vector_bits);

// The number of elements, times that of terms.
int64_t WorkOf(const Stage& stage);

// Whether evaluating the stage's formula costs tens of instructions an element.
bool IsExpensive(const Stage& stage);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_ACCESS_H_
