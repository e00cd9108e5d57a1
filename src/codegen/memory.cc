// Loads and stores: where the lanes of an access lie, and the instructions that move them.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "codegen/emitter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"

namespace attune {
namespace {

using llvm::Value;

llvm::Align ElementAlign(DType dtype) { return llvm::Align(static_cast<uint64_t>(DTypeSize(dtype))); }

bool SameTerms(const std::vector<Affine::Term>& a, const std::vector<Affine::Term>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Affine::Term& x, const Affine::Term& y) {
    return x.coefficient == y.coefficient && SameExpr(x.atom, y.atom);
  });
}

bool IsMultiplyAdd(const Value* value) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::fma;
}

bool ReadsMemory(const Expr& e) {
  return e->kind == ExprKind::kLoad || std::any_of(e->args.begin(), e->args.end(), ReadsMemory);
}

}  // namespace

// One domain for the kernel, one set for each parameter and one for all of the scratch area, whose buffers
// share memory over time.
void NestEmitter::MakeAliasScopes() {
  llvm::MDBuilder builder(module_->getContext());
  llvm::MDNode* domain = builder.createAnonymousAliasScopeDomain();
  const int count = static_cast<int>(nest_.params.size());
  std::vector<llvm::Metadata*> sets;
  for (int i = 0; i <= count; ++i) sets.push_back(builder.createAnonymousAliasScope(domain));
  const auto may_alias = [this](int a, int b) {
    return std::any_of(options_.may_alias.begin(), options_.may_alias.end(),
                       [&](const std::pair<int, int>& p) {
                         return (p.first == a && p.second == b) || (p.first == b && p.second == a);
                       });
  };
  for (int i = 0; i <= count; ++i) {
    std::vector<llvm::Metadata*> others;
    for (int j = 0; j <= count; ++j) {
      if (j != i && !may_alias(i, j)) others.push_back(sets[static_cast<size_t>(j)]);
    }
    const AliasScopes scopes{llvm::MDNode::get(module_->getContext(), {sets[static_cast<size_t>(i)]}),
                             llvm::MDNode::get(module_->getContext(), others)};
    if (i == count) {
      scratch_alias_ = scopes;
    } else {
      alias_scopes_[nest_.params[static_cast<size_t>(i)].buffer.get()] = scopes;
    }
  }
}

template <typename Instruction>
Instruction* NestEmitter::Tag(const Buffer& buffer, Instruction* access) {
  if (buffer->space == MemorySpace::kRegister || buffer == nest_.dims_buffer) return access;
  const auto it = alias_scopes_.find(buffer.get());
  const AliasScopes& scopes = it == alias_scopes_.end() ? scratch_alias_ : it->second;
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, scopes.own);
  access->setMetadata(llvm::LLVMContext::MD_noalias, scopes.others);
  return access;
}

Value* NestEmitter::BasePointer(const Buffer& buffer) {
  if (const auto it = bases_.find(buffer.get()); it != bases_.end()) return it->second;
  const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  ir_.SetInsertPoint(scopes_.front().entry->getTerminator());
  if (buffer == nest_.dims_buffer) return bases_[buffer.get()] = function_->getArg(1);
  for (size_t i = 0; i < nest_.params.size(); ++i) {
    if (nest_.params[i].buffer != buffer) continue;
    Value* slot = ir_.CreateConstGEP1_64(ir_.getPtrTy(), function_->getArg(0), i);
    llvm::LoadInst* base = ir_.CreateLoad(ir_.getPtrTy(), slot, buffer->name);
    base->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_->getContext(), {}));
    return bases_[buffer.get()] = base;
  }
  return values_.Fail(ir_.getPtrTy(),
                      InvalidInput("buffer ", buffer->name, " is not known in kernel ", nest_.name));
}

Affine NestEmitter::FlatIndex(const Buffer& buffer, const std::vector<Expr>& indices) const {
  Affine flat;
  const std::vector<int64_t> strides = buffer->strides();
  for (size_t i = 0; i < indices.size(); ++i) flat.Add(bounds_.Normalize(indices[i]), strides[i]);
  return flat;
}

Value* NestEmitter::Offset(Value* pointer, Value* elements, DType dtype) {
  return ir_.CreateGEP(values_.MemoryType(dtype), pointer, elements);
}

