#include "codegen/dot.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "codegen/indices.h"
#include "codegen/product.h"
#include "llvm/Analysis/VectorUtils.h"

namespace attune {
namespace {

using llvm::Value;

// The target's instruction for the product's elements, or null. Puts the elements into the instruction's
// order.
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
Value* DotEmitter::ModelOf(const ProductInstruction& instruction, Value* sum, Value* left, Value* right) {
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

bool DotEmitter::Emit(const Stmt& s) {
  const Stmt& store = s->body;
  const LaneLoop* const loop = scopes_.lanes();
  if (loop == nullptr || loop->mask != nullptr) return false;
  const int64_t lanes = loop->lanes, width = values_.target().VectorLanes(lanes);
  if (width == 0) return false;
  std::optional<std::array<Expr, 2>> product = AccumulatedElements(store);
  if (!product) return false;
  std::array<Expr, 2>& elements = *product;
  const ProductInstruction* instruction = FindInstruction(target_, store->buffer->dtype, elements);
  if (instruction == nullptr || !IsConst(s->extent, instruction->terms)) return false;
  scopes_.bounds().Set(s->var, {0, instruction->terms - 1});
  bool adjacent = true, uniform[2];
  for (int i = 0; i < 2 && adjacent; ++i) {
    const Affine flat = FlatIndex(elements[i]->buffer, elements[i]->args, scopes_.bounds());
    const Affine::Term *term = flat.Find(s->var), *lane = flat.Find(loop->var);
    uniform[i] = lane == nullptr;
    adjacent =
        term != nullptr && term->coefficient == 1 && (uniform[i] || lane->coefficient == instruction->terms);
  }
  scopes_.bounds().Unset(s->var);
  if (!adjacent) return false;

  scopes_.Bind(s->var, ir_.getInt64(0), {0, 0});
  // The instruction can broadcast its last operand, one 32-bit number for all lanes, straight from memory.
  if (instruction->left == instruction->right && uniform[0]) std::swap(elements[0], elements[1]);
  Value* operands[2];
  for (int i = 0; i < 2; ++i)
    operands[i] = memory_.LoadTerms(elements[i]->buffer,
                                    expressions_.Locate(elements[i]->buffer, elements[i]->args), lanes);
  const Access access = expressions_.Locate(store->buffer, store->indices);
  Value* old = values_.Broadcast(memory_.LoadFrom(store->buffer, access), lanes);
  const bool is_modelled = target_.IsModelled(instruction->feature);
  std::vector<Value*> sums;
  for (int64_t lane = 0; lane < lanes; lane += width) {
    const auto part = [&](Value* vector) {
      return ir_.CreateShuffleVector(
          vector, llvm::createSequentialMask(static_cast<unsigned>(lane), static_cast<unsigned>(width), 0));
    };
    Value *left = part(operands[0]), *right = part(operands[1]), *sum = part(old);
    sums.push_back(is_modelled ? ModelOf(*instruction, sum, left, right)
                               : values_.target().AddProducts(ir_, *instruction, sum, left, right));
  }
  memory_.StoreTo(store->buffer, access, llvm::concatenateVectors(ir_, sums));
  scopes_.Unbind(s->var);
  return true;
}

}  // namespace attune
