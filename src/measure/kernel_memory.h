// The memory that a kernel under measurement works in.
#ifndef ATTUNE_MEASURE_KERNEL_MEMORY_H_
#define ATTUNE_MEASURE_KERNEL_MEMORY_H_

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
  bool is_float = true;  // NaN is no result, then
  // How many there are of it; executions work in one after the other of them, or in the same until the kernel
  // is moved.
  int64_t copies = 1;
  bool changes_each_time = false;
};

// How buffers lie in memory.
enum class MemoryPlacement : uint8_t {
  // Each ends at a page that cannot be touched and begins after one; inputs and constants cannot be written.
  // This is for finding accesses out of bounds.
  kGuarded,
  // As a session has them: what kernels write side by side in huge pages, constants in others, all aligned to
  // 64 bytes. This is for measuring. What lies between buffers is known, so that
  // a write there is found later.
  kArena,
};

// Bytes that memory for these buffers takes, about; at most INT64_MAX.
int64_t MemoryBytes(std::span<const KernelBuffer> buffers, int64_t scratch_bytes, int threads);
// Bytes of address space, with what cannot be touched.
int64_t AddressBytes(std::span<const KernelBuffer> buffers, MemoryPlacement placement, int64_t scratch_bytes,
                     int threads);

// Made once in a process that ends soon: nothing is ever freed. After Allocate, no function allocates memory,
// and all are safe in a signal handler.
class KernelMemory {
 public:
  // False where the system has no such memory. `content` and workspaces are copied and poisoned here. The
  // scratch of each of `threads` threads is `scratch_bytes`.
  bool Allocate(std::span<const KernelBuffer> buffers, MemoryPlacement placement, int64_t scratch_bytes,
                int threads);

  // Which copies come next: of an execution after `executions` others, after having been moved so often.
  void Choose(int64_t executions, int64_t moves);
  // The chosen ones.
  void* const* buffers() const { return chosen_.data(); }
  std::byte* scratch() const { return scratch_; }
  uint64_t scratch_stride() const { return scratch_stride_; }

  // Fills the outputs of all copies with what is no result.
  void PoisonOutputs();
  // Does so with one cache line of each chosen output, somewhere: a kernel that leaves an output as it was is
  // found out, at no cost to one that writes it.
  void PoisonLines();

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
  bool AllocateScratch(MemoryPlacement placement, int64_t bytes, int threads);
  // Another copy of a buffer lies at `at`, where its content goes.
  void Add(size_t buffer, std::byte* at);
  int64_t most_copies() const;
  void AddCanary(size_t buffer, std::byte* at, int64_t bytes);

  std::span<const KernelBuffer> specs_;
  std::vector<Segment> segments_;
  std::vector<Canary> canaries_;
  std::vector<std::vector<void*>> addresses_;  // of each buffer's copies
  std::vector<void*> chosen_;                  // by buffer
  std::byte* scratch_ = nullptr;
  uint64_t scratch_stride_ = 0;
  uint64_t random_ = 1;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_KERNEL_MEMORY_H_