// The index among the open scopes of the outermost one where the value of a uniform expression is known.
size_t NestEmitter::DepthOf(const Expr& atom) const {
  if (atom->kind == ExprKind::kVar) {
    const auto it = bindings_.find(atom->var.get());
    return it == bindings_.end() ? scopes_.size() - 1 : it->second.depth;
  }
  size_t depth = 0;
  for (const Expr& arg : atom->args) depth = std::max(depth, DepthOf(arg));
  return depth;
}

// The start of `buffer` moved by the terms of `a` without its constant. Each prefix of the terms, outermost
// first, is added at the entry of the outermost scope that knows it, and found there again.
Value* NestEmitter::PointerFor(const Buffer& buffer, const Affine& a) {
  std::vector<std::pair<size_t, Affine::Term>> fixed;
  std::vector<Affine::Term> loaded;
  for (const Affine::Term& term : a.terms) {
    if (ReadsMemory(term.atom)) {
      loaded.push_back(term);
    } else {
      const size_t depth = DepthOf(term.atom);
      const auto after =
          std::find_if(fixed.begin(), fixed.end(), [&](const auto& f) { return f.first > depth; });
      fixed.insert(after, {depth, term});
    }
  }

  Value* const base = BasePointer(buffer);
  Value* pointer = base;
  std::vector<Affine::Term> prefix;
  for (const auto& [depth, term] : fixed) {
    prefix.push_back(term);
    std::vector<Scope::Pointer>& known = scopes_[depth].pointers;
    const auto it = std::find_if(known.begin(), known.end(), [&](const Scope::Pointer& p) {
      return p.base == base && SameTerms(p.terms, prefix);
    });
    if (it != known.end()) {
      pointer = it->value;
      continue;
    }
    const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
    ir_.SetInsertPoint(scopes_[depth].entry->getTerminator());
    Memo memo;
    std::swap(memo, memo_);
    pointer = Offset(pointer, EmitAffine(Affine{.terms = {term}}), buffer->dtype);
    std::swap(memo, memo_);
    known.push_back({base, prefix, pointer});
  }
  pointer = Separate(buffer.get(), pointer, fixed.empty() ? 0 : fixed.back().first);
  if (!loaded.empty()) pointer = Offset(pointer, EmitAffine(Affine{.terms = loaded}), buffer->dtype);
  return pointer;
}

// For a load that no lane may need: a place inside of the buffer whatever the index.
Value* NestEmitter::ClampedPointer(const Buffer& buffer, const Affine& flat) {
  Value* index = EmitAffine(flat);
  Value* last = values_.Integer(DType::kI64, std::max<int64_t>(buffer->num_elements() - 1, 0));
  index = values_.Binary(MathOp::kMin, DType::kI64, index, last);
  index = values_.Binary(MathOp::kMax, DType::kI64, index, values_.Integer(DType::kI64, 0));
  return Offset(BasePointer(buffer), index, buffer->dtype);
}

// Several lanes may read one element, as those of a group of channels do: one load, and a shuffle, which
// other accesses to the same vector share the load of. Where a buffer is made of whole vectors, the one that
// an element lies in is there.
void NestEmitter::FindPlaces(const Buffer& buffer, const Affine& uniform, Access& access) const {
  const auto* offsets = llvm::dyn_cast<llvm::Constant>(access.offsets);
  const int64_t lanes = lanes_->lanes;
  const bool whole = std::ranges::all_of(
      uniform.terms, [lanes](const Affine::Term& term) { return term.coefficient % lanes == 0; });
  if (offsets == nullptr || !whole || buffer->num_elements() % lanes != 0) return;
  access.before = ((uniform.constant % lanes) + lanes) % lanes;
  std::vector<int> places;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const auto* offset =
        llvm::dyn_cast_or_null<llvm::ConstantInt>(offsets->getAggregateElement(static_cast<unsigned>(lane)));
    const int64_t place = offset == nullptr ? -1 : offset->getSExtValue() + access.before;
    if (place < 0 || place >= lanes) return;
    places.push_back(static_cast<int>(place));
  }
  access.places = std::move(places);
}

