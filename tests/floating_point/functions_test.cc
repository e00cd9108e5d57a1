// The largest errors that docs/decisions/floating-point.md states, over all of f32.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "compiled.h"

namespace attune::floating_point {
namespace {

using Real = long double;
constexpr double kRoundoff = 0x1p-24;
constexpr Real kInf = std::numeric_limits<Real>::infinity();

// An operator with one input, its definition, and its allowed error: units in the last place of the result,
// and roundoffs of a size that depends on the input.
struct Function {
  std::string op;
  Real (*exact)(Real);
  double ulps;
  double roundoffs = 0;
  double (*size)(double) = nullptr;
  std::string attributes = "";
  double least = 0;  // errors up to this are always allowed
};

constexpr double kLeastExp = 0x1p-125, kLeastSilu = 0x1p-118;

Real Sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
Real Silu(Real x) { return x == -kInf ? 0 : x * Sigmoid(x); }
Real Elu(Real x) { return x < 0 ? std::expm1(x) : x; }
Real Softplus(Real x) { return std::max<Real>(x, 0) + std::log1p(std::exp(-std::abs(x))); }
Real Gelu(Real x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<Real>); }
// The argument of tanh is 0.797… (x + 0.044715 x³).
Real GeluByTanh(Real x) {
  const Real u = std::sqrt(2 / std::numbers::pi_v<Real>) * (x + 0.044715L * x * x * x);
  return x / (1 + std::exp(-2 * u));
}
Real HardSwish(Real x) { return x * std::clamp<Real>(x / 6 + 0.5L, 0, 1); }
Real HardSigmoid(Real x) { return std::clamp<Real>(0.2L * x + 0.5L, 0, 1); }

double One(double) { return 1; }
double UpTo6(double x) { return std::min(std::abs(x), 6.0); }

const std::vector<Function>& Functions() {
  static const std::vector<Function> functions = {
      {"sqrt", [](Real x) { return std::sqrt(x); }, 0.5},
      {"exp", [](Real x) { return std::exp(x); }, 1.1, 0, nullptr, "", kLeastExp},
      {"log", [](Real x) { return std::log(x); }, 0.9},
      {"tanh", [](Real x) { return std::tanh(x); }, 3},
      {"erf", [](Real x) { return std::erf(x); }, 5},
      {"sigmoid", Sigmoid, 4.5, 0, nullptr, "", kLeastExp},
      {"silu", Silu, 4.5, 0, nullptr, "", kLeastSilu},
      {"gelu", Gelu, 0, 4, UpTo6},
      {"gelu", GeluByTanh, 0, 4, UpTo6, "{approximate = \"tanh\"}"},
      {"softplus", Softplus, 1, 2, One},
      {"elu", Elu, 1, 1, One, "{alpha = 1.0}"},
      {"hard_sigmoid", HardSigmoid, 1, 1, One, "{alpha = 0.2, beta = 0.5}"},
      {"hard_swish", HardSwish, 1, 1, UpTo6},
      {"sin", [](Real x) { return std::sin(x); }, 0.51},
      {"cos", [](Real x) { return std::cos(x); }, 0.51},
      {"tan", [](Real x) { return std::tan(x); }, 0.51},
      {"asin", [](Real x) { return std::asin(x); }, 0.51},
      {"acos", [](Real x) { return std::acos(x); }, 0.51},
      {"atan", [](Real x) { return std::atan(x); }, 0.51},
      {"sinh", [](Real x) { return std::sinh(x); }, 0.51},
      {"cosh", [](Real x) { return std::cosh(x); }, 0.51},
      {"asinh", [](Real x) { return std::asinh(x); }, 0.51},
      {"acosh", [](Real x) { return std::acosh(x); }, 0.51},
      {"atanh", [](Real x) { return std::atanh(x); }, 0.51},
  };
  return functions;
}

// The distance between neighbours around x.
double UlpOf(float x) {
  int exponent;
  std::frexp(std::max(std::abs(x), std::numeric_limits<float>::min()), &exponent);
  return std::ldexp(1.0, exponent - std::numeric_limits<float>::digits);
}

// The error of `actual` as a fraction of the allowed one; NaN and infinities have to match.
double Excess(const Function& function, float x, float actual) {
  const Real exact = function.exact(x);
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(rounded) || std::isnan(actual)) return std::isnan(rounded) == std::isnan(actual) ? 0 : kInf;
  if (rounded == actual) return 0;
  if (std::isinf(rounded) || std::isinf(actual)) return kInf;
  double allowed = function.ulps * UlpOf(rounded) + function.least;
  if (function.size != nullptr) allowed += function.roundoffs * kRoundoff * function.size(x);
  return static_cast<double>(std::abs(actual - exact)) / allowed;
}

