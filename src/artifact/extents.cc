#include "artifact/extents.h"

#include <algorithm>
#include <tuple>

namespace attune {
namespace {

// An operand of a call and its tensor's memory.
struct Operand {
  ByteRange extent;
  uint32_t index = 0;
  const OperandInfo* info = nullptr;
};

// Whether `written` may have the same memory as the operand `other`, which overlaps it.
bool MayShare(const Operand& written, const Operand& other) {
  const std::vector<uint32_t>& inputs = written.info->in_place_of;
  return written.extent == other.extent && std::ranges::find(inputs, other.index) != inputs.end();
}

}  // namespace

// The loop visits the operands in the order of their addresses. Among the earlier ones, it keeps the written
// operand that ends last and the two operands that end last: since written operands never overlap, no other
// earlier operand can overlap the next one.
bool WritesApart(const Instruction& call, const std::vector<OperandInfo>& infos,
                 std::span<const ByteRange> extents) {
  std::vector<Operand> operands;
  for (uint32_t i = 0; i < infos.size(); ++i) {
    const ByteRange& extent = extents[call.tensors[i]];
    if (extent.begin != extent.end) operands.push_back({extent, i, &infos[i]});
  }
  std::ranges::sort(operands, {}, [](const Operand& o) {
    return std::tuple(o.extent.space, o.extent.begin, o.extent.end, o.info->is_written, o.index);
  });
  const Operand* written = nullptr;
  const Operand* last = nullptr;
  const Operand* second = nullptr;
  const auto ends_after = [](const Operand& a, const Operand* b) {
    return b == nullptr || a.extent.space != b->extent.space || a.extent.end > b->extent.end;
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

}  // namespace attune
