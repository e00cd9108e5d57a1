// Where a load or store finds its elements, once an address has been emitted.
#ifndef ATTUNE_CODEGEN_ACCESS_H_
#define ATTUNE_CODEGEN_ACCESS_H_

#include <cstdint>
#include <vector>

#include "codegen/values.h"

namespace attune {

// Where the lanes of one load or store find their elements.
struct Access {
  llvm::Value* pointer;            // of lane 0, or what the offsets count from
  int64_t stride = 0;              // elements from one lane to the next; 0 where all lanes use one element
  llvm::Value* offsets = nullptr;  // instead of a stride: a vector of offsets in elements
  bool in_bounds = true;           // for every lane, masked or not
  // The index of each lane's element in one vector of the buffer, which begins `before` elements before
  // `pointer`. Empty unless the lanes are known to lie in one vector.
  std::vector<int> places = {};
  int64_t before = 0;
  bool varies() const { return stride != 0 || offsets != nullptr; }
};

// `pointer` moved by `elements` elements of type `dtype`; a vector of pointers where `elements` is a
// vector.
inline llvm::Value* OffsetBy(ValueBuilder& values, llvm::Value* pointer, llvm::Value* elements, DType dtype) {
  return values.ir().CreateGEP(values.MemoryType(dtype), pointer, elements);
}

}  // namespace attune

#endif  // ATTUNE_CODEGEN_ACCESS_H_
