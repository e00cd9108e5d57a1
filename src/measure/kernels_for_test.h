// For tests: a kernel with every field set.
#ifndef ATTUNE_MEASURE_KERNELS_FOR_TEST_H_
#define ATTUNE_MEASURE_KERNELS_FOR_TEST_H_

#include <string>

#include "measure/kernel.h"

namespace attune {

inline BuiltKernel SampleKernel() {
  BuiltKernel kernel;
  kernel.code.bytes = std::string(100, '\x90');
  kernel.code.phases = {{0, true}, {16, false}};
  kernel.code.scratch_bytes = 128;
  kernel.code.params = {{ParamKind::kInput, 1, DType::kBF16, 64},
                        {ParamKind::kPrepacked, 0, DType::kF32, 256},
                        {ParamKind::kOutput, 0, DType::kI8, 10},
                        {ParamKind::kWorkspace, 0, DType::kF32, 4096}};
  kernel.prepackings = {kernel.code};
  kernel.prepackings[0].params.resize(1);
  kernel.code_digest = std::string(64, 'a');
  kernel.num_dims = 2;
  kernel.spreads_rounding = true;
  return kernel;
}

}  // namespace attune

#endif  // ATTUNE_MEASURE_KERNELS_FOR_TEST_H_
