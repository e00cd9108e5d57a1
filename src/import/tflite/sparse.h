// Converts sparse weights to dense ones.
#ifndef ATTUNE_IMPORT_TFLITE_SPARSE_H_
#define ATTUNE_IMPORT_TFLITE_SPARSE_H_

#include "graph/tensor.h"
#include "import/tflite/tflite_generated.h"

namespace attune::tflite {

// A dense tensor of `shape` with `values` at the positions in `sparsity`, zero elsewhere. The format is
// that of "The Tensor Algebra Compiler" (Kjolstad et al., 2017) with blocks: axes are traversed in a stated
// order; each axis is either dense or stored as compressed rows of the previous one. Throws ImportFailure.
Tensor Densified(const schema::SparsityParameters& sparsity, const Tensor& values, const Shape& shape);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_SPARSE_H_
