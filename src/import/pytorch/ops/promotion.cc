#include "import/pytorch/ops/promotion.h"

#include <array>
#include <optional>

namespace attune::pytorch {
namespace {

using Type = std::optional<DType>;

// bool 0, integers 1, floats 2.
int Category(DType dtype) { return IsFloat(dtype) ? 2 : IsInt(dtype) ? 1 : 0; }

// The smallest type that can represent both, as in torch.promote_types.
DType Join(DType a, DType b) {
  if (a == b) return a;
  if (Category(a) != Category(b)) return Category(a) > Category(b) ? a : b;
  if (IsFloat(a)) {
    if (DTypeSize(a) == DTypeSize(b)) return DType::kF32;  // f16 with bf16
    return DTypeSize(a) > DTypeSize(b) ? a : b;
  }
  const bool same_sign = IsSignedInt(a) == IsSignedInt(b);
  const DType larger = DTypeSize(a) > DTypeSize(b) ? a : b;
  if (same_sign) return larger;
  if (DTypeSize(a) != DTypeSize(b) && IsSignedInt(larger)) return larger;
  if (larger == DType::kU8 || (DTypeSize(a) == 1 && DTypeSize(b) == 1)) return DType::kI16;
  Unsupported("operands of ", DTypeName(a), " and ", DTypeName(b));
}

Type Join(Type a, Type b) {
  if (!a || !b) return a ? a : b;
  return Join(*a, *b);
}

// `before` decides unless `after` has a higher category.
Type Combine(Type before, Type after) {
  if (!before || !after) return before ? before : after;
  return Category(*after) > Category(*before) ? after : before;
}

DType TypeOf(const Number& number) {
  if (std::holds_alternative<bool>(number)) return DType::kBool;
  return std::holds_alternative<int64_t>(number) ? DType::kI64 : DType::kF32;
}

}  // namespace

DType ResultType(const std::vector<Operand>& operands) {
  std::array<Type, 3> joined;  // for tensors with dimensions, tensors without, and numbers
  for (const Operand& operand : operands) {
    if (operand.value == nullptr) {
      joined[2] = Join(joined[2], Type(TypeOf(operand.number)));
    } else {
      const TensorType& type = operand.value->type();
      Type& of_kind = joined[type.rank() > 0 ? 0 : 1];
      of_kind = Join(of_kind, Type(type.dtype));
    }
  }
  const Type result = Combine(joined[0], Combine(joined[1], joined[2]));
  if (!result) Invalid("it has no operands");
  return *result;
}

DType AsFloatType(DType dtype) { return IsFloat(dtype) ? dtype : DType::kF32; }

Promoted Promote(OpContext& c, const Operand& a, const Operand& b) {
  const DType dtype = ResultType({a, b});
  return {c.As(a, dtype), c.As(b, dtype), dtype};
}

}  // namespace attune::pytorch
