#include "codegen/nest_emitter.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "codegen/indices.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace attune {
namespace {

using llvm::BasicBlock;
using llvm::Value;

// A kernel that unrolls to more than this many statements would take seconds to compile and not fit in any
// instruction cache.
constexpr int64_t kMaxStatements = 30'000;
constexpr int64_t kMaxLanes = 256;
// Register buffers beyond this never fit in registers and would strain the stacks of the runtime's threads.
constexpr int64_t kMaxRegisterBytes = 16 * 1024;

bool IsPoint(const Interval& i, int64_t value) { return i.is_point() && i.min == value; }

}  // namespace

NestEmitter::NestEmitter(llvm::Module* module, const LoopNest& nest, const Target& target,
                         const TargetEmitter& target_emitter, const CodegenOptions& options)
    : module_(module),
      nest_(nest),
      values_(module->getContext(), target_emitter),
      ir_(values_.ir()),
      scopes_(values_),
      buffers_(nest, options.may_alias, values_, scopes_),
      memory_(values_, scopes_, buffers_),
      expressions_(values_, scopes_, buffers_, memory_),
      stores_(values_, scopes_, expressions_, memory_),
      dots_(target, values_, scopes_, expressions_, memory_),
      shared_(scopes_.bounds()),
      planner_(target, scopes_.bounds()),
      tiles_(target, values_, scopes_, expressions_) {}

absl::Status NestEmitter::EmitPhase(const Stmt& root, const std::string& symbol) {
  llvm::Type* pointer = ir_.getPtrTy();
  auto* type = llvm::FunctionType::get(
      ir_.getInt32Ty(), {pointer, pointer, pointer, ir_.getInt32Ty(), ir_.getInt32Ty()}, false);
  buffers_.BeginFunction();
  scopes_.BeginFunction(llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module_));
  BindSizes();
  if (root->kind == StmtKind::kFor && root->loop == LoopKind::kParallel) {
    EmitParallel(root);
  } else {
    EmitStmt(root);
  }
  tiles_.Finish();
  for (const SizeParam& size : nest_.sizes) scopes_.Unbind(size.var);
  Leave();
  ir_.CreateRet(ir_.getInt32(0));
  return values_.status();
}

// Loads the numbers that the call is given.
void NestEmitter::BindSizes() {
  for (size_t i = 0; i < nest_.sizes.size(); ++i) {
    const SizeParam& size = nest_.sizes[i];
    const llvm::IRBuilder<>::InsertPointGuard at_entry(ir_);
    ir_.SetInsertPoint(scopes_.EndOfEntry(0));
    Value* place = ir_.CreateConstGEP1_64(ir_.getInt64Ty(), scopes_.function()->getArg(1), i);
    llvm::LoadInst* value = ir_.CreateLoad(ir_.getInt64Ty(), place, size.var->name);
    value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(ir_.getContext(), {}));
    scopes_.Bind(size.var, value, {size.min, size.max});
  }
}

void NestEmitter::Enter(BasicBlock* entry) {
  scopes_.Enter(entry);
  tiles_.ForgetOperands();
}

void NestEmitter::Leave() {
  scopes_.Leave();
  tiles_.ForgetOperands();
}

void NestEmitter::EmitStmt(const Stmt& s) {
  if (s == nullptr || !values_.status().ok()) return;
  if (++emitted_ > kMaxStatements) {
    return Fail(InvalidInput("kernel ", nest_.name, " unrolls to more than ", kMaxStatements, " statements"));
  }
  expressions_.BeginStatement();
  switch (s->kind) {
    case StmtKind::kStore:
      tiles_.ForgetOperands();
      return stores_.Emit(s);
    case StmtKind::kFor:
      return EmitFor(s);
    case StmtKind::kIf:
      return EmitIf(s);
    case StmtKind::kSequence:
      for (const Stmt& child : s->children) EmitStmt(child);
      return;
    case StmtKind::kLet:
      return EmitBinding(s->var, s->value, s->body);
    case StmtKind::kAllocate:
      return EmitAllocate(s);
    case StmtKind::kWhile:
      return EmitWhile(s);
    case StmtKind::kPrefetch:
      return EmitPrefetch(s);
  }
}

