// Questions that several emitters ask about indices and loops, answered from the ranges of the variables in
// them.
#ifndef ATTUNE_CODEGEN_INDICES_H_
#define ATTUNE_CODEGEN_INDICES_H_

#include <cstdint>
#include <vector>

#include "tensor/affine.h"
#include "tensor/stmt.h"

namespace attune {

inline bool FitsInt32(const Interval& i) { return i.min >= INT32_MIN && i.max <= INT32_MAX; }

// The flat index of an element in the buffer's memory.
Affine FlatIndex(const Buffer& buffer, const std::vector<Expr>& indices, const Bounds& bounds);

// Whether a buffer has all elements with these flat indices.
bool AreInBounds(const Buffer& buffer, const Interval& flat);

// The range of the loop's variable inside of the body.
Interval LoopInterval(const Stmt& loop, const Bounds& bounds);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_INDICES_H_
