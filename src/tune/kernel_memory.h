// The memory that a kernel under measurement works in.
#ifndef ATTUNE_TUNE_KERNEL_MEMORY_H_
#define ATTUNE_TUNE_KERNEL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attune {

// What a kernel does with a buffer.
enum class BufferUse : uint8_t {
  kInput,     // reads what an earlier kernel would have written
  kConstant,  // reads weights
  kOutput,
  kWorkspace,
};

struct KernelBuffer {
  BufferUse use = BufferUse::kInput;
  std::span<const std::byte> content;  // of inputs and constants
  int64_t bytes = 0;
  bool is_float = true;    // NaN is no result, then
  bool has_copies = true;  // one for each set, or the same for all
};

// How buffers lie in memory.
enum class Placement : uint8_t {
  // Each ends at a page that cannot be touched and begins after one; inputs and constants cannot be written.
  // This is for finding accesses out of bounds.
  kGuarded,
  // As a session has them: what kernels write side by side in huge pages, constants in small ones as of a
  // mapped file, all aligned to 64 bytes. This is for measuring. What lies between buffers is known, so that
  // a write there is found later.
  kArena,
};

// Bytes that memory for these buffers takes, about; at most INT64_MAX.
int64_t MemoryBytes(std::span<const KernelBuffer> buffers, int64_t copies, int64_t scratch_bytes,
                    int threads);

// Made once in a process that ends soon: nothing is ever freed. After Allocate, no function allocates memory,
// and all are safe in a signal handler.
class KernelMemory {
 public:
  // False where the system has no such memory. `copies`: how many sets of all buffers, at least 1. `content`
  // and workspaces are copied and poisoned here. The scratch of each of `threads` threads is `scratch_bytes`.
  bool Allocate(std::span<const KernelBuffer> buffers, Placement placement, int64_t copies,
                int64_t scratch_bytes, int threads);

  int64_t copies() const { return copies_; }
  void* const* buffers(int64_t copy) const { return addresses_.data() + static_cast<size_t>(copy) * count_; }
  std::byte* scratch() const { return scratch_; }
  uint64_t scratch_stride() const { return scratch_stride_; }

  // Fills the outputs of all copies with what is no result.
  void PoisonOutputs();
  // Does so with one cache line of each output of a copy, somewhere: a kernel that leaves an output as it was
  // is found out, at no cost to one that writes it.
  void PoisonLines(int64_t copy);

  // The buffer beside which something was written, or -1.
  int FindOverwritten() const;

  // What is at an address: the nearest buffer, and where in it; a negative offset is before its begin. False
  // where no buffer is within a page or so.
  bool Locate(const void* address, int* buffer, int64_t* offset) const;

 private:
  struct Segment {
    size_t buffer;
    std::byte* at;
    int64_t bytes;
  };
  struct Canary {
    size_t buffer;
    const std::byte* at;
    int64_t bytes;
  };

  bool AllocateGuarded();
  bool AllocateArena(bool constants);
  bool AllocateScratch(Placement placement, int64_t bytes, int threads);
  // The copy of a buffer lies at `at`, where its content goes.
  void Add(size_t buffer, int64_t copy, std::byte* at);
  void AddCanary(size_t buffer, std::byte* at, int64_t bytes);

  std::span<const KernelBuffer> specs_;
  size_t count_ = 0;
  int64_t copies_ = 1;
  std::vector<Segment> segments_;
  std::vector<Canary> canaries_;
  std::vector<void*> addresses_;  // copy by copy, in the order of the buffers
  std::byte* scratch_ = nullptr;
  uint64_t scratch_stride_ = 0;
  uint64_t random_ = 1;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_KERNEL_MEMORY_H_
