// For tests: a few compute definitions.
#ifndef ATTUNE_TENSOR_TESTING_DEFINITIONS_H_
#define ATTUNE_TENSOR_TESTING_DEFINITIONS_H_

#include "tensor/compute.h"

namespace attune {

// Stages c[i, j] = Σ a[i, k] b[k, j] and out = max(c, 0); a: [m, k], b: [k, n]. Extents may be open here and
// in Softmax(); the caller then adds the sizes to the definition.
ComputeDef MatMulRelu(const Extent& m, const Extent& n, const Extent& k);

// Stages pad (one zero on either side of x), conv[w] = Σ pad[stride · w + r] f[r] over three r, and
// out = conv + 1; x: [size], f: [3].
ComputeDef PaddedConv(int64_t size, int64_t stride);

// The softmax of each row of x: [rows, columns]: stages top (the greatest), exp, sum and out.
ComputeDef Softmax(const Extent& rows, const Extent& columns);

}  // namespace attune

#endif  // ATTUNE_TENSOR_TESTING_DEFINITIONS_H_
