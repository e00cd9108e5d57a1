#include "measure/kernel_memory.h"

#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <cstring>

#include "artifact/artifact.h"
#include "base/checked.h"

namespace attune {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kLine = 64;
constexpr auto kAlignment = static_cast<int64_t>(kTensorAlignment);
constexpr auto kReadable = static_cast<int64_t>(kReadAhead);
constexpr int64_t kGuard = int64_t{1} << 20;  // inaccessible bytes on both sides
constexpr int64_t kBetween = 128;             // bytes between the buffers of an arena
constexpr int kCanary = 0xC3;
constexpr int kFloatPoison = 0xFF;    // NaN
constexpr int kIntegerPoison = 0x5B;  // not a valid bool, and an unlikely integer

bool IsRead(BufferUse use) { return use == BufferUse::kInput || use == BufferUse::kConstant; }
int PoisonOf(const KernelBuffer& buffer) { return buffer.is_float ? kFloatPoison : kIntegerPoison; }

// Maps zeroed memory at a multiple of `alignment` (a multiple of kPage), between inaccessible pages. Null
// if there is no memory.
std::byte* MapGuarded(int64_t bytes, int64_t alignment) {
  const auto total = static_cast<size_t>(RoundUp(bytes, kPage) + alignment + 2 * kGuard);
  void* memory = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const auto first = reinterpret_cast<uintptr_t>(memory) + kGuard;
  const auto unit = static_cast<uintptr_t>(alignment);
  auto* begin = reinterpret_cast<std::byte*>((first + unit - 1) / unit * unit);
  const auto usable = static_cast<size_t>(std::max(RoundUp(bytes, kPage), kPage));
  return mprotect(begin, usable, PROT_READ | PROT_WRITE) == 0 ? begin : nullptr;
}

}  // namespace

int64_t MemoryBytes(std::span<const KernelBuffer> buffers, int64_t scratch_bytes, int threads) {
  __int128 bytes = static_cast<__int128>(scratch_bytes + kPage) * threads;
  for (const KernelBuffer& buffer : buffers)
    bytes += static_cast<__int128>(buffer.bytes + kBetween + kPage) * buffer.copies;
  return static_cast<int64_t>(std::min<__int128>(bytes, INT64_MAX));
}

int64_t AddressBytes(std::span<const KernelBuffer> buffers, MemoryPlacement placement, int64_t scratch_bytes,
                     int threads) {
  __int128 mappings = threads + 2;  // the scratch of each thread, and two arenas
  for (const KernelBuffer& buffer : buffers)
    mappings += placement == MemoryPlacement::kGuarded ? buffer.copies : 0;
  const __int128 bytes = MemoryBytes(buffers, scratch_bytes, threads) + mappings * (2 * kGuard + kHugePage);
  return static_cast<int64_t>(std::min<__int128>(bytes, INT64_MAX));
}

bool KernelMemory::Allocate(std::span<const KernelBuffer> buffers, MemoryPlacement placement,
                            int64_t scratch_bytes, int threads) {
  // A kernel must not know which lines are poisoned; if the system has no random bytes yet, it could.
  if (getrandom(&random_, sizeof(random_), GRND_NONBLOCK) != sizeof(random_)) random_ = 1;
  specs_ = buffers;
  addresses_.resize(buffers.size());
  chosen_.resize(buffers.size());
  const bool has_buffers = placement == MemoryPlacement::kGuarded
                               ? AllocateGuarded()
                               : AllocateArena(true) && AllocateArena(false);
  if (!has_buffers || !AllocateScratch(placement, scratch_bytes, threads)) return false;
  Choose(0, 0);
  PoisonOutputs();
  return true;
}

void KernelMemory::Choose(int64_t executions, int64_t moves) {
  for (size_t i = 0; i < specs_.size(); ++i) {
    const int64_t turn = specs_[i].changes_each_time ? executions : moves;
    chosen_[i] = addresses_[i][static_cast<size_t>(turn % specs_[i].copies)];
  }
}

int64_t KernelMemory::most_copies() const {
  int64_t most = 0;
  for (const KernelBuffer& spec : specs_) most = std::max(most, spec.copies);
  return most;
}

void KernelMemory::Add(size_t buffer, std::byte* at) {
  const KernelBuffer& spec = specs_[buffer];
  addresses_[buffer].push_back(at);
  segments_.push_back({buffer, at, spec.bytes});
  if (IsRead(spec.use)) {
    if (!spec.content.empty()) std::memcpy(at, spec.content.data(), spec.content.size());
  } else {
    std::memset(at, PoisonOf(spec), static_cast<size_t>(spec.bytes));
  }
}

void KernelMemory::AddCanary(size_t buffer, std::byte* at, int64_t bytes) {
  std::memset(at, kCanary, static_cast<size_t>(bytes));
  canaries_.push_back({buffer, at, bytes});
}

