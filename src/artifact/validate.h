// The rules of a manifest, which hold for every artifact that was written or read.
#ifndef ATTUNE_ARTIFACT_VALIDATE_H_
#define ATTUNE_ARTIFACT_VALIDATE_H_

#include <cstdint>
#include <string>

#include "artifact/artifact.h"

namespace attune {

// Empty, or the first broken rule as the end of a sentence that names the range of the constants, tensor,
// port, kernel, prepacking or instruction at fault. The sizes are those of the two sections.
//
// What holds after: the ranges of the constants, if any, take the bytes of their section, and in memory at
// most 32 times as many; there is a variant, and a program in each, no two of which have inputs of the same
// shapes; all programs have the same ports, by name and dtype; every index is in range; dtypes are known;
// sizes do not overflow and lie inside their place at an aligned offset; dim slots exist; ports are in the
// arena, share no byte, and inputs are of constant shape; kernels start inside the code and find the scratch
// and dim slots that they use; prepackings read constants and write prepacked weights; instructions have the
// tensors that their opcode or kernel wants, in number, dtype and size, write the arena alone and nothing
// that they also read, but for what the kernel computes in place; they jump inside the program, and none
// begins a loop that has no way out.
std::string ValidateManifest(const Manifest& manifest, uint64_t code_bytes, uint64_t section_bytes);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_VALIDATE_H_
