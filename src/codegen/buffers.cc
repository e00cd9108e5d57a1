#include "codegen/buffers.h"

#include <algorithm>

#include "base/checked.h"
#include "base/status.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/MDBuilder.h"

namespace attune {
namespace {

using llvm::Value;

constexpr int64_t kAlignment = 64;
// An access this far away cannot be within a vector that the buffer has a part of: it never runs.
constexpr int64_t kMaxReach = 1 << 16;

}  // namespace

KernelBuffers::KernelBuffers(const LoopNest& nest, const std::vector<std::pair<int, int>>& may_alias,
                             ValueBuilder& values, Scopes& scopes)
    : nest_(nest), values_(values), ir_(values.ir()), scopes_(scopes) {
  MakeAliasScopes(may_alias);
}

// Makes one alias domain for the kernel, with a scope for each parameter and one for the whole scratch
// area, whose buffers share memory over time.
void KernelBuffers::MakeAliasScopes(const std::vector<std::pair<int, int>>& pairs) {
  llvm::LLVMContext& context = ir_.getContext();
  llvm::MDBuilder builder(context);
  llvm::MDNode* domain = builder.createAnonymousAliasScopeDomain();
  const int count = static_cast<int>(nest_.params.size());
  std::vector<llvm::Metadata*> sets;
  for (int i = 0; i <= count; ++i) sets.push_back(builder.createAnonymousAliasScope(domain));
  const auto may_alias = [&pairs](int a, int b) {
    return std::ranges::any_of(pairs, [&](const std::pair<int, int>& p) {
      return (p.first == a && p.second == b) || (p.first == b && p.second == a);
    });
  };
  for (int i = 0; i <= count; ++i) {
    std::vector<llvm::Metadata*> others;
    for (int j = 0; j <= count; ++j) {
      if (j != i && !may_alias(i, j)) others.push_back(sets[static_cast<size_t>(j)]);
    }
    const AliasScopes scopes{llvm::MDNode::get(context, {sets[static_cast<size_t>(i)]}),
                             llvm::MDNode::get(context, others)};
    if (i == count) {
      scratch_alias_ = scopes;
    } else {
      alias_scopes_[nest_.params[static_cast<size_t>(i)].buffer.get()] = scopes;
    }
  }
}

void KernelBuffers::TagAccess(const Buffer& buffer, llvm::Instruction* access) const {
  if (buffer->space == MemorySpace::kRegister || buffer == nest_.dims_buffer) return;
  const auto it = alias_scopes_.find(buffer.get());
  const AliasScopes& scopes = it == alias_scopes_.end() ? scratch_alias_ : it->second;
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, scopes.own);
  access->setMetadata(llvm::LLVMContext::MD_noalias, scopes.others);
}

void KernelBuffers::BeginFunction() {
  bases_.clear();
  slots_.clear();
  scratch_top_ = 0;
  open_scratch_bytes_ = 0;
}

Value* KernelBuffers::BasePointer(const Buffer& buffer) {
  if (const auto it = bases_.find(buffer.get()); it != bases_.end()) return it->second;
  const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  ir_.SetInsertPoint(scopes_.EndOfEntry(0));
  llvm::Function* function = scopes_.function();
  if (buffer == nest_.dims_buffer) return bases_[buffer.get()] = function->getArg(1);
  for (size_t i = 0; i < nest_.params.size(); ++i) {
    if (nest_.params[i].buffer != buffer) continue;
    Value* slot = ir_.CreateConstGEP1_64(ir_.getPtrTy(), function->getArg(0), i);
    llvm::LoadInst* base = ir_.CreateLoad(ir_.getPtrTy(), slot, buffer->name);
    base->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(ir_.getContext(), {}));
    return bases_[buffer.get()] = base;
  }
  return values_.Fail(ir_.getPtrTy(),
                      InvalidInput("buffer ", buffer->name, " is not known in kernel ", nest_.name));
}

