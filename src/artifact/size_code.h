// Numbers that depend on open sizes: rules for their code, and its evaluation.
#ifndef ATTUNE_ARTIFACT_SIZE_CODE_H_
#define ATTUNE_ARTIFACT_SIZE_CODE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "artifact/artifact.h"

namespace attune {

// Empty if the code leaves one number and names only sizes below `num_sizes`, else what it does instead, as
// the end of a sentence.
std::string CheckSizeCode(const SizeCode& code, size_t num_sizes);

enum class SizeFault : uint8_t { kNone, kOverflow, kNegative, kDivisor };

// Names the fault, as the end of a sentence.
const char* FaultText(SizeFault fault);

// Sets `number`, which is not negative, unless there is a fault. The code must be valid for these sizes.
SizeFault Evaluate(const SizeCode& code, std::span<const int64_t> sizes, int64_t* number);

// The size that the code is, if it is nothing but one.
inline std::optional<size_t> SizeOf(const SizeCode& code) {
  if (code.size() != 1 || code[0].op != SizeOpcode::kSize) return std::nullopt;
  return static_cast<size_t>(code[0].value);
}

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_SIZE_CODE_H_
