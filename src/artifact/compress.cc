#include "artifact/compress.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "artifact/expand.h"
#include "base/checked.h"
#include "base/float16.h"

namespace attune {
namespace {

constexpr uint64_t kWordBytes = sizeof(uint32_t);

// Element `index` of `bytes` as an array of elements that have `width` bytes: words, or bytes.
uint32_t ElementAt(std::span<const std::byte> bytes, uint64_t index, uint64_t width) {
  uint32_t element = 0;
  std::memcpy(&element, bytes.data() + index * width, width);
  return element;
}

uint32_t WordAt(std::span<const std::byte> bytes, uint64_t index) {
  return ElementAt(bytes, index, kWordBytes);
}

// Numbers distinct words, or bytes, in the order of their first occurrence.
class Codebook {
 public:
  Codebook() { slots_.fill(kEmpty); }

  // Returns false if there is no room for another word.
  bool Add(uint32_t word) {
    const size_t slot = SlotOf(word);
    if (slots_[slot] != kEmpty) return true;
    if (words_.size() == kMaxCodebook) return false;
    slots_[slot] = static_cast<int16_t>(words_.size());
    words_.push_back(word);
    return true;
  }

  // 0 for an unknown word.
  uint64_t IndexOf(uint32_t word) const {
    const int16_t index = slots_[SlotOf(word)];
    return index == kEmpty ? 0 : static_cast<uint64_t>(index);
  }

  // The words, padded with zeros to a power of two.
  std::vector<uint32_t> Padded() const {
    std::vector<uint32_t> words = words_;
    words.resize(std::bit_ceil(std::max<size_t>(words.size(), 2)));
    return words;
  }

 private:
  static constexpr int16_t kEmpty = -1;
  static constexpr int kSlotBits = 10;  // at most a quarter of the slots is used

  // The slot that holds the word, or the one that it would get.
  size_t SlotOf(uint32_t word) const {
    size_t slot = (word * 0x9E3779B1u) >> (32 - kSlotBits);  // multiplicative hashing by the golden ratio
    while (slots_[slot] != kEmpty && words_[static_cast<size_t>(slots_[slot])] != word)
      slot = (slot + 1) % slots_.size();
    return slot;
  }

  std::array<int16_t, size_t{1} << kSlotBits> slots_;
  std::vector<uint32_t> words_;
};

// The codebook of the elements, which have `width` bytes; nullopt if there are more than it can hold.
std::optional<Codebook> CodebookOf(std::span<const std::byte> bytes, uint64_t width) {
  Codebook codebook;
  for (uint64_t i = 0; i < bytes.size() / width; ++i) {
    if (!codebook.Add(ElementAt(bytes, i, width))) return std::nullopt;
  }
  return codebook;
}

// Whether `has_number` holds for all words, as f32.
bool AreAll(bool (*has_number)(float), std::span<const std::byte> words) {
  for (uint64_t i = 0; i < words.size() / kWordBytes; ++i) {
    if (!has_number(std::bit_cast<float>(WordAt(words, i)))) return false;
  }
  return true;
}

uint64_t CodebookBytes(const ConstantRange& range) { return range.codebook.size() * kWordBytes; }

template <typename T>
void AppendBytes(const T& value, size_t count, std::vector<std::byte>& section) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(&value, 1)).first(count);
  section.insert(section.end(), bytes.begin(), bytes.end());
}

class Compressor {
 public:
  // Adds a constant with its padding, which begins after `bytes` bytes.
  void Add(std::span<const std::byte> padded, uint64_t bytes) {
    const auto whole_words = static_cast<size_t>(RoundUp(static_cast<int64_t>(bytes), kWordBytes));
    const std::span<const std::byte> words = padded.first(whole_words);
    const bool is_compressed =
        AddIndices(padded, words, kWordBytes) || AddIndices(padded, padded.first(bytes), 1);
    if (is_compressed) return;
    if (AreAll(FitsBF16, words)) {
      AppendHalves(padded, [](uint32_t word) { return static_cast<uint16_t>(word >> 16); });
      Extend(ConstantEncoding::kBF16, padded.size());
    } else if (AreAll(FitsF16, words)) {
      AppendHalves(padded, [](uint32_t word) { return FloatToF16(std::bit_cast<float>(word)); });
      Extend(ConstantEncoding::kF16, padded.size());
    } else {
      result_.section.insert(result_.section.end(), padded.begin(), padded.end());
      Extend(ConstantEncoding::kRaw, padded.size());
    }
  }

