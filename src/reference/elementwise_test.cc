#include <cmath>
#include <limits>

#include "reference/evaluate_for_test.h"

namespace attune::reference {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct UnaryCase {
  Op op;
  double x;
  double y;
  Attributes attrs = {};
};

TEST(Elementwise, FunctionsOfOneFloat) {
  const UnaryCase cases[] = {
      {Op::kNeg, 2, -2},
      {Op::kAbs, -2, 2},
      {Op::kSign, -0.5, -1},
      {Op::kSign, 0, 0},
      {Op::kSign, kNan, kNan},
      {Op::kFloor, -1.5, -2},
      {Op::kCeil, -1.5, -1},
      {Op::kRound, 2.5, 2},
      {Op::kRound, 3.5, 4},
      {Op::kRound, -0.5, -0.0},
      {Op::kSqrt, 9, 3},
      {Op::kSqrt, -1, kNan},
      {Op::kExp, 1, M_E},
      {Op::kLog, M_E, 1},
      {Op::kSin, M_PI / 6, 0.5},
      {Op::kCos, M_PI / 3, 0.5},
      {Op::kTan, M_PI / 4, 1},
      {Op::kAsin, 0.5, M_PI / 6},
      {Op::kAcos, 0.5, M_PI / 3},
      {Op::kAtan, 1, M_PI / 4},
      {Op::kSinh, 1, 1.1752011936438014},
      {Op::kCosh, 1, 1.5430806348152437},
      {Op::kTanh, 1, 0.7615941559557649},
      {Op::kAsinh, 1, 0.881373587019543},
      {Op::kAcosh, 2, 1.3169578969248166},
      {Op::kAtanh, 0.5, 0.5493061443340548},
      {Op::kErf, 0.5, 0.5204998778130465},
      {Op::kSigmoid, 0, 0.5},
      {Op::kSigmoid, -1000, 0},
      {Op::kRelu, -3, 0},
      {Op::kRelu, 3, 3},
      {Op::kRelu, kNan, kNan},
      {Op::kLeakyRelu, -2, -0.5, {{"alpha", 0.25}}},
      {Op::kElu, -1, 2 * (1 / M_E - 1), {{"alpha", 2.0}}},
      {Op::kSoftplus, 0, M_LN2},
      {Op::kSoftplus, 1000, 1000},
      {Op::kGelu, 1, 0.8413447460685429},
      {Op::kGelu, 1, 0.8411919906082768, {{"approximate", "tanh"}}},
      {Op::kSilu, 1, 0.7310585786300049},
      {Op::kHardSigmoid, 1, 0.7, {{"alpha", 0.2}, {"beta", 0.5}}},
      {Op::kHardSigmoid, 9, 1, {{"alpha", 0.2}, {"beta", 0.5}}},
      {Op::kHardSwish, 1, 2.0 / 3},
      {Op::kHardSwish, -4, 0},
      {Op::kClip, 5, 2, {{"min", ExactNumber(-1.0)}, {"max", ExactNumber(2.0)}}},
      {Op::kClip, -5, -1, {{"min", ExactNumber(-1.0)}}},
      {Op::kClip, 0, 1, {{"min", ExactNumber(3.0)}, {"max", ExactNumber(1.0)}}},
  };
  for (const UnaryCase& c : cases) {
    SCOPED_TRACE(::testing::Message() << OpName(c.op) << " of " << c.x);
    EXPECT_THAT(Evaluate(c.op, {Make(DType::kF64, {1}, {c.x})}, c.attrs), Has({c.y}, 1e-15));
  }
}

TEST(Elementwise, EveryFloatTypeRoundsOnce) {
  // 1/3 in f16 and bf16, and a tie: 1 + 2^-11 lies between two f16 values and is rounded to the even one.
  EXPECT_THAT(Evaluate(Op::kSigmoid, {Make(DType::kF16, {1}, {-0.693359375})}), Has({0.333251953125}));
  EXPECT_THAT(Evaluate(Op::kSigmoid, {Make(DType::kBF16, {1}, {-0.69140625})}), Has({0.333984375}));
  EXPECT_THAT(Evaluate(Op::kAdd, {Make(DType::kF16, {1}, {1}), Make(DType::kF16, {1}, {0x1p-11})}), Has({1}));
  // Rounding this sum to f32 first would make it a tie in f16: the excess must not be lost.
  EXPECT_THAT(Evaluate(Op::kCast, {Make(DType::kF64, {1}, {1 + 0x1p-11 + 0x1p-40})}, {{"to", DType::kF16}}),
              Has({1 + 0x1p-10}));
}

TEST(Elementwise, IntegersWrapAndAreExact) {
  EXPECT_THAT(Evaluate(Op::kNeg, {Make(DType::kI8, {2}, {-128, 5})}), Has({-128, -5}));
  EXPECT_THAT(Evaluate(Op::kAbs, {Make(DType::kI8, {2}, {-128, -5})}), Has({-128, 5}));
  EXPECT_THAT(Evaluate(Op::kSign, {Make(DType::kI32, {3}, {-9, 0, 4})}), Has({-1, 0, 1}));
  EXPECT_THAT(Evaluate(Op::kRelu, {Make(DType::kI32, {2}, {-9, 4})}), Has({0, 4}));
  EXPECT_THAT(Evaluate(Op::kNot, {Make(DType::kU8, {2}, {0, 5})}), Has({255, 250}));
  EXPECT_THAT(Evaluate(Op::kNot, {Make(DType::kBool, {2}, {0, 1})}), Has({1, 0}));
  EXPECT_THAT(Evaluate(Op::kClip, {Make(DType::kI32, {3}, {-9, 1, 9})},
                       {{"min", ExactNumber(-2.5)}, {"max", ExactNumber(2.5)}}),
              Has({-2, 1, 2}));
  EXPECT_THAT(Evaluate(Op::kAdd, {Make(DType::kU8, {1}, {250}), Make(DType::kU8, {1}, {10})}), Has({4}));
  EXPECT_THAT(Evaluate(Op::kMul, {Make(DType::kI8, {1}, {64}), Make(DType::kI8, {1}, {2})}), Has({-128}));
  Tensor large(DType::kI64, {1});
  large.SetInt(0, (int64_t{1} << 60) + 1);
  EXPECT_EQ(Evaluate(Op::kAdd, {large, I64({1}, {1})}).ToInt(0), (int64_t{1} << 60) + 2);
}

TEST(Elementwise, Cast) {
  const Tensor x = F32({6}, {1.9, -1.9, 300, -300, kNan, kInf});
  EXPECT_THAT(Evaluate(Op::kCast, {x}, {{"to", DType::kI8}}), Has({1, -1, 127, -128, 0, 127}));
  EXPECT_THAT(Evaluate(Op::kCast, {x}, {{"to", DType::kU8}}), Has({1, 0, 255, 0, 0, 255}));
  EXPECT_THAT(Evaluate(Op::kCast, {x}, {{"to", DType::kBool}}), Has({1, 1, 1, 1, 1, 1}));
  EXPECT_THAT(Evaluate(Op::kCast, {Make(DType::kI32, {2}, {257, -1})}, {{"to", DType::kU8}}), Has({1, 255}));
  EXPECT_THAT(Evaluate(Op::kCast, {Make(DType::kBool, {2}, {0, 1})}, {{"to", DType::kF16}}), Has({0, 1}));
  EXPECT_EQ(Evaluate(Op::kCast, {F32({1}, {kInf})}, {{"to", DType::kI64}}).ToInt(0),
            std::numeric_limits<int64_t>::max());
}

TEST(Elementwise, Tests) {
  const Tensor x = F32({4}, {1, kNan, kInf, -kInf});
  EXPECT_THAT(Evaluate(Op::kIsNan, {x}), Has({0, 1, 0, 0}));
  EXPECT_THAT(Evaluate(Op::kIsInf, {x}), Has({0, 0, 1, 1}));
  EXPECT_THAT(Evaluate(Op::kIsInf, {x}, {{"negative", int64_t{0}}}), Has({0, 0, 1, 0}));
}

TEST(Elementwise, BroadcastsAsNumPyDoes) {
  const Tensor sum = Evaluate(Op::kAdd, {F32({2, 1}, {10, 20}), F32({3}, {1, 2, 3})});
  EXPECT_THAT(sum, HasShape({2, 3}));
  EXPECT_THAT(sum, Has({11, 12, 13, 21, 22, 23}));
  EXPECT_THAT(Evaluate(Op::kAdd, {F32({0, 1}, {}), F32({3}, {1, 2, 3})}), HasShape({0, 3}));
  EXPECT_THAT(Evaluate(Op::kSub, {F32({}, {1}), F32({}, {3})}), Has({-2}));
}

TEST(Elementwise, DivisionAndRemainder) {
  const auto ints = [](std::vector<double> v) {
    return Make(DType::kI32, {static_cast<int64_t>(v.size())}, v);
  };
  const Tensor a = ints({7, -7, 7, -7, 5, -2147483648.0});
  const Tensor b = ints({2, 2, -2, -2, 0, -1});
  EXPECT_THAT(Evaluate(Op::kDiv, {a, b}), Has({3, -3, -3, 3, 0, -2147483648.0}));
  EXPECT_THAT(Evaluate(Op::kMod, {a, b}), Has({1, 1, -1, -1, 0, 0}));
  EXPECT_THAT(Evaluate(Op::kMod, {a, b}, {{"truncate", int64_t{1}}}), Has({1, -1, 1, -1, 0, 0}));
  EXPECT_THAT(Evaluate(Op::kMod, {F32({2}, {-5.5, 5.5}), F32({2}, {2, -2})}), Has({0.5, -0.5}));
  EXPECT_THAT(Evaluate(Op::kDiv, {F32({2}, {1, 0}), F32({2}, {0, 0})}), Has({kInf, kNan}));
}

TEST(Elementwise, Power) {
  EXPECT_THAT(Evaluate(Op::kPow, {F32({2}, {2, 9}), F32({2}, {-1, 0.5})}), Has({0.5, 3}));
  EXPECT_THAT(Evaluate(Op::kPow, {F32({2}, {2, 3}), I64({2}, {3, 2})}), Has({8, 9}));
  EXPECT_THAT(Evaluate(Op::kPow, {I64({4}, {2, -1, 3, 0}), I64({4}, {-1, -3, 4, 0})}), Has({0, -1, 81, 1}));
  EXPECT_THAT(Evaluate(Op::kPow, {Make(DType::kI8, {1}, {2}), Make(DType::kI8, {1}, {7})}), Has({-128}));
}

TEST(Elementwise, MinimumAndMaximumLetNanWin) {
  const Tensor a = F32({4}, {1, kNan, 1, -kInf});
  const Tensor b = F32({4}, {2, 1, kNan, 3});
  EXPECT_THAT(Evaluate(Op::kMin, {a, b}), Has({1, kNan, kNan, -kInf}));
  EXPECT_THAT(Evaluate(Op::kMax, {a, b}), Has({2, kNan, kNan, 3}));
}

TEST(Elementwise, BitwiseAndLogical) {
  const Tensor a = Make(DType::kU8, {3}, {12, 129, 255});
  const Tensor b = Make(DType::kU8, {3}, {10, 1, 8});
  EXPECT_THAT(Evaluate(Op::kAnd, {a, b}), Has({8, 1, 8}));
  EXPECT_THAT(Evaluate(Op::kOr, {a, b}), Has({14, 129, 255}));
  EXPECT_THAT(Evaluate(Op::kXor, {a, b}), Has({6, 128, 247}));
  EXPECT_THAT(Evaluate(Op::kShiftLeft, {a, b}), Has({0, 2, 0}));
  EXPECT_THAT(Evaluate(Op::kShiftRight, {a, b}), Has({0, 64, 0}));
  const Tensor yes = Make(DType::kBool, {2}, {1, 0});
  EXPECT_THAT(Evaluate(Op::kXor, {yes, Make(DType::kBool, {2}, {1, 1})}), Has({0, 1}));
}

TEST(Elementwise, QuotientsByPowersOfTwo) {
  const Tensor a = Make(DType::kI32, {5}, {-5, -1, 5, 1 << 30, -(1 << 30)});
  EXPECT_THAT(Evaluate(Op::kShiftRight, {a, Make(DType::kI32, {5}, {1, 31, 1, 32, -1})}),
              Has({-3, -1, 2, 0, -1}));
  EXPECT_THAT(Evaluate(Op::kMulHigh, {a, Make(DType::kI32, {5}, {1 << 30, 1 << 31, 1 << 30, 2, 6})}),
              Has({-1, 1, 1, 1, -1}));
}

TEST(Elementwise, Comparisons) {
  const Tensor a = F32({3}, {1, 2, kNan});
  const Tensor b = F32({3}, {2, 2, kNan});
  EXPECT_THAT(Evaluate(Op::kEqual, {a, b}), Has({0, 1, 0}));
  EXPECT_THAT(Evaluate(Op::kLess, {a, b}), Has({1, 0, 0}));
  EXPECT_THAT(Evaluate(Op::kLessEqual, {a, b}), Has({1, 1, 0}));
  EXPECT_THAT(Evaluate(Op::kGreater, {b, a}), Has({1, 0, 0}));
  EXPECT_THAT(Evaluate(Op::kGreaterEqual, {b, a}), Has({1, 1, 0}));
  // These differ only as exact integers, not as doubles.
  Tensor large(DType::kI64, {1});
  large.SetInt(0, std::numeric_limits<int64_t>::max());
  Tensor less(DType::kI64, {1});
  less.SetInt(0, std::numeric_limits<int64_t>::max() - 1);
  EXPECT_THAT(Evaluate(Op::kLess, {less, large}), Has({1}));
}

TEST(Elementwise, WhereBroadcastsAllThree) {
  const Tensor condition = Make(DType::kBool, {2, 1}, {1, 0});
  EXPECT_THAT(Evaluate(Op::kWhere, {condition, I64({2}, {1, 2}), I64({}, {9})}), Has({1, 2, 9, 9}));
}

}  // namespace
}  // namespace attune::reference