int64_t KernelBuffers::AllocatedBytes(const Buffer& buffer) {
  return RoundUp(buffer->num_elements() * DTypeSize(buffer->dtype), kAlignment);
}

void KernelBuffers::AllocateInRegisters(const Buffer& buffer) {
  if (IsInRegisters(buffer)) return;
  llvm::Type* element = values_.MemoryType(buffer->dtype);
  const int64_t count = buffer->num_elements();
  const llvm::BasicBlock::iterator begin = scopes_.function()->getEntryBlock().begin();
  auto* start = llvm::GetElementPtrInst::Create(element, llvm::PoisonValue::get(ir_.getPtrTy()),
                                                {ir_.getInt64(0)}, buffer->name, begin);
  auto* memory = new llvm::AllocaInst(llvm::ArrayType::get(element, static_cast<uint64_t>(count)), 0, nullptr,
                                      llvm::Align(kAlignment), buffer->name, start->getIterator());
  start->setOperand(0, memory);
  slots_[buffer.get()] = {memory, start, {0, count - 1}};
  bases_[buffer.get()] = start;
}

void KernelBuffers::Reach(const Buffer& buffer, const Interval& elements) {
  const auto it = slots_.find(buffer.get());
  if (it == slots_.end() || elements.min < -kMaxReach || elements.max > kMaxReach) return;
  Slot& slot = it->second;
  slot.elements = {std::min(slot.elements.min, elements.min), std::max(slot.elements.max, elements.max)};
  const auto count = static_cast<uint64_t>(slot.elements.max - slot.elements.min + 1);
  slot.memory->setAllocatedType(llvm::ArrayType::get(values_.MemoryType(buffer->dtype), count));
  slot.start->setOperand(1, ir_.getInt64(static_cast<uint64_t>(-slot.elements.min)));
}

void KernelBuffers::AllocateInScratch(const Buffer& buffer) {
  const llvm::IRBuilder<>::InsertPointGuard at_entry(ir_);
  ir_.SetInsertPoint(scopes_.EndOfEntry(0));
  bases_[buffer.get()] = ir_.CreateConstGEP1_64(ir_.getInt8Ty(), scopes_.function()->getArg(2),
                                                static_cast<uint64_t>(scratch_top_));
  scratch_top_ += AllocatedBytes(buffer);
  scratch_bytes_ = std::max(scratch_bytes_, scratch_top_);
}

void KernelBuffers::AllocateInOpenScratch(const Buffer& buffer,
                                          const std::function<Value*(const Expr&)>& emit) {
  if (bases_.contains(buffer.get())) return;  // the iteration of an unrolled loop before has made it
  Value* offset = emit(open_scratch_bytes_);
  const llvm::BasicBlock::iterator end = scopes_.EndOfEntry(0)->getIterator();
  auto* begin = llvm::GetElementPtrInst::Create(ir_.getInt8Ty(), scopes_.function()->getArg(2),
                                                {ir_.getInt64(0)}, buffer->name, end);
  open_bases_.push_back(begin);
  bases_[buffer.get()] = llvm::GetElementPtrInst::Create(ir_.getInt8Ty(), begin, {offset}, buffer->name, end);
  Expr bytes = DTypeSize(buffer->dtype);
  for (const Extent& extent : buffer->extents()) bytes = bytes * extent.expr();
  open_scratch_bytes_ =
      open_scratch_bytes_ + FloorDiv(bytes + Expr(kAlignment - 1), kAlignment) * Expr(kAlignment);
}

void KernelBuffers::PlaceOpenScratch() {
  for (llvm::GetElementPtrInst* base : open_bases_)
    base->setOperand(1, ir_.getInt64(static_cast<uint64_t>(scratch_bytes_)));
}

void KernelBuffers::FreeScratch(const Buffer& buffer) { scratch_top_ -= AllocatedBytes(buffer); }

}  // namespace attune
