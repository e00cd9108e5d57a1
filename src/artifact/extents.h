// Which bytes tensors have, and whether an instruction keeps what it writes apart from what it reads.
#ifndef ATTUNE_ARTIFACT_EXTENTS_H_
#define ATTUNE_ARTIFACT_EXTENTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "artifact/artifact.h"

namespace attune {

// A range of bytes in a space: a place, or a block of the arena. Two spaces that one instruction uses share
// no byte.
struct ByteRange {
  uint64_t space = 0;
  uint64_t begin = 0;
  uint64_t end = 0;

  bool operator==(const ByteRange&) const = default;
  uint64_t bytes() const { return end - begin; }
  bool Overlaps(const ByteRange& other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
};

// The space of the tensor, which must be valid.
inline uint64_t SpaceOf(const TensorInfo& tensor) {
  constexpr uint64_t kPlaces = static_cast<uint64_t>(Place::kPrepacked) + 1;
  return tensor.block < 0 ? static_cast<uint64_t>(tensor.place)
                          : kPlaces + static_cast<uint64_t>(tensor.block);
}

// Whether the outputs of the call overlap none of its other operands, except those that the kernel may
// compute in place of. `infos` are the kernel's operands, `extents` those of all tensors of the program.
bool WritesApart(const Instruction& call, const std::vector<OperandInfo>& infos,
                 std::span<const ByteRange> extents);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_EXTENTS_H_
