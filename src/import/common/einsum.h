// Sums of products over named axes, as a sequence of batched matrix products.
#ifndef ATTUNE_IMPORT_COMMON_EINSUM_H_
#define ATTUNE_IMPORT_COMMON_EINSUM_H_

#include <string>
#include <vector>

#include "import/common/emitter.h"

namespace attune::importing {

// A value with one letter per axis.
struct Labelled {
  Value* value;
  std::string letters;
};

// The product of the terms, of which there is at least one, with the axes `output`, summed over all others. A
// term's diagonal is taken over a letter that it has twice. Axes with the same letter may have size 1 in one
// term. A broken model if no term has a letter of the output.
Value* SumOfProducts(Emitter& c, const std::vector<Labelled>& terms, const std::string& output);

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_EINSUM_H_