  // Empty if this saves less than an eighth of `raw_bytes`.
  CompressedConstants Finish(uint64_t raw_bytes) {
    uint64_t bytes = result_.section.size();
    for (const ConstantRange& range : result_.ranges) bytes += CodebookBytes(range);
    if (bytes > raw_bytes - raw_bytes / 8 || bytes == raw_bytes) return {};
    const int64_t stored = static_cast<int64_t>(result_.section.size());
    result_.section.resize(static_cast<size_t>(RoundUp(stored, kConstantPadding)));
    return std::move(result_);
  }

 private:
  // Merges adjacent ranges with the same encoding and without codebooks.
  void Extend(ConstantEncoding encoding, uint64_t bytes) {
    if (result_.ranges.empty() || result_.ranges.back().encoding != encoding) {
      result_.ranges.push_back({encoding, 0, {}});
    }
    result_.ranges.back().bytes += bytes;
  }

  // Stores indices of elements of `width` bytes; only the elements of `known` need to be exact. Returns
  // false if there are so many distinct elements that indices do not pay.
  bool AddIndices(std::span<const std::byte> padded, std::span<const std::byte> known, uint64_t width) {
    const std::optional<Codebook> codebook = CodebookOf(known, width);
    if (!codebook.has_value()) return false;
    const bool are_words = width == kWordBytes;
    ConstantRange range = {are_words ? ConstantEncoding::kIndices : ConstantEncoding::kByteIndices,
                           padded.size(), codebook->Padded()};
    // An index of 8 bits is as large as a byte.
    if (!are_words && range.codebook.size() > kMaxCodebook / 2) return false;
    const uint64_t most = are_words ? padded.size() / 2 : padded.size() / 8 * 7;
    if (StoredBytes(range) + CodebookBytes(range) > most) return false;
    AppendIndices(padded, *codebook, IndexBits(range), width);
    result_.ranges.push_back(std::move(range));
    return true;
  }

  void AppendIndices(std::span<const std::byte> padded, const Codebook& codebook, int bits, uint64_t width) {
    constexpr int kGroup = 8;
    for (uint64_t i = 0; i < padded.size() / width; i += kGroup) {
      uint64_t group = 0;
      for (int k = 0; k < kGroup; ++k)
        group |= codebook.IndexOf(ElementAt(padded, i + static_cast<uint64_t>(k), width)) << (k * bits);
      AppendBytes(group, static_cast<size_t>(bits), result_.section);
    }
  }

  // Appends `half_of` of each word.
  void AppendHalves(std::span<const std::byte> padded, uint16_t (*half_of)(uint32_t)) {
    for (uint64_t i = 0; i < padded.size() / kWordBytes; ++i) {
      const uint16_t half = half_of(WordAt(padded, i));
      AppendBytes(half, sizeof(half), result_.section);
    }
  }

  CompressedConstants result_;
};

}  // namespace

CompressedConstants CompressConstants(std::span<const std::byte> constants, std::span<const uint64_t> sizes) {
  Compressor compressor;
  uint64_t offset = 0;
  for (const uint64_t bytes : sizes) {
    if (bytes == 0) continue;
    const auto padded = static_cast<uint64_t>(RoundUp(static_cast<int64_t>(bytes), kConstantPadding));
    compressor.Add(constants.subspan(offset, padded), bytes);
    offset += padded;
  }
  return compressor.Finish(constants.size());
}

}  // namespace attune
