// Expressions of sizes as code of the artifact.
#ifndef ATTUNE_COMPILE_SIZE_CODE_H_
#define ATTUNE_COMPILE_SIZE_CODE_H_

#include <vector>

#include "artifact/artifact.h"
#include "tensor/affine.h"
#include "tensor/stmt.h"

namespace attune {

// The code of an expression of `sizes`, integers and +, -, ·, floor division and remainder, min and max.
SizeCode CodeOf(const Expr& number, const std::vector<SizeParam>& sizes);

// The bytes of an open buffer.
Expr BytesOf(const BufferNode& buffer);

// The ranges of the sizes.
Bounds BoundsOf(const std::vector<SizeParam>& sizes);

}  // namespace attune

#endif  // ATTUNE_COMPILE_SIZE_CODE_H_
