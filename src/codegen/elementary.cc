// exp, log and the functions of networks that are built on them, in the precision of the argument.
//
// exp and log reduce their argument as Cephes and fdlibm do (S. Moshier, Methods and Programs for
// Mathematical Functions, 1989; Sun Microsystems, 1993) to a polynomial of our own fit.
#include "codegen/elementary.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "codegen/math_coefficients.h"

namespace attune {
namespace {

using llvm::Value;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The constants that differ between the two formats. A sum with `magic` has the rounded integer in its low
// bits.
struct Format {
  int mantissa_bits;
  int exponent_bias;
  double magic;
  double ln2_high, ln2_low;  // ln 2 rounded, and the rest
  double exp_low, exp_high;  // beyond these, exp is 0 (for f32: below 2^-125) or infinite
  double smallest_normal;
  double subnormal_scale;  // makes every subnormal number normal
  int subnormal_shift;     // its binary logarithm
  std::span<const double> exp;
};

const Format kF32Format = {.mantissa_bits = 23,
                           .exponent_bias = 127,
                           .magic = 0x1.8p23,
                           .ln2_high = 0x1.62e43p-1,
                           .ln2_low = -1.904654299957768e-09,
                           .exp_low = -86.64,
                           .exp_high = 89,
                           .smallest_normal = 0x1p-126,
                           .subnormal_scale = 0x1p32,
                           .subnormal_shift = 32,
                           .exp = kExpF32};

const Format kF64Format = {.mantissa_bits = 52,
                           .exponent_bias = 1023,
                           .magic = 0x1.8p52,
                           .ln2_high = 0x1.62e42fefa39efp-1,
                           .ln2_low = 0x1.abc9e3b39803fp-56,
                           .exp_low = -746,
                           .exp_high = 710,
                           .smallest_normal = 0x1p-1022,
                           .subnormal_scale = 0x1p64,
                           .subnormal_shift = 64,
                           .exp = kExpF64};

const Format& FormatOf(RealValue x) { return x.is_f64() ? kF64Format : kF32Format; }

llvm::Type* BitsType(RealValue x) {
  return x.builder->TypeLike(x.is_f64() ? DType::kI64 : DType::kI32, x.value);
}

Value* Bits(RealValue x) { return x.ir().CreateBitCast(x.value, BitsType(x)); }

RealValue FromBits(RealValue like, Value* bits) {
  return like.Of(like.ir().CreateBitCast(bits, like.value->getType()));
}

Value* BitsConstant(RealValue like, int64_t value) {
  return llvm::ConstantInt::get(BitsType(like), static_cast<uint64_t>(value), true);
}

int64_t BitsOfNumber(RealValue like, double number) {
  return like.is_f64() ? std::bit_cast<int64_t>(number) : std::bit_cast<int32_t>(static_cast<float>(number));
}

// 2^n for n in the range of normal exponents.
RealValue PowerOfTwo(RealValue like, Value* n) {
  const Format& format = FormatOf(like);
  Value* biased = like.ir().CreateAdd(n, BitsConstant(like, format.exponent_bias));
  return FromBits(like, like.ir().CreateShl(biased, static_cast<uint64_t>(format.mantissa_bits)));
}

// x = n ln 2 + r with |r| <= ln 2 / 2, except that r lacks the term -n · ln2_low.
struct Remainder {
  RealValue shifted;  // n + magic
  RealValue n, r;
};

// n is a multiple of 1 / `steps`, a power of two, and |r| <= ln 2 / (2 · steps).
Remainder RemainderOfLn2(RealValue x, double steps = 1) {
  const Format& format = FormatOf(x);
  const double magic = format.magic / steps;
  const RealValue shifted = Fma(x, 1.4426950408889634, x.Number(magic));
  const RealValue n = shifted - magic;
  return {shifted, n, Fma(n, -format.ln2_high, x)};
}

// r with `times` times the term that it lacks.
RealValue WithLowPart(const Remainder& of, double times) {
  return Fma(of.n, -times * FormatOf(of.n).ln2_low, of.r);
}

struct ExpReduction {
  Value* n;          // integer
  RealValue minus1;  // e^r - 1
};

ExpReduction ReduceExp(RealValue x) {
  const Format& format = FormatOf(x);
  const Remainder reduced = RemainderOfLn2(x);
  const RealValue r = WithLowPart(reduced, 1);
  Value* n = x.ir().CreateSub(Bits(reduced.shifted), BitsConstant(x, BitsOfNumber(x, format.magic)));
  return {n, Fma(r * r, Polynomial(r, format.exp), r)};
}

// e^x = 2^floor(n) · fraction · e^r in f32, where the processor has instructions for it. x = n ln 2 + r
// with n in steps of 1/32: the factor 2^(n - floor(n)) is a table entry, and e^r a short polynomial.
struct PowerByTable {
  RealValue n;         // only floor(n) counts
  RealValue fraction;  // in [1, 2)
  RealValue r;
};

std::optional<PowerByTable> PowerByTableOf(RealValue x) {
  constexpr size_t kSteps = TargetEmitter::kTableSize;
  std::array<float, kSteps> powers;
  for (size_t i = 0; i < kSteps; ++i)
    powers[i] = std::exp2(static_cast<float>(i) / static_cast<float>(kSteps));
  const Remainder reduced = RemainderOfLn2(x, kSteps);
  Value* found = x.builder->target().LookUp(x.ir(), Bits(reduced.shifted), powers);
  if (found == nullptr) return std::nullopt;
  return PowerByTable{reduced.n, x.Of(found), WithLowPart(reduced, 1)};
}

// Nothing for f64, or where the processor has no instructions for it. Results below 2^-125 are 0: every
// later operation on a subnormal number takes a hundred cycles, and attention with a mask of -100 would
// make many.
std::optional<RealValue> ExpByTable(RealValue x) {
  constexpr double kInfinite = 120;  // e^120 overflows f32
  if (x.is_f64()) return std::nullopt;
  const std::optional<PowerByTable> power = PowerByTableOf(ClampAbove(x, kInfinite));
  if (!power) return std::nullopt;
  const RealValue r = power->r, minus1 = r * Fma(r, Fma(r, 1.0 / 6, x.Number(0.5)), x.Number(1));
  const RealValue scaled = Fma(power->fraction, minus1, power->fraction);
  return Where(x < FormatOf(x).exp_low, 0,
               x.Of(x.builder->target().Scale(x.ir(), scaled.value, power->n.value)));
}

// Just below 126 ln 2: for |x| up to this, e^x and e^-x are normal numbers.
constexpr double kMostNormal = 87.3;

// 1 / (1 + e^-x) in f32 for |x| <= kMostNormal, where the processor has instructions for it. One step of
// Newton's method improves an estimate of the reciprocal. silu, which multiplies the result by x, errs by
// 4.3 units in the last place at most, near x = -16.7.
std::optional<RealValue> LogisticByTable(RealValue x) {
  const std::optional<PowerByTable> power = PowerByTableOf(-x);
  if (!power) return std::nullopt;
  const RealValue scaled = x.Of(x.builder->target().Scale(x.ir(), power->fraction.value, power->n.value));
  const RealValue one = x.Number(1);
  const RealValue sum = Fma(scaled, Fma(power->r, Fma(power->r, 0.5, x.Number(kTableSlopeF32)), one), one);
  const RealValue estimate = x.Of(x.builder->target().EstimateReciprocal(x.ir(), sum.value));
  return Fma(estimate, Fma(-sum, estimate, one), estimate);
}

// 1 / (1 + e^-x) in f32 for |x| <= kMostNormal. With -x = n ln 2 + r and the even function E = r coth(r /
// 2), e^r = (E + r) / (E - r), a quotient as in fdlibm's exp: E is a polynomial of three terms where e^r
// takes six, and the division is needed anyway. The term δ = n · ln2_low that r lacks scales e^-x by about
// 1 - δ. E + r is near 2, so subtracting 2 δ from it does that, and r - 2 δ does not wait for E.
RealValue LogisticOfNormal(RealValue x) {
  if (const std::optional<RealValue> logistic = LogisticByTable(x)) return *logistic;
  const Remainder reduced = RemainderOfLn2(-x);
  const RealValue r = reduced.r;
  const RealValue even = Polynomial(r * r, kLogisticF32);
  const RealValue share = even - r, other = even + WithLowPart(reduced, 2);
  // No bit of the magic number remains when n moves to the exponent.
  Value* n = x.ir().CreateShl(Bits(reduced.shifted), static_cast<uint64_t>(kF32Format.mantissa_bits));
  return share / (share + FromBits(x, x.ir().CreateAdd(Bits(other), n)));
}

// Clamps an f32 x to [-high, high], where high > 0. NaN may be lost.
RealValue ClampMagnitude(RealValue x, double high) {
  if (Value* clamped = x.builder->target().ClampMagnitude(x.ir(), x.value, high)) return x.Of(clamped);
  // Uses the integer units, which the formulas leave idle otherwise: positive floats are ordered as their
  // bits are, and negative floats have bits below theirs.
  const RealValue above = ClampBelow(x, -high);
  Value* limit = BitsConstant(x, BitsOfNumber(x, high));
  return FromBits(x, x.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smin, Bits(above), limit));
}

// x = 2^e (1 + f) with 1 + f in [1/√2, √2).
struct LogReduction {
  RealValue e, f;
};

LogReduction ReduceLog(RealValue x) {
  const Format& format = FormatOf(x);
  const LaneTruth subnormal = x < format.smallest_normal;
  const RealValue scaled = Where(subnormal, x * format.subnormal_scale, x);
  const int64_t root_half = BitsOfNumber(x, 0.7071067811865476);
  const uint64_t shift = static_cast<uint64_t>(format.mantissa_bits);
  Value* exponent = x.ir().CreateAShr(x.ir().CreateSub(Bits(scaled), BitsConstant(x, root_half)), shift);
  const RealValue f = FromBits(x, x.ir().CreateSub(Bits(scaled), x.ir().CreateShl(exponent, shift))) - 1;
  const RealValue unscaled = x.Of(x.ir().CreateSIToFP(exponent, x.value->getType()));
  return {Where(subnormal, unscaled - format.subnormal_shift, unscaled), f};
}

// `log` where x is positive and finite. x + x keeps NaN and +infinity.
RealValue LogOfSpecial(RealValue x, RealValue log) {
  const RealValue normal = Where(x < kInfinity, log, x + x);
  return Where(x == 0.0, -kInfinity, Where(x < 0.0, kNan, normal));
}

// a + b and its rounding error, for |a| >= |b| or a = 0 (T. Dekker, A floating-point technique for
// extending the available precision, 1971).
RealPair FastSum(RealValue a, RealValue b) {
  const RealValue sum = a + b;
  return {sum, b - (sum - a)};
}

// a b without the product of the low parts.
RealPair Product(RealPair a, RealPair b) {
  const RealValue high = a.high * b.high;
  return {high, Fma(a.high, b.high, -high) + Fma(a.high, b.low, a.low * b.high)};
}

// x 2^n, multiplied by 2^(n / 2) twice: neither factor overflows before the product does, and subnormal
// results are rounded once.
RealValue Scale(RealValue x, Value* n) {
  Value* half = x.ir().CreateAShr(n, 1);
  return x * PowerOfTwo(x, half) * PowerOfTwo(x, x.ir().CreateSub(n, half));
}

}  // namespace

