// Dot product loops: the terms that one instruction multiplies and adds to each lane of an accumulator.
//
// Problem: processors multiply narrow numbers at twice or four times the speed, but only in this form: for
// each lane of 32 bits, neighbouring narrow elements of two registers are multiplied and summed. Idea: a
// schedule puts a loop over such neighbours innermost; here the store in it is matched with what an
// instruction does: acc[v] += Σ_t a[t] b[v, t], where a may be the same for all lanes. AVX512_BF16 takes two
// terms of bf16 into f32, AVX512_VNNI and AVX-VNNI four of u8 and i8 into i32, AVX-VNNI-INT8 four of bytes of
// one type, and AVX2 two of i16 into i32, which another instruction adds.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "codegen/emitter.h"
#include "codegen/product.h"
#include "codegen/x86/x86.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "target/products.h"

namespace attune {
namespace {

using llvm::Value;

constexpr int64_t kLanes = 16, kHalf = 8;  // of 512 and 256 bits

struct Intrinsics {
  llvm::Intrinsic::ID whole, half;
  bool adds = true;  // to the sum, which is then its first operand
};

Intrinsics IntrinsicsOf(const ProductInstruction& instruction) {
  using namespace llvm::Intrinsic;
  if (instruction.left == DType::kBF16) return {x86_avx512bf16_dpbf16ps_512, x86_avx512bf16_dpbf16ps_256};
  if (instruction.left == DType::kI16) return {x86_avx512_pmaddw_d_512, x86_avx2_pmadd_wd, /*adds=*/false};
  if (instruction.right == DType::kU8) return {not_intrinsic, x86_avx2_vpdpbuud_256};
  if (instruction.left == DType::kI8) return {not_intrinsic, x86_avx2_vpdpbssd_256};
  return {x86_avx512_vpdpbusd_512, x86_avx512_vpdpbusd_256};  // of AVX-VNNI and of AVX-512 alike
}

// The elements of an operand of 32-bit lanes, where the instruction does not take those.
llvm::Type* ElementOf(const ProductInstruction& instruction, llvm::IRBuilderBase& ir) {
  if (instruction.left == DType::kBF16) return ir.getBFloatTy();
  return instruction.left == DType::kI16 ? ir.getInt16Ty() : nullptr;
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

// Computes what an instruction for bytes does, with instructions that every processor has.
Value* NestEmitter::ModelOf(const ProductInstruction& instruction, Value* sum, Value* left, Value* right) {
  const auto byte = [&](Value* group, int64_t term, bool is_signed) {
    constexpr int64_t kBits = 8;
    const auto above = static_cast<uint64_t>(32 - kBits * (term + 1)), rest = uint64_t{32 - kBits};
    Value* shifted = ir_.CreateShl(group, above);
    return is_signed ? ir_.CreateAShr(shifted, rest) : ir_.CreateLShr(shifted, rest);
  };
  for (int64_t term = 0; term < instruction.terms; ++term) {
    sum = ir_.CreateAdd(sum, ir_.CreateMul(byte(left, term, instruction.left == DType::kI8),
                                           byte(right, term, instruction.right == DType::kI8)));
  }
  return sum;
}

void NestEmitter::EmitDot(const Stmt& s) {
  if (!EmitDotInstruction(s)) EmitUnrolled(s);
}

// Returns false, having emitted nothing, where no instruction does what the store does.
bool NestEmitter::EmitDotInstruction(const Stmt& s) {
  const Stmt& store = s->body;
  const int64_t whole = target_.Has("avx512bw") ? kLanes : kHalf;
  if (!lanes_ || lanes_->mask != nullptr || (lanes_->lanes != kHalf && lanes_->lanes % whole != 0))
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
  const int64_t width = std::min(lanes_->lanes, whole);
  const Intrinsics intrinsics = IntrinsicsOf(*instruction);
  const auto part = [&](Value* vector, int64_t lane) {
    return ir_.CreateShuffleVector(
        vector, llvm::createSequentialMask(static_cast<unsigned>(lane), static_cast<unsigned>(width), 0));
  };
  const auto terms = [&](Value* vector, int64_t lane) {
    Value* own = part(vector, lane);
    llvm::Type* element = ElementOf(*instruction, ir_);
    if (element == nullptr) return own;
    return ir_.CreateBitCast(own, ValueBuilder::WithLanes(element, instruction->terms * width));
  };
  std::vector<Value*> sums;
  for (int64_t lane = 0; lane < lanes_->lanes; lane += width) {
    if (target_.IsModelled(instruction->feature)) {
      sums.push_back(
          ModelOf(*instruction, part(old, lane), part(operands[0], lane), part(operands[1], lane)));
      continue;
    }
    std::vector<Value*> arguments = {terms(operands[0], lane), terms(operands[1], lane)};
    if (intrinsics.adds) arguments.insert(arguments.begin(), part(old, lane));
    Value* sum = ir_.CreateIntrinsic(width == kHalf ? intrinsics.half : intrinsics.whole, {}, arguments);
    // Sums of integers that the back end can look into it puts together otherwise, so that they are short
    // chains, and takes more registers than there are.
    if (!intrinsics.adds)
      sum = OpaqueCopy(ir_, ir_.CreateAdd(part(old, lane), sum), RegisterClass::kVector, "sum");
    sums.push_back(sum);
  }
  StoreTo(store->buffer, access, llvm::concatenateVectors(ir_, sums));
  Unbind(s->var);
  return true;
}

}  // namespace attune
