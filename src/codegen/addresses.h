// Emits the addresses of loads and stores.
//
// Addresses are affine in the loop variables: each access splits its flat index into terms and a constant,
// and the pointer for the terms is made once, at the outermost scope where all of its variables are known, so
// that the many accesses of an unrolled tile differ by constant displacements alone.
#ifndef ATTUNE_CODEGEN_ADDRESSES_H_
#define ATTUNE_CODEGEN_ADDRESSES_H_

#include <vector>

#include "codegen/access.h"
#include "codegen/buffers.h"
#include "codegen/scopes.h"
#include "codegen/values.h"
#include "tensor/affine.h"
#include "tensor/stmt.h"

namespace attune {

// Emits the values of indices, which may be loads themselves.
class IndexEmitter {
 public:
  virtual ~IndexEmitter() = default;
  virtual llvm::Value* EmitAffine(const Affine& a) = 0;
  // The same for terms without loads, with the builder outside of the statement that is being emitted: uses
  // no values that are known only within it.
  virtual llvm::Value* EmitElsewhere(const Affine& a) = 0;
};

class Addresses {
 public:
  // All must outlive this.
  Addresses(ValueBuilder& values, Scopes& scopes, KernelBuffers& buffers, IndexEmitter& indices)
      : values_(values), ir_(values.ir()), scopes_(scopes), buffers_(buffers), indices_(indices) {}

  // The element with these indices, for each lane where they differ between lanes.
  Access Locate(const Buffer& buffer, const std::vector<Expr>& indices);

  // Until EndIteration(), hides pointers into these buffers from the compiler: see sharing.h. The innermost
  // scope is one iteration of an unrolled loop. `shared` must live until then.
  void BeginIteration(const std::vector<const BufferNode*>& shared) {
    separations_.push_back({scopes_.depth(), &shared});
  }
  void EndIteration() { separations_.pop_back(); }

 private:
  struct Separation {
    size_t depth;  // of the iteration's scope
    const std::vector<const BufferNode*>* buffers;
  };

  llvm::Value* PointerFor(const Buffer& buffer, const Affine& a);
  llvm::Value* LastElement(const Buffer& buffer);
  llvm::Value* ClampedPointer(const Buffer& buffer, const Affine& flat);
  void FindPlaces(const Buffer& buffer, const Affine& uniform, Access& access) const;
  llvm::Value* Separate(const BufferNode* buffer, llvm::Value* pointer, size_t depth);

  ValueBuilder& values_;
  llvm::IRBuilder<>& ir_;
  Scopes& scopes_;
  KernelBuffers& buffers_;
  IndexEmitter& indices_;
  std::vector<Separation> separations_;
  int opaque_copies_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_ADDRESSES_H_
