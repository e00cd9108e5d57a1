#include "codegen/memory.h"

#include <algorithm>

#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace attune {
namespace {

using llvm::Value;

llvm::Align ElementAlign(DType dtype) { return llvm::Align(static_cast<uint64_t>(DTypeSize(dtype))); }

bool IsMultiplyAdd(const Value* value) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::fma;
}

}  // namespace

Value* MemoryEmitter::LoadFrom(const Buffer& buffer, const Access& access) {
  const DType dtype = buffer->dtype;
  llvm::Type* scalar = values_.MemoryType(dtype);
  Value* value;
  if (access.varies()) {
    value = LoadLanes(buffer, access);
  } else {
    value = buffers_.Tag(buffer, ir_.CreateAlignedLoad(scalar, access.pointer, ElementAlign(dtype)));
  }
  return values_.FromMemory(dtype, value);
}

// Loads every `stride`-th element: `stride` whole vectors, the last of which ends with the last element
// wanted, and shuffles of them.
Value* MemoryEmitter::LoadStrided(const Buffer& buffer, const Access& access) {
  const int64_t lanes = scopes_.lanes()->lanes, span = (lanes - 1) * access.stride + 1;
  llvm::Type* scalar = values_.MemoryType(buffer->dtype);
  llvm::Type* type = ValueBuilder::WithLanes(scalar, lanes);
  Value* vector = llvm::PoisonValue::get(type);
  for (int64_t first = 0; first < span; first += lanes) {
    const int64_t begin = std::min(first, span - lanes);
    Value* pointer = ir_.CreateConstGEP1_64(scalar, access.pointer, static_cast<uint64_t>(begin));
    Value* loaded = buffers_.Tag(buffer, ir_.CreateAlignedLoad(type, pointer, ElementAlign(buffer->dtype)));
    std::vector<int> places;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t element = lane * access.stride;
      const bool is_here = element >= first && element < first + lanes;
      places.push_back(static_cast<int>(is_here ? lanes + element - begin : lane));
    }
    vector = ir_.CreateShuffleVector(vector, loaded, places);
  }
  return vector;
}

// A large constant stride that needs no mask takes scalar loads, because a gather is no faster.
Value* MemoryEmitter::LoadLanes(const Buffer& buffer, const Access& access) {
  const DType dtype = buffer->dtype;
  llvm::Type* scalar = values_.MemoryType(dtype);
  llvm::Type* type = ValueBuilder::WithLanes(scalar, scopes_.lanes()->lanes);
  const llvm::Align align = ElementAlign(dtype);
  const bool masked =
      scopes_.lanes()->mask != nullptr && !access.in_bounds && !buffers_.IsInRegisters(buffer);
  Value* zero = llvm::Constant::getNullValue(type);
  if (access.stride == 1) {
    if (!masked) return buffers_.Tag(buffer, ir_.CreateAlignedLoad(type, access.pointer, align));
    return buffers_.Tag(buffer,
                        ir_.CreateMaskedLoad(type, access.pointer, align, scopes_.lanes()->mask, zero));
  }
  if (!access.places.empty() && !masked) {
    Value* pointer = ir_.CreateConstGEP1_64(scalar, access.pointer, static_cast<uint64_t>(-access.before));
    return ir_.CreateShuffleVector(buffers_.Tag(buffer, ir_.CreateAlignedLoad(type, pointer, align)),
                                   access.places);
  }
  if (masked || access.offsets != nullptr) {
    Value* mask = masked ? scopes_.lanes()->mask : nullptr;
    return buffers_.Tag(buffer, ir_.CreateMaskedGather(type, LanePointers(access, dtype), align, mask, zero));
  }
  constexpr int64_t kMostShuffledStride = 4;
  if (access.stride > 1 && access.stride <= std::min(kMostShuffledStride, scopes_.lanes()->lanes))
    return LoadStrided(buffer, access);
  Value* vector = llvm::PoisonValue::get(type);
  for (int64_t lane = 0; lane < scopes_.lanes()->lanes; ++lane) {
    Value* pointer =
        ir_.CreateConstGEP1_64(scalar, access.pointer, static_cast<uint64_t>(lane * access.stride));
    vector =
        ir_.CreateInsertElement(vector, buffers_.Tag(buffer, ir_.CreateAlignedLoad(scalar, pointer, align)),
                                static_cast<uint64_t>(lane));
  }
  return vector;
}

