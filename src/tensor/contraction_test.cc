#include "tensor/contraction.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

const Buffer kBuffer = MakeBuffer("x", DType::kF32, {4});

Expr Element(int64_t i) { return Load(kBuffer, {Expr(i)}); }

bool IsContracted(const Expr& e) { return static_cast<bool>(Contraction().Find(e).a); }

TEST(Contraction, WhatIsAddedToOneProduct) {
  const Expr x = Element(0), y = Element(1), z = Element(2);
  EXPECT_TRUE(IsContracted(x * y + z));
  EXPECT_TRUE(IsContracted(z + x * y));
  EXPECT_TRUE(IsContracted(x * FloatConst(3) + FloatConst(1)));
  EXPECT_TRUE(IsContracted(x * y + Max(z, FloatConst(0))));
  EXPECT_TRUE(IsContracted((x * y + z) * x + y));  // a polynomial
  EXPECT_TRUE(IsContracted(Fma(x, y, x * y)));
  const Contraction::MultiplyAdd found = Contraction().Find(z + x * y);
  EXPECT_TRUE(SameExpr(found.a, x) && SameExpr(found.b, y) && SameExpr(found.c, z));
}

TEST(Contraction, NothingThatCanCancel) {
  const Expr x = Element(0), y = Element(1), z = Element(2), zero = FloatConst(0);
  EXPECT_FALSE(IsContracted(x * x - x * x));
  EXPECT_FALSE(IsContracted(x * y - z));
  EXPECT_FALSE(IsContracted(z - x * y));
  EXPECT_FALSE(IsContracted(x * y + z * x));
  EXPECT_FALSE(IsContracted(x * y + -(x * y)));
  EXPECT_FALSE(IsContracted(x * y + Max(-(y * x), zero)));
  EXPECT_FALSE(IsContracted(x * y + CastTo(DType::kF32, CastTo(DType::kF64, -(x * y)))));
  EXPECT_FALSE(IsContracted(x * y + -Fma(x, y, zero)));
}

TEST(Contraction, OfWholeFloatsAlone) {
  const Buffer integers = MakeBuffer("i", DType::kI32, {4}), halves = MakeBuffer("h", DType::kF16, {4});
  for (const Buffer& buffer : {integers, halves}) {
    const Expr x = Load(buffer, {Expr(0)});
    EXPECT_FALSE(IsContracted(x * x + x));
  }
  // Products of integers, as indices and quantized values are made of, are exact.
  const Expr i = Load(integers, {Expr(0)}), x = Element(0);
  EXPECT_TRUE(IsContracted(x * x + CastTo(DType::kF32, i * i)));
  EXPECT_TRUE(IsContracted(x * x + Load(kBuffer, {CastTo(DType::kI64, x * x)})));
}

// Each of the 2^40 paths would take days.
TEST(Contraction, SharedPartsAreLookedAtOnce) {
  Expr sum = Element(0);
  for (int i = 0; i < 40; ++i) sum = sum + sum;
  EXPECT_TRUE(IsContracted(Element(0) * Element(1) + sum));
}

}  // namespace
}  // namespace attune
