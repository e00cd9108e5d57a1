#include "artifact/expand.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace attune {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written in the order of the file");

constexpr uint64_t kWordBytes = sizeof(uint32_t);
constexpr uint64_t kWordBits = 8 * kWordBytes;

// A group of this many indices fills whole bytes, whatever the number of bits per index. Ranges consist of
// whole groups.
constexpr uint64_t kGroup = 8;
static_assert(kConstantPadding % (kGroup * kWordBytes) == 0);

// `Element`: the type of a word or a byte.
template <typename Element, int kBits>
void ExpandIndices(const std::byte* from, const uint32_t* codebook, Element* to, uint64_t elements) {
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  for (uint64_t i = 0; i < elements; i += kGroup, from += kBits) {
    uint64_t group = 0;
    std::memcpy(&group, from, kBits);
    for (uint64_t k = 0; k < kGroup; ++k)
      to[i + k] = static_cast<Element>(codebook[(group >> (k * kBits)) & kMask]);
  }
}

template <typename Element>
using IndexExpander = void (*)(const std::byte*, const uint32_t*, Element*, uint64_t);
template <typename Element>
constexpr IndexExpander<Element> kIndexExpanders[] = {ExpandIndices<Element, 1>, ExpandIndices<Element, 2>,
                                                      ExpandIndices<Element, 3>, ExpandIndices<Element, 4>,
                                                      ExpandIndices<Element, 5>, ExpandIndices<Element, 6>,
                                                      ExpandIndices<Element, 7>, ExpandIndices<Element, 8>};

// Converts the bits of a binary16 to binary32. It has no branches and computes no subnormal binary32 on the
// way, since the host may have told the processor to flush subnormals to zero.
uint32_t WordOfF16(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = half & 0x7C00;
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7FFF) << 13;
  const uint32_t normal = magnitude + (uint32_t{112} << 23);
  const uint32_t infinite = magnitude + (uint32_t{224} << 23);  // infinity or NaN
  const float subnormal = std::bit_cast<float>(magnitude + (uint32_t{113} << 23)) - 0x1p-14f;
  return sign | (exponent == 0 ? std::bit_cast<uint32_t>(subnormal) : exponent == 0x7C00 ? infinite : normal);
}

void ExpandF16(const std::byte* from, uint32_t* to, uint64_t words) {
  for (uint64_t i = 0; i < words; ++i) {
    uint16_t half;
    std::memcpy(&half, from + i * sizeof(half), sizeof(half));
    to[i] = WordOfF16(half);
  }
}

void ExpandBF16(const std::byte* from, uint32_t* to, uint64_t words) {
  for (uint64_t i = 0; i < words; ++i) {
    uint16_t upper;
    std::memcpy(&upper, from + i * sizeof(upper), sizeof(upper));
    to[i] = static_cast<uint32_t>(upper) << 16;
  }
}

void ExpandRange(const ConstantRange& range, const std::byte* from, std::byte* to) {
  auto* const to_words = reinterpret_cast<uint32_t*>(to);
  const uint64_t words = range.bytes / kWordBytes;
  switch (range.encoding) {
    case ConstantEncoding::kRaw:
      if (range.bytes != 0) std::memcpy(to, from, range.bytes);
      break;
    case ConstantEncoding::kF16:
      ExpandF16(from, to_words, words);
      break;
    case ConstantEncoding::kBF16:
      ExpandBF16(from, to_words, words);
      break;
    case ConstantEncoding::kIndices:
      kIndexExpanders<uint32_t>[IndexBits(range) - 1](from, range.codebook.data(), to_words, words);
      break;
    case ConstantEncoding::kByteIndices:
      kIndexExpanders<uint8_t>[IndexBits(range) - 1](from, range.codebook.data(),
                                                     reinterpret_cast<uint8_t*>(to), range.bytes);
      break;
  }
}

}  // namespace

int IndexBits(const ConstantRange& range) { return std::countr_zero(range.codebook.size()); }

uint64_t StoredBytes(const ConstantRange& range) {
  switch (range.encoding) {
    case ConstantEncoding::kRaw:
      return range.bytes;
    case ConstantEncoding::kF16:
    case ConstantEncoding::kBF16:
      return range.bytes / 2;
    case ConstantEncoding::kIndices:
      return range.bytes / kWordBits * static_cast<uint64_t>(IndexBits(range));
    case ConstantEncoding::kByteIndices:
      return range.bytes / kGroup * static_cast<uint64_t>(IndexBits(range));
  }
  return 0;
}

uint64_t ExpandedBytes(const Manifest& manifest, uint64_t section_bytes) {
  if (manifest.constant_ranges.empty()) return section_bytes;
  uint64_t bytes = 0;
  for (const ConstantRange& range : manifest.constant_ranges) bytes += range.bytes;
  return bytes;
}

std::vector<bool> RangesOf(const Variant& variant, std::span<const ConstantRange> ranges) {
  std::vector<uint64_t> ends;
  for (const ConstantRange& range : ranges) ends.push_back((ends.empty() ? 0 : ends.back()) + range.bytes);
  std::vector<bool> wanted(ranges.size(), false);
  const auto add = [&](uint64_t offset, uint64_t bytes) {
    const auto first = std::ranges::upper_bound(ends, offset) - ends.begin();
    for (auto i = static_cast<size_t>(first); i < ends.size(); ++i) {
      const bool is_before = ends[i] - ranges[i].bytes < offset + bytes;
      if (!is_before) break;
      wanted[i] = true;
    }
  };
  for (const Prepacking& prepacking : variant.prepackings)
    add(prepacking.constant_offset, variant.kernels[prepacking.kernel].interface.operands[0].bytes);
  for (const Program& program : variant.programs) {
    for (const TensorInfo& tensor : program.tensors) {
      if (tensor.place == Place::kConstant) add(tensor.offset, tensor.bytes);
    }
  }
  return wanted;
}

void ExpandConstants(std::span<const ConstantRange> ranges, const std::vector<bool>& wanted,
                     std::span<const std::byte> section, std::span<std::byte> constants) {
  const std::byte* from = section.data();
  std::byte* to = constants.data();
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (wanted[i]) ExpandRange(ranges[i], from, to);
    from += StoredBytes(ranges[i]);
    to += ranges[i].bytes;
  }
}

}  // namespace attune
