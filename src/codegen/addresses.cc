#include "codegen/addresses.h"

#include <algorithm>
#include <utility>

#include "codegen/indices.h"
#include "llvm/IR/Constants.h"

namespace attune {
namespace {

using llvm::Value;

bool SameTerms(const std::vector<Affine::Term>& a, const std::vector<Affine::Term>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Affine::Term& x, const Affine::Term& y) {
    return x.coefficient == y.coefficient && SameExpr(x.atom, y.atom);
  });
}

bool ReadsMemory(const Expr& e) {
  return e->kind == ExprKind::kLoad || std::any_of(e->args.begin(), e->args.end(), ReadsMemory);
}

}  // namespace

// The start of `buffer` moved by the terms of `a`, without its constant. Each prefix of the terms,
// outermost first, is computed once, at the entry of the outermost scope that knows it.
Value* Addresses::PointerFor(const Buffer& buffer, const Affine& a) {
  std::vector<std::pair<size_t, Affine::Term>> fixed;
  std::vector<Affine::Term> loaded;
  for (const Affine::Term& term : a.terms) {
    if (ReadsMemory(term.atom)) {
      loaded.push_back(term);
    } else {
      const size_t depth = scopes_.DepthOf(term.atom);
      const auto after =
          std::find_if(fixed.begin(), fixed.end(), [&](const auto& f) { return f.first > depth; });
      fixed.insert(after, {depth, term});
    }
  }

  Value* const base = buffers_.BasePointer(buffer);
  Value* pointer = base;
  std::vector<Affine::Term> prefix;
  for (const auto& [depth, term] : fixed) {
    prefix.push_back(term);
    std::vector<Scopes::Pointer>& known = scopes_.pointers(depth);
    const auto it = std::find_if(known.begin(), known.end(), [&](const Scopes::Pointer& p) {
      return p.base == base && SameTerms(p.terms, prefix);
    });
    if (it != known.end()) {
      pointer = it->value;
      continue;
    }
    const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
    ir_.SetInsertPoint(scopes_.EndOfEntry(depth));
    pointer = OffsetBy(values_, pointer, indices_.EmitElsewhere(Affine{.terms = {term}}), buffer->dtype);
    known.push_back({base, prefix, pointer});
  }
  pointer = Separate(buffer.get(), pointer, fixed.empty() ? 0 : fixed.back().first);
  if (!loaded.empty())
    pointer = OffsetBy(values_, pointer, indices_.EmitAffine(Affine{.terms = loaded}), buffer->dtype);
  return pointer;
}

// The index of a buffer's last element, or 0 if it has none.
Value* Addresses::LastElement(const Buffer& buffer) {
  if (!buffer->is_open())
    return values_.Integer(DType::kI64, std::max<int64_t>(buffer->num_elements() - 1, 0));
  Expr elements(1);
  for (const Extent& extent : buffer->extents()) elements = elements * extent.expr();
  return indices_.EmitAffine(scopes_.bounds().Normalize(Max(elements - Expr(1), 0)));
}

// For a load that perhaps no lane needs: an address inside of the buffer, whatever the index is.
Value* Addresses::ClampedPointer(const Buffer& buffer, const Affine& flat) {
  Value* index = indices_.EmitAffine(flat);
  Value* last = LastElement(buffer);
  index = values_.Binary(MathOp::kMin, DType::kI64, index, last);
  index = values_.Binary(MathOp::kMax, DType::kI64, index, values_.Integer(DType::kI64, 0));
  return OffsetBy(values_, buffers_.BasePointer(buffer), index, buffer->dtype);
}

// Several lanes may read one element, as the lanes of a channel group do. Then one vector load and a
// shuffle suffice, and other accesses to the same vector share the load. The vector lies within the buffer
// where that consists of whole vectors.
void Addresses::FindPlaces(const Buffer& buffer, const Affine& uniform, Access& access) const {
  const auto* offsets = llvm::dyn_cast<llvm::Constant>(access.offsets);
  const int64_t lanes = scopes_.lanes()->lanes;
  const bool whole = std::ranges::all_of(
      uniform.terms, [lanes](const Affine::Term& term) { return term.coefficient % lanes == 0; });
  if (offsets == nullptr || !whole || buffer->is_open() || buffer->num_elements() % lanes != 0) return;
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

Access Addresses::Locate(const Buffer& buffer, const std::vector<Expr>& indices) {
  const Bounds& bounds = scopes_.bounds();
  const LaneLoop* const lanes = scopes_.lanes();
  const Affine flat = FlatIndex(buffer, indices, bounds);
  const Interval range = bounds.Range(flat);
  Access access{};
  access.in_bounds = AreInBounds(buffer, range);
  buffers_.Reach(buffer, range);

  Affine uniform, varying;
  uniform.constant = flat.constant;
  for (const Affine::Term& term : flat.terms) {
    (scopes_.DependsOnLane(term.atom) ? varying : uniform).terms.push_back(term);
  }
  const Affine::Term* lane = varying.terms.size() == 1 ? varying.Find(lanes->var) : nullptr;
  if (lane != nullptr) {
    access.stride = lane->coefficient;
    uniform.Add(bounds.Normalize(lanes->min), access.stride);
  } else if (!varying.terms.empty()) {
    // An index that seems to depend on the lane may turn out to be uniform, hence the broadcast.
    access.offsets = values_.Broadcast(indices_.EmitAffine(varying), lanes->lanes);
    // Gathers by 32-bit offsets take half as many instructions.
    if (FitsInt32(bounds.Range(varying))) {
      access.offsets = values_.Cast(DType::kI64, DType::kI32, access.offsets);
    }
    FindPlaces(buffer, uniform, access);
  }

  const bool masked = lanes != nullptr && lanes->mask != nullptr && !buffers_.IsInRegisters(buffer);
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

// The pointer that the current iteration uses for `pointer`, which is known from the scope at `depth` on:
// an opaque copy where the iteration shares elements of the buffer with others, else `pointer` itself.
Value* Addresses::Separate(const BufferNode* buffer, Value* pointer, size_t depth) {
  if (separations_.empty() || depth > separations_.back().depth) return pointer;
  const Separation& iteration = separations_.back();
  const std::vector<const BufferNode*>& shared = *iteration.buffers;
  if (std::find(shared.begin(), shared.end(), buffer) == shared.end()) return pointer;

  std::vector<Scopes::Pointer>& pointers = scopes_.pointers(iteration.depth);
  for (const Scopes::Pointer& known : pointers) {
    if (known.base == pointer && known.terms.empty()) return known.value;
  }
  const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  ir_.SetInsertPoint(scopes_.EndOfEntry(iteration.depth));
  Value* copy = values_.target().OpaqueCopy(ir_, pointer, RegisterClass::kGeneral,
                                            absl::StrCat("copy ", opaque_copies_++));
  pointers.push_back({pointer, {}, copy});
  return copy;
}

}  // namespace attune
