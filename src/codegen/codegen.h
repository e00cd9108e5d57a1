// From loop nests to machine code.
//
// CompileKernel turns one kernel into a relocatable object, Link joins objects into one blob of
// position-independent code, HostCode maps such a blob into this process. This folder alone includes LLVM.
//
// Kernel ABI v1. Every phase of a kernel is a function
//
//   int32_t phase(void* const* buffers, int64_t* dims, void* scratch, int32_t part, int32_t parts)
//
// `buffers` holds the kernel's parameters in the order of LoopNest::params, each aligned to 64 bytes.
// `dims` has the dynamic dimensions (LoopNest::dims_buffer) or the sizes (LoopNest::sizes), `scratch` is the
// calling thread's own area of CompiledKernel::scratch_bytes, aligned to 64 bytes. A phase that is parallel
// is called for parts that together are all of its loop, such as 0 of 2, 2 of 4 and 3 of 4; any other phase
// is called once, with part 0 of 1. Each phase returns 0.
#ifndef ATTUNE_CODEGEN_CODEGEN_H_
#define ATTUNE_CODEGEN_CODEGEN_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "target/target.h"
#include "tensor/stmt.h"

namespace attune {

struct CodegenOptions {
  // Pairs of parameters, by index, that may be the same memory: an output that is computed in place of an
  // input of equal size, each element read before it is written. All other pairs must not overlap where
  // either is written.
  std::vector<std::pair<int, int>> may_alias;
  // Fill CompiledKernel::llvm_ir and ::assembly.
  bool keep_text = false;
};

// One root statement of the kernel.
struct KernelPhase {
  std::string symbol;     // LoopNest::name + "." + the statement's index
  bool parallel = false;  // may be split into parts
  // The bytes of open buffers in each thread's scratch, beyond CompiledKernel::scratch_bytes, an expression
  // of the kernel's sizes.
  Expr open_scratch_bytes;
};

struct CompiledKernel {
  std::string object;  // a relocatable ELF file
  std::vector<KernelPhase> phases;
  int64_t scratch_bytes = 0;  // for each thread
  std::string llvm_ir;        // after optimization; empty unless kept
  std::string assembly;       // empty unless kept
};

// Compiles one kernel, which must satisfy VerifyLoopNest. The same arguments give the same bytes. Thread
// safe. Fails for a nest that unrolls beyond reason or uses what the target lacks (bound loops, shared
// memory).
absl::StatusOr<CompiledKernel> CompileKernel(const LoopNest& nest, const Target& target,
                                             const CodegenOptions& options = {});

// Code that runs wherever it is placed at a multiple of 4096 bytes: no relocations, imports or writable data.
struct LinkedCode {
  std::string bytes;
  std::map<std::string, int64_t> symbols;  // the phases, as offsets into `bytes`
};

// Links objects of CompileKernel. A symbol that is undefined or defined twice, writable data, or anything
// else that would need a loader is an internal error. Thread safe; calls wait for each other, as lld needs.
absl::StatusOr<LinkedCode> Link(const std::vector<const std::string*>& objects);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_CODEGEN_H_
