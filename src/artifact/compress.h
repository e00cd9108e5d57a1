// Lossless compression of constants, for artifacts that should be small.
#ifndef ATTUNE_ARTIFACT_COMPRESS_H_
#define ATTUNE_ARTIFACT_COMPRESS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "artifact/artifact.h"

namespace attune {

struct CompressedConstants {
  std::vector<ConstantRange> ranges;  // for the manifest; empty: store the constants uncompressed
  std::vector<std::byte> section;     // the stored bytes of the ranges, padded; empty without ranges
};

// `constants` are as in memory: one after the other, with these `sizes` in bytes, each padded to a multiple
// of kConstantPadding. A constant becomes
//
// - indices, if it has at most 256 distinct words of 32 bits and that takes at most half of its size,
//   codebook included;
// - else indices of bytes, if it has at most 128 distinct bytes and that saves an eighth of its size,
//   codebook included;
// - else bf16 or f16, if each of its words is an f32 that the type represents exactly, bit by bit;
// - else its raw bytes.
//
// Nothing is compressed unless that saves an eighth in total: uncompressed constants are mapped from the file
// when it is loaded, which takes neither time nor private memory of the process. Expansion restores every
// constant; the padding after it, on which nothing depends, may differ. Equal constants give equal bytes.
CompressedConstants CompressConstants(std::span<const std::byte> constants, std::span<const uint64_t> sizes);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_COMPRESS_H_
