#include "runtime/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace attune {
namespace {

using State = std::array<uint32_t, 8>;
constexpr size_t kBlockBytes = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t ReadBigEndian(const std::byte* p) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | std::to_integer<uint32_t>(p[i]);
  return word;
}

void Compress(State& state, const std::byte* block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = ReadBigEndian(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRoundConstants[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  const State next = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += next[i];
}

constexpr State kBegin = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// The digest of `bytes`, which follow `before` bytes, a multiple of a block, that made the state.
std::string Finish(State state, uint64_t before, std::span<const std::byte> bytes) {
  const uint64_t bits = (before + bytes.size()) * 8;
  for (; bytes.size() >= kBlockBytes; bytes = bytes.subspan(kBlockBytes)) Compress(state, bytes.data());

  // The tail: the remaining bytes, a 1 bit, zeros, and the length in bits; two blocks if it does not fit
  // into one.
  std::byte tail[2 * kBlockBytes] = {};
  if (!bytes.empty()) std::memcpy(tail, bytes.data(), bytes.size());
  tail[bytes.size()] = std::byte{0x80};
  const size_t tail_bytes = bytes.size() + 9 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  for (int i = 0; i < 8; ++i) tail[tail_bytes - 1 - i] = static_cast<std::byte>(bits >> (8 * i));
  for (size_t i = 0; i < tail_bytes; i += kBlockBytes) Compress(state, tail + i);

  std::string hex;
  for (const uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) hex.push_back("0123456789abcdef"[word >> shift & 15]);
  }
  return hex;
}

}  // namespace

std::string RuntimeSha256Hex(std::span<const std::byte> bytes) { return Finish(kBegin, 0, bytes); }

std::string RuntimeSha256Hex(std::span<const std::byte> head, std::span<const std::byte> rest) {
  // Whole blocks, of which the last ones begin in the head.
  std::vector<std::byte> joined(head.begin(), head.end());
  const size_t missing = (kBlockBytes - joined.size() % kBlockBytes) % kBlockBytes;
  const std::span<const std::byte> filling = rest.first(std::min(missing, rest.size()));
  joined.insert(joined.end(), filling.begin(), filling.end());
  if (filling.size() < missing) return RuntimeSha256Hex(joined);
  State state = kBegin;
  for (size_t i = 0; i < joined.size(); i += kBlockBytes) Compress(state, joined.data() + i);
  return Finish(state, joined.size(), rest.subspan(filling.size()));
}

}  // namespace attune
