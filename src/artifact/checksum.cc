#include "artifact/checksum.h"

#include <bit>
#include <cstring>

namespace attune {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9u;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5u;

static_assert(std::endian::native == std::endian::little, "words are read in the order of the file");

template <typename Word>
Word Read(const std::byte* p) {
  Word word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

uint64_t Round(uint64_t lane, uint64_t word) { return std::rotl(lane + word * kPrime2, 31) * kPrime1; }

uint64_t MergeLane(uint64_t hash, uint64_t lane) { return (hash ^ Round(0, lane)) * kPrime1 + kPrime4; }

// The tail of up to 31 bytes.
uint64_t MixTail(uint64_t hash, const std::byte* p, const std::byte* end) {
  for (; end - p >= 8; p += 8) hash = std::rotl(hash ^ Round(0, Read<uint64_t>(p)), 27) * kPrime1 + kPrime4;
  if (end - p >= 4) {
    hash = std::rotl(hash ^ (Read<uint32_t>(p) * kPrime1), 23) * kPrime2 + kPrime3;
    p += 4;
  }
  for (; p != end; ++p) hash = std::rotl(hash ^ (static_cast<uint64_t>(*p) * kPrime5), 11) * kPrime1;
  return hash;
}

}  // namespace

uint64_t Xxh64(std::span<const std::byte> bytes) {
  const std::byte* p = bytes.data();
  const std::byte* const end = p + bytes.size();
  uint64_t hash = kPrime5;
  if (bytes.size() >= 32) {
    uint64_t lanes[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
    for (; end - p >= 32; p += 32) {
      for (int i = 0; i < 4; ++i) lanes[i] = Round(lanes[i], Read<uint64_t>(p + 8 * i));
    }
    hash =
        std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (uint64_t lane : lanes) hash = MergeLane(hash, lane);
  }
  hash = MixTail(hash + bytes.size(), p, end);
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace attune
