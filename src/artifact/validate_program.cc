#include "artifact/validate_program.h"

#include <algorithm>

#include "artifact/extents.h"
#include "artifact/validate_open.h"
#include "base/joined.h"

namespace attune {
namespace {

// The size of `shape` in bytes; kMaxBytes + 1 if it is more than kMaxBytes or a dimension is negative.
uint64_t ShapeBytes(const TensorInfo& tensor) {
  uint64_t bytes = ElementSize(tensor.dtype);
  bool empty = false;
  for (const int64_t size : tensor.shape) {
    if (size < 0) return kMaxBytes + 1;
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes) || bytes > kMaxBytes) {
      return kMaxBytes + 1;
    }
  }
  return empty ? 0 : bytes;
}

bool IsStatic(const TensorInfo& tensor) {
  for (const int32_t slot : tensor.dim_slots) {
    if (slot >= 0) return false;
  }
  return true;
}

std::string CheckTensor(const TensorInfo& tensor, const Program& program, const PlaceSizes& sizes) {
  const auto fault = [&](const char* what) { return Joined({"tensor ", Quote(tensor.name), " ", what}); };
  if (ElementSize(tensor.dtype) == 0) return fault("has an unknown dtype");
  if (tensor.shape.size() > kMaxRank) return fault("has too many dimensions");
  if (tensor.dim_slots.size() != tensor.shape.size()) return fault("has not one dim slot a dimension");
  for (const int32_t slot : tensor.dim_slots) {
    if (slot < -1 || slot >= static_cast<int64_t>(program.num_dims))
      return fault("has a dim slot that does not exist");
  }
  if (tensor.place != Place::kArena && !IsStatic(tensor)) return fault("is a constant of dynamic shape");
  if (const std::string open = CheckOpenTensor(tensor, program); !open.empty()) return fault(open.c_str());
  if (IsOpen(tensor)) return "";  // it has the bytes that it needs, in a block
  const uint64_t needed = ShapeBytes(tensor);
  if (needed > kMaxBytes) return fault("has a negative or too large shape");
  if (tensor.bytes < needed) return fault("has fewer bytes than its shape needs");
  if (tensor.offset % kTensorAlignment != 0) return fault("is not aligned");
  if (tensor.block >= 0) return tensor.bytes > kMaxBytes ? fault("asks for too much memory") : "";
  const uint64_t place_bytes = sizes.Of(tensor.place);
  if (tensor.offset > place_bytes || tensor.bytes > place_bytes - tensor.offset)
    return fault("lies outside its place");
  return "";
}

// The extent of a tensor whose shape and offset are constant.
ByteRange ExtentOf(const TensorInfo& tensor) {
  return {SpaceOf(tensor), tensor.offset, tensor.offset + tensor.bytes};
}

// Checks the tensor of a port. `kind` is "input" or "output".
std::string CheckPort(const Port& port, const std::string& kind, const Program& program) {
  const auto fault = [&](const char* what) { return Joined({kind, " ", Quote(port.name), " ", what}); };
  if (port.tensor >= program.tensors.size()) return fault("is not a tensor");
  const TensorInfo& tensor = program.tensors[port.tensor];
  if (tensor.place != Place::kArena) return fault("is not in the arena");
  if (kind == "input" && !IsStatic(tensor)) return fault("has a dynamic shape");
  return "";
}

// Checks that no two ports share a byte: of constant shape, together they are at most as large as the arena.
std::string CheckPorts(const Program& program) {
  std::vector<const Port*> ports;
  for (const Port& input : program.inputs) {
    if (std::string fault = CheckPort(input, "input", program); !fault.empty()) return fault;
    ports.push_back(&input);
  }
  for (const Port& output : program.outputs) {
    if (std::string fault = CheckPort(output, "output", program); !fault.empty()) return fault;
    ports.push_back(&output);
  }
  if (!program.sizes.empty()) return CheckOpenPorts(ports, program);
  const auto extent = [&](const Port* port) { return ExtentOf(program.tensors[port->tensor]); };
  std::ranges::sort(ports, {}, [&](const Port* port) { return extent(port).begin; });
  const Port* last = nullptr;  // the earlier port that ends last
  for (const Port* port : ports) {
    if (extent(port).begin == extent(port).end) continue;
    if (last != nullptr && extent(last).Overlaps(extent(port)))
      return Joined({"the ports ", Quote(last->name), " and ", Quote(port->name), " share memory"});
    last = port;
  }
  return "";
}