// In f32: 2 e^r · 2^(n - 1), which does not overflow before the result does. Results below 2^-125 are 0.
RealValue Exp(RealValue x) {
  if (const std::optional<RealValue> exp = ExpByTable(x)) return *exp;
  const Format& format = FormatOf(x);
  const ExpReduction reduced = ReduceExp(Clamp(x, format.exp_low, format.exp_high));
  if (x.is_f64()) return Scale(reduced.minus1 + 1, reduced.n);
  Value* below = x.ir().CreateSub(reduced.n, BitsConstant(x, 1));
  return Where(x < format.exp_low, 0, Fma(reduced.minus1, 2, x.Number(2)) * PowerOfTwo(x, below));
}

// Reduces x = n ln 2 + r as ReduceExp does, but the first part of ln 2 is so short that n times it is exact
// (fdlibm).
RealValue ExpExtended(RealPair x) {
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  const Format& format = FormatOf(x.high);
  const RealValue high = Clamp(x.high, format.exp_low, format.exp_high);
  const RealValue shifted = Fma(high, 1.4426950408889634, high.Number(format.magic));
  const RealValue n = shifted - format.magic;
  const RealPair r = FastSum(Fma(n, -kLn2High, high), Fma(n, -kLn2Low, x.low));
  const RealPair sum = FastSum(r.high.Number(1), r.high);
  const RealValue rest = Fma(r.high * r.high, Polynomial(r.high, format.exp), Fma(r.low, r.high, r.low));
  Value* integer = high.ir().CreateSub(Bits(shifted), BitsConstant(high, BitsOfNumber(high, format.magic)));
  return Scale(sum.high + (sum.low + rest), integer);
}

