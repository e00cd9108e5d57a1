#include "artifact/validate.h"

#include <bit>
#include <set>

#include "artifact/expand.h"
#include "artifact/printable.h"

namespace attune {
namespace {

// More than any machine has; sums of two sizes below it do not overflow.
constexpr uint64_t kMaxBytes = uint64_t{1} << 46;

// Far above what networks use; it bounds the depth of recursions over dimensions.
constexpr size_t kMaxRank = 64;

std::string Quote(const std::string& name) { return "\"" + Printable(name) + "\""; }

// The bytes of `shape`, kMaxBytes + 1 where they are more than kMaxBytes or a dimension is negative.
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

std::string CheckTensor(const TensorInfo& tensor, const Manifest& manifest, uint64_t constants_bytes) {
  const auto fault = [&](const char* what) { return "tensor " + Quote(tensor.name) + " " + what; };
  if (ElementSize(tensor.dtype) == 0) return fault("has an unknown dtype");
  if (tensor.shape.size() > kMaxRank) return fault("has too many dimensions");
  if (tensor.dim_slots.size() != tensor.shape.size()) return fault("has not one dim slot a dimension");
  for (const int32_t slot : tensor.dim_slots) {
    if (slot < -1 || slot >= static_cast<int64_t>(manifest.num_dims))
      return fault("has a dim slot that does not exist");
  }
  if (tensor.place == Place::kConstant && !IsStatic(tensor)) return fault("is a constant of dynamic shape");
  const uint64_t needed = ShapeBytes(tensor);
  if (needed > kMaxBytes) return fault("has a negative or too large shape");
  if (tensor.bytes < needed) return fault("has fewer bytes than its shape needs");
  if (tensor.offset % kTensorAlignment != 0) return fault("is not aligned");
  const uint64_t place_bytes = tensor.place == Place::kArena ? manifest.arena_bytes : constants_bytes;
  if (tensor.offset > place_bytes || tensor.bytes > place_bytes - tensor.offset)
    return fault("lies outside its place");
  return "";
}

std::string CheckPorts(const Manifest& manifest) {
  std::set<uint32_t> seen;
  for (const Port& input : manifest.inputs) {
    const auto fault = [&](const char* what) { return "input " + Quote(input.name) + " " + what; };
    if (input.tensor >= manifest.tensors.size()) return fault("is no tensor");
    const TensorInfo& tensor = manifest.tensors[input.tensor];
    if (tensor.place != Place::kArena) return fault("is not in the arena");
    if (!IsStatic(tensor)) return fault("has a dynamic shape");
    if (!seen.insert(input.tensor).second) return fault("shares its tensor with another");
  }
  for (const Port& output : manifest.outputs) {
    if (output.tensor >= manifest.tensors.size()) return "output " + Quote(output.name) + " is no tensor";
  }
  return "";
}

std::string CheckCopy(const TensorInfo& from, const TensorInfo& to) {
  if (to.place != Place::kArena) return "copies to a constant";
  if (from.dtype != to.dtype) return "copies between two dtypes";
  if (from.shape.size() == to.shape.size()) return "";
  if (!IsStatic(from) || !IsStatic(to) || ShapeBytes(from) != ShapeBytes(to))
    return "copies between two shapes";
  return "";
}

std::string CheckOperands(const Instruction& instruction, const Manifest& manifest) {
  const std::vector<TensorInfo>& tensors = manifest.tensors;
  for (const uint32_t tensor : instruction.tensors) {
    if (tensor >= tensors.size()) return "uses a tensor that does not exist";
  }
  const size_t count = instruction.tensors.size();
  switch (instruction.opcode) {
    case Opcode::kCall:
      return instruction.kernel < manifest.kernels.size() ? "" : "calls a kernel that does not exist";
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
  }
  return "has an unknown opcode";
}

std::string CheckProgram(const Manifest& manifest) {
  for (size_t i = 0; i < manifest.program.size(); ++i) {
    const Instruction& instruction = manifest.program[i];
    std::string fault = CheckOperands(instruction, manifest);
    if (fault.empty() && instruction.target > manifest.program.size()) fault = "jumps outside the program";
    if (!fault.empty()) return "instruction " + std::to_string(i) + " " + fault;
  }
  return "";
}

std::string CheckRange(const ConstantRange& range) {
  if (range.bytes % kConstantPadding != 0 || range.bytes > kMaxBytes) return "has an impossible size";
  const size_t values = range.codebook.size();
  const bool is_of_bytes = range.encoding == ConstantEncoding::kByteIndices;
  if (range.encoding != ConstantEncoding::kIndices && !is_of_bytes)
    return values == 0 ? "" : "has a codebook without indices";
  if (values < 2 || values > (is_of_bytes ? kMaxCodebook / 2 : kMaxCodebook) || !std::has_single_bit(values))
    return "has a codebook of " + std::to_string(values) + " values";
  for (const uint32_t value : range.codebook) {
    if (is_of_bytes && value > 0xFF)
      return "has a codebook whose value " + std::to_string(value) + " is no byte";
  }
  return "";
}

// The ranges fill the section to its padding. No file asks for more memory than 32 times its own size, since
// an index stands for 32 bits and has at least one.
std::string CheckRanges(const Manifest& manifest, uint64_t section_bytes) {
  if (manifest.constant_ranges.empty()) return "";
  uint64_t stored = 0, expanded = 0;
  for (size_t i = 0; i < manifest.constant_ranges.size(); ++i) {
    const ConstantRange& range = manifest.constant_ranges[i];
    if (const std::string fault = CheckRange(range); !fault.empty())
      return "range " + std::to_string(i) + " of the constants " + fault;
    stored += StoredBytes(range);
    expanded += range.bytes;
    if (expanded > kMaxBytes) return "it asks for too much memory";
  }
  const uint64_t padded = (stored + kConstantPadding - 1) / kConstantPadding * kConstantPadding;
  if (padded == section_bytes) return "";
  return "its constants take " + std::to_string(padded) + " bytes by their ranges and have " +
         std::to_string(section_bytes);
}

}  // namespace

std::string ValidateManifest(const Manifest& manifest, uint64_t code_bytes, uint64_t section_bytes) {
  if (manifest.arena_bytes > kMaxBytes || manifest.scratch_bytes > kMaxBytes)
    return "it asks for too much memory";
  if (std::string fault = CheckRanges(manifest, section_bytes); !fault.empty()) return fault;
  const uint64_t constants_bytes = ExpandedBytes(manifest, section_bytes);
  // A slot belongs to some tensor's dimension, so that their number is bounded by the file's size.
  uint64_t dimensions = 0;
  for (const TensorInfo& tensor : manifest.tensors) dimensions += tensor.shape.size();
  if (manifest.num_dims > dimensions) return "it has more dim slots than dimensions";
  for (const TensorInfo& tensor : manifest.tensors) {
    if (std::string fault = CheckTensor(tensor, manifest, constants_bytes); !fault.empty()) return fault;
  }
  if (std::string fault = CheckPorts(manifest); !fault.empty()) return fault;
  for (const KernelInfo& kernel : manifest.kernels) {
    if (kernel.code_offset >= code_bytes || kernel.code_offset % kKernelAlignment != 0) {
      return "kernel " + Quote(kernel.name) + " does not start inside the code";
    }
  }
  return CheckProgram(manifest);
}

}  // namespace attune
