// The memory of a session: the arena, and the scratch of its threads.
#ifndef ATTUNE_RUNTIME_SESSION_MEMORY_H_
#define ATTUNE_RUNTIME_SESSION_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "artifact/open_program.h"
#include "runtime/device.h"
#include "runtime/error.h"

namespace attune {

// The error if the system has not that many bytes.
RuntimeStatus NoMemory(uint64_t bytes);

class SessionMemory {
 public:
  // `scratch_bytes` is what each thread has at least.
  SessionMemory(const Device& device, uint64_t scratch_bytes, int32_t threads)
      : device_(device), min_scratch_bytes_(scratch_bytes), threads_(threads) {}

  // The most bytes from the next Reserve() on; 0: any number.
  void SetMaxBytes(uint64_t bytes) { max_bytes_ = bytes; }

  // Makes the memory fit the program's placement. It grows if needed, shrinks if it is beyond its bound, and
  // loses its content in both cases. After an error, it is as before.
  RuntimeStatus Reserve(const Program& program, const ProgramPlacement& placement);

  std::byte* arena() const { return memory_.get(); }
  std::byte* scratch() const { return scratch_; }              // of the first thread
  uint64_t scratch_stride() const { return scratch_stride_; }  // to that of the next one

 private:
  const Device& device_;
  const uint64_t min_scratch_bytes_;
  const int32_t threads_;
  uint64_t max_bytes_ = 0;
  DeviceMemory memory_;
  uint64_t bytes_ = 0;
  std::byte* scratch_ = nullptr;
  uint64_t scratch_stride_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_SESSION_MEMORY_H_
