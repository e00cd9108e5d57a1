#include "codegen/codegen.h"

#include <memory>
#include <utility>

#include "base/status.h"
#include "codegen/nest_emitter.h"
#include "codegen/target_emitter.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace attune {
namespace {

// Marks every function of the module as code for `target` that never unwinds and calls no library.
void SetAttributes(const Target& target, const TargetEmitter& target_emitter, llvm::Module* module) {
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("no-builtins");
    function.addFnAttr("frame-pointer", "none");
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr("target-cpu", target.llvm_cpu);
    function.addFnAttr("tune-cpu", target.llvm_tune);
    if (!target.llvm_features.empty()) function.addFnAttr("target-features", target.llvm_features);
    // A caller aligns its stack to 16 bytes only: whether spilled vectors cross cache lines would be a
    // matter of chance.
    const llvm::Align vector(static_cast<uint64_t>(target.vector_bits / 8));
    function.addFnAttr(llvm::Attribute::getWithStackAlignment(function.getContext(), vector));
    target_emitter.AddAttributes(function);
  }
}

// A short list instead of LLVM's -O2: the emitter has unrolled, vectorized and hoisted already. These
// passes turn register buffers into registers, merge equal loads and masks, and hoist what a loop repeats
// (broadcasts, loads of a bias).
void Optimize(llvm::TargetMachine* machine, llvm::Module* module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine);
  llvm::TargetLibraryInfoImpl library{llvm::Triple(module->getTargetTriple())};
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  for (llvm::Function& function : *module) {
    if (!function.isDeclaration()) passes.run(function, functions);
  }
}

absl::StatusOr<std::string> Emit(llvm::TargetMachine* machine, llvm::Module* module,
                                 llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type)) {
    return InternalError("LLVM cannot emit files of this type");
  }
  passes.run(*module);
  return std::string(buffer.begin(), buffer.end());
}

}  // namespace

absl::StatusOr<CompiledKernel> CompileKernel(const LoopNest& nest, const Target& target,
                                             const CodegenOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<const TargetEmitter> target_emitter, MakeTargetEmitter(target));
  ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(target, *target_emitter));
  llvm::LLVMContext context;
  llvm::Module module(nest.name, context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple().str());

  CompiledKernel kernel;
  NestEmitter emitter(&module, nest, target, *target_emitter, options);
  for (const Stmt& root : nest.roots) {
    KernelPhase phase;
    phase.symbol = absl::StrCat(nest.name, ".", kernel.phases.size());
    phase.parallel = root->kind == StmtKind::kFor && root->loop == LoopKind::kParallel;
    RETURN_IF_ERROR(emitter.EmitPhase(root, phase.symbol));
    phase.open_scratch_bytes = emitter.open_scratch_bytes();
    kernel.phases.push_back(std::move(phase));
  }
  emitter.Finish();
  kernel.scratch_bytes = emitter.scratch_bytes();

  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems)) {
    return InternalError("kernel ", nest.name, " became invalid LLVM IR: ", problem);
  }
  SetAttributes(target, *target_emitter, &module);
  Optimize(machine.get(), &module);
  if (options.keep_text) {
    llvm::raw_string_ostream text(kernel.llvm_ir);
    module.print(text, nullptr);
    // Emission changes the module, hence the copy.
    ASSIGN_OR_RETURN(kernel.assembly, Emit(machine.get(), llvm::CloneModule(module).get(),
                                           llvm::CodeGenFileType::AssemblyFile));
  }
  ASSIGN_OR_RETURN(kernel.object, Emit(machine.get(), &module, llvm::CodeGenFileType::ObjectFile));
  return kernel;
}

}  // namespace attune
