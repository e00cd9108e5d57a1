#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "base/joined.h"
#include "base/printable.h"
#include "runtime/cpu_features.h"
#include "runtime/device.h"
#include "runtime/thread_pool.h"
#include "target/features.h"

namespace attune {
namespace {

constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;

std::string Join(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ", ";
    out += Printable(word);
  }
  return out;
}

// Allocates whole zeroed pages from the system, at a multiple of `alignment`.
DeviceMemory AllocatePages(uint64_t bytes, uint64_t alignment) {
  const uint64_t reserved = bytes + alignment;
  void* address = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  const uint64_t misaligned = reinterpret_cast<uintptr_t>(address) % alignment;
  std::byte* aligned = static_cast<std::byte*>(address) + (misaligned == 0 ? 0 : alignment - misaligned);
  return DeviceMemory(aligned, [address, reserved](std::byte*) { munmap(address, reserved); });
}

class HostStream final : public Stream {
 public:
  explicit HostStream(std::shared_ptr<ThreadPool> pool) : pool_(std::move(pool)) {}

  void BeginRun() override {
    if (pool_ != nullptr) pool_->BeginRun();
  }
  void EndRun() override {
    if (pool_ != nullptr) pool_->EndRun();
  }
  int32_t Launch(const KernelLaunch& launch) override {
    return pool_ != nullptr ? pool_->Run(launch) : RunAlone(launch);
  }

 private:
  std::shared_ptr<ThreadPool> pool_;  // nullptr for a single thread
};

class HostDevice final : public Device {
 public:
  RuntimeStatus CheckTarget(const TargetInfo& target) const override {
    if (target.arch != HostArch()) {
      return {ATTUNE_WRONG_TARGET,
              Joined({"is compiled for ", Printable(target.arch), ", and this processor is ",
                      std::string(HostArch()), "; compile the model for it"})};
    }
    const std::vector<std::string> missing = MissingFeatures(target.features);
    if (missing.empty()) return {};
    const char* chosen = ChosenHostCpu();
    const std::string as =
        chosen == nullptr ? "" : Joined({" as ", kHostCpuVariable, "=", Printable(chosen)});
    return {ATTUNE_WRONG_TARGET, Joined({"needs a processor with ", Join(missing), ", which this one lacks",
                                         as, "; compile the model for this machine"})};
  }

  DeviceMemory Allocate(uint64_t bytes) const override {
    // Large blocks get huge pages, which avoids most TLB misses.
    if (bytes >= kHugePageBytes / 2) {
      const uint64_t whole = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
      DeviceMemory memory = AllocatePages(whole, kHugePageBytes);
      if (memory != nullptr) madvise(memory.get(), whole, MADV_HUGEPAGE);
      return memory;
    }
    const uint64_t rounded = (bytes / kTensorAlignment + 1) * kTensorAlignment;
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(kTensorAlignment, rounded));
    if (memory == nullptr) return nullptr;
    std::memset(memory, 0, rounded);
    return DeviceMemory(memory, [](std::byte* p) { std::free(p); });
  }

  DeviceMemory Import(std::span<const std::byte> bytes) const override {
    return DeviceMemory(const_cast<std::byte*>(bytes.data()), [](std::byte*) {});
  }

  // Copies the code: the checked bytes are then the ones that run, even if the file changes, and the file
  // system does not need execute permission.
  DeviceMemory LoadCode(std::span<const std::byte> code) const override {
    const size_t bytes = code.size() + 1;  // mmap rejects an empty mapping
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) return nullptr;
    DeviceMemory memory(static_cast<std::byte*>(address), [bytes](std::byte* p) { munmap(p, bytes); });
    if (!code.empty()) std::memcpy(address, code.data(), code.size());
    __builtin___clear_cache(static_cast<char*>(address), static_cast<char*>(address) + bytes);
    return mprotect(address, bytes, PROT_READ | PROT_EXEC) == 0 ? memory : nullptr;
  }

  void Copy(void* to, const void* from, uint64_t bytes) const override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  RuntimeStatus CreateStream(int32_t threads, std::unique_ptr<Stream>* stream) const override {
    std::shared_ptr<ThreadPool> pool;
    if (threads > 1) {
      if (RuntimeStatus status = ThreadPool::Get(threads, &pool); !status.ok()) return status;
    }
    *stream = std::make_unique<HostStream>(std::move(pool));
    return {};
  }
};

}  // namespace

const Device& CpuDevice() {
  static const HostDevice device;
  return device;
}

}  // namespace attune
