// The part of code generation that is specific to x86-64.
#ifndef ATTUNE_CODEGEN_X86_X86_H_
#define ATTUNE_CODEGEN_X86_X86_H_

#include <memory>

#include "codegen/target_emitter.h"

namespace attune {

// The target must outlive the emitter. Thread safe.
std::unique_ptr<const TargetEmitter> MakeX86Emitter(const Target& target);

// AMX. The builder must outlive it. amx.cc
std::unique_ptr<TileUnit> MakeAmx(llvm::IRBuilder<>& ir);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_X86_X86_H_
