// Where compiled kernels are executed, for sessions and for those who measure kernels: memory, code, and
// streams of launches. The processor is the only such device so far; the interface is what its users need and
// no more, so that a GPU is one more implementation of it. Machines as data, other than this one too, are in
// device/device.h.
#ifndef ATTUNE_RUNTIME_DEVICE_H_
#define ATTUNE_RUNTIME_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "artifact/artifact.h"
#include "runtime/error.h"

namespace attune {

// The most threads that a stream may have.
inline constexpr size_t kMaxThreads = 1024;

// Memory of a device; freed with its last owner. Addresses are the device's.
using DeviceMemory = std::shared_ptr<std::byte>;

// One execution of a kernel, in as many calls as the stream sees fit; the arguments are those of
// KernelFunction.
struct KernelLaunch {
  KernelFunction kernel;
  void* const* buffers;
  int64_t* dims;
  std::byte* scratch;       // of the first thread
  uint64_t scratch_stride;  // from one thread's scratch to the next's, in bytes
  int32_t threads;          // that may share the work: 1 for a kernel that is not parallel
};

// A session's way to run kernels; it belongs to one session.
class Stream {
 public:
  virtual ~Stream() = default;
  // Around a run: between them, threads may wait for the next launch without sleeping.
  virtual void BeginRun() = 0;
  virtual void EndRun() = 0;
  // Executes the kernel and waits for it. Returns 0, or what a call that failed returned.
  virtual int32_t Launch(const KernelLaunch& launch) = 0;
};

// Safe from several threads.
class Device {
 public:
  virtual ~Device() = default;

  // Whether code for `target` can run here; the message says what is missing.
  virtual RuntimeStatus CheckTarget(const TargetInfo& target) const = 0;

  // Zeroed memory, 64-byte aligned; nullptr where it cannot be had. `bytes` may be 0.
  virtual DeviceMemory Allocate(uint64_t bytes) const = 0;
  // Memory with the host's `bytes`, which outlive it: the same bytes where the device can read them.
  virtual DeviceMemory Import(std::span<const std::byte> bytes) const = 0;
  // Memory with the code, executable and no longer writable; nullptr where the system refuses.
  virtual DeviceMemory LoadCode(std::span<const std::byte> code) const = 0;

  // Between device memories that do not overlap, or between one and the host.
  virtual void Copy(void* to, const void* from, uint64_t bytes) const = 0;

  // A stream whose launches have up to `threads` threads, of which one is the caller's.
  virtual RuntimeStatus CreateStream(int32_t threads, std::unique_ptr<Stream>* stream) const = 0;
};

// The processor that runs this program; lives as long as the process.
const Device& CpuDevice();

}  // namespace attune

#endif  // ATTUNE_RUNTIME_DEVICE_H_