NestEmitter::Access NestEmitter::Locate(const Buffer& buffer, const std::vector<Expr>& indices) {
  const Affine flat = FlatIndex(buffer, indices);
  const Interval range = bounds_.Range(flat);
  Access access{};
  access.in_bounds = range.min >= 0 && range.max < buffer->num_elements();

  Affine uniform, varying;
  uniform.constant = flat.constant;
  for (const Affine::Term& term : flat.terms) {
    (DependsOnLane(term.atom) ? varying : uniform).terms.push_back(term);
  }
  const Affine::Term* lane = varying.terms.size() == 1 ? varying.Find(lanes_->var) : nullptr;
  if (lane != nullptr) {
    access.stride = lane->coefficient;
    uniform.Add(bounds_.Normalize(lanes_->min), access.stride);
  } else if (!varying.terms.empty()) {
    // Broadcast, since what seems to depend on the lane may turn out not to.
    access.offsets = values_.Broadcast(EmitAffine(varying), lanes_->lanes);
    // Gathers by 32-bit offsets take half as many instructions.
    if (FitsInt32(bounds_.Range(varying))) {
      access.offsets = values_.Cast(DType::kI64, DType::kI32, access.offsets);
    }
    FindPlaces(buffer, uniform, access);
  }

  const bool masked = lanes_ && lanes_->mask != nullptr && buffer->space != MemorySpace::kRegister;
  if (masked && !access.in_bounds && !access.varies()) {
    access.pointer = ClampedPointer(buffer, uniform);
    return access;
  }
  access.pointer = PointerFor(buffer, uniform);
  if (uniform.constant != 0) {
    access.pointer = ir_.CreateConstGEP1_64(values_.MemoryType(buffer->dtype), access.pointer,
                                            static_cast<uint64_t>(uniform.constant));
  }
  return access;
}

Value* NestEmitter::LoadFrom(const Buffer& buffer, const Access& access) {
  const DType dtype = buffer->dtype;
  llvm::Type* scalar = values_.MemoryType(dtype);
  Value* value;
  if (access.varies()) {
    value = LoadLanes(buffer, access);
  } else {
    value = Tag(buffer, ir_.CreateAlignedLoad(scalar, access.pointer, ElementAlign(dtype)));
  }
  return values_.FromMemory(dtype, value);
}

// Every `stride`-th element of as many whole vectors, which end with the last one that is wanted.
Value* NestEmitter::LoadStrided(const Buffer& buffer, const Access& access) {
  const int64_t lanes = lanes_->lanes, span = (lanes - 1) * access.stride + 1;
  llvm::Type* scalar = values_.MemoryType(buffer->dtype);
  llvm::Type* type = ValueBuilder::WithLanes(scalar, lanes);
  Value* vector = llvm::PoisonValue::get(type);
  for (int64_t first = 0; first < span; first += lanes) {
    const int64_t begin = std::min(first, span - lanes);
    Value* pointer = ir_.CreateConstGEP1_64(scalar, access.pointer, static_cast<uint64_t>(begin));
    Value* loaded = Tag(buffer, ir_.CreateAlignedLoad(type, pointer, ElementAlign(buffer->dtype)));
    std::vector<int> places;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t element = lane * access.stride;
      const bool is_here = element >= first && element < first + lanes;
      places.push_back(static_cast<int>(is_here ? lanes + element - begin : lane));
    }
    vector = ir_.CreateShuffleVector(vector, loaded, places);
  }
  return vector;
}

// Without a mask that matters, a large constant stride takes scalar loads: processors do a gather no faster.
Value* NestEmitter::LoadLanes(const Buffer& buffer, const Access& access) {
  const DType dtype = buffer->dtype;
  llvm::Type* scalar = values_.MemoryType(dtype);
  llvm::Type* type = ValueBuilder::WithLanes(scalar, lanes_->lanes);
  const llvm::Align align = ElementAlign(dtype);
  const bool masked = lanes_->mask != nullptr && !access.in_bounds && buffer->space != MemorySpace::kRegister;
  Value* zero = llvm::Constant::getNullValue(type);
  if (access.stride == 1) {
    if (!masked) return Tag(buffer, ir_.CreateAlignedLoad(type, access.pointer, align));
    return Tag(buffer, ir_.CreateMaskedLoad(type, access.pointer, align, lanes_->mask, zero));
  }
  if (!access.places.empty() && !masked) {
    Value* pointer = ir_.CreateConstGEP1_64(scalar, access.pointer, static_cast<uint64_t>(-access.before));
    return ir_.CreateShuffleVector(Tag(buffer, ir_.CreateAlignedLoad(type, pointer, align)), access.places);
  }
  if (masked || access.offsets != nullptr) {
    Value* mask = masked ? lanes_->mask : nullptr;
    return Tag(buffer, ir_.CreateMaskedGather(type, LanePointers(access, dtype), align, mask, zero));
  }
  constexpr int64_t kMostShuffledStride = 4;
  if (access.stride > 1 && access.stride <= std::min(kMostShuffledStride, lanes_->lanes))
    return LoadStrided(buffer, access);
  Value* vector = llvm::PoisonValue::get(type);
  for (int64_t lane = 0; lane < lanes_->lanes; ++lane) {
    Value* pointer =
        ir_.CreateConstGEP1_64(scalar, access.pointer, static_cast<uint64_t>(lane * access.stride));
    vector = ir_.CreateInsertElement(vector, Tag(buffer, ir_.CreateAlignedLoad(scalar, pointer, align)),
                                     static_cast<uint64_t>(lane));
  }
  return vector;
}