void NestEmitter::EmitFor(const Stmt& s) {
  const Interval extent = scopes_.bounds().Range(s->extent);
  if (extent.max <= 0) return;
  const bool is_matrix = s->loop == LoopKind::kMatrix;
  if (IsPoint(extent, 1) && s->loop != LoopKind::kBound && !is_matrix) {
    return EmitBinding(s->var, s->min, s->body);
  }
  switch (s->loop) {
    case LoopKind::kSerial:
      return EmitSerial(s);
    case LoopKind::kUnrolled:
      return EmitUnrolled(s);
    case LoopKind::kVectorized:
      return EmitVectorized(s);
    case LoopKind::kDot:
      if (!dots_.Emit(s)) EmitUnrolled(s);
      return;
    case LoopKind::kMatrix:
      return EmitMatrix(s);
    case LoopKind::kParallel:
      return Fail(InternalError("parallel loop ", s->var->name, " is not outermost"));
    case LoopKind::kBound:
      return Fail(
          NotSupported("loop ", s->var->name, " is bound to ", s->binding, ", which this target lacks"));
  }
}

void NestEmitter::EmitSerial(const Stmt& s) {
  Value* begin = expressions_.Emit(s->min);
  Value* extent = expressions_.Emit(s->extent);
  if (ValueBuilder::LanesOf(begin) > 1 || ValueBuilder::LanesOf(extent) > 1) {
    return Fail(InvalidInput("the bounds of loop ", s->var->name, " differ between lanes"));
  }
  Value* end = ir_.CreateAdd(begin, extent, "", false, true);
  const bool runs = scopes_.bounds().Range(s->extent).min >= 1;
  EmitLoop(s, begin, end, runs);
}

// A loop with its test at the end, behind a test that it runs at all unless `runs` says so.
void NestEmitter::EmitLoop(const Stmt& s, Value* begin, Value* end, bool runs) {
  const Var& var = s->var;
  const Interval interval = LoopInterval(s, scopes_.bounds());
  BasicBlock* loop = scopes_.NewBlock(var->name.c_str());
  BasicBlock* done = scopes_.NewBlock("done");
  BasicBlock* before = ir_.GetInsertBlock();
  if (runs) {
    ir_.CreateBr(loop);
  } else {
    ir_.CreateCondBr(ir_.CreateICmpSLT(begin, end), loop, done);
  }
  Enter(loop);
  llvm::PHINode* phi = llvm::PHINode::Create(ir_.getInt64Ty(), 2, var->name, loop->begin());
  phi->addIncoming(begin, before);
  const bool has_open_end = !nest_.sizes.empty() && IsConst(s->min, 0) && !IsIntConst(s->extent);
  scopes_.Bind(var, phi, interval, has_open_end ? s->extent : Expr());
  EmitStmt(s->body);
  scopes_.Unbind(var);
  Leave();
  Value* next = ir_.CreateAdd(phi, ir_.getInt64(1), "", false, true);
  phi->addIncoming(next, ir_.GetInsertBlock());
  ir_.CreateCondBr(ir_.CreateICmpSLT(next, end), loop, done);
  ir_.SetInsertPoint(done);
}

