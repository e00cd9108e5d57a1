// The rules of a manifest, which hold for every artifact that was written or read.
#ifndef ATTUNE_ARTIFACT_VALIDATE_H_
#define ATTUNE_ARTIFACT_VALIDATE_H_

#include <cstdint>
#include <string>

#include "artifact/artifact.h"

namespace attune {

// Empty, or the first broken rule as the end of a sentence that names the range of the constants, tensor,
// port, kernel or instruction at fault. The sizes are those of the two sections.
//
// What holds after: the ranges of the constants, if any, take the bytes of their section, and in memory at
// most 32 times as many; every index is in range; dtypes are known; sizes do not overflow and lie inside
// their place at an aligned offset; dim slots exist; inputs are distinct, in the arena and of constant shape;
// kernels start inside the code; instructions have the tensors that their opcode wants, jump inside the
// program and write no constant.
std::string ValidateManifest(const Manifest& manifest, uint64_t code_bytes, uint64_t section_bytes);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_VALIDATE_H_
