// Dot product loops: the terms that one instruction multiplies and adds to each lane of an accumulator.
//
// Problem: processors multiply narrow numbers at twice or four times the speed, but only in this form: for
// each lane of 32 bits, neighbouring narrow elements of two registers are multiplied and summed. Idea: a
// schedule puts a loop over such neighbours innermost; here the store in it is matched with what the
// instruction does. AVX512_BF16: acc[v] += a[0] b[v, 0] + a[1] b[v, 1], bf16 into f32, where a may be the
// same for all lanes.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "codegen/emitter.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace attune {
namespace {

using llvm::Value;

constexpr int64_t kPair = 2, kLanes = 16, kHalf = 8;

// The bf16 element that `e` widens to f32, or null.
Expr WidenedBF16(const Expr& e) {
  if (e->kind != ExprKind::kCast || e->dtype != DType::kF32) return Expr();
  const Expr& element = e->args[0];
  return element->kind == ExprKind::kLoad && element->dtype == DType::kBF16 ? element : Expr();
}

}  // namespace

void NestEmitter::EmitDot(const Stmt& s) {
  if (!EmitDotInstruction(s)) EmitUnrolled(s);
}

// Returns false, having emitted nothing, where the instruction does not do what the store does.
bool NestEmitter::EmitDotInstruction(const Stmt& s) {
  const Stmt& store = s->body;
  if (!target_.Has("avx512_bf16") || !lanes_ || lanes_->mask != nullptr ||
      (lanes_->lanes != kHalf && lanes_->lanes % kLanes != 0) || !IsConst(s->extent, kPair) ||
      store->buffer->dtype != DType::kF32) {
    return false;
  }
  const Expr& sum = store->value;
  if (sum->kind != ExprKind::kOp || sum->op != MathOp::kAdd) return false;
  const Expr &accumulator = sum->args[0], &product = sum->args[1];
  if (accumulator->kind != ExprKind::kLoad || accumulator->buffer != store->buffer ||
      !std::equal(accumulator->args.begin(), accumulator->args.end(), store->indices.begin(),
                  store->indices.end(), SameExpr) ||
      product->kind != ExprKind::kOp || product->op != MathOp::kMul) {
    return false;
  }
  const Expr elements[] = {WidenedBF16(product->args[0]), WidenedBF16(product->args[1])};
  bounds_.Set(s->var, {0, kPair - 1});
  bool adjacent = true, uniform[2];
  for (int i = 0; i < 2 && adjacent; ++i) {
    adjacent = static_cast<bool>(elements[i]);
    if (!adjacent) break;
    const Affine flat = FlatIndex(elements[i]->buffer, elements[i]->args);
    const Affine::Term *term = flat.Find(s->var), *lane = flat.Find(lanes_->var);
    uniform[i] = lane == nullptr;
    adjacent = term != nullptr && term->coefficient == 1 && (uniform[i] || lane->coefficient == kPair);
  }
  bounds_.Unset(s->var);
  if (!adjacent) return false;

  Bind(s->var, ir_.getInt64(0), {0, 0});
  // The instruction can take its last operand, of one pair for all lanes, straight from memory.
  Value* pairs[2];
  for (int i = 0; i < 2; ++i) pairs[i] = LoadPairs(elements[i], lanes_->lanes);
  if (uniform[0]) std::swap(pairs[0], pairs[1]);
  const Access access = Locate(store->buffer, store->indices);
  Value* old = values_.Broadcast(LoadFrom(store->buffer, access), lanes_->lanes);
  const int64_t width = std::min(lanes_->lanes, kLanes);
  const auto instruction = width == kHalf ? llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256
                                          : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512;
  std::vector<Value*> sums;
  for (int64_t lane = 0; lane < lanes_->lanes; lane += width) {
    const auto part = [&](Value* vector, int64_t terms) {
      const auto mask = llvm::createSequentialMask(static_cast<unsigned>(lane * terms),
                                                   static_cast<unsigned>(width * terms), 0);
      return ir_.CreateShuffleVector(vector, mask);
    };
    sums.push_back(
        ir_.CreateIntrinsic(instruction, {}, {part(old, 1), part(pairs[0], kPair), part(pairs[1], kPair)}));
  }
  StoreTo(store->buffer, access, llvm::concatenateVectors(ir_, sums));
  Unbind(s->var);
  return true;
}

}  // namespace attune
