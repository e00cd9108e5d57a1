// Emits loads and stores: the instructions that move the elements of an access.
#ifndef ATTUNE_CODEGEN_MEMORY_H_
#define ATTUNE_CODEGEN_MEMORY_H_

#include <cstdint>
#include <map>
#include <utility>

#include "codegen/access.h"
#include "codegen/buffers.h"
#include "codegen/scopes.h"
#include "codegen/values.h"
#include "tensor/stmt.h"

namespace attune {

class MemoryEmitter {
 public:
  // All must outlive this.
  MemoryEmitter(ValueBuilder& values, const Scopes& scopes, const KernelBuffers& buffers)
      : values_(values), ir_(values.ir()), scopes_(scopes), buffers_(buffers) {}

  // Loads a scalar, or a vector where the access differs between lanes. Lanes that are masked off read
  // nothing out of bounds.
  llvm::Value* LoadFrom(const Buffer& buffer, const Access& access);
  // Loads the element and the terms behind it as one 32-bit number for each lane.
  llvm::Value* LoadTerms(const Buffer& buffer, const Access& access, int64_t lanes);
  // Stores in the lanes that take part. `value` is a scalar where the access does not differ between lanes.
  void StoreTo(const Buffer& buffer, const Access& access, llvm::Value* value);
  // Stores a vector of elements that are neighbours in memory.
  void StoreDense(const Buffer& buffer, llvm::Value* pointer, llvm::Value* elements);

 private:
  llvm::Value* LoadStrided(const Buffer& buffer, const Access& access);
  llvm::Value* LoadLanes(const Buffer& buffer, const Access& access);
  llvm::Value* LanePointers(const Access& access, DType dtype);
  llvm::Value* MaskOfUpdate(llvm::Value* mask, const llvm::Value* accumulator);
  void StoreLanes(const Buffer& buffer, const Access& access, llvm::Value* value);

  ValueBuilder& values_;
  llvm::IRBuilder<>& ir_;
  const Scopes& scopes_;
  const KernelBuffers& buffers_;
  std::map<std::pair<const llvm::Value*, int64_t>, int> updates_;  // of each register element, under masks
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_MEMORY_H_
