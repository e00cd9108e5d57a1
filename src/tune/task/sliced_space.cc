#include "tune/task/sliced_space.h"

#include <utility>

namespace attune {
namespace {

// How often each slice is expected to be hit before an attempt to stay within one is given up.
constexpr int kAttempts = 8;

// FNV-1a (Fowler, Noll and Vo), 64 bits.
void Add(uint64_t& digest, std::string_view text) {
  constexpr uint64_t kPrime = 0x100000001B3;
  for (const char c : text) digest = (digest ^ static_cast<uint8_t>(c)) * kPrime;
}
void Add(uint64_t& digest, uint64_t number) {
  constexpr int kBits = 64, kByte = 8;
  char bytes[kBits / kByte];
  for (int i = 0; i < kBits / kByte; ++i) bytes[i] = static_cast<char>(number >> (kByte * i));
  Add(digest, {bytes, sizeof(bytes)});
}

uint64_t DigestOf(const Candidate& candidate) {
  uint64_t digest = 0xCBF29CE484222325;
  Add(digest, candidate.strategy);
  for (const auto& [name, value] : candidate.config) {
    Add(digest, std::string_view("\0", 1));
    Add(digest, name);
    Add(digest, static_cast<uint64_t>(value));
  }
  // The last step of MurmurHash3: the low bits of FNV-1a hardly mix.
  constexpr int kShift = 33;
  digest = (digest ^ digest >> kShift) * 0xFF51AFD7ED558CCD;
  digest = (digest ^ digest >> kShift) * 0xC4CEB9FE1A85EC53;
  return digest ^ digest >> kShift;
}

}  // namespace

bool Slice::Has(const Candidate& candidate) const {
  return count <= 1 || DigestOf(candidate) % static_cast<uint64_t>(count) == static_cast<uint64_t>(index);
}

std::vector<Candidate> SlicedSpace::Defaults() const {
  std::vector<Candidate> defaults = space_.Defaults();
  std::erase_if(defaults, [&](const Candidate& candidate) { return !slice_.Has(candidate); });
  return defaults;
}

std::optional<Candidate> SlicedSpace::Sample(Random& random) {
  for (int attempt = 0; attempt < kAttempts * slice_.count; ++attempt) {
    std::optional<Candidate> candidate = space_.Sample(random);
    if (!candidate.has_value() || slice_.Has(*candidate)) return candidate;
  }
  return std::nullopt;
}

std::vector<std::optional<Candidate>> SlicedSpace::Neighbours(std::span<const Candidate> candidates,
                                                              Random& random) {
  std::vector<std::optional<Candidate>> neighbours(candidates.size());
  std::vector<size_t> missing(candidates.size());
  for (size_t i = 0; i < missing.size(); ++i) missing[i] = i;
  for (int attempt = 0; attempt < kAttempts * slice_.count && !missing.empty(); ++attempt) {
    std::vector<Candidate> asked;
    for (const size_t i : missing) asked.push_back(candidates[i]);
    std::vector<std::optional<Candidate>> found = space_.Neighbours(asked, random);
    std::vector<size_t> still;
    for (size_t k = 0; k < missing.size(); ++k) {
      if (found[k].has_value() && !slice_.Has(*found[k])) {
        still.push_back(missing[k]);
      } else {
        neighbours[missing[k]] = std::move(found[k]);
      }
    }
    missing = std::move(still);
  }
  return neighbours;
}

}  // namespace attune
