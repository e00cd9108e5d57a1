// A kernel that can be measured: its code, and how to call it.
#ifndef ATTUNE_MEASURE_KERNEL_H_
#define ATTUNE_MEASURE_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace attune {

// The role of a kernel's parameter.
enum class ParamKind : uint8_t {
  kInput,      // an input of the region
  kPrepacked,  // the result of a prepacking
  kOutput,     // an output of the region
  kWorkspace,  // memory of unspecified content, in one piece for all threads
};

struct KernelParam {
  ParamKind kind = ParamKind::kInput;
  int index = 0;  // of the input, prepacking or output; 0 for a workspace
  DType dtype = DType::kF32;
  int64_t bytes = 0;
};

// Linked code, which can be loaded at any multiple of 4096 bytes, and how to call it: kernel ABI v1.
struct KernelCode {
  struct Phase {
    int64_t offset = 0;  // into `bytes`
    bool parallel = false;
  };
  std::string bytes;
  std::vector<Phase> phases;
  int64_t scratch_bytes = 0;  // per thread
  std::vector<KernelParam> params;
};

// The kernel of a candidate, as it would be deployed, and the kernels that prepack its constants; each of
// these turns one input of the region into one tensor.
struct BuiltKernel {
  KernelCode code;
  std::vector<KernelCode> prepackings;
  std::string code_digest;  // of the object; equal to the one in an artifact's manifest
  int num_dims = 0;         // dynamic dimensions that the kernel computes or is given
  // Strategy::spreads_rounding: selects the error bound to check against.
  bool spreads_rounding = false;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_KERNEL_H_