bool KernelMemory::AllocateGuarded() {
  for (size_t i = 0; i < specs_.size(); ++i) {
    const KernelBuffer& spec = specs_[i];
    for (int64_t copy = 0; copy < spec.copies; ++copy) {
      const int64_t span = RoundUp(spec.bytes, kAlignment) + (IsRead(spec.use) ? kReadable : 0);
      const int64_t pages = std::max(RoundUp(span, kPage), kPage);
      std::byte* begin = MapGuarded(pages, kPage);
      if (begin == nullptr) return false;
      std::byte* at = begin + (pages - span);
      AddCanary(i, begin, pages - span);
      AddCanary(i, at + spec.bytes, span - spec.bytes);
      Add(i, at);
      if (IsRead(spec.use) && mprotect(begin, static_cast<size_t>(pages), PROT_READ) != 0) return false;
    }
  }
  return true;
}

bool KernelMemory::AllocateArena(bool constants) {
  int64_t bytes = kBetween;
  const auto is_here = [&](const KernelBuffer& spec) {
    return (spec.use == BufferUse::kConstant) == constants;
  };
  for (const KernelBuffer& spec : specs_) {
    if (is_here(spec)) bytes += (RoundUp(spec.bytes, kAlignment) + kBetween) * spec.copies;
  }
  // A network's arena is usually large enough for huge pages, even if this kernel's buffers are small, and
  // the system also uses huge pages for large files, where a network's constants are.
  bytes = RoundUp(bytes, kHugePage);
  std::byte* const begin = MapGuarded(bytes, kHugePage);
  if (begin == nullptr) return false;
  madvise(begin, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  int64_t offset = kBetween;
  // The copies of one placement lie side by side, as the buffers of a network do.
  for (int64_t copy = 0; copy < most_copies(); ++copy) {
    for (size_t i = 0; i < specs_.size(); ++i) {
      if (!is_here(specs_[i]) || copy >= specs_[i].copies) continue;
      AddCanary(i, begin + offset - kBetween, kBetween);
      Add(i, begin + offset);
      const int64_t end = RoundUp(specs_[i].bytes, kAlignment);
      AddCanary(i, begin + offset + specs_[i].bytes, end - specs_[i].bytes + kBetween);
      offset += end + kBetween;
    }
  }
  return !constants || mprotect(begin, static_cast<size_t>(bytes), PROT_READ) == 0;
}

bool KernelMemory::AllocateScratch(MemoryPlacement placement, int64_t bytes, int threads) {
  const bool guarded = placement == MemoryPlacement::kGuarded;
  const int64_t pages = RoundUp(bytes, kPage);
  const int64_t stride = guarded ? pages + kPage : RoundUp(bytes, 2 * kLine);
  // Like the arena, with which scratch shares its memory in a network.
  const int64_t unit = guarded ? kPage : kHugePage;
  const int64_t room = RoundUp(stride * threads + kPage, unit);
  std::byte* begin = MapGuarded(room, unit);
  if (begin == nullptr) return false;
  if (!guarded) madvise(begin, static_cast<size_t>(room), MADV_HUGEPAGE);
  std::memset(begin, kFloatPoison, static_cast<size_t>(stride * threads));
  for (int thread = 0; guarded && thread < threads; ++thread) {
    if (mprotect(begin + stride * thread + pages, static_cast<size_t>(kPage), PROT_NONE) != 0) return false;
  }
  scratch_ = begin + (guarded ? pages - RoundUp(bytes, kAlignment) : 0);
  scratch_stride_ = static_cast<uint64_t>(stride);
  return true;
}

void KernelMemory::PoisonOutputs() {
  for (const Segment& segment : segments_) {
    const KernelBuffer& spec = specs_[segment.buffer];
    if (spec.use == BufferUse::kOutput)
      std::memset(segment.at, PoisonOf(spec), static_cast<size_t>(segment.bytes));
  }
}

void KernelMemory::PoisonLines() {
  for (size_t i = 0; i < specs_.size(); ++i) {
    const KernelBuffer& spec = specs_[i];
    if (spec.use != BufferUse::kOutput || spec.bytes == 0) continue;
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
    const auto lines = static_cast<uint64_t>(CeilDiv(spec.bytes, kLine));
    const auto offset = static_cast<int64_t>((random_ >> 33) % lines) * kLine;
    std::memset(static_cast<std::byte*>(chosen_[i]) + offset, PoisonOf(spec),
                static_cast<size_t>(std::min(kLine, spec.bytes - offset)));
  }
}

int KernelMemory::FindOverwritten() const {
  for (const Canary& canary : canaries_) {
    for (int64_t i = 0; i < canary.bytes; ++i) {
      if (canary.at[i] != std::byte{kCanary}) return static_cast<int>(canary.buffer);
    }
  }
  return -1;
}

bool KernelMemory::Locate(const void* address, int* buffer, int64_t* offset) const {
  constexpr int64_t kNear = 2 * kPage;
  int64_t nearest = kNear;
  const auto at = reinterpret_cast<int64_t>(address);
  for (const Segment& segment : segments_) {
    const auto begin = reinterpret_cast<int64_t>(segment.at);
    const int64_t end = begin + segment.bytes;
    const int64_t distance = at < begin ? begin - at : at >= end ? at - end : 0;
    if (distance >= nearest) continue;
    nearest = distance;
    *buffer = static_cast<int>(segment.buffer);
    *offset = at - begin;
  }
  return nearest < kNear;
}

}  // namespace attune