// Every 20011th f32, and the values at the ends of the range.
Tensor Sample() {
  constexpr uint64_t kStep = 20011;
  std::vector<float> values = {0.0f,
                               -0.0f,
                               HUGE_VALF,
                               -HUGE_VALF,
                               std::nanf(""),
                               std::numeric_limits<float>::max(),
                               -std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::denorm_min()};
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += kStep)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return Tensor::FromFloats(values, {static_cast<int64_t>(values.size())});
}

TEST(Functions, ErrByNoMoreThanIsStated) {
  const Tensor x = Sample();
  const auto in = x.as<float>();
  for (const Function& function : Functions()) {
    const std::string type = absl::StrCat("f32[", in.size(), "]");
    const auto graph = Parse(absl::StrCat("graph(%x: ", type, ") {\n  %y = ", function.op, "(%x) ",
                                          function.attributes, " : ", type, "\n  return \"y\": %y\n}\n"));
    for (const Target& target : Targets()) {
      const std::vector<Tensor> outputs = RunCompiled(*graph, {x}, target);
      ASSERT_EQ(outputs.size(), 1u);
      const auto out = outputs[0].as<float>();
      double worst = 0;
      size_t where = 0;
      for (size_t i = 0; i < in.size(); ++i) {
        const double excess = Excess(function, in[i], out[i]);
        if (excess > worst) worst = excess, where = i;
      }
      EXPECT_LE(worst, 1) << target.name << ": " << function.op << function.attributes << "(" << in[where]
                          << ") = " << out[where] << ", not "
                          << static_cast<double>(function.exact(in[where]));
    }
  }
}

// Quotients are rounded correctly, but those by constants may be off by 1.5 units in the last place.
TEST(Functions, DivideExactlyButByConstants) {
  const Tensor x = RandomTensor({1000}, 1, 0.1, 9), y = RandomTensor({1000}, 2, 0.1, 9);
  const auto graph = Parse(R"(graph(%x: f32[1000], %y: f32[1000]) {
    %c = constant() {value = f32[]<2.9>} : f32[]
    %d = div(%x, %y) : f32[1000]
    %e = div(%x, %c) : f32[1000]
    %r = sqrt(%y) : f32[1000]
    %f = div(%x, %r) : f32[1000]
    return "d": %d, "e": %e, "f": %f
  })");
  const auto a = x.as<float>(), b = y.as<float>();
  for (const Target& target : Targets()) {
    const std::vector<Tensor> outputs = RunCompiled(*graph, {x, y}, target);
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(outputs[0].as<float>()[i], a[i] / b[i]);
      const double quotient = static_cast<double>(a[i]) / 2.9f;
      EXPECT_NEAR(outputs[1].as<float>()[i], quotient, 1.5 * UlpOf(static_cast<float>(quotient)));
      EXPECT_EQ(outputs[2].as<float>()[i], a[i] / std::sqrt(b[i]));
    }
  }
}

TEST(Functions, ConstantsMeetBeforeTheyMeetX) {
  const auto graph = Parse(R"(graph(%x: f32[40]) {
    %c = constant() {value = f32[]<1e30>} : f32[]
    %s = add(%x, %c) : f32[40]
    %d = sub(%s, %c) : f32[40]
    return "d": %d
  })");
  const Tensor x = RandomTensor({40}, 1);
  for (const Target& target : Targets()) EXPECT_TRUE(RunCompiled(*graph, {x}, target)[0].Identical(x));
}

}  // namespace
}  // namespace attune::floating_point
