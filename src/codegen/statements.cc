#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/status.h"
#include "codegen/emitter.h"
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
constexpr int64_t kAlignment = 64;
// Register buffers beyond this never fit in registers and would strain the stacks of the runtime's threads.
constexpr int64_t kMaxRegisterBytes = 16 * 1024;

bool IsPoint(const Interval& i, int64_t value) { return i.is_point() && i.min == value; }

}  // namespace

NestEmitter::NestEmitter(llvm::Module* module, const LoopNest& nest, const Target& target,
                         const TargetEmitter& target_emitter, const CodegenOptions& options)
    : module_(module),
      nest_(nest),
      target_(target),
      target_emitter_(target_emitter),
      options_(options),
      values_(module->getContext(), target_emitter),
      ir_(values_.ir()) {
  MakeAliasScopes();
}

absl::Status NestEmitter::EmitPhase(const Stmt& root, const std::string& symbol) {
  llvm::Type* pointer = ir_.getPtrTy();
  auto* type = llvm::FunctionType::get(
      ir_.getInt32Ty(), {pointer, pointer, pointer, ir_.getInt32Ty(), ir_.getInt32Ty()}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module_);
  scopes_.clear();
  bases_.clear();
  scratch_top_ = 0;
  ir_.SetInsertPoint(BasicBlock::Create(module_->getContext(), "", function_));
  Enter(NewBlock("entry"));
  if (root->kind == StmtKind::kFor && root->loop == LoopKind::kParallel) {
    EmitParallel(root);
  } else {
    EmitStmt(root);
  }
  FinishTiles();
  Leave();
  ir_.CreateRet(ir_.getInt32(0));
  return values_.status();
}

BasicBlock* NestEmitter::NewBlock(const char* name) {
  return BasicBlock::Create(module_->getContext(), name, function_);
}

void NestEmitter::Enter(BasicBlock* entry) {
  if (ir_.GetInsertBlock()->getTerminator() == nullptr) ir_.CreateBr(entry);
  BasicBlock* body = NewBlock("body");
  ir_.SetInsertPoint(entry);
  ir_.CreateBr(body);
  ir_.SetInsertPoint(body);
  scopes_.push_back({entry, {}});
  ForgetOperands();
}

void NestEmitter::Leave() {
  scopes_.pop_back();
  ForgetOperands();
}

void NestEmitter::Bind(const Var& var, Value* value, Interval interval) {
  bounds_.Set(var, interval);
  bindings_[var.get()] = {value, scopes_.size() - 1};
}

void NestEmitter::Unbind(const Var& var) {
  bounds_.Unset(var);
  bindings_.erase(var.get());
}