RealValue ExpMinus1(RealValue x) {
  const ExpReduction reduced = ReduceExp(x);
  const RealValue scale = PowerOfTwo(x, reduced.n);
  return Fma(scale, reduced.minus1, scale - 1);
}

RealValue Log(RealValue x) {
  const Format& format = FormatOf(x);
  const auto [e, f] = ReduceLog(x);
  const RealValue half_square = f * f * 0.5;
  RealValue rest = f;  // log(1 + f) - f, small against f
  if (x.is_f64()) {
    const RealValue s = f / (f + 2);
    const RealValue z = s * s;
    rest = s * Fma(z, Polynomial(z, kLogF64), half_square) - half_square;
  } else {
    rest = Fma(f * f * f, Polynomial(f, kLogF32), -half_square);
  }
  return LogOfSpecial(x, Fma(e, format.ln2_high, Fma(e, format.ln2_low, rest) + f));
}

// e ln 2 + log(1 + f). With s = f / (f + 2), log(1 + f) = 2s + s³ (2/3 + 2/5 s² + 2/7 s⁴ + …).
RealPair LogExtended(RealValue x) {
  constexpr double kTwoThirdsLow = 3.700743415417188e-17;  // 2/3 less its rounded value
  constexpr double kRest[] = {2. / 5,  2. / 7,  2. / 9,  2. / 11, 2. / 13, 2. / 15,
                              2. / 17, 2. / 19, 2. / 21, 2. / 23, 2. / 25};
  const Format& format = FormatOf(x);
  const auto [e, f] = ReduceLog(x);
  const RealValue base = e * format.ln2_high;
  const RealValue base_low = Fma(e, format.ln2_low, Fma(e, format.ln2_high, -base));

  const RealPair divisor = FastSum(f.Number(2), f);
  const RealValue quotient = f / divisor.high;
  const RealValue remainder = Fma(-quotient, divisor.high, f) - quotient * divisor.low;
  const RealPair s = {quotient, remainder / divisor.high};
  const RealPair square = Product(s, s);
  RealPair series = FastSum(f.Number(2. / 3), square.high * Polynomial(square.high, kRest));
  series.low = series.low + kTwoThirdsLow;
  const RealPair rest = Product(s, Product(square, series));

  const RealPair sum = FastSum(base, s.high * 2);
  const RealPair log = FastSum(sum.high, rest.high);
  const RealValue low = log.low + sum.low + (base_low + s.low * 2 + rest.low);
  return {LogOfSpecial(x, log.high), low};
}

