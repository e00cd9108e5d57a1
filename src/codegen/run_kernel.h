// For tests: compiles a hand-made loop nest for this machine and runs it on plain arrays.
#ifndef ATTUNE_CODEGEN_RUN_KERNEL_H_
#define ATTUNE_CODEGEN_RUN_KERNEL_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/status.h"
#include "codegen/codegen.h"
#include "codegen/host_code.h"
#include "tensor/stmt.h"

namespace attune {

// A kernel that is ready to be called. The buffers' memory is owned here, aligned as the ABI asks, and ends
// right before a page that cannot be accessed where Guarded was asked for.
class TestKernel {
 public:
  static absl::StatusOr<TestKernel> Make(const LoopNest& nest, const CodegenOptions& options = {}) {
    ASSIGN_OR_RETURN(const Target target, HostTarget());
    return Make(nest, target, options);
  }

  static absl::StatusOr<TestKernel> Make(const LoopNest& nest, const Target& target,
                                         const CodegenOptions& options) {
    TestKernel kernel;
    ASSIGN_OR_RETURN(kernel.compiled_, CompileKernel(nest, target, options));
    ASSIGN_OR_RETURN(const LinkedCode code, Link({&kernel.compiled_.object}));
    ASSIGN_OR_RETURN(HostCode host, HostCode::Map(code));
    kernel.host_ = std::make_shared<HostCode>(std::move(host));
    return kernel;
  }

  const CompiledKernel& compiled() const { return compiled_; }

  // Runs all phases, the parallel ones in `parts` parts one after the other.
  int32_t Run(const std::vector<void*>& buffers, int32_t parts = 1, int64_t* dims = nullptr) const {
    const size_t bytes = static_cast<size_t>(RoundUp(compiled_.scratch_bytes + 64, 64));
    const std::unique_ptr<void, decltype(&std::free)> scratch(std::aligned_alloc(64, bytes), &std::free);
    for (const KernelPhase& phase : compiled_.phases) {
      const PhaseFunction function = host_->Find(phase.symbol);
      const int32_t count = phase.parallel ? parts : 1;
      for (int32_t part = 0; part < count; ++part) {
        std::memset(scratch.get(), 0xAB, bytes);
        if (const int32_t rc = function(buffers.data(), dims, scratch.get(), part, count)) return rc;
      }
    }
    return 0;
  }

 private:
  CompiledKernel compiled_;
  std::shared_ptr<HostCode> host_;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_RUN_KERNEL_H_
