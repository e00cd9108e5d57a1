// Puts buffers in the stead of others.
#ifndef ATTUNE_TENSOR_REPLACE_BUFFERS_H_
#define ATTUNE_TENSOR_REPLACE_BUFFERS_H_

#include <map>

#include "tensor/stmt.h"

namespace attune {

// The nest with buffers replaced, each by another of the same shape. What is loaded from a buffer of another
// dtype is cast to that of the one it replaces; one that is stored to keeps its dtype.
LoopNest ReplaceBuffers(LoopNest nest, const std::map<Buffer, Buffer>& replaced);

}  // namespace attune

#endif  // ATTUNE_TENSOR_REPLACE_BUFFERS_H_