void NestEmitter::EmitUnrolled(const Stmt& s) {
  const Interval min = scopes_.bounds().Range(s->min), extent = scopes_.bounds().Range(s->extent);
  if (!min.is_point() || !extent.is_point()) {
    return Fail(InvalidInput("unrolled loop ", s->var->name, " does not have constant bounds"));
  }
  if (scopes_.lanes() != nullptr && stores_.EmitInterleaved(s)) return tiles_.ForgetOperands();
  const std::vector<const BufferNode*>& shared = shared_.BetweenIterations(s);
  for (int64_t i = min.min; i < min.min + extent.min && values_.status().ok(); ++i) {
    scopes_.Bind(s->var, ir_.getInt64(static_cast<uint64_t>(i)), {i, i});
    if (shared.empty()) {
      EmitStmt(s->body);
    } else {
      Enter(scopes_.NewBlock("iteration"));
      expressions_.addresses().BeginIteration(shared);
      EmitStmt(s->body);
      expressions_.addresses().EndIteration();
      Leave();
    }
    scopes_.Unbind(s->var);
  }
}

void NestEmitter::EmitVectorized(const Stmt& s) {
  const Interval extent = scopes_.bounds().Range(s->extent);
  if (!extent.is_point() || extent.min > kMaxLanes) {
    return Fail(InvalidInput("vectorized loop ", s->var->name, " does not have a constant extent of at most ",
                             kMaxLanes));
  }
  if (scopes_.lanes() != nullptr)
    return Fail(InvalidInput("vectorized loop ", s->var->name, " is inside of another"));
  const int64_t lanes = extent.min;
  std::vector<llvm::Constant*> steps;
  for (int64_t i = 0; i < lanes; ++i) steps.push_back(ir_.getInt64(static_cast<uint64_t>(i)));
  Value* first = values_.Broadcast(expressions_.Emit(s->min), lanes);
  Value* index = ir_.CreateAdd(first, llvm::ConstantVector::get(steps));
  expressions_.ForgetValues();
  scopes_.BeginLanes({s->var, s->min, lanes});
  scopes_.Bind(s->var, index, LoopInterval(s, scopes_.bounds()));
  EmitStmt(s->body);
  scopes_.Unbind(s->var);
  scopes_.EndLanes();
}

// This part's share of a root statement's iterations: [part · n / parts, (part + 1) · n / parts).
// Rounding down, part p of `parts` ends where part 2p + 1 of twice as many does, as the ABI demands.
void NestEmitter::EmitParallel(const Stmt& s) {
  Value* extent = expressions_.Emit(s->extent);
  Value* min = expressions_.Emit(s->min);
  Value* parts = ir_.CreateSExt(scopes_.function()->getArg(4), ir_.getInt64Ty());
  const auto bound = [&](Value* part) {
    Value* wide = ir_.CreateSExt(part, ir_.getInt64Ty());
    return ir_.CreateAdd(min, ir_.CreateUDiv(ir_.CreateMul(wide, extent), parts));
  };
  Value* part = scopes_.function()->getArg(3);
  Value* begin = bound(part);
  Value* end = bound(ir_.CreateAdd(part, ir_.getInt32(1)));
  EmitLoop(s, begin, end, /*runs=*/false);
}

void NestEmitter::EmitIf(const Stmt& s) {
  if (const std::optional<bool> known = scopes_.bounds().Prove(s->condition)) {
    return EmitStmt(*known ? s->body : s->else_body);
  }
  Value* condition = expressions_.Emit(s->condition);
  expressions_.ForgetValues();
  if (ValueBuilder::LanesOf(condition) > 1) return EmitMaskedIf(s, condition);
  EmitBranch(condition, s->body, s->else_body);
}

void NestEmitter::EmitMaskedIf(const Stmt& s, Value* condition) {
  Value* outer = scopes_.lanes()->mask;
  scopes_.SetMask(outer == nullptr ? condition : ir_.CreateAnd(outer, condition));
  EmitStmt(s->body);
  if (s->else_body != nullptr) {
    Value* otherwise = ir_.CreateNot(condition);
    scopes_.SetMask(outer == nullptr ? otherwise : ir_.CreateAnd(outer, otherwise));
    EmitStmt(s->else_body);
  }
  scopes_.SetMask(outer);
}

