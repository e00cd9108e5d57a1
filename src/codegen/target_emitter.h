// The interface between code generation and one architecture: x86/ implements it, and CompileKernel finds
// it by Target::arch.
//
// The rest of this folder emits LLVM IR that means the same on every processor, and asks here for what LLVM
// does not find by itself: instructions that do several operations at once, and values that the optimizer
// must not look into.
#ifndef ATTUNE_CODEGEN_TARGET_EMITTER_H_
#define ATTUNE_CODEGEN_TARGET_EMITTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "codegen/tile_unit.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "target/products.h"
#include "target/target.h"

namespace attune {

enum class RegisterClass { kGeneral, kVector, kMask };

// Emits at the builder's insertion point, for one target. Vectors have elements of f32 unless a comment
// says i32. A function that returns null, for lack of an instruction, has emitted nothing. Thread safe.
class TargetEmitter {
 public:
  virtual ~TargetEmitter() = default;

  // LLVM's triple of the architecture, as ELF.
  virtual const char* Triple() const = 0;
  // Marks a function with what LLVM needs to know of this architecture alone.
  virtual void AddAttributes(llvm::Function& function) const = 0;

  // A copy of `value` in a register of this class, which the optimizer cannot know to be equal; it takes no
  // instruction. Copies of one value with the same one-line comment are equal to each other. For kMask,
  // `value` is a vector of truth values, and the copy is `value` itself where no mask register has as many
  // lanes.
  virtual llvm::Value* OpaqueCopy(llvm::IRBuilder<>& ir, llvm::Value* value, RegisterClass registers,
                                  const std::string& comment) const = 0;

  // AddProducts and ToI32 take vectors of one length. A value of `lanes` lanes of 32 bits is divided into
  // such vectors: returns how many lanes each has, 0 where it cannot be divided.
  virtual int64_t VectorLanes(int64_t lanes) const = 0;

  // `sum` plus, for each lane, the products of the terms in that lane's 32 bits of `left` and `right`. All
  // three are of i32, or `sum` of f32. The target requires the instruction, and does not model it.
  virtual llvm::Value* AddProducts(llvm::IRBuilder<>& ir, const ProductInstruction& instruction,
                                   llvm::Value* sum, llvm::Value* left, llvm::Value* right) const = 0;
  // The matrix unit, where the target requires an instruction of kMatrixInstructions. The builder must
  // outlive it.
  virtual std::unique_ptr<TileUnit> MakeTileUnit(llvm::IRBuilder<>& ir) const = 0;

  // Converts to the bits of bf16, rounded half to even, with subnormal numbers kept or flushed; null where
  // there is no instruction for that many lanes.
  virtual llvm::Value* ToBF16(llvm::IRBuilder<>& ir, llvm::Value* f32) const = 0;
  // Converts numbers that fit to i32, rounded half to even or truncated. NaN becomes a number whose low 16
  // bits are 0.
  virtual llvm::Value* ToI32(llvm::IRBuilder<>& ir, llvm::Value* f32, bool rounds) const = 0;

  // Clamps to [-high, high], where high > 0; the result for NaN is unspecified. Null where there is no
  // instruction for that many lanes.
  virtual llvm::Value* ClampMagnitude(llvm::IRBuilder<>& ir, llvm::Value* f32, double high) const = 0;

  // The next three give null where the instructions for that many lanes are missing or slow. Looks up the
  // entry whose number is in the lowest bits of each i32 lane.
  static constexpr size_t kTableSize = 32;
  virtual llvm::Value* LookUp(llvm::IRBuilder<>& ir, llvm::Value* bits,
                              std::span<const float, kTableSize> table) const = 0;
  // x 2^floor(n).
  virtual llvm::Value* Scale(llvm::IRBuilder<>& ir, llvm::Value* x, llvm::Value* n) const = 0;
  // 1 / x to 2^-14 of its value, for x whose reciprocal is a normal number.
  virtual llvm::Value* EstimateReciprocal(llvm::IRBuilder<>& ir, llvm::Value* x) const = 0;
};

// The emitter of the target's architecture; NotSupported where there is none. The target must outlive it.
absl::StatusOr<std::unique_ptr<const TargetEmitter>> MakeTargetEmitter(const Target& target);

// A machine that emits position-independent ELF objects for `target`, whose emitter is given. Thread safe.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const Target& target,
                                                                 const TargetEmitter& emitter);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_TARGET_EMITTER_H_
