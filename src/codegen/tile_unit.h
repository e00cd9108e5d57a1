// The instructions of a matrix unit, as code generation emits them: those of the processor (TargetEmitter),
// or calls of a software model that stands in for them, so that kernels for tiles run and are tested on any
// machine.
#ifndef ATTUNE_CODEGEN_TILE_UNIT_H_
#define ATTUNE_CODEGEN_TILE_UNIT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "target/products.h"

namespace attune {

// The used part of a tile register.
struct TileShape {
  int64_t rows, row_bytes;
  bool operator==(const TileShape&) const = default;
};

// Emits at the builder's insertion point. Tile registers are numbered from 0; what they hold is lost when
// they are configured.
class TileUnit {
 public:
  virtual ~TileUnit() = default;

  // Gives tile registers 0, 1, … their shapes. Returns the instruction that does so, or null where none is
  // needed.
  virtual llvm::Instruction* Configure(const std::vector<TileShape>& shapes) = 0;
  virtual void Zero(int tile) = 0;
  // Rows start `stride` bytes apart.
  virtual void Load(int tile, llvm::Value* pointer, int64_t stride) = 0;
  virtual void Store(int tile, llvm::Value* pointer, int64_t stride) = 0;
  // sums += left × right, with the instruction's elements.
  virtual void Multiply(const ProductInstruction& instruction, int sums, int left, int right) = 0;
  // Ends the use of the registers in this function, if they were configured.
  virtual void Release() = 0;
};

// The model, for `function`, whose entry block exists and which the builder must insert into. The builder
// must outlive it. tile_model.cc
std::unique_ptr<TileUnit> MakeTileModel(llvm::IRBuilder<>& ir, llvm::Function* function);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_TILE_UNIT_H_
