// Puts buffers in the stead of others.
#ifndef ATTUNE_TENSOR_REPLACE_BUFFERS_H_
#define ATTUNE_TENSOR_REPLACE_BUFFERS_H_

#include <map>

#include "tensor/stmt.h"

namespace attune {

// The nest with buffers replaced, each by another of the same shape. Where the other one has another dtype,
// what is loaded from it is cast to that of the one it replaces, and what is stored to it is cast to its own.
LoopNest ReplaceBuffers(LoopNest nest, const std::map<Buffer, Buffer>& replaced);

}  // namespace attune

#endif  // ATTUNE_TENSOR_REPLACE_BUFFERS_H_
