#include "runtime/session_memory.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/joined.h"
#include "runtime/input_shapes.h"

namespace attune {
namespace {

// The scratch of two threads shares no cache line, nor a pair of lines that are fetched together.
constexpr uint64_t kScratchAlignment = 128;

uint64_t AlignedForScratch(uint64_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

}  // namespace

RuntimeStatus NoMemory(uint64_t bytes) {
  return {ATTUNE_OUT_OF_MEMORY,
          Joined({"the session needs ", bytes,
                  " bytes of memory, which the system does not have; free some, or use fewer threads"})};
}

RuntimeStatus SessionMemory::Reserve(const Program& program, const ProgramPlacement& placement) {
  // One allocation, so that scratch, too, is in huge pages: the addresses of small pages are random, and so
  // is the amount of scratch that fits into the caches at a time.
  const uint64_t arena_bytes = AlignedForScratch(placement.arena_bytes + kReadAhead);
  const uint64_t stride = AlignedForScratch(std::max(min_scratch_bytes_, placement.scratch_bytes));
  const uint64_t bytes = arena_bytes + stride * static_cast<uint64_t>(threads_);
  if (max_bytes_ != 0 && bytes > max_bytes_) {
    const std::string at =
        program.sizes.empty() ? InputShapesText(program) : SizesText(program, placement.sizes);
    return {ATTUNE_OUT_OF_MEMORY, Joined({"the session needs ", bytes, " bytes of memory at ", at,
                                          ", over its bound of ", max_bytes_,
                                          "; use smaller inputs or fewer threads, or raise the bound by "
                                          "attune_session_set_max_memory"})};
  }
  if (bytes > bytes_ || (max_bytes_ != 0 && bytes_ > max_bytes_)) {
    DeviceMemory memory = device_.Allocate(bytes);
    if (memory == nullptr) return NoMemory(bytes);
    memory_ = std::move(memory);
    bytes_ = bytes;
  }
  scratch_ = memory_.get() + arena_bytes;
  scratch_stride_ = stride;
  return {};
}

}  // namespace attune
