// Constants that are compressed in the file, expanded. Standard library only.
#ifndef ATTUNE_ARTIFACT_EXPAND_H_
#define ATTUNE_ARTIFACT_EXPAND_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "artifact/artifact.h"

namespace attune {

// The most values that indices, of 8 bits at most, can name.
inline constexpr size_t kMaxCodebook = 256;

// How many bits an index has in a range of indices that keeps the rules (validate.h), likewise below.
int IndexBits(const ConstantRange& range);

// The bytes that hold a range in the file.
uint64_t StoredBytes(const ConstantRange& range);

// The bytes of all constants in memory; `section_bytes` are those of their section in the file.
uint64_t ExpandedBytes(const Manifest& manifest, uint64_t section_bytes);

// For each range of the constants, whether the variant's programs or prepackings read any of it.
std::vector<bool> RangesOf(const Variant& variant, std::span<const ConstantRange> ranges);

// Writes those ranges of the constants that are `wanted`, from the `section` of the file that they keep the
// rules with. Whatever the bytes of the section are, it reads no others and writes within `constants`, which
// start at a multiple of 4 and are as many as ExpandedBytes().
void ExpandConstants(std::span<const ConstantRange> ranges, const std::vector<bool>& wanted,
                     std::span<const std::byte> section, std::span<std::byte> constants);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_EXPAND_H_
