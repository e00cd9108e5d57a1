#include "codegen/host_code.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "device/tile_permission.h"

namespace attune {

absl::StatusOr<HostCode> HostCode::Map(const LinkedCode& code) {
  MayUseTiles();  // asks the system for tiles; only the compiler of the code knows whether it needs any
  HostCode host;
  host.symbols_ = code.symbols;
  host.size_ = code.bytes.size();
  void* memory = mmap(nullptr, host.size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return absl::ResourceExhaustedError("no memory to map generated code");
  host.memory_ = memory;
  std::memcpy(memory, code.bytes.data(), host.size_);
  if (mprotect(memory, host.size_, PROT_READ | PROT_EXEC) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the system refuses executable memory: ", std::strerror(errno)));
  }
  return host;
}

HostCode::HostCode(HostCode&& other) noexcept { *this = std::move(other); }

HostCode& HostCode::operator=(HostCode&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(symbols_, other.symbols_);
  return *this;
}

HostCode::~HostCode() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

PhaseFunction HostCode::Find(const std::string& symbol) const {
  const auto it = symbols_.find(symbol);
  if (it == symbols_.end()) return nullptr;
  return reinterpret_cast<PhaseFunction>(static_cast<char*>(memory_) + it->second);
}

}  // namespace attune
