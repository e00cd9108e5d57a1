// What code generation must know of x86-64.
#ifndef ATTUNE_CODEGEN_X86_X86_H_
#define ATTUNE_CODEGEN_X86_X86_H_

#include <memory>
#include <string>

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

enum class RegisterClass { kGeneral, kVector, kMask };

// A value equal to `value`, which lies in such a register, that the optimizer cannot know to be; it takes no
// instruction. Copies of one value with the same comment, of one line, are equal to each other.
llvm::Value* OpaqueCopy(llvm::IRBuilder<>& ir, llvm::Value* value, RegisterClass registers,
                        const std::string& comment);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_X86_X86_H_
