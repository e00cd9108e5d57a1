#include "artifact/validate_program.h"

#include <algorithm>
#include <tuple>

#include "base/printable.h"

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
  const auto fault = [&](const char* what) { return "tensor " + Quote(tensor.name) + " " + what; };
  if (ElementSize(tensor.dtype) == 0) return fault("has an unknown dtype");
  if (tensor.shape.size() > kMaxRank) return fault("has too many dimensions");
  if (tensor.dim_slots.size() != tensor.shape.size()) return fault("has not one dim slot a dimension");
  for (const int32_t slot : tensor.dim_slots) {
    if (slot < -1 || slot >= static_cast<int64_t>(program.num_dims))
      return fault("has a dim slot that does not exist");
  }
  if (tensor.place != Place::kArena && !IsStatic(tensor)) return fault("is a constant of dynamic shape");
  const uint64_t needed = ShapeBytes(tensor);
  if (needed > kMaxBytes) return fault("has a negative or too large shape");
  if (tensor.bytes < needed) return fault("has fewer bytes than its shape needs");
  if (tensor.offset % kTensorAlignment != 0) return fault("is not aligned");
  const uint64_t place_bytes = sizes.Of(tensor.place);
  if (tensor.offset > place_bytes || tensor.bytes > place_bytes - tensor.offset)
    return fault("lies outside its place");
  return "";
}

// A range of bytes in a place.
struct Extent {
  Place place = Place::kArena;
  uint64_t begin = 0;
  uint64_t end = 0;

  bool operator==(const Extent&) const = default;
  bool Overlaps(const Extent& other) const {
    return place == other.place && begin < other.end && other.begin < end;
  }
};

Extent ExtentOf(const TensorInfo& tensor) {
  return {tensor.place, tensor.offset, tensor.offset + tensor.bytes};
}

// Checks the tensor of a port. `kind` is "input" or "output".
std::string CheckPort(const Port& port, const std::string& kind, const Program& program) {
  const auto fault = [&](const char* what) { return kind + " " + Quote(port.name) + " " + what; };
  if (port.tensor >= program.tensors.size()) return fault("is not a tensor");
  const TensorInfo& tensor = program.tensors[port.tensor];
  if (tensor.place != Place::kArena) return fault("is not in the arena");
  if (kind == "input" && !IsStatic(tensor)) return fault("has a dynamic shape");
  return "";
}

// Checks that no two ports share a byte, so that together they are at most as large as the arena.
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
  const auto extent = [&](const Port* port) { return ExtentOf(program.tensors[port->tensor]); };
  std::ranges::sort(ports, {}, [&](const Port* port) { return extent(port).begin; });
  const Port* last = nullptr;  // the earlier port that ends last
  for (const Port* port : ports) {
    if (extent(port).begin == extent(port).end) continue;
    if (last != nullptr && extent(last).Overlaps(extent(port)))
      return "the ports " + Quote(last->name) + " and " + Quote(port->name) + " share memory";
    last = port;
  }
  return "";
}

// An operand of a call and its tensor's memory.
struct Operand {
  Extent extent;
  uint32_t index = 0;
  const OperandInfo* info = nullptr;
};

// Whether `written` may have the same memory as the operand `other`, which overlaps it.
bool MayShare(const Operand& written, const Operand& other) {
  const std::vector<uint32_t>& inputs = written.info->in_place_of;
  return written.extent == other.extent && std::ranges::find(inputs, other.index) != inputs.end();
}

// Whether the outputs of the call overlap none of its other operands, except those that the kernel may
// compute in place of. The loop visits the operands in the order of their addresses. Among the earlier
// ones, it keeps the written operand that ends last and the two operands that end last: since written
// operands never overlap, no other earlier operand can overlap the next one.
bool WritesApart(const Instruction& call, const std::vector<OperandInfo>& infos, const Program& program) {
  std::vector<Operand> operands;
  for (uint32_t i = 0; i < infos.size(); ++i) {
    const Extent extent = ExtentOf(program.tensors[call.tensors[i]]);
    if (extent.begin != extent.end) operands.push_back({extent, i, &infos[i]});
  }
  std::ranges::sort(operands, {}, [](const Operand& o) {
    return std::tuple(o.extent.place, o.extent.begin, o.extent.end, o.info->is_written, o.index);
  });
  const Operand* written = nullptr;
  const Operand* last = nullptr;
  const Operand* second = nullptr;
  const auto ends_after = [](const Operand& a, const Operand* b) {
    return b == nullptr || a.extent.place != b->extent.place || a.extent.end > b->extent.end;
  };
  for (const Operand& operand : operands) {
    const auto overlaps = [&](const Operand* other) {
      return other != nullptr && operand.extent.Overlaps(other->extent);
    };
    if (overlaps(written)) return false;
    if (operand.info->is_written) {
      if (overlaps(second) || (overlaps(last) && !MayShare(operand, *last))) return false;
      if (ends_after(operand, written)) written = &operand;
    }
    if (ends_after(operand, last)) {
      second = last;
      last = &operand;
    } else if (ends_after(operand, second)) {
      second = &operand;
    }
  }
  return true;
}

