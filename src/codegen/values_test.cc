// Integer and bool operations, where C++ has no answer included, against a model in 128 bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

#include "base/float16.h"
#include "base/random.h"
#include "codegen/run_kernel.h"

namespace attune {
namespace {

using Wide = __int128;

Wide FloorDivide(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

template <typename T>
Wide Power(T base, T exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == T(-1) ? (exponent % 2 == 0 ? 1 : -1) : 0;
  using Bits = std::make_unsigned_t<T>;
  uint64_t result = 1;
  for (uint64_t i = 0, n = static_cast<uint64_t>(exponent) % 1024; i < n; ++i)
    result *= static_cast<Bits>(base);
  return static_cast<Wide>(result);
}

// The exact result, which the caller wraps to T.
template <typename T>
Wide Model(MathOp op, T a, T b) {
  const Wide x = a, y = b;
  const int width = 8 * sizeof(T);
  const bool in_range = y >= 0 && y < width;
  switch (op) {
    case MathOp::kAdd:
      return x + y;
    case MathOp::kSub:
      return x - y;
    case MathOp::kMul:
      return static_cast<Wide>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
    case MathOp::kDiv:
      return y == 0 ? 0 : x / y;
    case MathOp::kMod:
      return y == 0 ? 0 : x % y;
    case MathOp::kFloorDiv:
      return y == 0 ? 0 : FloorDivide(x, y);
    case MathOp::kFloorMod:
      return y == 0 ? 0 : x - FloorDivide(x, y) * y;
    case MathOp::kMin:
      return std::min(x, y);
    case MathOp::kMax:
      return std::max(x, y);
    case MathOp::kAnd:
      return x & y;
    case MathOp::kOr:
      return x | y;
    case MathOp::kXor:
      return x ^ y;
    case MathOp::kShiftLeft:
      return in_range ? static_cast<Wide>(static_cast<unsigned __int128>(x) << b) : 0;
    case MathOp::kShiftRight:
      return in_range ? x >> b : (x < 0 ? -1 : 0);
    case MathOp::kMulHigh:
      return (x * y + (Wide{1} << 31)) >> 32;
    case MathOp::kPow:
      return Power(a, b);
    default:
      ADD_FAILURE() << "no model of " << MathOpName(op);
      return 0;
  }
}

template <typename T>
bool CompareModel(MathOp op, T a, T b) {
  switch (op) {
    case MathOp::kEqual:
      return a == b;
    case MathOp::kNotEqual:
      return a != b;
    case MathOp::kLess:
      return a < b;
    case MathOp::kLessEqual:
      return a <= b;
    case MathOp::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

template <typename T>
void CheckType(DType dtype) {
  using L = std::numeric_limits<T>;
  std::vector<T> x, y;
  const T interesting[] = {0,     1,     2,     3,        7,        T(sizeof(T) * 8 - 1), T(sizeof(T) * 8),
                           T(-1), T(-2), T(-7), L::min(), L::max(), T(L::min() + 1)};
  for (const T a : interesting) {
    for (const T b : interesting) x.push_back(a), y.push_back(b);
  }
  Random random(11);
  while (x.size() % 16 != 5 || x.size() < 500)
    x.push_back(static_cast<T>(random.Next())),
        y.push_back(static_cast<T>(random.Next() >> random.Integer(0, 63)));
  std::vector<MathOp> arithmetic = {MathOp::kAdd,       MathOp::kSub,        MathOp::kMul,      MathOp::kDiv,
                                    MathOp::kMod,       MathOp::kFloorDiv,   MathOp::kFloorMod, MathOp::kMin,
                                    MathOp::kMax,       MathOp::kAnd,        MathOp::kOr,       MathOp::kXor,
                                    MathOp::kShiftLeft, MathOp::kShiftRight, MathOp::kPow};
  if (dtype == DType::kI32) arithmetic.push_back(MathOp::kMulHigh);
  const std::vector<MathOp> comparisons = {MathOp::kEqual,     MathOp::kNotEqual, MathOp::kLess,
                                           MathOp::kLessEqual, MathOp::kGreater,  MathOp::kGreaterEqual};

  const int64_t n = static_cast<int64_t>(x.size());
  const Buffer a = MakeBuffer("a", dtype, {n}), b = MakeBuffer("b", dtype, {n});
  const Buffer out = MakeBuffer("out", dtype, {static_cast<int64_t>(arithmetic.size()), n});
  const Buffer truth = MakeBuffer("truth", DType::kBool, {static_cast<int64_t>(comparisons.size()), n});
  const Var i = MakeVar("i"), l = MakeVar("l");
  const Expr at = Expr(i) * 16 + Expr(l), p = Load(a, {at}), q = Load(b, {at});
  std::vector<Stmt> stores;
  for (size_t k = 0; k < arithmetic.size(); ++k)
    stores.push_back(MakeStore(out, {static_cast<int64_t>(k), at}, MakeOp(arithmetic[k], {p, q})));
  for (size_t k = 0; k < comparisons.size(); ++k)
    stores.push_back(MakeStore(truth, {static_cast<int64_t>(k), at}, MakeOp(comparisons[k], {p, q})));
  const Stmt body =
      For(i, CeilDiv(n, 16), kSerial, For(l, 16, kVector, MakeIf(at < n, MakeSequence(stores))));
  ForEachTarget(Nest({{a, kIn}, {b, kIn}, {out, kOut}, {truth, kOut}}, {body}),
                [&](const TestKernel& kernel) {
                  std::vector<T> got(arithmetic.size() * x.size());
                  std::vector<uint8_t> truths(comparisons.size() * x.size(), 9);
                  ASSERT_EQ(kernel.Run({x.data(), y.data(), got.data(), truths.data()}), 0);
                  for (size_t k = 0; k < arithmetic.size(); ++k) {
                    for (size_t e = 0; e < x.size(); ++e) {
                      // The model of pow is slow for large exponents and skips them.
                      if (arithmetic[k] == MathOp::kPow && y[e] >= 0 && static_cast<uint64_t>(y[e]) >= 1024)
                        continue;
                      EXPECT_EQ(+got[k * x.size() + e], +static_cast<T>(Model(arithmetic[k], x[e], y[e])))
                          << MathOpName(arithmetic[k]) << " " << +x[e] << " " << +y[e];
                    }
                  }
                  for (size_t k = 0; k < comparisons.size(); ++k) {
                    for (size_t e = 0; e < x.size(); ++e) {
                      EXPECT_EQ(truths[k * x.size() + e], CompareModel(comparisons[k], x[e], y[e]))
                          << MathOpName(comparisons[k]) << " " << +x[e] << " " << +y[e];
                    }
                  }
                });
}

TEST(Integers, I8) { CheckType<int8_t>(DType::kI8); }
TEST(Integers, U8) { CheckType<uint8_t>(DType::kU8); }
TEST(Integers, I16) { CheckType<int16_t>(DType::kI16); }
TEST(Integers, I32) { CheckType<int32_t>(DType::kI32); }
TEST(Integers, U32) { CheckType<uint32_t>(DType::kU32); }
TEST(Integers, I64) { CheckType<int64_t>(DType::kI64); }
TEST(Integers, U64) { CheckType<uint64_t>(DType::kU64); }

// Index division by constants takes short cuts that depend on the range of the numerator.
TEST(Integers, IndexDivisionRoundsDown) {
  constexpr int64_t kN = 80;
  for (const int64_t divisor : {1, 3, 8, 16, 7, -3}) {
    for (const int64_t offset : {0, -40, 5}) {
      const Buffer out = MakeBuffer("out", DType::kI64, {2, kN});
      const Var i = MakeVar("i"), l = MakeVar("l");
      const Expr at = Expr(i) * 16 + Expr(l), n = at + offset;
      const Stmt body = MakeSequence(
          {MakeStore(out, {0, at}, FloorDiv(n, divisor)), MakeStore(out, {1, at}, FloorMod(n, divisor))});
      for (const LoopKind kind : {kVector, kUnroll, kSerial}) {
        ForEachTarget(Nest({{out, kOut}}, {For(i, kN / 16, kSerial, For(l, 16, kind, body))}),
                      [&](const TestKernel& kernel) {
                        std::vector<int64_t> got(2 * kN);
                        ASSERT_EQ(kernel.Run({got.data()}), 0);
                        for (int64_t k = 0; k < kN; ++k) {
                          const int64_t quotient = static_cast<int64_t>(FloorDivide(k + offset, divisor));
                          EXPECT_EQ(got[static_cast<size_t>(k)], quotient) << k + offset << " / " << divisor;
                          EXPECT_EQ(got[static_cast<size_t>(kN + k)], k + offset - quotient * divisor);
                        }
                      });
      }
    }
  }
}

// f16 and bf16 compute in f32; bits move unchanged.
TEST(SmallFloats, ComputeInF32) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const Buffer a = MakeBuffer("a", dtype, {16}), out = MakeBuffer("out", dtype, {16}),
                 bits = MakeBuffer("bits", DType::kU16, {16});
    const Var l = MakeVar("l");
    const Expr x = Load(a, {Expr(l)});
    const Stmt body =
        MakeSequence({MakeStore(out, {Expr(l)}, MakeOp(MathOp::kMax, {x * x, ConstOf(dtype, 2)})),
                      MakeStore(bits, {Expr(l)}, BitcastTo(DType::kU16, -x))});
    ForEachTarget(Nest({{a, kIn}, {out, kOut}, {bits, kOut}}, {For(l, 16, kVector, body)}),
                  [&](const TestKernel& kernel) {
                    const auto pack = [&](float f) {
                      return dtype == DType::kF16 ? FloatToF16(f) : FloatToBF16(f);
                    };
                    const auto unpack = [&](uint16_t h) {
                      return dtype == DType::kF16 ? F16ToFloat(h) : BF16ToFloat(h);
                    };
                    std::vector<uint16_t> in(16), got(16), got_bits(16);
                    for (size_t i = 0; i < 16; ++i) in[i] = pack(static_cast<float>(i) * 0.37f);
                    ASSERT_EQ(kernel.Run({in.data(), got.data(), got_bits.data()}), 0);
                    for (size_t i = 0; i < 16; ++i) {
                      EXPECT_EQ(got[i], pack(std::max(2.0f, unpack(in[i]) * unpack(in[i]))));
                      EXPECT_EQ(got_bits[i], in[i] ^ 0x8000);
                    }
                  });
  }
}

}  // namespace
}  // namespace attune
