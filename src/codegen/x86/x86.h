// What code generation must know of x86-64.
#ifndef ATTUNE_CODEGEN_X86_X86_H_
#define ATTUNE_CODEGEN_X86_X86_H_

#include <memory>

#include "absl/status/statusor.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "target/target.h"

namespace attune {

// A machine that emits position-independent ELF objects for `target`. Thread safe.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeX86Machine(const Target& target);

// Marks every function of the module as code for `target` that never unwinds and calls no library.
void SetX86Attributes(const Target& target, llvm::Module* module);

// A pointer equal to `pointer` that the optimizer cannot know to be. Copies of one pointer must differ in
// `number`, or they would be found equal to each other.
llvm::Value* OpaqueCopy(llvm::IRBuilder<>& ir, llvm::Value* pointer, int number);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_X86_X86_H_
