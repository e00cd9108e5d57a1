// Expands constants that are compressed in the file. Standard library only.
#ifndef ATTUNE_ARTIFACT_EXPAND_H_
#define ATTUNE_ARTIFACT_EXPAND_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "artifact/artifact.h"

namespace attune {

// The maximum number of values in a codebook, since indices have at most 8 bits.
inline constexpr size_t kMaxCodebook = 256;

// The number of bits of an index in a valid range of indices (validate.h); the ranges below must be valid,
// too.
int IndexBits(const ConstantRange& range);

// The number of bytes of a range in the file.
uint64_t StoredBytes(const ConstantRange& range);

// The number of bytes of all constants in memory; `section_bytes` is the size of their section in the file.
uint64_t ExpandedBytes(const Manifest& manifest, uint64_t section_bytes);

// For each range of the constants, whether the variant's programs or prepackings read any of its bytes.
std::vector<bool> RangesOf(const Variant& variant, std::span<const ConstantRange> ranges);

// Expands the ranges that are `wanted`. `ranges` must be valid for `section`, the bytes in the file.
// The section may hold any bytes: this reads only them and writes only within `constants`, which must have
// ExpandedBytes() bytes and be aligned to 4.
void ExpandConstants(std::span<const ConstantRange> ranges, const std::vector<bool>& wanted,
                     std::span<const std::byte> section, std::span<std::byte> constants);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_EXPAND_H_
