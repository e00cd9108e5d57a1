// The memory that a kernel under measurement works in.
#ifndef ATTUNE_MEASURE_KERNEL_MEMORY_H_
#define ATTUNE_MEASURE_KERNEL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attune {

// How a kernel uses a buffer.
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
  bool is_float = true;  // then it is poisoned with NaN, which no result has
  // The number of copies. Either each execution uses the next copy (changes_each_time), or executions use
  // the same copy until the kernel is moved.
  int64_t copies = 1;
  bool changes_each_time = false;
};

// The arrangement of the buffers in memory.
enum class MemoryPlacement : uint8_t {
  // Each buffer lies between pages that cannot be accessed and ends at one; inputs and constants are
  // read-only. Used to find accesses out of bounds.
  kGuarded,
  // As in a session: written buffers side by side in huge pages, constants in other ones, all aligned to 64
  // bytes. Used for timing. The gaps between buffers have a known content, so that a write there is found
  // later.
  kArena,
};

// Approximate size of the memory for these buffers in bytes; at most INT64_MAX.
int64_t MemoryBytes(std::span<const KernelBuffer> buffers, int64_t scratch_bytes, int threads);
// Size of the address space in bytes, including inaccessible pages.
int64_t AddressBytes(std::span<const KernelBuffer> buffers, MemoryPlacement placement, int64_t scratch_bytes,
                     int threads);

// Allocated once in a process that ends soon: nothing is ever freed. After Allocate, no function allocates
// memory, and all are safe in a signal handler.
class KernelMemory {
 public:
  // Returns false if the system does not have the memory. Copies each `content` and poisons the workspaces.
  // Each of the `threads` threads has `scratch_bytes` of scratch.
  bool Allocate(std::span<const KernelBuffer> buffers, MemoryPlacement placement, int64_t scratch_bytes,
                int threads);

  // Chooses the copies for the next execution, after `executions` earlier ones and `moves` moves.
  void Choose(int64_t executions, int64_t moves);
  // The chosen copies.
  void* const* buffers() const { return chosen_.data(); }
  std::byte* scratch() const { return scratch_; }
  uint64_t scratch_stride() const { return scratch_stride_; }

  // Fills all copies of the outputs with values that no result has.
  void PoisonOutputs();
  // Does so for one random cache line of each chosen output: this reveals a kernel that does not write its
  // output, and costs nothing for one that does.
  void PoisonLines();

  // The buffer beside which something was written, or -1.
  int FindOverwritten() const;

  // Finds the buffer nearest to an address, and the offset in it; a negative offset is before its start.
  // Returns false if no buffer is within about a page.
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
  // Adds a copy of a buffer at `at`, and copies the content there.
  void Add(size_t buffer, std::byte* at);
  int64_t most_copies() const;
  void AddCanary(size_t buffer, std::byte* at, int64_t bytes);

  std::span<const KernelBuffer> specs_;
  std::vector<Segment> segments_;
  std::vector<Canary> canaries_;
  std::vector<std::vector<void*>> addresses_;  // by buffer, then by copy
  std::vector<void*> chosen_;                  // by buffer
  std::byte* scratch_ = nullptr;
  uint64_t scratch_stride_ = 0;
  uint64_t random_ = 1;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_KERNEL_MEMORY_H_
