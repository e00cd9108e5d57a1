// Replaces buffers by others.
#ifndef ATTUNE_TENSOR_REPLACE_BUFFERS_H_
#define ATTUNE_TENSOR_REPLACE_BUFFERS_H_

#include <map>

#include "tensor/stmt.h"

namespace attune {

// The nest with buffers replaced, each by another of the same shape. Where the new buffer has another
// dtype, loads from it are cast to the dtype of the buffer that it replaces, and stores to it are cast to
// its own.
LoopNest ReplaceBuffers(LoopNest nest, const std::map<Buffer, Buffer>& replaced);

}  // namespace attune

#endif  // ATTUNE_TENSOR_REPLACE_BUFFERS_H_
