// NaN, infinities, zeros and denormals through operators, compared with the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiled.h"
#include "lower/strategy.h"
#include "reference/compare.h"
#include "reference/interpreter.h"

namespace attune::floating_point {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<float>::max();
constexpr double kSpecial[] = {kNan, kInf,     -kInf, 0,    -0.0,  1, -1,     0.5,  -2.5,
                               2,    kLargest, 1e-40, 1e20, -1e20, 3, -1e-40, 1e30, -kLargest};

void ExpectAsReference(const Graph& graph, const std::vector<Tensor>& inputs, const Target& target,
                       std::string_view strategy = "") {
  const auto expected = Interpreter().Run(graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const std::vector<Tensor> actual = RunCompiled(graph, inputs, target, strategy);
  ASSERT_EQ(actual.size(), expected->size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const Comparison comparison = Compare((*expected)[i], actual[i], OperatorTolerance(actual[i].dtype()));
    EXPECT_TRUE(comparison.ok()) << target.name << ": output " << i << ": " << comparison.ToString();
  }
}

void ExpectAsReference(const std::string& text, const std::vector<Tensor>& inputs) {
  SCOPED_TRACE(text);
  const std::unique_ptr<Graph> graph = Parse(text);
  for (const Target& target : Targets()) ExpectAsReference(*graph, inputs, target);
}

// An operator with one input.
void ExpectAsReference(const std::string& op, const std::string& attributes, const Tensor& x,
                       const std::string& out) {
  const std::string in = absl::StrCat("f32[", absl::StrJoin(x.shape(), ","), "]");
  ExpectAsReference(absl::StrCat("graph(%x: ", in, ") {\n  %y = ", op, "(%x) ", attributes, " : ", out,
                                 "\n  return \"y\": %y\n}\n"),
                    {x});
}

TEST(SpecialValues, OfFunctions) {
  const Tensor x = Repeated({3, 36}, kSpecial);
  for (const char* op :
       {"neg",   "abs", "sign",    "floor", "ceil",     "round", "sqrt", "exp",       "log",   "sin",
        "cos",   "tan", "asin",    "acos",  "atan",     "sinh",  "cosh", "tanh",      "asinh", "acosh",
        "atanh", "erf", "sigmoid", "relu",  "softplus", "gelu",  "silu", "hard_swish"})
    ExpectAsReference(op, "", x, "f32[3,36]");
  for (const char* op : {"is_nan", "is_inf"}) ExpectAsReference(op, "", x, "bool[3,36]");
  ExpectAsReference("gelu", "{approximate = \"tanh\"}", x, "f32[3,36]");
  ExpectAsReference("elu", "{alpha = 0.5}", x, "f32[3,36]");
  ExpectAsReference("leaky_relu", "{alpha = 0.5}", x, "f32[3,36]");
  ExpectAsReference("hard_sigmoid", "{alpha = 0.2, beta = 0.5}", x, "f32[3,36]");
  ExpectAsReference("clip", "{min = -2.0, max = 1.5}", x, "f32[3,36]");
}

TEST(SpecialValues, OfTwoOperands) {
  const Tensor x = Repeated({1, 18}, kSpecial), y = Repeated({18, 1}, kSpecial);
  const auto expect = [&](const std::string& op, const std::string& out) {
    ExpectAsReference(absl::StrCat("graph(%x: f32[1,18], %y: f32[18,1]) {\n  %z = ", op, " : ", out,
                                   "[18,18]\n  return \"z\": %z\n}\n"),
                      {x, y});
  };
  for (const char* op : {"add", "sub", "mul", "div", "min", "max", "pow", "mod"})
    expect(absl::StrCat(op, "(%x, %y)"), "f32");
  expect("mod(%x, %y) {truncate = 1}", "f32");
  for (const char* op : {"equal", "less", "less_equal", "greater", "greater_equal"})
    expect(absl::StrCat(op, "(%x, %y)"), "bool");
}

// Lines: some contain NaN, some infinities, and one contains only -infinity.
Tensor Lines(int64_t length) {
  Tensor x(DType::kF32, {6, length});
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const int64_t line = i / length, at = i % length;
    double value = std::sin(static_cast<double>(i));
    if (line == 0 && at == length / 2) value = kNan;
    if (line == 1 && at % 5 == 3) value = kInf;
    if (line == 2 && at % 5 == 3) value = -kInf;
    if (line == 3) value = -kInf;
    if (line == 4 && (at == 1 || at == length - 1)) value = kNan;
    if (line == 5 && at == 0) value = kNan;
    x.SetDouble(i, value);
  }
  return x;
}

TEST(SpecialValues, OfLines) {
  for (const int64_t length : {5, 37, 64}) {
    const Tensor x = Lines(length);
    const std::string same = absl::StrCat("f32[6,", length, "]");
    for (const char* op : {"reduce_max", "reduce_min", "reduce_sum", "reduce_mean", "reduce_prod"}) {
      ExpectAsReference(op, "{axes = [1], keepdims = 0}", x, "f32[6]");
      ExpectAsReference(op, "{axes = [0], keepdims = 0}", x, absl::StrCat("f32[", length, "]"));
    }
    for (const char* op : {"arg_max", "arg_min"}) {
      for (const int last : {0, 1})
        ExpectAsReference(op, absl::StrCat("{axis = 1, keepdims = 0, select_last = ", last, "}"), x,
                          "i64[6]");
    }
    for (const char* op : {"softmax", "log_softmax", "cum_sum", "cum_prod"})
      ExpectAsReference(op, "{axis = 1}", x, same);
    for (const int largest : {0, 1}) {
      ExpectAsReference(
          absl::StrCat("graph(%x: ", same, ") {\n  %y, %i = top_k(%x) {axis = 1, k = 4, largest = ", largest,
                       "} : f32[6,4], i64[6,4]\n  return \"y\": %y, \"i\": %i\n}\n"),
          {x});
    }
  }
}

TEST(SpecialValues, OfWindows) {
  constexpr double kFew[] = {1, 2,  -3, 0.5, 1, -1, 0.25, 2, 1,    1, -2, 3, 1, 0.5, kInf, 1,     2, 1, 1,
                             1, -1, 1,  0.5, 2, 1,  3,    1, kNan, 1, -2, 1, 1, 0.5, 2,    -kInf, 1, 2};
  const Tensor x = Repeated({1, 16, 9, 9}, kFew);
  for (const char* op : {"max_pool", "avg_pool"})
    ExpectAsReference(op, "{kernel = [2, 2], strides = [1, 1]}", x, "f32[1,16,8,8]");
}

// At these scales some outputs lie exactly on an input element, so that its neighbours have the weight 0.
TEST(SpecialValues, BesideSamples) {
  Tensor x = RandomTensor({1, 16, 4, 6}, 1);
  for (int64_t i = 0; i < x.num_elements(); i += 7) x.SetDouble(i, i % 2 == 0 ? kNan : kInf);
  for (const char* mode : {"linear", "cubic"}) {
    for (const char* coordinates : {"half_pixel", "align_corners", "asymmetric"}) {
      ExpectAsReference("resize",
                        absl::StrCat("{mode = \"", mode, "\", coordinate_mode = \"", coordinates,
                                     "\", scales = [1, 1, 3, 3], sizes = [1, 16, 12, 18]}"),
                        x, "f32[1,16,12,18]");
    }
  }
}

// Equal to the last bit.
TEST(SpecialValues, DenormalsAreKept) {
  constexpr double kSmall[] = {1e-40, -3e-42, 1e-45, 5e-39, -1e-38};
  const Tensor x = Repeated({3, 35}, kSmall);
  const auto graph = Parse(R"(graph(%x: f32[3,35], %y: f32[3,35]) {
    %a = add(%x, %y) : f32[3,35]
    %s = sub(%x, %y) : f32[3,35]
    %m = mul(%x, %y) : f32[3,35]
    %d = div(%x, %y) : f32[3,35]
    %l = max(%x, %y) : f32[3,35]
    %r = relu(%x) : f32[3,35]
    %c = less(%x, %y) : bool[3,35]
    return "a": %a, "s": %s, "m": %m, "d": %d, "l": %l, "r": %r, "c": %c
  })");
  for (const double other : {2e-41, 0.5, 3e-39, 1e38}) {
    const std::vector<Tensor> inputs = {x, Repeated({3, 35}, std::span(&other, 1))};
    const auto expected = Interpreter().Run(*graph, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (const Target& target : Targets()) {
      const std::vector<Tensor> actual = RunCompiled(*graph, inputs, target);
      for (size_t i = 0; i < actual.size(); ++i)
        EXPECT_TRUE(actual[i].Identical((*expected)[i])) << target.name << " " << other << " " << i;
    }
  }
  // Products that are denormals by themselves; then their sum.
  const Tensor tiny = Repeated({4, 24}, std::vector<double>{1e-20});
  const Tensor sum = RunCompiled(*Product({4, 24}, Repeated({24, 16}, std::vector<double>{1e-20})), {tiny},
                                 Targets().back())[0];
  EXPECT_NEAR(sum.ToDouble(0), 24e-40, 24e-45);
}

// By each strategy that applies, except those by Winograd, which mix numbers that are not added to each
// other.
TEST(SpecialValues, OfProducts) {
  Tensor x = RandomTensor({1, 32, 14, 14}, 1), rows = RandomTensor({37, 64}, 2);
  for (const int64_t at : {0, 5 * 196 + 75, 32 * 196 - 1}) x.SetDouble(at, kNan);
  x.SetDouble(100, kInf);
  rows.SetDouble(3, kNan);
  rows.SetDouble(64 * 20 + 63, -kInf);
  const Tensor taps = RandomTensor({32, 32, 3, 3}, 3), columns = RandomTensor({64, 48}, 4);
  const auto conv = Convolutions(x.shape(), {RandomTensor({32, 32, 1, 1}, 5), taps});
  const auto product = Product(rows.shape(), columns);
  for (const Target& target : Targets()) {
    for (const Strategy& strategy : AllStrategies()) {
      if (strategy.spreads_rounding) continue;
      SCOPED_TRACE(absl::StrCat(target.name, " ", strategy.name));
      ExpectAsReference(*conv, {x}, target, strategy.name);
      ExpectAsReference(*product, {rows}, target, strategy.name);
    }
  }
}

TEST(SpecialValues, MeetTheirNeighboursInATileOfWinograd) {
  constexpr int64_t kSize = 40, kReach = 8;  // no tile is larger
  Tensor x = RandomTensor({1, 32, kSize, kSize}, 1);
  x.SetDouble(3 * kSize * kSize + 20 * kSize + 17, kNan);
  // The first convolution makes channel blocks, which the algorithm wants.
  const auto conv =
      Convolutions(x.shape(), {RandomTensor({32, 32, 1, 1}, 2), RandomTensor({32, 32, 3, 3}, 3)});
  for (const Target& target : Targets()) {
    const auto description = Compiled(*conv, target, "conv_winograd").Describe();
    ASSERT_TRUE(description.ok()) << description.status();
    EXPECT_TRUE(std::ranges::any_of(description->variant().kernels, [](const KernelInfo& kernel) {
      return kernel.strategy.starts_with("conv_winograd");
    }));
    const Tensor y = RunCompiled(*conv, {x}, target, "conv_winograd")[0];
    for (int64_t i = 0; i < y.num_elements(); ++i) {
      const int64_t down = std::abs(i / kSize % kSize - 20), across = std::abs(i % kSize - 17);
      if (down <= 1 && across <= 1) EXPECT_TRUE(std::isnan(y.ToDouble(i))) << i;
      if (down > kReach || across > kReach) EXPECT_TRUE(std::isfinite(y.ToDouble(i))) << i;
    }
  }
}

}  // namespace
}  // namespace attune::floating_point
