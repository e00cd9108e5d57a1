// Executes compiled kernels, for sessions and for measurements: memory, code, and streams of launches. The
// processor is the only device so far. The interface only has what its users need, so that a GPU is just
// another implementation. Descriptions of machines, including other ones than this, are in device/device.h.
#ifndef ATTUNE_RUNTIME_DEVICE_H_
#define ATTUNE_RUNTIME_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "artifact/artifact.h"
#include "runtime/error.h"

namespace attune {

// The maximum number of threads in a stream.
inline constexpr size_t kMaxThreads = 1024;

// Memory of a device, freed with its last owner. The address is valid on the device.
using DeviceMemory = std::shared_ptr<std::byte>;

// One execution of a kernel, which the stream may split into several calls; the arguments are those of
// KernelFunction.
struct KernelLaunch {
  KernelFunction kernel;
  void* const* buffers;
  int64_t* dims;
  std::byte* scratch;       // for the first thread
  uint64_t scratch_stride;  // bytes from one thread's scratch to the next
  int32_t threads;          // may share the work; 1 for a kernel that is not parallel
};

// Runs the kernels of one session, which owns it.
class Stream {
 public:
  virtual ~Stream() = default;
  // Called around a run: between these calls, threads may wait for the next launch without sleeping.
  virtual void BeginRun() = 0;
  virtual void EndRun() = 0;
  // Executes the kernel and waits for it. Returns 0, or the result of a call that failed.
  virtual int32_t Launch(const KernelLaunch& launch) = 0;
};

// Thread safe.
class Device {
 public:
  virtual ~Device() = default;

  // Checks whether code for `target` can run here; the message says what is missing.
  virtual RuntimeStatus CheckTarget(const TargetInfo& target) const = 0;

  // Zeroed memory, 64-byte aligned; nullptr if there is none. `bytes` may be 0.
  virtual DeviceMemory Allocate(uint64_t bytes) const = 0;
  // Memory with the host's `bytes`, which must outlive it; does not copy if the device can read host
  // memory.
  virtual DeviceMemory Import(std::span<const std::byte> bytes) const = 0;
  // Memory with the code, executable and read-only; nullptr if the system refuses.
  virtual DeviceMemory LoadCode(std::span<const std::byte> code) const = 0;

  // Copies between non-overlapping memories of the device, or between one and the host.
  virtual void Copy(void* to, const void* from, uint64_t bytes) const = 0;

  // Creates a stream whose launches have up to `threads` threads, including the caller.
  virtual RuntimeStatus CreateStream(int32_t threads, std::unique_ptr<Stream>* stream) const = 0;
};

// The processor that runs this program; lives until the process ends.
const Device& CpuDevice();

}  // namespace attune

#endif  // ATTUNE_RUNTIME_DEVICE_H_
