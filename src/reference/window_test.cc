#include <cmath>

#include "reference/evaluate_for_test.h"

namespace attune::reference {
namespace {

TEST(Window, MaxPoolWithIndices) {
  const Tensor x = F32({1, 2, 3}, {1, 3, 2, 9, 8, 8});
  const Attributes attrs = {{"kernel", Ints{2}}, {"pads", Ints{1, 0}}};
  const std::vector<Tensor> out = EvaluateAll(Op::kMaxPool, {x}, attrs, 2);
  ASSERT_EQ(out.size(), 2);
  EXPECT_THAT(out[0], Has({1, 3, 3, 9, 9, 8}));
  EXPECT_THAT(out[1], Has({0, 1, 1, 3, 3, 4}));
  EXPECT_THAT(Evaluate(Op::kMaxPool, {Make(DType::kI8, {1, 1, 2}, {-5, -7})}, attrs), Has({-5, -5}));
}

TEST(Window, MaxPoolDilatesAndRoundsUp) {
  const Attributes attrs = {
      {"kernel", Ints{2}}, {"strides", Ints{2}}, {"dilations", Ints{2}}, {"ceil_mode", int64_t{1}}};
  EXPECT_THAT(Evaluate(Op::kMaxPool, {F32({1, 1, 6}, {5, 1, 2, 4, 3, 0})}, attrs), Has({5, 3, 3}));
  EXPECT_THAT(Evaluate(Op::kMaxPool, {F32({1, 1, 2, 2}, {1, NAN, 2, 3})}, {{"kernel", Ints{2, 2}}}),
              Has({NAN}));
}

TEST(Window, AvgPoolCountsThePaddingOrNot) {
  const Tensor x = F32({1, 1, 4}, {1, 2, 3, 4});
  Attributes attrs = {
      {"kernel", Ints{3}}, {"strides", Ints{2}}, {"pads", Ints{1, 1}}, {"ceil_mode", int64_t{1}}};
  // The last window begins at the third element and extends one beyond the padding, which never counts.
  EXPECT_THAT(Evaluate(Op::kAvgPool, {x}, attrs), Has({1.5, 3, 4}));
  attrs.Set("count_include_pad", int64_t{1});
  EXPECT_THAT(Evaluate(Op::kAvgPool, {x}, attrs), Has({1, 3, 2}));
}

TEST(Window, LrnOverChannels) {
  const Tensor x = F32({1, 4, 1}, {1, 2, 3, 4});
  const auto lrn = [&](int64_t size) {
    return Evaluate(Op::kLrn, {x},
                    {{"size", size}, {"alpha", static_cast<double>(size)}, {"beta", 1.0}, {"bias", 0.0}});
  };
  EXPECT_THAT(lrn(3), Has({1.0 / 5, 2.0 / 14, 3.0 / 29, 4.0 / 25}, 1e-7));
  EXPECT_THAT(lrn(2), Has({1.0 / 5, 2.0 / 13, 3.0 / 25, 4.0 / 16}, 1e-7));
}

TEST(Window, Col2ImAddsOverlaps) {
  const Attributes attrs = {{"image", Ints{3}}, {"block", Ints{2}}};
  EXPECT_THAT(Evaluate(Op::kCol2Im, {F32({1, 2, 2}, {1, 2, 10, 20})}, attrs), Has({1, 12, 20}));
}

TEST(Normalization, BatchNorm) {
  const auto parameter = [](double a, double b) { return F32({2}, {a, b}); };
  EXPECT_THAT(Evaluate(Op::kBatchNorm,
                       {F32({1, 2, 2}, {1, 2, 3, 4}), parameter(2, 1), parameter(0, 10), parameter(1, 3),
                        parameter(3, 0)},
                       {{"epsilon", 1.0}}),
              Has({0, 1, 10, 11}));
}

TEST(Normalization, OverTheTail) {
  const Tensor x = F32({2, 2}, {1, 3, -2, 2});
  EXPECT_THAT(Evaluate(Op::kLayerNorm, {x, F32({2}, {1, 2}), F32({2}, {0, 5})},
                       {{"axis", int64_t{1}}, {"epsilon", 0.0}}),
              Has({-1, 7, -1, 7}));
  EXPECT_THAT(Evaluate(Op::kRmsNorm, {F32({1, 2}, {3, 4})}, {{"axis", int64_t{1}}, {"epsilon", 0.0}}),
              Has({3 / std::sqrt(12.5), 4 / std::sqrt(12.5)}, 1e-7));
}

TEST(Normalization, GroupNorm) {
  const Tensor x = F32({1, 4, 1}, {1, 3, 10, 30});
  EXPECT_THAT(Evaluate(Op::kGroupNorm, {x, F32({4}, {1, 1, 1, 2}), F32({4}, {0, 0, 0, 1})},
                       {{"groups", int64_t{2}}, {"epsilon", 0.0}}),
              Has({-1, 1, -1, 3}));
}

TEST(Normalization, SoftmaxKeepsItsDigits) {
  const Tensor x = F32({2, 2}, {1000, 1000, 0, -1000});
  EXPECT_THAT(Evaluate(Op::kSoftmax, {x}, {{"axis", int64_t{1}}}), Has({0.5, 0.5, 1, 0}));
  EXPECT_THAT(Evaluate(Op::kLogSoftmax, {x}, {{"axis", int64_t{1}}}), Has({-M_LN2, -M_LN2, 0, -1000}, 1e-7));
  EXPECT_THAT(Evaluate(Op::kSoftmax, {x}, {{"axis", int64_t{0}}}), Has({1, 1, 0, 0}));
}

TEST(Quantization, QuantizeSaturatesAndRoundsHalfToEven) {
  const Tensor x = F32({1, 6}, {0.5, 1.5, -0.5, 1000, -1000, NAN});
  const Tensor scale = F32({}, {1});
  const auto zero = [](DType dtype, double value) { return Make(dtype, {}, {value}); };
  EXPECT_THAT(Evaluate(Op::kQuantize, {x, scale, zero(DType::kU8, 10)}, {{"to", DType::kU8}}),
              Has({10, 12, 10, 255, 0, 0}));
  EXPECT_THAT(Evaluate(Op::kQuantize, {x, scale}, {{"to", DType::kI16}}), Has({0, 2, 0, 1000, -1000, 0}));
}

TEST(Quantization, ParametersAlongAnAxisAndInBlocks) {
  const Tensor x = Make(DType::kI8, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Evaluate(Op::kDequantize, {x, F32({3}, {1, 10, 100}), Make(DType::kI8, {3}, {0, 1, 2})}),
              Has({1, 10, 100, 4, 40, 400}));
  EXPECT_THAT(Evaluate(Op::kDequantize, {x, F32({2, 2}, {1, 10, 100, 1000})}, {{"block_size", int64_t{2}}}),
              Has({1, 2, 30, 400, 500, 6000}));
  EXPECT_THAT(Evaluate(Op::kQuantize, {F32({2, 2}, {2, 2, 3, 3}), F32({2}, {1, 2})},
                       {{"axis", int64_t{0}}, {"to", DType::kU8}}),
              Has({2, 2, 2, 2}));
}

TEST(Quantization, RequantizeRoundsAsNamed) {
  const Tensor x = Make(DType::kI32, {4}, {5, -5, 7, 1000});
  const Tensor scale = F32({}, {0.5});
  EXPECT_THAT(Evaluate(Op::kRequantize, {x, scale}, {{"to", DType::kI8}}), Has({2, -2, 4, 127}));
  EXPECT_THAT(Evaluate(Op::kRequantize, {x, scale, Make(DType::kI8, {}, {1})},
                       {{"to", DType::kI8}, {"rounding", "half_away"}}),
              Has({4, -2, 5, 127}));
  // 0.28 is 0.56 2⁻¹: the products with 0.56 are rounded to integers first, so that 1.4 becomes 2.
  const Tensor products = Make(DType::kI32, {5}, {3, 4, 5, -5, 1000});
  EXPECT_THAT(Evaluate(Op::kRequantize, {products, Make(DType::kF64, {}, {0.28})},
                       {{"to", DType::kI8}, {"rounding", "fixed_point"}}),
              Has({1, 1, 2, -2, 127}));
  // In double they are rounded once, also ties.
  EXPECT_THAT(Evaluate(Op::kRequantize, {products, Make(DType::kF64, {}, {0.28})},
                       {{"to", DType::kI8}, {"rounding", "half_away"}}),
              Has({1, 1, 1, -1, 127}));
  EXPECT_THAT(Evaluate(Op::kRequantize, {products, Make(DType::kF64, {}, {0.5})},
                       {{"to", DType::kI16}, {"rounding", "half_away"}}),
              Has({2, 2, 3, -3, 500}));
  // Sums of 64 bits are multiplied by 15 bits and rounded once, ties upwards.
  const Tensor sums = Make(DType::kI64, {5}, {3, 5, -5, -3, 1 << 30});
  EXPECT_THAT(Evaluate(Op::kRequantize, {sums, Make(DType::kF64, {}, {0.5})},
                       {{"to", DType::kI16}, {"rounding", "fixed_point"}}),
              Has({2, 3, -2, -1, 32767}));
  EXPECT_THAT(Evaluate(Op::kRequantize, {sums, Make(DType::kF64, {}, {0x1.00001p-20})},
                       {{"to", DType::kI16}, {"rounding", "fixed_point"}}),
              Has({0, 0, 0, 0, 1024}));
  EXPECT_THAT(Evaluate(Op::kQuantize, {F32({4}, {0.5, 1.5, -2.5, 2.4}), F32({}, {1})},
                       {{"to", DType::kI8}, {"rounding", "half_away"}}),
              Has({1, 2, -3, 2}));
}

}  // namespace
}  // namespace attune::reference
