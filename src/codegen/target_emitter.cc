#include "codegen/target_emitter.h"

#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <new>

#include "base/status.h"
#include "codegen/x86/x86.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Target/TargetOptions.h"

namespace attune {
namespace {

// LLVM's own handlers abort. The second handler sees faults other than a lack of memory: bugs of ours, or
// LLVM's.
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

}  // namespace

absl::StatusOr<std::unique_ptr<const TargetEmitter>> MakeTargetEmitter(const Target& target) {
  static std::once_flag once;
  std::call_once(once, InstallErrorHandlers);
  if (target.arch == "x86_64") return MakeX86Emitter(target);
  return NotSupported("no code generation for ", target.arch);
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const Target& target,
                                                                 const TargetEmitter& emitter) {
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(emitter.Triple(), error);
  if (found == nullptr) return InternalError("LLVM has no back end for ", target.arch, ": ", error);
  llvm::TargetOptions options;
  options.EmitAddrsig = false;
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      emitter.Triple(), target.llvm_cpu, target.llvm_features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
  if (machine == nullptr) return InternalError("LLVM does not know processor ", target.llvm_cpu);
  return machine;
}

}  // namespace attune