std::string CheckCall(const Instruction& call, const Program& program,
                      const std::vector<KernelInfo>& kernels) {
  if (call.kernel >= kernels.size()) return "calls a kernel that does not exist";
  const KernelInfo& kernel = kernels[call.kernel];
  if (kernel.interface.num_dims > program.num_dims)
    return Joined({"calls ", Quote(kernel.name), ", which writes dim slots that do not exist"});
  const std::string callee = Joined({"calls ", Quote(kernel.name), " "});
  const std::vector<OperandInfo>& operands = kernel.interface.operands;
  if (call.tensors.size() != operands.size()) {
    return Joined({callee, "with ", call.tensors.size(), " tensors, and it takes ", operands.size()});
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const TensorInfo& tensor = program.tensors[call.tensors[i]];
    if (tensor.dtype != operands[i].dtype) return Joined({callee, "with a tensor of another dtype"});
    if (operands[i].is_written && tensor.place != Place::kArena)
      return Joined({callee, "to write a constant"});
  }
  return CheckCallSizes(call, kernel, program);
}

std::string CheckCopy(const TensorInfo& from, const TensorInfo& to) {
  if (to.place != Place::kArena) return "copies to a constant";
  if (from.dtype != to.dtype) return "copies between two dtypes";
  const bool any_shape = from.shape.size() == to.shape.size() || (IsStatic(from) && IsStatic(to));
  return any_shape ? "" : "copies between two shapes";
}

std::string CheckIndexCheck(const TensorInfo& indices, const TensorInfo& bounds, size_t sizes) {
  if (indices.dtype != kDTypeI32 && indices.dtype != kDTypeI64) return "checks values that are not indices";
  if (bounds.place != Place::kConstant || bounds.dtype != kDTypeI64 || bounds.shape.size() != 2 ||
      bounds.shape[0] != 2 || bounds.shape[1] < 1 || bounds.shape[1] > static_cast<int64_t>(kMaxRank)) {
    return "checks indices without bounds";
  }
  if (sizes != 0 && sizes != static_cast<size_t>(bounds.shape[1]))
    return "checks indices of another number of axes";
  if (bounds.shape[1] == 1) return "";
  const bool fits = !indices.shape.empty() && indices.shape.back() == bounds.shape[1] &&
                    indices.dim_slots.back() < 0 &&
                    (indices.open_shape.empty() || indices.open_shape.back() < 0);
  return fits ? "" : "checks indices of another number of axes";
}

std::string CheckOperands(const Instruction& instruction, const Program& program,
                          const std::vector<KernelInfo>& kernels) {
  const std::vector<TensorInfo>& tensors = program.tensors;
  for (const uint32_t tensor : instruction.tensors) {
    if (tensor >= tensors.size()) return "uses a tensor that does not exist";
  }
  const bool may_have_sizes =
      instruction.opcode == Opcode::kCall || instruction.opcode == Opcode::kCheckIndices;
  if (!may_have_sizes && !instruction.sizes.empty()) return "has sizes and calls nothing";
  const size_t count = instruction.tensors.size();
  switch (instruction.opcode) {
    case Opcode::kCall:
      return CheckCall(instruction, program, kernels);
    case Opcode::kJump:
      return count == 0 ? "" : "jumps with tensors";
    case Opcode::kBranchIfFalse: {
      if (count != 1) return "branches on other than one tensor";
      const TensorInfo& condition = tensors[instruction.tensors[0]];
      return condition.dtype == kDTypeBool && condition.bytes > 0 ? "" : "branches on other than a bool";
    }
    case Opcode::kCopy:
      return count == 2 ? CheckCopy(tensors[instruction.tensors[0]], tensors[instruction.tensors[1]])
                        : "copies other than one tensor to another";
    case Opcode::kCheckIndices:
      if (count != 2) return "checks other than one tensor of indices";
      return CheckIndexCheck(tensors[instruction.tensors[0]], tensors[instruction.tensors[1]],
                             instruction.sizes.size());
  }
  return "has an unknown opcode";
}