// (e^2|x| - 1) / (e^2|x| + 1), whose numerator and denominator are exact to a few units; 1 from |x| = 20 on.
RealValue Tanh(RealValue x) {
  const RealValue e = ExpMinus1(Clamp(Abs(x), 0, 20) * 2);
  return CopySign(e / (e + 2), x);
}

// With z = e^-|x|, which never overflows: 1 / (1 + z), or z / (1 + z) for negative x. f32 has a formula of
// its own, since networks have it behind every convolution; there, a result below e^-kMostNormal is 0.
RealValue Sigmoid(RealValue x) {
  if (x.is_f64()) {
    const RealValue z = Exp(-Abs(x));
    return Where(x < 0.0, z, x.Number(1)) / (z + 1);
  }
  return Where(x < -kMostNormal, 0, LogisticOfNormal(Clamp(x, -kMostNormal, kMostNormal)));
}

// x sigmoid(x). In f32, every x below -kMostNormal gives the value at -kMostNormal, -1e-36.
RealValue Silu(RealValue x) {
  constexpr double kNoneBelow = -750;  // in f64; -750 e^-750 is 0
  if (x.is_f64()) return ClampBelow(x, kNoneBelow) * Sigmoid(x);
  // The first factor keeps NaN.
  return ClampBelow(x, -kMostNormal) * LogisticOfNormal(ClampMagnitude(x, kMostNormal));
}

// f32, for the GELUs of networks: x times a quotient of polynomials in x², up to where erf is 1. f64: a
// polynomial for small arguments; beyond them, 1 - e^-q(|x|) with a polynomial q, because -log(erfc) is
// smooth (N. Juffa's construction).
RealValue Erf(RealValue x) {
  if (!x.is_f64()) {
    constexpr double kOneFrom = 3.92;
    const RealValue z = Clamp(x, -kOneFrom, kOneFrom), square = z * z;
    const RealValue erf = z * Polynomial(square, kErfF32Numerator) / Polynomial(square, kErfF32Denominator);
    return Clamp(erf, -1, 1);
  }
  constexpr double kSplit = 1.22, kOneFrom = 6, kTailMiddle = 3.6, kTailRadius = 2.4;
  const RealValue size = Abs(x);
  const RealValue small = x * Polynomial(x * x, kErfF64);
  const RealValue clamped = Clamp(size, 0, kOneFrom);
  const RealValue u = Fma(clamped, 1 / kTailRadius, x.Number(-kTailMiddle / kTailRadius));
  const RealValue tail = 1 - Exp(-Polynomial(u, kErfTailF64));
  return Where(size < kSplit, small, CopySign(tail, x));
}

}  // namespace attune
