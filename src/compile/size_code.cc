#include "compile/size_code.h"

#include <algorithm>

#include "base/fatal.h"

namespace attune {
namespace {

SizeOpcode OpcodeOf(MathOp op) {
  switch (op) {
    case MathOp::kAdd:
    case MathOp::kSub:
      return SizeOpcode::kAdd;
    case MathOp::kMul:
      return SizeOpcode::kMul;
    case MathOp::kFloorDiv:
      return SizeOpcode::kFloorDiv;
    case MathOp::kFloorMod:
      return SizeOpcode::kMod;
    case MathOp::kMin:
      return SizeOpcode::kMin;
    case MathOp::kMax:
      return SizeOpcode::kMax;
    default:
      Fatal("a size is computed by ", MathOpName(op));
  }
}

void Append(const Expr& e, const std::vector<SizeParam>& sizes, SizeCode& code) {
  if (e->kind == ExprKind::kInt) {
    code.push_back({SizeOpcode::kConstant, e->int_value});
  } else if (e->kind == ExprKind::kVar) {
    const auto size = std::ranges::find(sizes, e->var, &SizeParam::var);
    code.push_back({SizeOpcode::kSize, size - sizes.begin()});
  } else {
    for (const Expr& arg : e->args) Append(arg, sizes, code);
    if (e->op == MathOp::kSub) {
      code.push_back({SizeOpcode::kConstant, -1});
      code.push_back({SizeOpcode::kMul, 0});
    }
    code.push_back({OpcodeOf(e->op), 0});
  }
}

}  // namespace

SizeCode CodeOf(const Expr& number, const std::vector<SizeParam>& sizes) {
  SizeCode code;
  Append(ToExpr(BoundsOf(sizes).Normalize(number)), sizes, code);
  return code;
}

Expr BytesOf(const BufferNode& buffer) {
  Expr bytes(DTypeSize(buffer.dtype));
  for (const Extent& extent : buffer.extents()) bytes = bytes * extent.expr();
  return bytes;
}

Bounds BoundsOf(const std::vector<SizeParam>& sizes) {
  Bounds bounds;
  for (const SizeParam& size : sizes) bounds.Set(size.var, {size.min, size.max});
  return bounds;
}

}  // namespace attune
