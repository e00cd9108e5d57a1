// Changes of element type.
#include "import/onnx/ops/lowerings.h"
#include "import/onnx/tensor_proto.h"

namespace attune::onnx {
namespace {

struct NarrowType {
  int bits;
  bool is_signed;
};

std::optional<NarrowType> NarrowTypeOf(int type) {
  switch (type) {
    case TensorProto::INT4:
      return NarrowType{4, true};
    case TensorProto::UINT4:
      return NarrowType{4, false};
    case TensorProto::INT2:
      return NarrowType{2, true};
    case TensorProto::UINT2:
      return NarrowType{2, false};
    default:
      return std::nullopt;
  }
}

Binding CastTo(OpContext& c, int type) {
  Value* x = c.In(0);
  const DType to = OrThrow(RequireDType(type));
  Binding result = x;
  if (const std::optional<NarrowType> narrow = NarrowTypeOf(type)) {
    // Keeps the low bits: (x mod 2^bits), shifted into the signed range.
    x = c.Cast(x, DType::kI32);
    const double size = 1 << narrow->bits;
    x = c.Emit(Op::kMod, {x, c.ScalarLike(x, size)});
    if (narrow->is_signed) {
      Value* high = c.Emit(Op::kGreaterEqual, {x, c.ScalarLike(x, size / 2)});
      x = c.Where(high, c.Add(x, -size), x);
    }
  }
  result.value = c.Cast(x, to);
  result.type = type;
  return result;
}

}  // namespace

Outputs CastToType(OpContext& c) { return {CastTo(c, static_cast<int>(c.Int("to")))}; }

Outputs CastLike(OpContext& c) {
  const Binding& like = c.BindingOf(1);
  if (like.type != 0 && NarrowTypeOf(like.type)) return {CastTo(c, like.type)};
  return {c.Cast(c.In(0), c.InType(1))};
}

// Reinterprets the bits as another type. A wrapping cast keeps the bits of integers of the same size.
Outputs BitCast(OpContext& c) {
  const DType from = c.InType(0), to = OrThrow(RequireDType(static_cast<int>(c.Int("to"))));
  if (DTypeSize(from) != DTypeSize(to))
    Invalid("the bits of ", DTypeName(from), " are not those of ", DTypeName(to));
  if (from != to && (IsFloat(from) || IsFloat(to) || to == DType::kBool))
    Unsupported("the bits of ", DTypeName(from), " as ", DTypeName(to));
  return {c.Cast(c.In(0), to)};
}

}  // namespace attune::onnx
