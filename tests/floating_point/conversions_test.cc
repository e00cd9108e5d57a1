// Casts, quantization, and 16-bit numbers within a kernel.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiled.h"
#include "reference/interpreter.h"

namespace attune::floating_point {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Every element must be equal; NaN equals NaN, whatever its bits.
void ExpectExactly(const Tensor& expected, const Tensor& actual) {
  ASSERT_EQ(actual.shape(), expected.shape());
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double a = actual.ToDouble(i), b = expected.ToDouble(i);
    ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << i << ": " << a << ", not " << b;
  }
}

void ExpectExactlyAsReference(const std::string& text, const std::vector<Tensor>& inputs) {
  SCOPED_TRACE(text);
  const auto graph = Parse(text);
  const auto expected = Interpreter().Run(*graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const Target& target : Targets()) {
    SCOPED_TRACE(target.name);
    const std::vector<Tensor> actual = RunCompiled(*graph, inputs, target);
    for (size_t i = 0; i < expected->size(); ++i) ExpectExactly((*expected)[i], actual[i]);
  }
}

TEST(Conversions, SaturateToIntegersAndOverflowToInfinity) {
  constexpr double kValues[] = {kNan,  kInf,  -kInf,    0.9,   -0.9,  127.5,      128,    -129,
                                255.9, 256,   65504,    65519, 65520, -7e4,       3e9,    5e9,
                                -3e9,  1e19,  2e19,     -1e19, 1e39,  -1e39,      3.4e38, 3.41e38,
                                1e-8,  1e-46, 16777217, 2049,  257,   1.00390625, 0.5,    -0.5};
  for (const DType from : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16}) {
    const Tensor x = Repeated({67}, kValues, from);
    for (const char* to :
         {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"}) {
      ExpectExactlyAsReference(absl::StrCat("graph(%x: ", DTypeName(from), "[67]) {\n  %y = cast(%x) {to = ",
                                            to, "} : ", to, "[67]\n  return \"y\": %y\n}\n"),
                               {x});
    }
  }
}

TEST(Conversions, OfIntegersRoundToNearestEven) {
  constexpr double kValues[] = {16777217, 16777219, -16777219, 2147483647, 65519, 65520, 2049,
                                2051,     257,      259,       -1,         0,     255};
  for (const DType from : {DType::kI32, DType::kI64, DType::kU8}) {
    const Tensor x = Repeated({39}, kValues, from);
    for (const char* to : {"f16", "bf16", "f32", "f64"}) {
      ExpectExactlyAsReference(absl::StrCat("graph(%x: ", DTypeName(from), "[39]) {\n  %y = cast(%x) {to = ",
                                            to, "} : ", to, "[39]\n  return \"y\": %y\n}\n"),
                               {x});
    }
  }
}

TEST(Conversions, QuantizeNanTo0) {
  constexpr double kValues[] = {kNan, 1, kInf, -kInf, 0.25, -3, kNan, 100, -100};
  for (const char* to : {"i8", "u8", "i16", "u16"}) {
    for (const char* scale : {"0.25", "1"}) {
      for (const char* from : {"f32", "f16"}) {
        const std::string text = absl::StrCat(
            "graph(%x: ", from, "[2,40]) {\n  %s = constant() {value = ", from, "[]<", scale, ">} : ", from,
            "[]\n  %z = constant() {value = ", to, "[]<7>} : ", to, "[]\n  %r = relu(%x) : ", from,
            "[2,40]\n  %q = quantize(%r, %s, %z) {to = ", to, "} : ", to, "[2,40]\n  return \"q\": %q\n}\n");
        ExpectExactlyAsReference(text, {Repeated({2, 40}, kValues, *ParseDType(from))});
      }
    }
  }
}

// After a convolution, whose kernel quantizes its own sums.
TEST(Conversions, QuantizeNanTo0WithinAConvolution) {
  Tensor x = RandomTensor({1, 16, 6, 6}, 1);
  x.SetDouble(40, kNan);
  const Tensor w = RandomTensor({16, 16, 1, 1}, 2);
  const auto graph = Parse(R"(graph(%x: f32[1,16,6,6], %w: f32[16,16,1,1]) {
    %s = constant() {value = f32[]<0.05>} : f32[]
    %z = constant() {value = i8[]<-18>} : i8[]
    %y = conv(%x, %w) : f32[1,16,6,6]
    %q = quantize(%y, %s, %z) {to = i8} : i8[1,16,6,6]
    return "q": %q
  })");
  for (const Target& target : Targets()) {
    const std::vector<Tensor> outputs = RunCompiled(*graph, {x, w}, target);
    for (int64_t channel = 0; channel < 16; ++channel) EXPECT_EQ(outputs[0].ToDouble(channel * 36 + 4), 0);
    EXPECT_NE(outputs[0].ToDouble(3), 0);
  }
}

// f16 has 2048 and 2050 but not 2049. Within a kernel the sum is in f32.
TEST(Conversions, BetweenOperatorsOfAKernelMayBeLeftOut) {
  const Tensor x = Repeated({64}, std::vector<double>{2048}, DType::kF16);
  const auto graph = Parse(R"(graph(%x: f16[64]) {
    %one = constant() {value = f16[]<1>} : f16[]
    %a = add(%x, %one) : f16[64]
    %b = sub(%a, %x) : f16[64]
    return "b": %b
  })");
  const auto stored = Parse(R"(graph(%x: f16[64]) {
    %one = constant() {value = f16[]<1>} : f16[]
    %a = add(%x, %one) : f16[64]
    %b = sub(%a, %x) : f16[64]
    return "a": %a, "b": %b
  })");
  for (const Target& target : Targets()) {
    EXPECT_EQ(RunCompiled(*graph, {x}, target)[0].ToDouble(5), 1);
    const std::vector<Tensor> both = RunCompiled(*stored, {x}, target);
    EXPECT_EQ(both[0].ToDouble(5), 2048);
    EXPECT_EQ(both[1].ToDouble(5), 0);
  }
}

}  // namespace
}  // namespace attune::floating_point
