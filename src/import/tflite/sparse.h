// Sparse weights, spread out.
#ifndef ATTUNE_IMPORT_TFLITE_SPARSE_H_
#define ATTUNE_IMPORT_TFLITE_SPARSE_H_

#include "graph/tensor.h"
#include "import/tflite/tflite_generated.h"

namespace attune::tflite {

// The tensor of `shape` whose elements are `values` where `sparsity` says, else zero. The format is that of
// "The Tensor Algebra Compiler" (Kjolstad et al., 2017) with blocks: axes are traversed in a stated order,
// each either dense or as the compressed rows of the one before it. Throws ImportFailure.
Tensor Densified(const schema::SparsityParameters& sparsity, const Tensor& values, const Shape& shape);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_SPARSE_H_