std::string CheckCall(const Instruction& call, const Program& program,
                      const std::vector<KernelInfo>& kernels) {
  if (call.kernel >= kernels.size()) return "calls a kernel that does not exist";
  const KernelInfo& kernel = kernels[call.kernel];
  if (kernel.interface.num_dims > program.num_dims)
    return "calls " + Quote(kernel.name) + ", which writes dim slots that do not exist";
  const std::string callee = "calls " + Quote(kernel.name) + " ";
  const std::vector<OperandInfo>& operands = kernel.interface.operands;
  if (call.tensors.size() != operands.size()) {
    return callee + "with " + std::to_string(call.tensors.size()) + " tensors, and it takes " +
           std::to_string(operands.size());
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const TensorInfo& tensor = program.tensors[call.tensors[i]];
    if (tensor.dtype != operands[i].dtype) return callee + "with a tensor of another dtype";
    if (tensor.bytes < operands[i].bytes) return callee + "with a tensor that is too small";
    if (operands[i].is_written && tensor.place != Place::kArena) return callee + "to write a constant";
  }
  return WritesApart(call, operands, program) ? "" : callee + "to write memory that it also uses";
}

std::string CheckCopy(const TensorInfo& from, const TensorInfo& to) {
  if (to.place != Place::kArena) return "copies to a constant";
  if (from.dtype != to.dtype) return "copies between two dtypes";
  if (ExtentOf(from).Overlaps(ExtentOf(to))) return "copies a tensor onto itself";
  if (from.shape.size() == to.shape.size()) return "";
  if (!IsStatic(from) || !IsStatic(to) || ShapeBytes(from) != ShapeBytes(to))
    return "copies between two shapes";
  return "";
}

std::string CheckIndexCheck(const TensorInfo& indices, const TensorInfo& bounds) {
  if (indices.dtype != kDTypeI32 && indices.dtype != kDTypeI64) return "checks values that are not indices";
  if (bounds.place != Place::kConstant || bounds.dtype != kDTypeI64 || bounds.shape.size() != 2 ||
      bounds.shape[0] != 2 || bounds.shape[1] < 1 || bounds.shape[1] > static_cast<int64_t>(kMaxRank)) {
    return "checks indices without bounds";
  }
  if (bounds.shape[1] == 1) return "";
  const bool fits =
      !indices.shape.empty() && indices.shape.back() == bounds.shape[1] && indices.dim_slots.back() < 0;
  return fits ? "" : "checks indices of another number of axes";
}

std::string CheckOperands(const Instruction& instruction, const Program& program,
                          const std::vector<KernelInfo>& kernels) {
  const std::vector<TensorInfo>& tensors = program.tensors;
  for (const uint32_t tensor : instruction.tensors) {
    if (tensor >= tensors.size()) return "uses a tensor that does not exist";
  }
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
      return count == 2 ? CheckIndexCheck(tensors[instruction.tensors[0]], tensors[instruction.tensors[1]])
                        : "checks other than one tensor of indices";
  }
  return "has an unknown opcode";
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

std::string ValidateProgram(const Program& program, const std::vector<KernelInfo>& kernels,
                            const PlaceSizes& sizes) {
  // Each slot belongs to a dimension of some tensor, which bounds the number of slots by the file's size.
  uint64_t dimensions = 0;
  for (const TensorInfo& tensor : program.tensors) dimensions += tensor.shape.size();
  if (program.num_dims > dimensions) return "it has more dim slots than dimensions";
  for (const TensorInfo& tensor : program.tensors) {
    if (std::string fault = CheckTensor(tensor, program, sizes); !fault.empty()) return fault;
  }
  if (std::string fault = CheckPorts(program); !fault.empty()) return fault;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    std::string fault = CheckOperands(instruction, program, kernels);
    if (fault.empty() && instruction.target > program.instructions.size())
      fault = "jumps outside the program";
    if (!fault.empty()) return "instruction " + std::to_string(i) + " " + fault;
  }
  const size_t endless = FirstWithoutEnd(program.instructions);
  if (endless < program.instructions.size())
    return "instruction " + std::to_string(endless) + " leads into a loop that never ends";
  return "";
}

}  // namespace attune
