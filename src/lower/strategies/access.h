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

// The stride, in elements, with which a load moves along a variable; nothing where that is not constant.
// `bounds` knows the stage's axes.
std::optional<int64_t> StrideAlong(const Expr& load, const Var& var, const Bounds& bounds);

// How well the loads of a stage suit lanes along an axis: contiguous ones and constant ones count for it,
// others against it. At least 0: well enough.
int Contiguity(const Stage& stage, const Axis& axis);
// The same of vectors of `width` lanes that start at multiples of it along the axis. Memory in blocks of that
// many elements is contiguous within each, though not along the axis as a whole.
int Contiguity(const Stage& stage, const Axis& axis, int64_t width);

// Calls `visit` for every load in a stage's value and condition.
void VisitLoads(const Stage& stage, const std::function<void(const Expr&)>& visit);

// Whether each load, and the store, passes from the last element of a row along `inner` to the first of the
// next as it does within the row, so that the two axes, the one next to the other, can be one.
bool CanFuse(const Stage& stage, const Axis& outer, const Axis& inner);

// How many elements of a stage fill one vector register of `vector_bits`.
int64_t LanesOf(const Stage& stage, int vector_bits);

// Elements times terms.
int64_t WorkOf(const Stage& stage);

// Whether evaluating the stage's formula costs tens of instructions an element.
bool IsExpensive(const Stage& stage);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_ACCESS_H_
