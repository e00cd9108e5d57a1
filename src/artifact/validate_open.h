// The rules for open sizes in a manifest that can be checked before there are sizes; validate.h lists all
// rules.
#ifndef ATTUNE_ARTIFACT_VALIDATE_OPEN_H_
#define ATTUNE_ARTIFACT_VALIDATE_OPEN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "artifact/artifact.h"

namespace attune {

// Whether a dimension of the tensor is open.
bool IsOpen(const TensorInfo& tensor);

// Each returns an empty text, or the first broken rule. The rules of one part may rely on those of the parts
// before it.

// The program's sizes, numbers and blocks; the rule is a sentence.
std::string CheckOpenSizes(const Program& program);
// The open shape, block and offset of a tensor; the rule is the end of a sentence, as in the following.
std::string CheckOpenTensor(const TensorInfo& tensor, const Program& program);
// The blocks of a program with open sizes whose ports are `ports`; the rule is a sentence.
std::string CheckOpenPorts(const std::vector<const Port*>& ports, const Program& program);
// Checks that each size is alone a dimension of an input, whose tensor must be valid; the rule is a sentence.
std::string CheckInputsOfSizes(const Program& program);
// The sizes of a kernel, and its code over them.
std::string CheckOpenInterface(const KernelInterface& interface);
// The sizes of a call.
std::string CheckCallSizes(const Instruction& call, const KernelInfo& kernel, const Program& program);
// Checks that the instruction uses each tensor during the life of its block.
std::string CheckLives(size_t instruction, const Program& program);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_VALIDATE_OPEN_H_