// The rules for the memory of an instruction whose tensors have constant shapes. open_program.h
// checks tensors of open shapes when the sizes are known.
std::string CheckMemory(const Instruction& instruction, const Program& program,
                        const std::vector<KernelInfo>& kernels, std::span<const ByteRange> extents) {
  const std::vector<uint32_t>& tensors = instruction.tensors;
  if (instruction.opcode == Opcode::kCopy) {
    const TensorInfo& from = program.tensors[tensors[0]];
    const TensorInfo& to = program.tensors[tensors[1]];
    if (extents[tensors[0]].Overlaps(extents[tensors[1]])) return "copies a tensor onto itself";
    const bool fits = from.shape.size() == to.shape.size() || ShapeBytes(from) == ShapeBytes(to);
    return fits ? "" : "copies between two shapes";
  }
  if (instruction.opcode != Opcode::kCall) return "";
  const KernelInfo& kernel = kernels[instruction.kernel];
  const std::string callee = Joined({"calls ", Quote(kernel.name), " "});
  const std::vector<OperandInfo>& operands = kernel.interface.operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (extents[tensors[i]].bytes() < operands[i].bytes)
      return Joined({callee, "with a tensor that is too small"});
  }
  return WritesApart(instruction, operands, extents) ? ""
                                                     : Joined({callee, "to write memory that it also uses"});
}

// The first instruction from which the program cannot reach its end, or the number of instructions. All
// jump targets must exist.
size_t FirstWithoutEnd(const std::vector<Instruction>& program) {
  std::vector<std::vector<size_t>> sources(program.size() + 1);  // the predecessors by instruction
  for (size_t i = 0; i < program.size(); ++i) {
    const Opcode opcode = program[i].opcode;
    if (opcode != Opcode::kJump) sources[i + 1].push_back(i);
    if (opcode == Opcode::kJump || opcode == Opcode::kBranchIfFalse) sources[program[i].target].push_back(i);
  }
  std::vector<bool> ends(program.size() + 1, false);
  std::vector<size_t> todo = {program.size()};
  ends[program.size()] = true;
  while (!todo.empty()) {
    const size_t at = todo.back();
    todo.pop_back();
    for (const size_t source : sources[at]) {
      if (ends[source]) continue;
      ends[source] = true;
      todo.push_back(source);
    }
  }
  return static_cast<size_t>(std::ranges::find(ends, false) - ends.begin());
}

}  // namespace

std::string Quote(const std::string& name) { return Joined({"\"", Printable(name), "\""}); }

std::string ValidateProgram(const Program& program, const std::vector<KernelInfo>& kernels,
                            const PlaceSizes& sizes) {
  // Each slot belongs to a dimension of some tensor, which bounds the number of slots by the file's size.
  uint64_t dimensions = 0;
  for (const TensorInfo& tensor : program.tensors) dimensions += tensor.shape.size();
  if (program.num_dims > dimensions) return "it has more dim slots than dimensions";
  if (std::string fault = CheckOpenSizes(program); !fault.empty()) return fault;
  for (const TensorInfo& tensor : program.tensors) {
    if (std::string fault = CheckTensor(tensor, program, sizes); !fault.empty()) return fault;
  }
  if (std::string fault = CheckPorts(program); !fault.empty()) return fault;
  if (std::string fault = CheckInputsOfSizes(program); !fault.empty()) return fault;
  const bool is_open = !program.sizes.empty();
  std::vector<ByteRange> extents;
  if (!is_open) {
    for (const TensorInfo& tensor : program.tensors) extents.push_back(ExtentOf(tensor));
  }
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    std::string fault = CheckOperands(instruction, program, kernels);
    if (fault.empty())
      fault = is_open ? CheckLives(i, program) : CheckMemory(instruction, program, kernels, extents);
    if (fault.empty() && instruction.target > program.instructions.size())
      fault = "jumps outside the program";
    if (!fault.empty()) return Joined({"instruction ", i, " ", fault});
  }
  const size_t endless = FirstWithoutEnd(program.instructions);
  if (endless < program.instructions.size())
    return Joined({"instruction ", endless, " leads into a loop that never ends"});
  return "";
}

}  // namespace attune
