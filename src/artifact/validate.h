// The rules for a manifest, which hold for every artifact that was written or read.
#ifndef ATTUNE_ARTIFACT_VALIDATE_H_
#define ATTUNE_ARTIFACT_VALIDATE_H_

#include <cstdint>
#include <string>

#include "artifact/artifact.h"

namespace attune {

// Empty, or the first broken rule as the end of a sentence that names the range of the constants, tensor,
// port, kernel, prepacking or instruction at fault. The two sizes are those of the code and of the constants'
// section.
//
// These rules hold for a valid manifest: the ranges of the constants, if any, take the bytes of their
// section, and in memory at most 32 times as many; there is a variant, and each has a program, no two with
// the same input shapes; all programs have the same ports, by name and dtype; every index is in range; dtypes
// are known; sizes do not overflow and lie inside their place at an aligned offset; dim slots exist; ports
// are in the arena, share no byte, and inputs have a constant shape; kernels start inside the code and get
// the scratch and dim slots that they use; prepackings read constants and write prepacked weights;
// instructions have the tensors that their opcode or kernel requires, in number, dtype and size; they only
// write to the arena and never to a tensor that they also read, unless the kernel computes in place; jumps
// stay inside the program, and every loop has a way out.
//
// In a program with open sizes, each size is alone a dimension of an input, and none depends on the data; all
// code is well formed; tensors of the arena have a block, and no instruction uses one outside the life of its
// block; each port has a pinned block of its own. The rules about numbers of bytes are those of
// open_program.h, which checks them whenever sizes are set.
std::string ValidateManifest(const Manifest& manifest, uint64_t code_bytes, uint64_t section_bytes);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_VALIDATE_H_