Value* MemoryEmitter::LoadTerms(const Buffer& buffer, const Access& access, int64_t lanes) {
  llvm::Type* terms = ir_.getInt32Ty();
  llvm::Type* type = access.varies() ? ValueBuilder::WithLanes(terms, lanes) : terms;
  Value* bits =
      buffers_.Tag(buffer, ir_.CreateAlignedLoad(type, access.pointer, ElementAlign(buffer->dtype)));
  return values_.Broadcast(bits, lanes);
}

// One pointer a lane.
Value* MemoryEmitter::LanePointers(const Access& access, DType dtype) {
  if (access.offsets != nullptr) return OffsetBy(values_, access.pointer, access.offsets, dtype);
  std::vector<llvm::Constant*> steps;
  for (int64_t lane = 0; lane < scopes_.lanes()->lanes; ++lane) {
    steps.push_back(ir_.getInt64(static_cast<uint64_t>(lane * access.stride)));
  }
  return OffsetBy(values_, access.pointer, llvm::ConstantVector::get(steps), dtype);
}

void MemoryEmitter::StoreTo(const Buffer& buffer, const Access& access, Value* value) {
  value = values_.ToMemory(buffer->dtype, value);
  if (access.varies()) return StoreLanes(buffer, access, values_.Broadcast(value, scopes_.lanes()->lanes));
  buffers_.Tag(buffer, ir_.CreateAlignedStore(value, access.pointer, ElementAlign(buffer->dtype)));
}

void MemoryEmitter::StoreDense(const Buffer& buffer, Value* pointer, Value* elements) {
  buffers_.Tag(buffer, ir_.CreateAlignedStore(elements, pointer, ElementAlign(buffer->dtype)));
}

// The mask of a multiply-add whose result goes to `accumulator`, as an opaque copy where there are mask
// registers. With a constant mask, LLVM would select in an instruction of its own instead of in the
// multiply-add. With one mask for several sums, LLVM would select once, after the last sum, from a copy of
// the accumulator. Accumulators that are updated equally often share a copy.
Value* MemoryEmitter::MaskOfUpdate(Value* mask, const Value* accumulator) {
  llvm::APInt offset(64, 0);
  const Value* base = accumulator->stripAndAccumulateConstantOffsets(
      scopes_.function()->getParent()->getDataLayout(), offset, true);
  const int update = updates_[{base, offset.getSExtValue()}]++;
  return values_.target().OpaqueCopy(ir_, mask, RegisterClass::kMask, absl::StrCat("update ", update));
}

void MemoryEmitter::StoreLanes(const Buffer& buffer, const Access& access, Value* value) {
  const DType dtype = buffer->dtype;
  const llvm::Align align = ElementAlign(dtype);
  Value* mask = scopes_.lanes()->mask;
  if (access.stride == 1 && mask != nullptr && buffers_.IsInRegisters(buffer)) {
    Value* old = ir_.CreateAlignedLoad(value->getType(), access.pointer, align);
    value = ir_.CreateSelect(IsMultiplyAdd(value) ? MaskOfUpdate(mask, access.pointer) : mask, value, old);
    mask = nullptr;
  }
  if (access.stride == 1) {
    if (mask == nullptr) {
      buffers_.Tag(buffer, ir_.CreateAlignedStore(value, access.pointer, align));
    } else {
      buffers_.Tag(buffer, ir_.CreateMaskedStore(value, access.pointer, align, mask));
    }
    return;
  }
  if (mask != nullptr || access.offsets != nullptr) {
    buffers_.Tag(buffer, ir_.CreateMaskedScatter(value, LanePointers(access, dtype), align, mask));
    return;
  }
  for (int64_t lane = 0; lane < scopes_.lanes()->lanes; ++lane) {
    Value* pointer = ir_.CreateConstGEP1_64(values_.MemoryType(dtype), access.pointer,
                                            static_cast<uint64_t>(lane * access.stride));
    Value* element = ir_.CreateExtractElement(value, static_cast<uint64_t>(lane));
    buffers_.Tag(buffer, ir_.CreateAlignedStore(element, pointer, align));
  }
}

}  // namespace attune
