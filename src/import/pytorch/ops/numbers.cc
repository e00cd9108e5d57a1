// Arithmetic on sizes. Shapes are known at import, and so is everything computed from them.
#include <cmath>

#include "base/checked.h"
#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {
namespace {

bool IsDouble(const Number& a, const Number& b = Number(false)) {
  return std::holds_alternative<double>(a) || std::holds_alternative<double>(b);
}

int64_t Checked(std::optional<int64_t> value) {
  if (!value) Invalid("its result overflows");
  return *value;
}

void CheckDivisor(const Number& divisor) {
  if (ToDouble(divisor) == 0) Invalid("it divides by 0");
}

// Converts to a whole number, as Python's int() and math.floor() do.
Number Whole(double value) {
  if (!(std::abs(value) < 0x1p62)) Invalid(value, " is too large for an integer");
  return static_cast<int64_t>(value);
}

}  // namespace

Number AddNumbers(const Number& a, const Number& b) {
  if (IsDouble(a, b)) return ToDouble(a) + ToDouble(b);
  return Checked(CheckedAdd(ToInt(a), ToInt(b)));
}

Number NegateNumber(const Number& a) {
  if (IsDouble(a)) return -ToDouble(a);
  return Checked(CheckedMul(ToInt(a), -1));
}

Number SubtractNumbers(const Number& a, const Number& b) { return AddNumbers(a, NegateNumber(b)); }

Number MultiplyNumbers(const Number& a, const Number& b) {
  if (IsDouble(a, b)) return ToDouble(a) * ToDouble(b);
  return Checked(CheckedMul(ToInt(a), ToInt(b)));
}

Number DivideNumbers(const Number& a, const Number& b) {
  CheckDivisor(b);
  return ToDouble(a) / ToDouble(b);
}

Number FloorDivideNumbers(const Number& a, const Number& b) {
  CheckDivisor(b);
  if (IsDouble(a, b)) return std::floor(ToDouble(a) / ToDouble(b));
  const int64_t n = ToInt(a);
  const int64_t d = ToInt(b);
  if (d == -1) return NegateNumber(a);
  return n / d - (n % d != 0 && (n % d < 0) != (d < 0) ? 1 : 0);
}

Number ModuloNumbers(const Number& a, const Number& b) {
  return SubtractNumbers(a, MultiplyNumbers(FloorDivideNumbers(a, b), b));
}

Number PowerOfNumbers(const Number& a, const Number& b) {
  if (IsDouble(a, b) || ToInt(b) < 0) return std::pow(ToDouble(a), ToDouble(b));
  int64_t power = 1, square = ToInt(a);
  for (int64_t left = ToInt(b); left != 0; left /= 2) {
    if (left % 2 != 0) power = Checked(CheckedMul(power, square));
    if (left > 1) square = Checked(CheckedMul(square, square));
  }
  return power;
}

Number SmallerNumber(const Number& a, const Number& b) { return Exact(b) < Exact(a) ? b : a; }
Number LargerNumber(const Number& a, const Number& b) { return Exact(b) > Exact(a) ? b : a; }
Number NumbersEqual(const Number& a, const Number& b) { return Exact(a) == Exact(b); }
Number NumbersDiffer(const Number& a, const Number& b) { return Exact(a) != Exact(b); }
Number NumberLess(const Number& a, const Number& b) { return Exact(a) < Exact(b); }
Number NumberLessEqual(const Number& a, const Number& b) { return Exact(a) <= Exact(b); }
Number NumberGreater(const Number& a, const Number& b) { return Exact(a) > Exact(b); }
Number NumberGreaterEqual(const Number& a, const Number& b) { return Exact(a) >= Exact(b); }
Number BothNumbers(const Number& a, const Number& b) { return ToDouble(a) != 0 && ToDouble(b) != 0; }
Number EitherNumber(const Number& a, const Number& b) { return ToDouble(a) != 0 || ToDouble(b) != 0; }

Number SameNumber(const Number& a) { return a; }
Number NotNumber(const Number& a) { return ToDouble(a) == 0; }
Number NumberAsFloat(const Number& a) { return ToDouble(a); }
Number TruncatedNumber(const Number& a) { return IsDouble(a) ? Whole(std::trunc(ToDouble(a))) : a; }
Number NumberRoundedDown(const Number& a) { return IsDouble(a) ? Whole(std::floor(ToDouble(a))) : a; }
Number NumberRoundedUp(const Number& a) { return IsDouble(a) ? Whole(std::ceil(ToDouble(a))) : a; }
Number RootOfNumber(const Number& a) { return std::sqrt(ToDouble(a)); }

Outputs ChooseNumber(OpContext& c) { return {ToDouble(c.NumAt(0)) != 0 ? c.NumAt(1) : c.NumAt(2)}; }

Outputs SizeOf(OpContext& c) {
  Value* x = c.In("self");
  return {Number(c.DimOf(x, c.Int("dim")))};
}

Outputs CountOf(OpContext& c) { return {Number(Product(c.InShape("self")))}; }

Outputs NumberOfTensor(OpContext& c) { return {c.Num("self")}; }

// Assertions, which hold for all shapes for which the program was exported.
Outputs Nothing(OpContext&) { return {}; }

}  // namespace attune::pytorch
