// Dot product loops: the terms that one instruction multiplies and adds to each lane of an accumulator.
//
// Problem: processors multiply narrow numbers at twice or four times the speed, but only in this form: for
// each lane of 32 bits, neighbouring narrow elements of two registers are multiplied and summed. Idea: a
// schedule puts a loop over such neighbours innermost; here the store in it is matched with what an
// instruction does: acc[v] += Σ_t a[t] b[v, t], where a may be the same for all lanes. AVX512_BF16 takes two
// terms of bf16 into f32, AVX512_VNNI four of u8 and i8 into i32.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "codegen/emitter.h"
#include "codegen/product.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "target/products.h"

namespace attune {
namespace {

using llvm::Value;

constexpr int64_t kLanes = 16, kHalf = 8;

struct Intrinsics {
  llvm::Intrinsic::ID whole, half;
};

Intrinsics IntrinsicsOf(const ProductInstruction& instruction) {
  if (instruction.left == DType::kBF16)
    return {llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256};
  return {llvm::Intrinsic::x86_avx512_vpdpbusd_512, llvm::Intrinsic::x86_avx512_vpdpbusd_256};
}

// The target's instruction for the product's elements, which come to stand in its order; or null.
const ProductInstruction* FindInstruction(const Target& target, DType sum, std::array<Expr, 2>& elements) {
  for (int i = 0; i < 2; ++i) {
    const ProductInstruction* found =
        FindProduct(kDotInstructions, target, sum, elements[0]->buffer->dtype, elements[1]->buffer->dtype);
    if (found != nullptr) return found;
    std::swap(elements[0], elements[1]);
  }
  return nullptr;
}

}  // namespace

void NestEmitter::EmitDot(const Stmt& s) {
  if (!EmitDotInstruction(s)) EmitUnrolled(s);
}

// Returns false, having emitted nothing, where no instruction does what the store does.
bool NestEmitter::EmitDotInstruction(const Stmt& s) {
  const Stmt& store = s->body;
  if (!lanes_ || lanes_->mask != nullptr || (lanes_->lanes != kHalf && lanes_->lanes % kLanes != 0))
    return false;
  std::optional<std::array<Expr, 2>> product = AccumulatedElements(store);
  if (!product) return false;
  std::array<Expr, 2>& elements = *product;
  const ProductInstruction* instruction = FindInstruction(target_, store->buffer->dtype, elements);
  if (instruction == nullptr || !IsConst(s->extent, instruction->terms)) return false;
  bounds_.Set(s->var, {0, instruction->terms - 1});
  bool adjacent = true, uniform[2];
  for (int i = 0; i < 2 && adjacent; ++i) {
    const Affine flat = FlatIndex(elements[i]->buffer, elements[i]->args);
    const Affine::Term *term = flat.Find(s->var), *lane = flat.Find(lanes_->var);
    uniform[i] = lane == nullptr;
    adjacent =
        term != nullptr && term->coefficient == 1 && (uniform[i] || lane->coefficient == instruction->terms);
  }
  bounds_.Unset(s->var);
  if (!adjacent) return false;

  Bind(s->var, ir_.getInt64(0), {0, 0});
  // The instruction can take its last operand, of one number of 32 bits for all lanes, straight from memory.
  if (instruction->left == instruction->right && uniform[0]) std::swap(elements[0], elements[1]);
  Value* operands[2];
  for (int i = 0; i < 2; ++i) operands[i] = LoadTerms(elements[i], lanes_->lanes);
  const Access access = Locate(store->buffer, store->indices);
  Value* old = values_.Broadcast(LoadFrom(store->buffer, access), lanes_->lanes);
  const int64_t width = std::min(lanes_->lanes, kLanes);
  const Intrinsics intrinsics = IntrinsicsOf(*instruction);
  const auto part = [&](Value* vector, int64_t lane) {
    return ir_.CreateShuffleVector(
        vector, llvm::createSequentialMask(static_cast<unsigned>(lane), static_cast<unsigned>(width), 0));
  };
  const auto terms = [&](Value* vector, int64_t lane) {
    Value* own = part(vector, lane);
    if (instruction->left != DType::kBF16) return own;
    return ir_.CreateBitCast(own, ValueBuilder::WithLanes(ir_.getBFloatTy(), instruction->terms * width));
  };
  std::vector<Value*> sums;
  for (int64_t lane = 0; lane < lanes_->lanes; lane += width) {
    sums.push_back(
        ir_.CreateIntrinsic(width == kHalf ? intrinsics.half : intrinsics.whole, {},
                            {part(old, lane), terms(operands[0], lane), terms(operands[1], lane)}));
  }
  StoreTo(store->buffer, access, llvm::concatenateVectors(ir_, sums));
  Unbind(s->var);
  return true;
}

}  // namespace attune
