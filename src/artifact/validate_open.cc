#include "artifact/validate_open.h"

#include <algorithm>

#include "artifact/size_code.h"
#include "artifact/validate_program.h"
#include "base/joined.h"

namespace attune {
namespace {

std::string CheckBlock(const ArenaBlock& block, const Program& program) {
  if (block.bytes >= program.numbers.size()) return "has a number of bytes that does not exist";
  if (block.pinned) return "";
  return block.first <= block.last && block.last < program.instructions.size() ? "" : "has no life";
}

bool IsNumber(int32_t index, const Program& program) {
  return index >= -1 && index < static_cast<int64_t>(program.numbers.size());
}

}  // namespace

bool IsOpen(const TensorInfo& tensor) {
  return std::ranges::any_of(tensor.open_shape, [](int32_t number) { return number >= 0; });
}

std::string CheckOpenSizes(const Program& program) {
  if (program.sizes.empty()) {
    const bool none = program.numbers.empty() && program.blocks.empty();
    return none ? "" : "it has numbers of open sizes, and no open size";
  }
  if (program.num_dims != 0) return "it has open sizes and sizes that depend on the data";
  if (program.arena_bytes != 0) return "it has open sizes and an arena of constant size";
  for (const OpenSize& size : program.sizes) {
    if (size.min < 0 || size.max < size.min) return Joined({"its size ", Quote(size.name), " has no range"});
  }
  for (size_t i = 0; i < program.numbers.size(); ++i) {
    const std::string fault = CheckSizeCode(program.numbers[i], program.sizes.size());
    if (!fault.empty()) return Joined({"number ", i, " ", fault});
  }
  if (program.blocks.size() > kMaxArenaBlocks) return Joined({"it has more blocks than ", kMaxArenaBlocks});
  for (size_t i = 0; i < program.blocks.size(); ++i) {
    const std::string fault = CheckBlock(program.blocks[i], program);
    if (!fault.empty()) return Joined({"block ", i, " ", fault});
  }
  return "";
}

std::string CheckOpenTensor(const TensorInfo& tensor, const Program& program) {
  if (!tensor.open_shape.empty() && tensor.open_shape.size() != tensor.shape.size())
    return "has not one open size a dimension";
  for (size_t i = 0; i < tensor.open_shape.size(); ++i) {
    if (!IsNumber(tensor.open_shape[i], program)) return "has an open size that does not exist";
    if (tensor.shape[i] < 0) return "has a negative bound";
  }
  const bool has_block = !program.sizes.empty() && tensor.place == Place::kArena;
  if (!has_block && tensor.block != -1) return "has a block where there is none";
  if (has_block && (tensor.block < 0 || static_cast<size_t>(tensor.block) >= program.blocks.size()))
    return "has no block";
  if (!IsNumber(tensor.open_offset, program)) return "has an offset that does not exist";
  if (tensor.open_offset >= 0 && (!has_block || tensor.offset != 0)) return "has two offsets";
  if (has_block && (tensor.offset > kMaxBytes || tensor.offset % kTensorAlignment != 0))
    return "is not aligned";
  if (!IsOpen(tensor)) return "";
  if (!has_block) return "is a constant of open shape";
  return tensor.bytes == 0 ? "" : "has a constant number of bytes and an open shape";
}

std::string CheckOpenPorts(const std::vector<const Port*>& ports, const Program& program) {
  std::vector<const Port*> by_block(program.blocks.size(), nullptr);
  for (const Port* port : ports) {
    const auto block = static_cast<size_t>(program.tensors[port->tensor].block);
    if (!program.blocks[block].pinned)
      return Joined({"the memory of port ", Quote(port->name), " is not its own"});
    if (by_block[block] != nullptr)
      return Joined(
          {"the ports ", Quote(by_block[block]->name), " and ", Quote(port->name), " share memory"});
    by_block[block] = port;
  }
  return "";
}

std::string CheckInputsOfSizes(const Program& program) {
  std::vector<bool> bound(program.sizes.size(), false);
  for (const Port& input : program.inputs) {
    for (const int32_t number : program.tensors[input.tensor].open_shape) {
      if (number < 0) continue;
      if (const auto size = SizeOf(program.numbers[static_cast<size_t>(number)])) bound[*size] = true;
    }
  }
  const auto without = std::ranges::find(bound, false);
  if (without == bound.end()) return "";
  const OpenSize& size = program.sizes[static_cast<size_t>(without - bound.begin())];
  return Joined({"its size ", Quote(size.name), " is no dimension of an input"});
}

std::string CheckOpenInterface(const KernelInterface& interface) {
  if (interface.num_sizes > 0 && interface.num_dims > 0) return "has sizes and dim slots";
  if (interface.num_sizes == 0) {
    const auto is_open = [](const OperandInfo& operand) { return !operand.open_bytes.empty(); };
    const bool open = !interface.open_scratch.empty() || std::ranges::any_of(interface.operands, is_open);
    return open ? "has code over sizes, and no sizes" : "";
  }
  const auto check = [&](const SizeCode& code) {
    return code.empty() ? "" : CheckSizeCode(code, interface.num_sizes);
  };
  if (std::string fault = check(interface.open_scratch); !fault.empty())
    return Joined({"needs scratch by code that ", fault});
  for (const OperandInfo& operand : interface.operands) {
    if (std::string fault = check(operand.open_bytes); !fault.empty())
      return Joined({"has an operand by code that ", fault});
  }
  return "";
}

std::string CheckCallSizes(const Instruction& call, const KernelInfo& kernel, const Program& program) {
  const std::string callee = Joined({"calls ", Quote(kernel.name), " with "});
  if (call.sizes.size() != kernel.interface.num_sizes) {
    return Joined({callee, call.sizes.size(), " sizes, and it takes ", kernel.interface.num_sizes});
  }
  const auto exists = [&](uint32_t number) { return number < program.numbers.size(); };
  return std::ranges::all_of(call.sizes, exists) ? "" : Joined({callee, "a size that does not exist"});
}

std::string CheckLives(size_t instruction, const Program& program) {
  for (const uint32_t tensor : program.instructions[instruction].tensors) {
    const int32_t index = program.tensors[tensor].block;
    if (index < 0) continue;
    const ArenaBlock& block = program.blocks[static_cast<size_t>(index)];
    if (!block.pinned && (instruction < block.first || instruction > block.last))
      return Joined({"uses ", Quote(program.tensors[tensor].name), " while its memory is not its own"});
  }
  return "";
}

}  // namespace attune
