// The rules for a program in a manifest; validate.h lists all of them.
#ifndef ATTUNE_ARTIFACT_VALIDATE_PROGRAM_H_
#define ATTUNE_ARTIFACT_VALIDATE_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/artifact.h"
#include "base/printable.h"

namespace attune {

// More memory than any machine has; the sum of two smaller sizes does not overflow.
inline constexpr uint64_t kMaxBytes = uint64_t{1} << 46;

// A name from a file, for a message.
std::string Quote(const std::string& name);

// The size of each place in bytes.
struct PlaceSizes {
  uint64_t arena = 0, constants = 0, prepacked = 0;

  uint64_t Of(Place place) const {
    return place == Place::kArena ? arena : place == Place::kConstant ? constants : prepacked;
  }
};

// Empty, or the first broken rule as the end of a sentence. `kernels` are those of the program's variant,
// and must be valid.
std::string ValidateProgram(const Program& program, const std::vector<KernelInfo>& kernels,
                            const PlaceSizes& sizes);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_VALIDATE_PROGRAM_H_
