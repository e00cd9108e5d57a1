// A program at one choice of its open sizes: where its tensors lie, and how large they are.
#ifndef ATTUNE_ARTIFACT_OPEN_PROGRAM_H_
#define ATTUNE_ARTIFACT_OPEN_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "artifact/artifact.h"
#include "artifact/extents.h"
#include "artifact/size_code.h"
#include "base/memory_plan.h"

namespace attune {

// More bytes than a tensor, a block, the arena or the scratch of a thread can have at any sizes.
inline constexpr int64_t kMaxOpenBytes = int64_t{1} << 40;

struct ProgramPlacement {
  std::vector<int64_t> sizes;       // the values of the program's sizes
  std::vector<int64_t> dims;        // the shapes of all tensors, one after another
  std::vector<uint64_t> offsets;    // of the tensors, from the starts of their places
  std::vector<int64_t> call_sizes;  // of all instructions, one after another
  uint64_t arena_bytes = 0;
  uint64_t scratch_bytes = 0;  // per thread: the most that any call needs
};

// The placement of a program without open sizes.
ProgramPlacement ConstantPlacement(const Program& program);

enum class PlacementFault : uint8_t {
  kNone,
  kTooLarge,  // it asks for more memory than kMaxOpenBytes
  kDamaged,   // the program breaks its rules at these sizes
};

struct PlacementError {
  PlacementFault fault = PlacementFault::kNone;
  std::string message;  // the broken rule as the end of a sentence

  bool ok() const { return fault == PlacementFault::kNone; }
};

// Places a program with open sizes. Everything that is checked of other programs when an artifact is loaded
// is checked of this one for each choice of sizes: each dimension is within its bound; tensors lie within
// their blocks, aligned; operands have the bytes that the kernel asks for at the sizes of the call; calls
// write nothing that they also use, unless the kernel computes in place; and copies fit.
class OpenProgram {
 public:
  // The program and the kernels of its variant must be valid and outlive this.
  OpenProgram(const Program& program, const std::vector<KernelInfo>& kernels);

  // Sets `placement`, which is of no use if there is an error. `sizes` must have the values of all sizes,
  // each in its range. Takes time by the program's length and the square of the number of its blocks;
  // allocates only what `placement` lacks.
  PlacementError Place(std::span<const int64_t> sizes, ProgramPlacement* placement);

 private:
  PlacementError EvaluateNumbers(std::span<const int64_t> sizes);
  PlacementError SizeBlocks();
  PlacementError SizeTensors(ProgramPlacement* placement);
  PlacementError SizeTensor(size_t index, const int64_t* dims);
  PlacementError CheckCalls(ProgramPlacement* placement) const;
  PlacementError CheckCall(size_t instruction, std::span<const int64_t> sizes,
                           ProgramPlacement* placement) const;
  PlacementError CheckCopy(const Instruction& copy) const;
  PlacementError PlaceBlocks(ProgramPlacement* placement);

  const Program& program_;
  const std::vector<KernelInfo>& kernels_;
  std::vector<bool> may_overlap_;  // by instruction: whether it writes to a block that it also uses otherwise
  std::vector<int64_t> numbers_;
  std::vector<Lifetime> lifetimes_;    // of the blocks
  std::vector<ByteRange> extents_;     // of the tensors, in their spaces
  std::vector<uint64_t> shape_bytes_;  // of the tensors: what their shapes need
  std::vector<int64_t> block_offsets_;
  MemoryPlanner planner_;
};

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_OPEN_PROGRAM_H_
