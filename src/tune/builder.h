// Building candidates: the interface, and what comes out.
#ifndef ATTUNE_TUNE_BUILDER_H_
#define ATTUNE_TUNE_BUILDER_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "tune/record.h"
#include "tune/task.h"

namespace attune {

// What a parameter of a kernel is.
enum class ParamKind : uint8_t {
  kInput,      // an input of the region
  kPrepared,   // what a preparation makes
  kOutput,     // an output of the region
  kWorkspace,  // memory of unspecified content, in one piece for all threads
};

struct KernelParam {
  ParamKind kind = ParamKind::kInput;
  int index = 0;  // of the input, preparation or output; 0 for a workspace
  DType dtype = DType::kF32;
  int64_t bytes = 0;
};

// Linked code, which runs wherever it lies at a multiple of 4096 bytes, and how to call it: kernel ABI v1.
struct KernelCode {
  struct Phase {
    int64_t offset = 0;  // into `bytes`
    bool parallel = false;
  };
  std::string bytes;
  std::vector<Phase> phases;
  int64_t scratch_bytes = 0;  // for each thread
  std::vector<KernelParam> params;
};

// A candidate's kernel, as it would be deployed, and the kernels that prepare its constants: each makes of
// one input of the region one tensor.
struct BuiltKernel {
  KernelCode code;
  std::vector<KernelCode> preparations;
  std::string code_digest;  // of the object: equal to the one in an artifact's manifest
  int num_dims = 0;         // dynamic dimensions that the kernel makes
  // Strategy::spreads_rounding: which tolerance counts.
  bool spreads_rounding = false;
};

struct BuildRequest {
  const TuningTask* task = nullptr;  // outlives the call
  Candidate candidate;
};

struct BuildResult {
  // kOk, or kBuildFailed, kTimedOut, kCrashed, kOutOfMemory: the candidate's own fault, to be recorded.
  // kOther: the builder could not work at all (no processes left, say), which says nothing of the candidate.
  TrialOutcome outcome = TrialOutcome::kOther;
  std::string reason;  // one line or a few; empty where the outcome is ok
  double seconds = 0;  // that building took
  BuiltKernel kernel;  // where the outcome is ok
};

// Thread safe.
class Builder {
 public:
  virtual ~Builder() = default;
  // Builds all and waits: one result a request, in order. When it returns, nothing runs any more on behalf of
  // these requests.
  virtual std::vector<BuildResult> Build(std::span<const BuildRequest> requests) = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_BUILDER_H_
