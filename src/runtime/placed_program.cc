#include "runtime/placed_program.h"

#include <algorithm>

#include "base/joined.h"
#include "base/printable.h"
#include "runtime/input_shapes.h"

namespace attune {

PlacedProgram::PlacedProgram(const Program& program, const LoadedModel& model)
    : program_(program), model_(model) {
  size_t operands = 0, sizes = 0, dims = 0;
  for (const Instruction& instruction : program.instructions) {
    operands += instruction.tensors.size();
    sizes += instruction.sizes.size();
  }
  for (const TensorInfo& tensor : program.tensors) {
    first_dim_.push_back(dims);
    dims += tensor.shape.size();
  }
  buffers_.resize(operands);
  call_sizes_.resize(sizes);
  void** buffers = buffers_.data();
  int64_t* call_sizes = call_sizes_.data();
  for (const Instruction& instruction : program.instructions) {
    const bool is_call = instruction.opcode == Opcode::kCall;
    steps_.push_back({.opcode = instruction.opcode,
                      .parallel = is_call && model.variant().kernels[instruction.kernel].interface.parallel,
                      .target = instruction.target,
                      .kernel = is_call ? model.kernel(instruction.kernel) : nullptr,
                      .buffers = buffers,
                      .sizes = instruction.sizes.empty() ? nullptr : call_sizes,
                      .instruction = &instruction});
    buffers += instruction.tensors.size();
    call_sizes += instruction.sizes.size();
  }
  if (program.sizes.empty()) {
    constant_ = ConstantPlacement(program);
  } else {
    open_ = std::make_unique<OpenProgram>(program, model.variant().kernels);
  }
}

RuntimeStatus PlacedProgram::Find(std::span<const int64_t> sizes, const ProgramPlacement** placement) {
  *placement = open_ == nullptr ? &constant_ : cache_.Find(sizes);
  if (*placement != nullptr) return {};
  const PlacementError error = open_->Place(sizes, &cache_.spare());
  *placement = &cache_.spare();
  if (error.ok()) return {};
  const std::string at = SizesText(program_, sizes);
  if (error.fault == PlacementFault::kTooLarge) {
    return {ATTUNE_OUT_OF_MEMORY,
            Joined({"the model cannot run at ", at, ": ", error.message, "; use smaller inputs"})};
  }
  return {ATTUNE_DAMAGED, Joined({"the model is damaged: at ", at, ", ", error.message,
                                  "; copy it again or compile it again"})};
}

void PlacedProgram::Use(const ProgramPlacement& found, std::byte* arena) {
  placement_ = &found == &cache_.spare() ? cache_.KeepSpare() : &found;
  arena_ = arena;
  void** buffer = buffers_.data();
  for (const Instruction& instruction : program_.instructions) {
    for (const uint32_t tensor : instruction.tensors) *buffer++ = Address(tensor);
  }
  std::ranges::copy(placement_->call_sizes, call_sizes_.begin());
}

std::byte* PlacedProgram::Address(uint32_t tensor) const {
  const uint64_t offset = placement_->offsets[tensor];
  switch (program_.tensors[tensor].place) {
    case Place::kArena:
      return arena_ + offset;
    case Place::kConstant:
      return model_.constants() + offset;
    case Place::kPrepacked:
      return model_.prepacked() + offset;
  }
  return nullptr;
}

}  // namespace attune
