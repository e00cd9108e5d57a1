// Dot product loops: the terms that one instruction multiplies and adds to each lane of an accumulator.
//
// Problem: processors multiply narrow numbers at twice or four times the speed, but only in this form: for
// each lane of 32 bits, neighbouring narrow elements of two registers are multiplied and summed. Idea: a
// schedule puts a loop over such neighbours innermost; here the store in it is matched with what an
// instruction does: acc[v] += Σ_t a[t] b[v, t], where a may be the same for all lanes. kDotInstructions of
// target/products.h lists the instructions.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "codegen/emitter.h"
#include "codegen/product.h"
#include "llvm/Analysis/VectorUtils.h"
#include "target/products.h"

namespace attune {
namespace {

using llvm::Value;

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
  if (!lanes_ || lanes_->mask != nullptr) return false;
  const int64_t lanes = lanes_->lanes, width = target_emitter_.VectorLanes(lanes);
  if (width == 0) return false;
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
  for (int i = 0; i < 2; ++i) operands[i] = LoadTerms(elements[i], lanes);
  const Access access = Locate(store->buffer, store->indices);
  Value* old = values_.Broadcast(LoadFrom(store->buffer, access), lanes);
  const bool is_modelled = target_.IsModelled(instruction->feature);
  std::vector<Value*> sums;
  for (int64_t lane = 0; lane < lanes; lane += width) {
    const auto part = [&](Value* vector) {
      return ir_.CreateShuffleVector(
          vector, llvm::createSequentialMask(static_cast<unsigned>(lane), static_cast<unsigned>(width), 0));
    };
    Value *left = part(operands[0]), *right = part(operands[1]), *sum = part(old);
    sums.push_back(is_modelled ? ModelOf(*instruction, sum, left, right)
                               : target_emitter_.AddProducts(ir_, *instruction, sum, left, right));
  }
  StoreTo(store->buffer, access, llvm::concatenateVectors(ir_, sums));
  Unbind(s->var);
  return true;
}

}  // namespace attune
