// A program in the memory of a session: the addresses and shapes of its tensors, and its steps.
#ifndef ATTUNE_RUNTIME_PLACED_PROGRAM_H_
#define ATTUNE_RUNTIME_PLACED_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "artifact/open_program.h"
#include "runtime/error.h"
#include "runtime/model.h"
#include "runtime/placement_cache.h"

namespace attune {

// An instruction with its addresses resolved.
struct ProgramStep {
  Opcode opcode;
  bool parallel;
  uint32_t target;
  KernelFunction kernel;
  void** buffers;
  int64_t* sizes;  // of the call; nullptr: the kernel takes the run's dims
  const Instruction* instruction;
};

class PlacedProgram {
 public:
  // The program is one of the model's variant, which must be able to run. The model must outlive this.
  PlacedProgram(const Program& program, const LoadedModel& model);

  const Program& program() const { return program_; }

  // Sets `placement` to that at these values of the program's open sizes, each in its range; it lives until
  // Use() or the next call of this. Sizes that are among the last PlacementCache::kMaxEntries that were used
  // take no time and no memory.
  RuntimeStatus Find(std::span<const int64_t> sizes, const ProgramPlacement** placement);

  // Puts the program into an arena, by the placement that Find() found last. Allocates nothing.
  void Use(const ProgramPlacement& found, std::byte* arena);

  // These need that it is in an arena.
  const ProgramPlacement* placement() const { return placement_; }
  std::span<const int64_t> Shape(uint32_t tensor) const {
    return {placement_->dims.data() + first_dim_[tensor], program_.tensors[tensor].shape.size()};
  }
  std::byte* Address(uint32_t tensor) const;
  const std::vector<ProgramStep>& steps() const { return steps_; }

 private:
  const Program& program_;
  const LoadedModel& model_;
  std::vector<size_t> first_dim_;  // of each tensor, in the dims of a placement
  std::vector<void*> buffers_;     // of all steps
  std::vector<int64_t> call_sizes_;
  std::vector<ProgramStep> steps_;
  ProgramPlacement constant_;          // of a program without open sizes
  std::unique_ptr<OpenProgram> open_;  // nullptr: it has none
  PlacementCache cache_;
  const ProgramPlacement* placement_ = nullptr;  // nullptr: it is in no arena
  std::byte* arena_ = nullptr;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_PLACED_PROGRAM_H_
