// Compresses constants, without loss, for artifacts that are to be small.
#ifndef ATTUNE_ARTIFACT_COMPRESS_H_
#define ATTUNE_ARTIFACT_COMPRESS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "artifact/artifact.h"

namespace attune {

struct CompressedConstants {
  std::vector<ConstantRange> ranges;  // for the manifest; empty: the constants are stored better as they are
  std::vector<std::byte> section;     // the ranges' bytes, padded; empty where there are no ranges
};

// `constants` are as they are in memory: one after the other, of `sizes` bytes each, each padded to a
// multiple of kConstantPadding. A constant becomes
//
// - indices, where it has at most 256 different words of 32 bits and that makes half of it or less, codebook
//   included;
// - else indices of bytes, where it has at most 128 different ones and that saves an eighth of it, codebook
//   included;
// - else bf16 or f16, where all of its words are f32 that the type has, bit by bit;
// - else what it is.
//
// Nothing is compressed unless that saves an eighth of all: constants that are not compressed are mapped from
// the file when it is loaded, and take neither time nor memory of the process's own. Expanding gives every
// constant again; the padding behind it, which nobody depends on, may differ. Equal constants give equal
// bytes.
CompressedConstants CompressConstants(std::span<const std::byte> constants, std::span<const uint64_t> sizes);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_COMPRESS_H_
