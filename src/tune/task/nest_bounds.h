// Estimates properties of a loop nest's machine code before it is generated.
#ifndef ATTUNE_TUNE_TASK_NEST_BOUNDS_H_
#define ATTUNE_TUNE_TASK_NEST_BOUNDS_H_

#include <cstdint>

#include "target/target.h"
#include "tensor/stmt.h"

namespace attune {

struct NestBounds {
  int64_t statements = 0;        // stores, counted as often as unrolling repeats them
  int64_t register_vectors = 0;  // the most vectors of register buffers that exist at the same time
  int64_t scratch_bytes = 0;     // the most bytes of scratch buffers that exist at the same time
};

NestBounds BoundsOf(const LoopNest& nest, const Target& target);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_NEST_BOUNDS_H_
