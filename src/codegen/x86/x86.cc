#include "codegen/x86/x86.h"

#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <new>
#include <string>

#include "base/status.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetOptions.h"

namespace attune {
namespace {

constexpr char kTriple[] = "x86_64-unknown-linux-gnu";

// LLVM's own handlers abort. The second sees faults that are none of memory: our bugs, or LLVM's.
void InstallErrorHandlers() {
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) {
    if (const std::new_handler handler = std::get_new_handler()) handler();
    throw std::bad_alloc();
  });
  llvm::install_fatal_error_handler([](void*, const char* reason, bool) {
    std::fprintf(stderr, "attune: internal error in LLVM: %s; please report it\n", reason);
    _exit(1);
  });
}

void InitializeOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    InstallErrorHandlers();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeX86Machine(const Target& target) {
  InitializeOnce();
  std::string error;
  const llvm::Target* x86 = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (x86 == nullptr) return InternalError("LLVM has no x86-64 back end: ", error);
  llvm::TargetOptions options;
  options.EmitAddrsig = false;
  std::unique_ptr<llvm::TargetMachine> machine(
      x86->createTargetMachine(kTriple, target.llvm_cpu, target.llvm_features, options, llvm::Reloc::PIC_,
                               llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
  if (machine == nullptr) return InternalError("LLVM does not know processor ", target.llvm_cpu);
  return machine;
}

void SetX86Attributes(const Target& target, llvm::Module* module) {
  const std::string width = std::to_string(target.vector_bits);
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("no-builtins");
    function.addFnAttr("frame-pointer", "none");
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr("target-cpu", target.llvm_cpu);
    function.addFnAttr("tune-cpu", target.llvm_tune);
    if (!target.llvm_features.empty()) function.addFnAttr("target-features", target.llvm_features);
    // Both are needed for 512-bit registers: some processors prefer 256 bits by default, and types wider
    // than the least legal width are split.
    function.addFnAttr("prefer-vector-width", width);
    // A caller aligns its stack to 16 bytes; what is spilled would cross cache lines, or not, by chance.
    const llvm::Align vector(static_cast<uint64_t>(target.vector_bits / 8));
    function.addFnAttr(llvm::Attribute::getWithStackAlignment(function.getContext(), vector));
    function.addFnAttr("min-legal-vector-width", width);
  }
}

// Assembly without instructions.
llvm::Value* OpaqueCopy(llvm::IRBuilder<>& ir, llvm::Value* value, RegisterClass registers,
                        const std::string& comment) {
  const char* constraint = registers == RegisterClass::kVector ? "=v,0"
                           : registers == RegisterClass::kMask ? "=k,0"
                                                               : "=r,0";
  auto* type = llvm::FunctionType::get(value->getType(), {value->getType()}, false);
  llvm::CallInst* copy = ir.CreateCall(
      llvm::InlineAsm::get(type, "# " + comment, constraint, /*hasSideEffects=*/false), {value});
  copy->setDoesNotAccessMemory();
  copy->setDoesNotThrow();
  copy->addFnAttr(llvm::Attribute::WillReturn);
  return copy;
}

}  // namespace attune
