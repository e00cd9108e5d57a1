// Emits the statements of a loop nest as LLVM IR.
//
// Each part of the work has a class of its own: where code is emitted and what is known there (Scopes),
// where buffers lie (KernelBuffers), addresses, loads and stores (Addresses, MemoryEmitter), the values of
// expressions (ExpressionEmitter), stores (StoreEmitter), and loops that become one instruction
// (DotEmitter, TileEmitter). A condition that differs between the lanes of a vectorized loop becomes a
// mask.
#ifndef ATTUNE_CODEGEN_NEST_EMITTER_H_
#define ATTUNE_CODEGEN_NEST_EMITTER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "codegen/buffers.h"
#include "codegen/codegen.h"
#include "codegen/dot.h"
#include "codegen/expressions.h"
#include "codegen/memory.h"
#include "codegen/scopes.h"
#include "codegen/sharing.h"
#include "codegen/stores.h"
#include "codegen/target_emitter.h"
#include "codegen/tile_emitter.h"
#include "codegen/tile_plan.h"
#include "codegen/values.h"
#include "llvm/IR/Module.h"
#include "tensor/stmt.h"

namespace attune {

class NestEmitter {
 public:
  // The module, nest, target, its emitter and the options must outlive this one.
  NestEmitter(llvm::Module* module, const LoopNest& nest, const Target& target,
              const TargetEmitter& target_emitter, const CodegenOptions& options);

  // Adds the function `symbol` that runs one root statement. After an error the module is unusable.
  absl::Status EmitPhase(const Stmt& root, const std::string& symbol);

  // The largest scratch area of any phase so far, and the open part of the last one: see KernelBuffers.
  int64_t scratch_bytes() const { return buffers_.scratch_bytes(); }
  const Expr& open_scratch_bytes() const { return buffers_.open_scratch_bytes(); }
  // To be called after the last phase.
  void Finish() { buffers_.PlaceOpenScratch(); }

 private:
  void BindSizes();
  void EmitStmt(const Stmt& s);
  void EmitFor(const Stmt& s);
  void EmitSerial(const Stmt& s);
  void EmitUnrolled(const Stmt& s);
  void EmitVectorized(const Stmt& s);
  void EmitParallel(const Stmt& s);
  void EmitLoop(const Stmt& s, llvm::Value* begin, llvm::Value* end, bool runs);
  void EmitIf(const Stmt& s);
  void EmitMaskedIf(const Stmt& s, llvm::Value* condition);
  void EmitBranch(llvm::Value* condition, const Stmt& then_body, const Stmt& else_body);
  void EmitBinding(const Var& var, const Expr& e, const Stmt& body);
  void EmitAllocate(const Stmt& s);
  void EmitTiled(const Stmt& allocate, const TilePlan& plan);
  void EmitMatrix(const Stmt& s);
  void EmitWhile(const Stmt& s);
  void EmitPrefetch(const Stmt& s);

  // Enter and leave a scope, and forget which operands the tile registers hold.
  void Enter(llvm::BasicBlock* entry);
  void Leave();
  void Fail(absl::Status status) { values_.Fail(ir_.getInt1Ty(), std::move(status)); }

  llvm::Module* module_;
  const LoopNest& nest_;
  ValueBuilder values_;
  llvm::IRBuilder<>& ir_;
  Scopes scopes_;
  KernelBuffers buffers_;
  MemoryEmitter memory_;
  ExpressionEmitter expressions_;
  StoreEmitter stores_;
  DotEmitter dots_;
  SharedElements shared_;
  TilePlanner planner_;
  TileEmitter tiles_;
  int64_t emitted_ = 0;  // statements so far, to stop endless unrolling
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_NEST_EMITTER_H_
