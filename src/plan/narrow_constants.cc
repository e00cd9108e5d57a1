#include "plan/narrow_constants.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/float16.h"
#include "graph/flops.h"
#include "lower/definition.h"
#include "tensor/replace_buffers.h"

namespace attune {
namespace {

// The type of 16 bits that holds all numbers of the constant: bf16, which widens faster, where both do.
std::optional<DType> NarrowTypeOf(const Tensor& constant) {
  if (constant.dtype() != DType::kF32) return std::nullopt;
  const std::span<const float> numbers = constant.as<float>();
  if (std::ranges::all_of(numbers, FitsBF16)) return DType::kBF16;
  if (std::ranges::all_of(numbers, FitsF16)) return DType::kF16;
  return std::nullopt;
}

// Whether a product waits for the matrix on its right: reading the matrix takes longer than multiplying and
// widening it. From L2 it comes faster than that.
bool WaitsForWeights(const Node& product, int64_t constant_bytes, const Target& target) {
  if (constant_bytes <= target.l2_bytes || !product.output()->type().is_static()) return false;
  const double bytes_per_cycle =
      constant_bytes <= target.l3_bytes ? target.l3_bytes_per_cycle : target.dram_bytes_per_cycle;
  const int64_t weights = product.input(1)->type().num_elements();
  const int64_t bytes = weights * DTypeSize(DType::kF32);
  const double lanes = target.Lanes(DTypeSize(DType::kF32));
  const double cycles = static_cast<double>(CountMultiplyAdds(product)) / (target.fma_per_cycle * lanes) +
                        static_cast<double>(weights) / lanes * target.widen_cycles;
  return static_cast<double>(bytes) / bytes_per_cycle > cycles;
}

// Whether the group reads its input only as such a matrix, or as a table that it takes rows from.
bool IsWaitedFor(const Value* input, int64_t constant_bytes, const Target& target) {
  return !input->users().empty() && std::ranges::all_of(input->users(), [&](const Node* user) {
    const auto is_only = [&](int i) {
      return user->input(i) == input && std::ranges::count(user->inputs(), input) == 1;
    };
    if (user->op() == Op::kGather) return is_only(0);
    return (user->op() == Op::kMatMul || user->op() == Op::kConv) && is_only(1) &&
           WaitsForWeights(*user, constant_bytes, target);
  });
}

// Whether the nest only stores what it loads, or constants, and computes nothing.
bool OnlyMoves(const LoopNest& nest) {
  bool moves = true;
  const auto visit_value = [&](const Expr& part) {
    const bool is_select = part->kind == ExprKind::kOp && part->op == MathOp::kSelect;
    if (IsFloat(part->dtype) && part->kind == ExprKind::kOp && !is_select) moves = false;
    if (IsFloat(part->dtype) && part->kind == ExprKind::kCast) moves = false;
  };
  const std::function<void(const Stmt&)> visit = [&](const Stmt& s) {
    if (s == nullptr) return;
    if (s->value) VisitExpr(s->value, visit_value);
    for (const Stmt& child : s->children) visit(child);
    visit(s->body);
    visit(s->else_body);
  };
  for (const Stmt& root : nest.roots) visit(root);
  return moves;
}

// Changes the nest's parameter of that name, if there is one of f32, to `dtype`.
void Replace(const std::string& name, DType dtype, LoopNest& nest) {
  for (const LoopNest::Param& param : nest.params) {
    if (param.buffer->name != name || param.buffer->dtype != DType::kF32) continue;
    const Buffer before = param.buffer;
    nest = ReplaceBuffers(std::move(nest), {{before, MakeBuffer(name, dtype, before->shape)}});
    return;
  }
}

}  // namespace

NarrowInputs FindNarrowInputs(const Node& group, int64_t constant_bytes, const Target& target) {
  NarrowInputs inputs;
  for (int i = 0; i < group.num_inputs(); ++i) {
    const Tensor* constant = group.input(i)->constant();
    const Value* inner = group.region().inputs()[static_cast<size_t>(i)].get();
    if (constant == nullptr || !IsWaitedFor(inner, constant_bytes, target)) continue;
    if (const std::optional<DType> dtype = NarrowTypeOf(*constant)) inputs[i] = *dtype;
  }
  return inputs;
}

int64_t ConstantBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kConstant) bytes += node->output()->constant()->num_bytes();
    const bool is_group = node->op() == Op::kFused;
    for (int r = 0; r < node->num_regions() && !is_group; ++r) bytes += ConstantBytes(node->region(r));
  }
  return bytes;
}

Tensor Narrowed(const Tensor& constant, DType dtype) {
  Tensor narrow(dtype, constant.shape());
  const auto bits = [&](float number) {
    return dtype == DType::kBF16 ? FloatToBF16(number) : FloatToF16(number);
  };
  std::ranges::transform(constant.as<float>(), reinterpret_cast<uint16_t*>(narrow.mutable_data()), bits);
  return narrow;
}

void ReadNarrow(const NarrowInputs& inputs, GroupKernel& kernel) {
  for (const auto& [input, dtype] : inputs) {
    Replace(InputName(static_cast<size_t>(input)), dtype, kernel.nest);
    for (GroupKernel::Prepacking& prepacking : kernel.prepackings) {
      if (prepacking.input != input || !OnlyMoves(prepacking.nest)) continue;
      Replace(prepacking.param, dtype, prepacking.nest);
      Replace(prepacking.param, dtype, kernel.nest);
    }
  }
}

}  // namespace attune
