// What a loop nest would become as machine code, before any is made.
#ifndef ATTUNE_TUNE_TASK_NEST_BOUNDS_H_
#define ATTUNE_TUNE_TASK_NEST_BOUNDS_H_

#include <cstdint>

#include "target/target.h"
#include "tensor/stmt.h"

namespace attune {

struct NestBounds {
  int64_t statements = 0;        // stores, each as often as unrolling repeats it
  int64_t register_vectors = 0;  // of the buffers in registers that exist at the same time, at most
  int64_t scratch_bytes = 0;     // of the buffers in scratch memory that exist at the same time, at most
};

NestBounds BoundsOf(const LoopNest& nest, const Target& target);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_NEST_BOUNDS_H_
