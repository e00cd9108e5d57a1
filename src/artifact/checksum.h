// The checksum of an artifact's sections.
#ifndef ATTUNE_ARTIFACT_CHECKSUM_H_
#define ATTUNE_ARTIFACT_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace attune {

// XXH64 of the bytes with seed 0 (Collet: xxHash fast digest algorithm, specification 0.1.1). It detects
// damage at the speed of memory; it does not protect against a forged file.
uint64_t Xxh64(std::span<const std::byte> bytes);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_CHECKSUM_H_