void NestEmitter::EmitStmt(const Stmt& s) {
  if (s == nullptr || !values_.status().ok()) return;
  if (++emitted_ > kMaxStatements) {
    return Fail(InvalidInput("kernel ", nest_.name, " unrolls to more than ", kMaxStatements, " statements"));
  }
  memo_.clear();
  contraction_ = Contraction();
  switch (s->kind) {
    case StmtKind::kStore:
      return EmitStore(s);
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

// What the loop's variable can be inside of the body.
Interval NestEmitter::LoopInterval(const Stmt& s) const {
  const Interval min = bounds_.Range(s->min), extent = bounds_.Range(s->extent);
  const bool unbounded = min.max >= Interval::kHigh / 2 || extent.max >= Interval::kHigh / 2;
  return {min.min, unbounded ? Interval::kHigh : min.max + std::max<int64_t>(extent.max, 1) - 1};
}

void NestEmitter::EmitFor(const Stmt& s) {
  const Interval extent = bounds_.Range(s->extent);
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
      return EmitDot(s);
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
  Value* begin = EmitExpr(s->min);
  Value* extent = EmitExpr(s->extent);
  if (ValueBuilder::LanesOf(begin) > 1 || ValueBuilder::LanesOf(extent) > 1) {
    return Fail(InvalidInput("the bounds of loop ", s->var->name, " differ between lanes"));
  }
  Value* end = ir_.CreateAdd(begin, extent, "", false, true);
  const bool runs = bounds_.Range(s->extent).min >= 1;
  bounds_.Set(s->var, LoopInterval(s));
  EmitLoop(s->var, begin, end, runs, s->body);
  bounds_.Unset(s->var);
}

// A loop with its test at the end, behind one test that it runs at all unless that is known. The range of
// `var` is set by the caller.
void NestEmitter::EmitLoop(const Var& var, Value* begin, Value* end, bool runs, const Stmt& body) {
  BasicBlock* loop = NewBlock(var->name.c_str());
  BasicBlock* done = NewBlock("done");
  BasicBlock* before = ir_.GetInsertBlock();
  if (runs) {
    ir_.CreateBr(loop);
  } else {
    ir_.CreateCondBr(ir_.CreateICmpSLT(begin, end), loop, done);
  }
  Enter(loop);
  llvm::PHINode* phi = llvm::PHINode::Create(ir_.getInt64Ty(), 2, var->name, loop->begin());
  phi->addIncoming(begin, before);
  bindings_[var.get()] = {phi, scopes_.size() - 1};
  EmitStmt(body);
  bindings_.erase(var.get());
  Leave();
  Value* next = ir_.CreateAdd(phi, ir_.getInt64(1), "", false, true);
  phi->addIncoming(next, ir_.GetInsertBlock());
  ir_.CreateCondBr(ir_.CreateICmpSLT(next, end), loop, done);
  ir_.SetInsertPoint(done);
}

void NestEmitter::EmitUnrolled(const Stmt& s) {
  const Interval min = bounds_.Range(s->min), extent = bounds_.Range(s->extent);
  if (!min.is_point() || !extent.is_point()) {
    return Fail(InvalidInput("unrolled loop ", s->var->name, " does not have constant bounds"));
  }
  if (lanes_ && EmitInterleaved(s)) return;
  const std::vector<const BufferNode*>& shared = BuffersSharedBetweenIterations(s);
  for (int64_t i = min.min; i < min.min + extent.min && values_.status().ok(); ++i) {
    Bind(s->var, ir_.getInt64(static_cast<uint64_t>(i)), {i, i});
    if (shared.empty()) {
      EmitStmt(s->body);
    } else {
      Enter(NewBlock("iteration"));
      separations_.push_back({scopes_.size() - 1, &shared});
      EmitStmt(s->body);
      separations_.pop_back();
      Leave();
    }
    Unbind(s->var);
  }
}

void NestEmitter::EmitVectorized(const Stmt& s) {
  const Interval extent = bounds_.Range(s->extent);
  if (!extent.is_point() || extent.min > kMaxLanes) {
    return Fail(InvalidInput("vectorized loop ", s->var->name, " does not have a constant extent of at most ",
                             kMaxLanes));
  }
  if (lanes_) return Fail(InvalidInput("vectorized loop ", s->var->name, " is inside of another"));
  const int64_t lanes = extent.min;
  std::vector<llvm::Constant*> steps;
  for (int64_t i = 0; i < lanes; ++i) steps.push_back(ir_.getInt64(static_cast<uint64_t>(i)));
  Value* first = values_.Broadcast(EmitExpr(s->min), lanes);
  Value* index = ir_.CreateAdd(first, llvm::ConstantVector::get(steps));
  memo_.clear();
  lanes_ = LaneLoop{s->var, s->min, lanes};
  Bind(s->var, index, LoopInterval(s));
  EmitStmt(s->body);
  Unbind(s->var);
  lanes_.reset();
}

// This part's share of a root statement's iterations: [part · n / parts, (part + 1) · n / parts).
// Rounding down, part p of `parts` ends where part 2p + 1 of twice as many does, as the ABI demands.
void NestEmitter::EmitParallel(const Stmt& s) {
  Value* extent = EmitExpr(s->extent);
  Value* min = EmitExpr(s->min);
  Value* parts = ir_.CreateSExt(function_->getArg(4), ir_.getInt64Ty());
  const auto bound = [&](Value* part) {
    Value* wide = ir_.CreateSExt(part, ir_.getInt64Ty());
    return ir_.CreateAdd(min, ir_.CreateUDiv(ir_.CreateMul(wide, extent), parts));
  };
  Value* part = function_->getArg(3);
  Value* begin = bound(part);
  Value* end = bound(ir_.CreateAdd(part, ir_.getInt32(1)));
  bounds_.Set(s->var, LoopInterval(s));
  EmitLoop(s->var, begin, end, false, s->body);
  bounds_.Unset(s->var);
}

void NestEmitter::EmitIf(const Stmt& s) {
  if (const std::optional<bool> known = bounds_.Prove(s->condition)) {
    return EmitStmt(*known ? s->body : s->else_body);
  }
  Value* condition = EmitExpr(s->condition);
  memo_.clear();
  if (ValueBuilder::LanesOf(condition) > 1) return EmitMaskedIf(s, condition);
  EmitBranch(condition, s->body, s->else_body);
}

void NestEmitter::EmitMaskedIf(const Stmt& s, Value* condition) {
  Value* outer = lanes_->mask;
  lanes_->mask = outer == nullptr ? condition : ir_.CreateAnd(outer, condition);
  EmitStmt(s->body);
  if (s->else_body != nullptr) {
    Value* otherwise = ir_.CreateNot(condition);
    lanes_->mask = outer == nullptr ? otherwise : ir_.CreateAnd(outer, otherwise);
    EmitStmt(s->else_body);
  }
  lanes_->mask = outer;
}

void NestEmitter::EmitBranch(Value* condition, const Stmt& then_body, const Stmt& else_body) {
  BasicBlock* then_block = NewBlock("then");
  BasicBlock* done = NewBlock("endif");
  BasicBlock* else_block = else_body == nullptr ? done : NewBlock("else");
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

// Runs `body` with the variable standing for the value: in a new scope unless the value is constant, since
// what depends on the variable cannot be computed before this place.
void NestEmitter::EmitBinding(const Var& var, const Expr& e, const Stmt& body) {
  Value* value = EmitExpr(e);
  const Interval range = IsInt(var->dtype) ? bounds_.Range(e) : Interval{};
  const bool constant = llvm::isa<llvm::Constant>(value);
  if (!constant) Enter(NewBlock("let"));
  Bind(var, value, range);
  EmitStmt(body);
  Unbind(var);
  if (!constant) Leave();
}

void NestEmitter::EmitAllocate(const Stmt& s) {
  const Buffer& buffer = s->buffer;
  const int64_t bytes = RoundUp(buffer->num_elements() * DTypeSize(buffer->dtype), kAlignment);
  const bool in_registers = buffer->space == MemorySpace::kRegister && bytes <= kMaxRegisterBytes;
  if (buffer->space == MemorySpace::kShared || buffer->space == MemorySpace::kGlobal) {
    return Fail(NotSupported("buffer ", buffer->name, " lives where this target has no memory"));
  }
  if (in_registers) {
    if (const std::optional<TilePlan> plan = PlanTiles(s)) return EmitTiled(s, *plan);
    if (!bases_.contains(buffer.get())) {
      llvm::Type* type = llvm::ArrayType::get(values_.MemoryType(buffer->dtype),
                                              static_cast<uint64_t>(buffer->num_elements()));
      auto* slot = new llvm::AllocaInst(type, 0, nullptr, llvm::Align(kAlignment), buffer->name,
                                        function_->getEntryBlock().begin());
      bases_[buffer.get()] = slot;
    }
    return EmitStmt(s->body);
  }
  Value* base;
  {
    const llvm::IRBuilder<>::InsertPointGuard at_entry(ir_);
    ir_.SetInsertPoint(scopes_.front().entry->getTerminator());
    base = ir_.CreateConstGEP1_64(ir_.getInt8Ty(), function_->getArg(2), static_cast<uint64_t>(scratch_top_));
  }
  bases_[buffer.get()] = base;
  scratch_top_ += bytes;
  scratch_bytes_ = std::max(scratch_bytes_, scratch_top_);
  EmitStmt(s->body);
  scratch_top_ -= bytes;
}

void NestEmitter::EmitWhile(const Stmt& s) {
  BasicBlock* test = NewBlock("while");
  BasicBlock* run = NewBlock("run");
  BasicBlock* done = NewBlock("done");
  Enter(test);
  Value* condition = EmitExpr(s->condition);
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
  const Access access = Locate(s->buffer, s->indices);
  constexpr int kRead = 0, kKeepInSecondLevel = 2, kData = 1;
  ir_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {ir_.getPtrTy()},
      {access.pointer, ir_.getInt32(kRead), ir_.getInt32(kKeepInSecondLevel), ir_.getInt32(kData)});
}

}  // namespace attune