void NestEmitter::EmitBranch(Value* condition, const Stmt& then_body, const Stmt& else_body) {
  BasicBlock* then_block = scopes_.NewBlock("then");
  BasicBlock* done = scopes_.NewBlock("endif");
  BasicBlock* else_block = else_body == nullptr ? done : scopes_.NewBlock("else");
  ir_.CreateCondBr(condition, then_block, else_block);
  Enter(then_block);
  EmitStmt(then_body);
  Leave();
  ir_.CreateBr(done);
  if (else_body != nullptr) {
    Enter(else_block);
    EmitStmt(else_body);
    Leave();
    ir_.CreateBr(done);
  }
  ir_.SetInsertPoint(done);
}

// Runs `body` with the variable bound to the value, in a new scope unless the value is constant: code that
// depends on the variable cannot be computed before this point.
void NestEmitter::EmitBinding(const Var& var, const Expr& e, const Stmt& body) {
  Value* value = expressions_.Emit(e);
  const Interval range = IsInt(var->dtype) ? scopes_.bounds().Range(e) : Interval{};
  const bool constant = llvm::isa<llvm::Constant>(value);
  if (!constant) Enter(scopes_.NewBlock("let"));
  scopes_.Bind(var, value, range);
  EmitStmt(body);
  scopes_.Unbind(var);
  if (!constant) Leave();
}

void NestEmitter::EmitAllocate(const Stmt& s) {
  const Buffer& buffer = s->buffer;
  if (buffer->space == MemorySpace::kShared || buffer->space == MemorySpace::kGlobal) {
    return Fail(NotSupported("buffer ", buffer->name, " lives where this target has no memory"));
  }
  const bool fits = !buffer->is_open() && KernelBuffers::AllocatedBytes(buffer) <= kMaxRegisterBytes;
  if (buffer->space == MemorySpace::kRegister && fits) {
    if (scopes_.lanes() == nullptr) {
      if (const std::optional<TilePlan> plan = planner_.Plan(s)) return EmitTiled(s, *plan);
    }
    buffers_.AllocateInRegisters(buffer);
    return EmitStmt(s->body);
  }
  if (buffer->is_open()) {
    buffers_.AllocateInOpenScratch(buffer,
                                   [this](const Expr& bytes) { return expressions_.EmitAtEntry(bytes); });
    return EmitStmt(s->body);
  }
  buffers_.AllocateInScratch(buffer);
  EmitStmt(s->body);
  buffers_.FreeScratch(buffer);
}

void NestEmitter::EmitTiled(const Stmt& allocate, const TilePlan& plan) {
  tiles_.Begin(allocate->buffer, plan);
  EmitStmt(allocate->body);
  tiles_.End(allocate->buffer);
}

void NestEmitter::EmitMatrix(const Stmt& s) {
  const std::optional<TileStep> step = tiles_.is_active() ? planner_.Match(s) : std::nullopt;
  if (!step || !tiles_.Holds(step->sums)) return EmitUnrolled(s);
  tiles_.Emit(*step);
}

void NestEmitter::EmitWhile(const Stmt& s) {
  BasicBlock* test = scopes_.NewBlock("while");
  BasicBlock* run = scopes_.NewBlock("run");
  BasicBlock* done = scopes_.NewBlock("done");
  Enter(test);
  Value* condition = expressions_.Emit(s->condition);
  if (ValueBuilder::LanesOf(condition) > 1) {
    return Fail(InvalidInput("a while loop's condition differs between lanes"));
  }
  ir_.CreateCondBr(condition, run, done);
  Enter(run);
  EmitStmt(s->body);
  Leave();
  ir_.CreateBr(test);
  Leave();
  ir_.SetInsertPoint(done);
}

void NestEmitter::EmitPrefetch(const Stmt& s) {
  const Access access = expressions_.Locate(s->buffer, s->indices);
  constexpr int kRead = 0, kKeepInSecondLevel = 2, kData = 1;
  ir_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {ir_.getPtrTy()},
      {access.pointer, ir_.getInt32(kRead), ir_.getInt32(kKeepInSecondLevel), ir_.getInt32(kData)});
}

}  // namespace attune
