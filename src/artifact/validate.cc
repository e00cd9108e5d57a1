#include "artifact/validate.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "artifact/expand.h"
#include "artifact/validate_open.h"
#include "artifact/validate_program.h"
#include "base/joined.h"

namespace attune {
namespace {

std::string CheckKernel(const KernelInfo& kernel, const Variant& variant, uint64_t code_bytes) {
  const auto fault = [&](const char* what) { return Joined({"kernel ", Quote(kernel.name), " ", what}); };
  const KernelInterface& interface = kernel.interface;
  if (interface.code_offset >= code_bytes || interface.code_offset % kKernelAlignment != 0)
    return fault("does not start inside the code");
  if (interface.scratch_bytes > variant.scratch_bytes) return fault("needs more scratch than there is");
  if (const std::string open = CheckOpenInterface(interface); !open.empty()) return fault(open.c_str());
  for (const OperandInfo& operand : interface.operands) {
    if (ElementSize(operand.dtype) == 0) return fault("has an operand of an unknown dtype");
    if (operand.in_place_of.size() > interface.operands.size())
      return fault("computes in place of more than it has");
    for (const uint32_t other : operand.in_place_of) {
      if (!operand.is_written || other >= interface.operands.size() || interface.operands[other].is_written)
        return fault("computes in place of a value that is not an input");
    }
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
    return Joined({"has a codebook of ", values, " values"});
  for (const uint32_t value : range.codebook) {
    if (is_of_bytes && value > 0xFF) return Joined({"has a codebook whose value ", value, " is not a byte"});
  }
  return "";
}

// The ranges must fill the section up to its padding. Expanded constants take at most 32 times the size of
// the file, since an index has at least one bit and stands for a word of 32 bits.
std::string CheckRanges(const Manifest& manifest, uint64_t section_bytes) {
  if (manifest.constant_ranges.empty()) return "";
  uint64_t stored = 0, expanded = 0;
  for (size_t i = 0; i < manifest.constant_ranges.size(); ++i) {
    const ConstantRange& range = manifest.constant_ranges[i];
    if (const std::string fault = CheckRange(range); !fault.empty())
      return Joined({"range ", i, " of the constants ", fault});
    stored += StoredBytes(range);
    expanded += range.bytes;
    if (expanded > kMaxBytes) return "it asks for too much memory";
  }
  const uint64_t padded = (stored + kConstantPadding - 1) / kConstantPadding * kConstantPadding;
  if (padded == section_bytes) return "";
  return Joined({"its constants take ", padded, " bytes by their ranges and have ", section_bytes});
}

// Whether the `bytes` bytes from `offset` are aligned and inside `place_bytes`.
bool IsInside(uint64_t offset, uint64_t bytes, uint64_t place_bytes) {
  return offset % kTensorAlignment == 0 && offset <= place_bytes && bytes <= place_bytes - offset;
}

std::string CheckPrepacking(const Prepacking& prepacking, const Variant& variant, uint64_t constants_bytes) {
  if (prepacking.kernel >= variant.kernels.size()) return "calls a kernel that does not exist";
  const KernelInfo& kernel = variant.kernels[prepacking.kernel];
  const std::vector<OperandInfo>& operands = kernel.interface.operands;
  const std::string callee = Joined({"calls ", Quote(kernel.name)});
  if (operands.size() != 2 || operands[0].is_written || !operands[1].is_written ||
      kernel.interface.num_dims != 0 || kernel.interface.num_sizes != 0)
    return Joined({callee, ", which does not make one tensor of another"});
  if (!IsInside(prepacking.constant_offset, operands[0].bytes, constants_bytes))
    return Joined({callee, " to read outside the constants"});
  if (!IsInside(prepacking.prepacked_offset, operands[1].bytes, variant.prepacked_bytes))
    return Joined({callee, " to write outside the prepacked weights"});
  return "";
}

// The shapes of the program's inputs, in order.
std::vector<std::vector<int64_t>> InputShapes(const Program& program) {
  std::vector<std::vector<int64_t>> shapes;
  for (const Port& input : program.inputs) shapes.push_back(program.tensors[input.tensor].shape);
  return shapes;
}

std::string CheckVariant(const Variant& variant, uint64_t constants_bytes, uint64_t code_bytes) {
  if (variant.scratch_bytes > kMaxBytes || variant.prepacked_bytes > kMaxBytes)
    return "it asks for too much memory";
  for (const KernelInfo& kernel : variant.kernels) {
    if (std::string fault = CheckKernel(kernel, variant, code_bytes); !fault.empty()) return fault;
  }
  for (size_t i = 0; i < variant.prepackings.size(); ++i) {
    const std::string fault = CheckPrepacking(variant.prepackings[i], variant, constants_bytes);
    if (!fault.empty()) return Joined({"prepacking ", i, " ", fault});
  }
  if (variant.programs.empty()) return "it has a variant without a program";
  std::vector<std::vector<std::vector<int64_t>>> shapes;
  for (const Program& program : variant.programs) {
    if (program.arena_bytes > kMaxBytes) return "it asks for too much memory";
    const PlaceSizes sizes = {program.arena_bytes, constants_bytes, variant.prepacked_bytes};
    if (std::string fault = ValidateProgram(program, variant.kernels, sizes); !fault.empty()) return fault;
    if (program.sizes.empty()) shapes.push_back(InputShapes(program));
  }
  std::ranges::sort(shapes);
  if (std::ranges::adjacent_find(shapes) != shapes.end())
    return "it has two programs for inputs of the same shapes";
  return "";
}

// Whether both lists have the same ports, apart from their shapes.
bool SamePorts(const std::vector<Port>& a, const Program& of_a, const std::vector<Port>& b,
               const Program& of_b) {
  return std::ranges::equal(a, b, [&](const Port& left, const Port& right) {
    return left.name == right.name && of_a.tensors[left.tensor].dtype == of_b.tensors[right.tensor].dtype;
  });
}

}  // namespace

std::string ValidateManifest(const Manifest& manifest, uint64_t code_bytes, uint64_t section_bytes) {
  if (std::string fault = CheckRanges(manifest, section_bytes); !fault.empty()) return fault;
  const uint64_t constants_bytes = ExpandedBytes(manifest, section_bytes);
  if (manifest.variants.empty()) return "it has code for no processor";
  for (const Variant& variant : manifest.variants) {
    if (std::string fault = CheckVariant(variant, constants_bytes, code_bytes); !fault.empty()) return fault;
  }
  const Program& first = manifest.variants.front().programs.front();
  for (const Variant& variant : manifest.variants) {
    for (const Program& program : variant.programs) {
      if (!SamePorts(first.inputs, first, program.inputs, program) ||
          !SamePorts(first.outputs, first, program.outputs, program))
        return "its programs have different inputs or outputs";
    }
  }
  return "";
}

}  // namespace attune
