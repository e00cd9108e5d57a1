#include <cmath>

#include "reference/evaluate_for_test.h"

namespace attune::reference {
namespace {

Tensor Magnitude(Op op, const std::vector<Tensor>& inputs, Attributes attrs = {}) {
  const OneNode one(op, inputs, std::move(attrs));
  absl::StatusOr<Tensor> magnitude = EvaluateMagnitude(*one.node, inputs);
  EXPECT_TRUE(magnitude.ok()) << magnitude.status();
  return magnitude.ok() ? *magnitude : Tensor();
}

// A convolution with two spatial axes by its definition, in seven nested loops.
std::vector<double> NaiveConv(const Tensor& x, const Tensor& w, const Tensor& bias, const Attributes& attrs,
                              const Shape& out) {
  const Shape& xs = x.shape();
  const Shape& ws = w.shape();
  const Ints strides = attrs.IntList("strides");
  const Ints pads = attrs.IntList("pads");
  const Ints dilations = attrs.IntList("dilations");
  const int64_t out_per_group = ws[0] / attrs.Int("group");
  std::vector<double> result;
  ForEachIndex(out, [&](const Shape& o) {
    double sum = bias.ToDouble(o[1]);
    ForEachIndex({ws[1], ws[2], ws[3]}, [&](const Shape& k) {
      const int64_t c = o[1] / out_per_group * ws[1] + k[0];
      const int64_t row = o[2] * strides[0] - pads[0] + k[1] * dilations[0];
      const int64_t column = o[3] * strides[1] - pads[1] + k[2] * dilations[1];
      if (row < 0 || row >= xs[2] || column < 0 || column >= xs[3]) return;
      sum += x.ToDouble(((o[0] * xs[1] + c) * xs[2] + row) * xs[3] + column) *
             w.ToDouble(((o[1] * ws[1] + k[0]) * ws[2] + k[1]) * ws[3] + k[2]);
    });
    result.push_back(sum);
  });
  return result;
}

TEST(Contraction, ConvolutionByItsDefinition) {
  const Attributes attrs = {
      {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 2, 3}}, {"dilations", Ints{1, 2}}, {"group", int64_t{2}}};
  const Tensor x = RandomF32({2, 4, 9, 13}, 1);
  const Tensor w = RandomF32({6, 2, 3, 2}, 2);
  const Tensor bias = RandomF32({6}, 3);
  const Tensor y = Evaluate(Op::kConv, {x, w, bias}, attrs);
  ASSERT_THAT(y, HasShape({2, 6, 5, 14}));
  EXPECT_THAT(y, Has(NaiveConv(x, w, bias, attrs, y.shape()), 1e-6));
}

TEST(Contraction, ConvolutionOfOneAndThreeAxes) {
  EXPECT_THAT(Evaluate(Op::kConv, {F32({1, 1, 4}, {1, 2, 3, 4}), F32({1, 1, 2}, {1, 10})}),
              Has({21, 32, 43}));
  const Tensor y =
      Evaluate(Op::kConv, {Iota({1, 1, 2, 2, 2}), F32({1, 1, 2, 2, 2}, {1, 0, 0, 0, 0, 0, 0, 2})});
  EXPECT_THAT(y, Has({14}));
}

TEST(Contraction, TransposedConvolution) {
  const Attributes attrs = {{"strides", Ints{2}}, {"pads", Ints{1, 0}}, {"output_padding", Ints{1}}};
  // Each input adds [1, 10, 100] times itself to three outputs, two further on; the first output is cut
  // off.
  const Tensor y =
      Evaluate(Op::kConvTranspose, {F32({1, 1, 2}, {1, 2}), F32({1, 1, 3}, {1, 10, 100})}, attrs);
  EXPECT_THAT(y, Has({10, 102, 20, 200, 0}));
}

// The transposed convolution is the adjoint of the convolution: <conv(x), y> = <x, conv_transpose(y)>.
TEST(Contraction, TransposedConvolutionIsTheAdjoint) {
  const Attributes attrs = {
      {"strides", Ints{2, 1}}, {"pads", Ints{1, 1, 1, 0}}, {"dilations", Ints{1, 2}}, {"group", int64_t{2}}};
  const Tensor x = RandomF32({1, 4, 7, 8}, 4);
  const Tensor w = RandomF32({6, 2, 3, 2}, 5);
  const Tensor forward = Evaluate(Op::kConv, {x, w}, attrs);
  const Tensor y = RandomF32(forward.shape(), 6);
  const Tensor backward = Evaluate(Op::kConvTranspose, {y, w}, attrs);
  ASSERT_EQ(backward.shape(), x.shape());
  double left = 0;
  double right = 0;
  for (int64_t i = 0; i < y.num_elements(); ++i) left += forward.ToDouble(i) * y.ToDouble(i);
  for (int64_t i = 0; i < x.num_elements(); ++i) right += backward.ToDouble(i) * x.ToDouble(i);
  EXPECT_NEAR(left, right, 1e-4);
}

TEST(Contraction, MatMulBroadcastsBatchesAndTransposes) {
  const Tensor a = Iota({2, 1, 2, 3});
  const Tensor b = Iota({2, 3, 1});
  const Tensor y = Evaluate(Op::kMatMul, {a, b});
  EXPECT_THAT(y, HasShape({2, 2, 2, 1}));
  EXPECT_THAT(y, Has({5, 14, 14, 50, 23, 32, 86, 122}));
  EXPECT_THAT(Evaluate(Op::kMatMul, {Iota({3, 2}), Iota({2, 3})},
                       {{"transpose_a", int64_t{1}}, {"transpose_b", int64_t{1}}}),
              Has({10, 28, 13, 40}));
  EXPECT_THAT(Evaluate(Op::kMatMul, {F32({2, 0}, {}), F32({0, 1}, {})}), Has({0, 0}));
}

TEST(Contraction, MatMulOfIntegersWraps) {
  const Tensor a = Make(DType::kI32, {1, 2}, {65536, 3});
  EXPECT_THAT(Evaluate(Op::kMatMul, {a, Make(DType::kI32, {2, 1}, {65536, -1})}), Has({-3}));
}

// bf16 cannot represent 1 + 2^-9.
TEST(Contraction, SumsOfBF16InF32) {
  const Tensor a = Make(DType::kBF16, {1, 2}, {1, 1}), b = Make(DType::kBF16, {2, 1}, {1, 0x1p-9});
  EXPECT_THAT(Evaluate(Op::kMatMul, {a, b}), Has({1}));
  const Tensor y = Evaluate(Op::kMatMul, {a, b}, {{"to", DType::kF32}});
  EXPECT_EQ(y.dtype(), DType::kF32);
  EXPECT_THAT(y, Has({1 + 0x1p-9}));
}

TEST(Contraction, WiderThanAPanel) {
  const Tensor a = RandomF32({9, 70}, 7);
  const Tensor b = RandomF32({70, 130}, 8);
  const Tensor y = Evaluate(Op::kMatMul, {a, b});
  std::vector<double> expected;
  ForEachIndex({9, 130}, [&](const Shape& index) {
    double sum = 0;
    for (int64_t k = 0; k < 70; ++k) sum += a.ToDouble(index[0] * 70 + k) * b.ToDouble(k * 130 + index[1]);
    expected.push_back(sum);
  });
  EXPECT_THAT(y, Has(expected, 1e-5));
}

TEST(Contraction, IntegerOnesTakeOffTheirZeroPoints) {
  const auto u8 = [](Shape shape, std::vector<double> v) { return Make(DType::kU8, std::move(shape), v); };
  const auto i8 = [](Shape shape, std::vector<double> v) { return Make(DType::kI8, std::move(shape), v); };
  const Tensor a = u8({2, 2}, {11, 7, 3, 10});
  const Tensor b = i8({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(Evaluate(Op::kMatMulInteger, {a, b}), Has({32, 50, 33, 46}));
  EXPECT_THAT(Evaluate(Op::kMatMulInteger, {a, b, u8({2}, {1, 2}), i8({2}, {0, 1})}), Has({28, 28, 25, 25}));
  // A padded position counts as the zero point, that is, as 0.
  const Tensor y = Evaluate(
      Op::kConvInteger, {u8({1, 1, 2}, {5, 7}), i8({2, 1, 2}, {1, 2, 3, 4}), u8({}, {4}), i8({2}, {1, 2})},
      {{"pads", Ints{1, 0}}});
  EXPECT_EQ(y.dtype(), DType::kI32);
  EXPECT_THAT(y, Has({1, 3, 2, 7}));
}

TEST(Contraction, AttentionWithAMask) {
  const Tensor q = F32({1, 1, 1, 2}, {1, 0});
  const Tensor k = F32({1, 1, 3, 2}, {0, 5, 2, 5, 9, 9});
  const Tensor v = F32({1, 1, 3, 1}, {1, 2, 100});
  const Tensor mask = F32({1, 1, 1, 3}, {0, 0, -INFINITY});
  const double e = std::exp(0.5 * 2);
  EXPECT_THAT(Evaluate(Op::kAttention, {q, k, v, mask}, {{"scale", 0.5}}),
              Has({(1 + 2 * e) / (1 + e)}, 1e-6));
}

TEST(Contraction, DeformableConvolution) {
  const Tensor x = Iota({1, 1, 3, 3});
  const Tensor w = F32({1, 1, 1, 1}, {2});
  // Offsets (0, 0), (0.5, 0), (0, -0.5), (-1, 0); the second to last reads half of a pixel outside.
  const Tensor offset = F32({1, 2, 2, 2}, {0, 0.5, 0, -1, 0, 0, -0.5, 0});
  const Attributes attrs = {{"strides", Ints{2, 2}}};
  EXPECT_THAT(Evaluate(Op::kDeformConv, {x, offset, w}, attrs), Has({0, 7, 6, 10}));
  const Tensor mask = F32({1, 1, 2, 2}, {1, 0.5, 1, 1});
  EXPECT_THAT(Evaluate(Op::kDeformConv, {x, offset, w, F32({1}, {100}), mask}, attrs),
              Has({100, 103.5, 106, 110}));
}

TEST(Contraction, MagnitudeSumsAbsoluteProducts) {
  const Tensor a = F32({1, 2}, {1, -2});
  const Tensor b = F32({2, 1}, {-3, -4});
  EXPECT_THAT(Magnitude(Op::kMatMul, {a, b}), Has({11}));
  EXPECT_THAT(Magnitude(Op::kReduceSum, {a}, {{"axes", Ints{1}}}), Has({3}));
  const Tensor x = F32({1, 1, 2}, {1, -2});
  EXPECT_THAT(Magnitude(Op::kConv, {x, F32({1, 1, 2}, {-3, -4}), F32({1}, {-5})}), Has({16}));
  EXPECT_THAT(Magnitude(Op::kConvTranspose, {x, F32({1, 1, 2}, {-3, 4})}), Has({3, 10, 8}));
  // One key: the weight is 1, and the error of the score counts twice.
  EXPECT_THAT(
      Magnitude(Op::kAttention, {F32({1, 1, 1, 1}, {-2}), F32({1, 1, 1, 1}, {3}), F32({1, 1, 1, 1}, {-7})},
                {{"scale", 0.5}}),
      Has({7 * (1 + 2 * 3)}));
}

}  // namespace
}  // namespace attune::reference
