#include "artifact/open_program.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "artifact/validate_program.h"
#include "base/checked.h"
#include "base/joined.h"

namespace attune {
namespace {

PlacementError AsksTooMuch(const std::string& what) {
  return {PlacementFault::kTooLarge, Joined({what, " asks for more than 2^40 bytes"})};
}

PlacementError Breaks(std::string what) { return {PlacementFault::kDamaged, std::move(what)}; }

std::string NameOf(const TensorInfo& tensor) { return Joined({"tensor ", Quote(tensor.name)}); }

// Whether the call writes to a space where it has another operand.
bool WritesToSharedSpace(const Instruction& call, const std::vector<OperandInfo>& operands,
                         const Program& program) {
  std::vector<std::pair<uint64_t, bool>> uses;  // the space, and whether the operand is written
  for (size_t i = 0; i < operands.size(); ++i)
    uses.emplace_back(SpaceOf(program.tensors[call.tensors[i]]), operands[i].is_written);
  std::ranges::sort(uses);  // a written operand comes after the others of its space
  const auto shared = [](const auto& a, const auto& b) { return a.first == b.first && b.second; };
  return std::ranges::adjacent_find(uses, shared) != uses.end();
}

}  // namespace

ProgramPlacement ConstantPlacement(const Program& program) {
  ProgramPlacement placement;
  for (const TensorInfo& tensor : program.tensors) {
    placement.dims.insert(placement.dims.end(), tensor.shape.begin(), tensor.shape.end());
    placement.offsets.push_back(tensor.offset);
  }
  placement.arena_bytes = program.arena_bytes;
  return placement;
}

OpenProgram::OpenProgram(const Program& program, const std::vector<KernelInfo>& kernels)
    : program_(program),
      kernels_(kernels),
      numbers_(program.numbers.size()),
      lifetimes_(program.blocks.size()),
      extents_(program.tensors.size()),
      shape_bytes_(program.tensors.size()),
      block_offsets_(program.blocks.size()) {
  for (const Instruction& instruction : program.instructions) {
    may_overlap_.push_back(
        instruction.opcode == Opcode::kCall &&
        WritesToSharedSpace(instruction, kernels[instruction.kernel].interface.operands, program));
  }
}

PlacementError OpenProgram::Place(std::span<const int64_t> sizes, ProgramPlacement* placement) {
  placement->sizes.assign(sizes.begin(), sizes.end());
  if (PlacementError error = EvaluateNumbers(sizes); !error.ok()) return error;
  if (PlacementError error = SizeBlocks(); !error.ok()) return error;
  if (PlacementError error = SizeTensors(placement); !error.ok()) return error;
  if (PlacementError error = CheckCalls(placement); !error.ok()) return error;
  return PlaceBlocks(placement);
}

PlacementError OpenProgram::EvaluateNumbers(std::span<const int64_t> sizes) {
  for (size_t i = 0; i < numbers_.size(); ++i) {
    const SizeFault fault = Evaluate(program_.numbers[i], sizes, &numbers_[i]);
    if (fault == SizeFault::kNone) continue;
    return {fault == SizeFault::kOverflow ? PlacementFault::kTooLarge : PlacementFault::kDamaged,
            Joined({"number ", i, " ", FaultText(fault)})};
  }
  return {};
}

PlacementError OpenProgram::SizeBlocks() {
  for (size_t i = 0; i < lifetimes_.size(); ++i) {
    const ArenaBlock& block = program_.blocks[i];
    const int64_t bytes = numbers_[block.bytes];
    if (bytes > kMaxOpenBytes) return AsksTooMuch(Joined({"block ", i}));
    lifetimes_[i] = block.pinned ? Lifetime{bytes, 0, std::numeric_limits<int64_t>::max()}
                                 : Lifetime{bytes, block.first, block.last};
  }
  return {};
}

PlacementError OpenProgram::SizeTensors(ProgramPlacement* placement) {
  placement->dims.clear();
  for (size_t i = 0; i < extents_.size(); ++i) {
    const TensorInfo& tensor = program_.tensors[i];
    const size_t begin = placement->dims.size();
    placement->dims.insert(placement->dims.end(), tensor.shape.begin(), tensor.shape.end());
    int64_t* dims = placement->dims.data() + begin;
    for (size_t d = 0; d < tensor.open_shape.size(); ++d) {
      if (tensor.open_shape[d] < 0) continue;
      dims[d] = numbers_[static_cast<size_t>(tensor.open_shape[d])];
      if (dims[d] > tensor.shape[d]) {
        return Breaks(Joined({NameOf(tensor), " has ", dims[d], " in dimension ", d, ", over its bound of ",
                              tensor.shape[d]}));
      }
    }
    if (PlacementError error = SizeTensor(i, dims); !error.ok()) return error;
  }
  return {};
}

PlacementError OpenProgram::SizeTensor(size_t index, const int64_t* dims) {
  const TensorInfo& tensor = program_.tensors[index];
  ByteRange* extent = &extents_[index];
  extent->space = SpaceOf(tensor);
  extent->begin = tensor.offset;
  const std::optional<int64_t> elements = CheckedProduct({dims, tensor.shape.size()});
  if (!elements || *elements > kMaxOpenBytes) return AsksTooMuch(NameOf(tensor));
  const uint64_t needed = static_cast<uint64_t>(*elements) * ElementSize(tensor.dtype);
  const uint64_t bytes = std::max(tensor.bytes, needed);
  if (tensor.block >= 0) {
    if (tensor.open_offset >= 0)
      extent->begin = static_cast<uint64_t>(numbers_[static_cast<size_t>(tensor.open_offset)]);
    if (extent->begin % kTensorAlignment != 0) return Breaks(Joined({NameOf(tensor), " is not aligned"}));
    const auto room = static_cast<uint64_t>(lifetimes_[static_cast<size_t>(tensor.block)].bytes);
    if (extent->begin > room || bytes > room - extent->begin)
      return Breaks(Joined({NameOf(tensor), " lies outside its block"}));
  }
  extent->end = extent->begin + bytes;
  shape_bytes_[index] = needed;
  return {};
}

PlacementError OpenProgram::CheckCalls(ProgramPlacement* placement) const {
  placement->call_sizes.clear();
  placement->scratch_bytes = 0;
  for (size_t i = 0; i < program_.instructions.size(); ++i) {
    const Instruction& instruction = program_.instructions[i];
    PlacementError error;
    if (instruction.opcode == Opcode::kCopy) error = CheckCopy(instruction);
    const size_t begin = placement->call_sizes.size();
    for (const uint32_t number : instruction.sizes) placement->call_sizes.push_back(numbers_[number]);
    if (instruction.opcode == Opcode::kCall)
      error = CheckCall(i, std::span(placement->call_sizes).subspan(begin), placement);
    if (!error.ok()) return {error.fault, Joined({"instruction ", i, " ", error.message})};
  }
  return {};
}

PlacementError OpenProgram::CheckCall(size_t instruction, std::span<const int64_t> sizes,
                                      ProgramPlacement* placement) const {
  const Instruction& call = program_.instructions[instruction];
  const KernelInfo& kernel = kernels_[call.kernel];
  const auto fault = [&](const char* what) {
    return Breaks(Joined({"calls ", Quote(kernel.name), " ", what}));
  };
  int64_t scratch = 0;
  if (!kernel.interface.open_scratch.empty()) {
    const SizeFault found = Evaluate(kernel.interface.open_scratch, sizes, &scratch);
    if (found == SizeFault::kOverflow || scratch > kMaxOpenBytes)
      return AsksTooMuch(Joined({"calls ", Quote(kernel.name), ", which"}));
    if (found != SizeFault::kNone) return fault("with scratch that cannot be computed");
  }
  placement->scratch_bytes =
      std::max(placement->scratch_bytes, kernel.interface.scratch_bytes + static_cast<uint64_t>(scratch));
  for (size_t i = 0; i < kernel.interface.operands.size(); ++i) {
    const OperandInfo& operand = kernel.interface.operands[i];
    auto bytes = static_cast<int64_t>(operand.bytes);
    if (!operand.open_bytes.empty() && Evaluate(operand.open_bytes, sizes, &bytes) != SizeFault::kNone)
      return fault("with operands that it cannot have");
    if (extents_[call.tensors[i]].bytes() < static_cast<uint64_t>(bytes))
      return fault("with a tensor that is too small");
  }
  if (may_overlap_[instruction] && !WritesApart(call, kernel.interface.operands, extents_))
    return fault("to write memory that it also uses");
  return {};
}

PlacementError OpenProgram::CheckCopy(const Instruction& copy) const {
  const ByteRange& from = extents_[copy.tensors[0]];
  const ByteRange& to = extents_[copy.tensors[1]];
  if (from.Overlaps(to)) return Breaks("copies a tensor onto itself");
  const bool same_rank =
      program_.tensors[copy.tensors[0]].shape.size() == program_.tensors[copy.tensors[1]].shape.size();
  const bool same_bytes = shape_bytes_[copy.tensors[0]] == shape_bytes_[copy.tensors[1]];
  return same_rank || same_bytes ? PlacementError() : Breaks("copies between two shapes");
}

PlacementError OpenProgram::PlaceBlocks(ProgramPlacement* placement) {
  const int64_t arena_bytes =
      planner_.Plan(lifetimes_, static_cast<int64_t>(kTensorAlignment), block_offsets_);
  if (arena_bytes > kMaxOpenBytes) return AsksTooMuch("the program");
  placement->arena_bytes = static_cast<uint64_t>(arena_bytes);
  placement->offsets.resize(extents_.size());
  for (size_t i = 0; i < extents_.size(); ++i) {
    const int32_t block = program_.tensors[i].block;
    placement->offsets[i] =
        extents_[i].begin +
        (block < 0 ? 0 : static_cast<uint64_t>(block_offsets_[static_cast<size_t>(block)]));
  }
  return {};
}

}  // namespace attune
