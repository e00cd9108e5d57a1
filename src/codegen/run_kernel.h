// For tests: compiles a hand-made loop nest for this machine and runs it on plain arrays.
#ifndef ATTUNE_CODEGEN_RUN_KERNEL_H_
#define ATTUNE_CODEGEN_RUN_KERNEL_H_

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/random.h"
#include "base/status.h"
#include "codegen/codegen.h"
#include "codegen/host_code.h"
#include "device/host.h"
#include "tensor/stmt.h"

namespace attune {

// Numbers from -1 to 1.
inline std::vector<float> RandomFloats(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& x : values) x = static_cast<float>(random.Uniform() * 2 - 1);
  return values;
}

// A kernel that is ready to be called.
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

  // Runs all phases, the parallel ones in `parts` parts one after the other. Buffers of open extents in
  // scratch have room for `open_scratch_bytes`.
  int32_t Run(const std::vector<void*>& buffers, int32_t parts = 1, int64_t* dims = nullptr,
              int64_t open_scratch_bytes = 1 << 16) const {
    const size_t bytes = static_cast<size_t>(RoundUp(compiled_.scratch_bytes + open_scratch_bytes + 64, 64));
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

// Shorthand of the tests.
inline constexpr BufferRole kIn = BufferRole::kInput, kOut = BufferRole::kOutput;
inline constexpr LoopKind kSerial = LoopKind::kSerial, kVector = LoopKind::kVectorized,
                          kUnroll = LoopKind::kUnrolled, kParallel = LoopKind::kParallel;

inline Stmt For(const Var& v, int64_t n, LoopKind kind, Stmt body) {
  return MakeFor(v, 0, n, kind, std::move(body));
}

inline LoopNest Nest(std::vector<LoopNest::Param> params, std::vector<Stmt> roots,
                     std::string name = "kernel") {
  return {.name = std::move(name),
          .params = std::move(params),
          .dims_buffer = nullptr,
          .roots = std::move(roots)};
}

// Compiles for each width of vectors that this machine has and runs `check` with each kernel.
template <typename Check>
void ForEachTarget(const LoopNest& nest, const Check& check) {
  const auto host = HostTarget();
  ASSERT_TRUE(host.ok()) << host.status();
  for (const Target& target : {*host, *TargetByName("x86-64-v3")}) {
    SCOPED_TRACE(target.name);
    const auto kernel = TestKernel::Make(nest, target, {});
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    check(*kernel);
  }
}

// Memory that ends at a page which cannot be touched, and begins after one.
template <typename T>
class Guarded {
 public:
  explicit Guarded(const std::vector<T>& values) : bytes_(values.size() * sizeof(T)) {
    pages_ = static_cast<size_t>(RoundUp(static_cast<int64_t>(bytes_), kPage)) + 2 * kPage;
    base_ = static_cast<char*>(mmap(nullptr, pages_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + kPage, pages_ - 2 * kPage, PROT_READ | PROT_WRITE);
    std::memcpy(data(), values.data(), bytes_);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(base_, pages_); }
  T* data() { return reinterpret_cast<T*>(base_ + pages_ - kPage - bytes_); }

 private:
  static constexpr size_t kPage = 4096;
  size_t bytes_, pages_;
  char* base_;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_RUN_KERNEL_H_