// What `element` loads and the terms behind it, as numbers of 32 bits, one a lane.
Value* NestEmitter::LoadTerms(const Expr& element, int64_t lanes) {
  const Access access = Locate(element->buffer, element->args);
  llvm::Type* terms = ir_.getInt32Ty();
  llvm::Type* type = access.varies() ? ValueBuilder::WithLanes(terms, lanes) : terms;
  Value* bits =
      Tag(element->buffer, ir_.CreateAlignedLoad(type, access.pointer, ElementAlign(element->buffer->dtype)));
  return values_.Broadcast(bits, lanes);
}

// One pointer a lane.
Value* NestEmitter::LanePointers(const Access& access, DType dtype) {
  if (access.offsets != nullptr) return Offset(access.pointer, access.offsets, dtype);
  std::vector<llvm::Constant*> steps;
  for (int64_t lane = 0; lane < lanes_->lanes; ++lane) {
    steps.push_back(ir_.getInt64(static_cast<uint64_t>(lane * access.stride)));
  }
  return Offset(access.pointer, llvm::ConstantVector::get(steps), dtype);
}

void NestEmitter::StoreTo(const Buffer& buffer, const Access& access, Value* value) {
  value = values_.ToMemory(buffer->dtype, value);
  if (access.varies()) return StoreLanes(buffer, access, values_.Broadcast(value, lanes_->lanes));
  Tag(buffer, ir_.CreateAlignedStore(value, access.pointer, ElementAlign(buffer->dtype)));
}

// Elements as they lie in memory, one after the other.
void NestEmitter::StoreDense(const Buffer& buffer, Value* pointer, Value* elements) {
  Tag(buffer, ir_.CreateAlignedStore(elements, pointer, ElementAlign(buffer->dtype)));
}

// The mask of a multiply-add whose result goes to `accumulator`, as one that LLVM knows nothing of, where
// there are registers of masks. By a constant it would select in an instruction of its own, instead of in the
// multiply-add; and of several sums by the same mask it would select once, after the last one, from a copy of
// the accumulator. Accumulators that are updated equally often share a mask.
Value* NestEmitter::MaskOfUpdate(Value* mask, const Value* accumulator) {
  llvm::APInt offset(64, 0);
  const Value* base = accumulator->stripAndAccumulateConstantOffsets(module_->getDataLayout(), offset, true);
  const int update = updates_[{base, offset.getSExtValue()}]++;
  return target_emitter_.OpaqueCopy(ir_, mask, RegisterClass::kMask, absl::StrCat("update ", update));
}

void NestEmitter::StoreLanes(const Buffer& buffer, const Access& access, Value* value) {
  const DType dtype = buffer->dtype;
  const llvm::Align align = ElementAlign(dtype);
  Value* mask = lanes_->mask;
  if (access.stride == 1 && mask != nullptr && buffer->space == MemorySpace::kRegister) {
    Value* old = ir_.CreateAlignedLoad(value->getType(), access.pointer, align);
    value = ir_.CreateSelect(IsMultiplyAdd(value) ? MaskOfUpdate(mask, access.pointer) : mask, value, old);
    mask = nullptr;
  }
  if (access.stride == 1) {
    if (mask == nullptr) {
      Tag(buffer, ir_.CreateAlignedStore(value, access.pointer, align));
    } else {
      Tag(buffer, ir_.CreateMaskedStore(value, access.pointer, align, mask));
    }
    return;
  }
  if (mask != nullptr || access.offsets != nullptr) {
    Tag(buffer, ir_.CreateMaskedScatter(value, LanePointers(access, dtype), align, mask));
    return;
  }
  for (int64_t lane = 0; lane < lanes_->lanes; ++lane) {
    Value* pointer = ir_.CreateConstGEP1_64(values_.MemoryType(dtype), access.pointer,
                                            static_cast<uint64_t>(lane * access.stride));
    Value* element = ir_.CreateExtractElement(value, static_cast<uint64_t>(lane));
    Tag(buffer, ir_.CreateAlignedStore(element, pointer, align));
  }
}

}  // namespace attune
