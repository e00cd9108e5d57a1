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

  // A scalar, or a vector where the access differs between lanes; those that take no part read nothing that
  // is out of bounds.
  llvm::Value* LoadFrom(const Buffer& buffer, const Access& access);
  // The element and the terms behind it, as numbers of 32 bits, one a lane.
  llvm::Value* LoadTerms(const Buffer& buffer, const Access& access, int64_t lanes);
  // By the lanes that take part. Where the access does not differ between lanes the value is a scalar.
  void StoreTo(const Buffer& buffer, const Access& access, llvm::Value* value);
  // Elements as they lie in memory, one after the other.
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
  std::map<std::pair<const llvm::Value*, int64_t>, int> updates_;  // of elements in registers, under masks
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_MEMORY_H_
