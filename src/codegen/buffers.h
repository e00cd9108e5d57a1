// Where the buffers of a kernel lie: parameters, the scratch area, and slots that become registers.
#ifndef ATTUNE_CODEGEN_BUFFERS_H_
#define ATTUNE_CODEGEN_BUFFERS_H_

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/scopes.h"
#include "codegen/values.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "tensor/affine.h"
#include "tensor/stmt.h"

namespace attune {

// The arguments of the functions are those of kernel ABI v1: see codegen.h.
class KernelBuffers {
 public:
  // All must outlive this; `may_alias` are pairs of parameters, by index, that may be the same memory.
  KernelBuffers(const LoopNest& nest, const std::vector<std::pair<int, int>>& may_alias, ValueBuilder& values,
                Scopes& scopes);

  // Forgets the previous function. The scratch area is empty.
  void BeginFunction();

  // The start of a parameter, the dims buffer or an allocated buffer; an error for any other.
  llvm::Value* BasePointer(const Buffer& buffer);

  // Gives the buffer a slot in the function's frame, which the optimizer turns into registers. Each
  // allocation of a buffer gets the same slot.
  void AllocateInRegisters(const Buffer& buffer);
  bool IsInRegisters(const Buffer& buffer) const { return slots_.contains(buffer.get()); }
  // Makes the slot of a buffer so large that it holds these elements, too. A vector of which a mask takes a
  // part is loaded and stored whole, and may begin before the buffer or end behind it; behind the end of a
  // slot, LLVM would drop the store. No effect for buffers without a slot.
  void Reach(const Buffer& buffer, const Interval& elements);
  // Gives the buffer the next bytes of the calling thread's scratch area. The last one allocated is freed
  // first.
  void AllocateInScratch(const Buffer& buffer);
  void FreeScratch(const Buffer& buffer);
  // The most that any function has needed so far, without open buffers.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // Gives an open buffer its own bytes behind all that are not open. `emit` makes the value of an expression
  // of the kernel's sizes where the function begins.
  void AllocateInOpenScratch(const Buffer& buffer, const std::function<llvm::Value*(const Expr&)>& emit);
  // Returns the bytes that the current function needs for open buffers in addition, as an expression of the
  // kernel's sizes; a multiple of 64.
  const Expr& open_scratch_bytes() const { return open_scratch_bytes_; }
  // Puts open buffers behind the others; to be called after the last function.
  void PlaceOpenScratch();
  // The bytes that an allocated buffer takes, rounded up to whole cache lines.
  static int64_t AllocatedBytes(const Buffer& buffer);

  // Tells the optimizer which other memory this access to the buffer does not overlap with.
  template <typename Instruction>
  Instruction* Tag(const Buffer& buffer, Instruction* access) const {
    TagAccess(buffer, access);
    return access;
  }

 private:
  // The alias scope that an access belongs to, and those that it does not overlap with.
  struct AliasScopes {
    llvm::MDNode* own;
    llvm::MDNode* others;
  };

  // Memory for the elements from the first to the last one, in the function's frame, and the instruction that
  // finds element 0 there.
  struct Slot {
    llvm::AllocaInst* memory;
    llvm::GetElementPtrInst* start;
    Interval elements;
  };

  void MakeAliasScopes(const std::vector<std::pair<int, int>>& may_alias);
  void TagAccess(const Buffer& buffer, llvm::Instruction* access) const;

  const LoopNest& nest_;
  ValueBuilder& values_;
  llvm::IRBuilder<>& ir_;
  Scopes& scopes_;
  std::unordered_map<const BufferNode*, llvm::Value*> bases_;
  std::unordered_map<const BufferNode*, Slot> slots_;
  std::unordered_map<const BufferNode*, AliasScopes> alias_scopes_;
  AliasScopes scratch_alias_{};
  int64_t scratch_top_ = 0, scratch_bytes_ = 0;
  Expr open_scratch_bytes_ = 0;
  std::vector<llvm::GetElementPtrInst*> open_bases_;  // of all functions
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_BUFFERS_H_
