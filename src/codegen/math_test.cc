// Every math operation against libm, over special values and a sweep of each range, scalar and vector.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "base/random.h"
#include "codegen/run_kernel.h"

namespace attune {
namespace {

// out[i] = op(x[i]) or op(x[i], y[i]).
LoopNest Elementwise(MathOp op, DType dtype, int64_t n, int64_t lanes) {
  const Buffer x = MakeBuffer("x", dtype, {n}), y = MakeBuffer("y", dtype, {n}),
               out = MakeBuffer("out", dtype, {n});
  const Var i = MakeVar("i"), l = MakeVar("l");
  const Expr at = Expr(i) * lanes + Expr(l);
  std::vector<Expr> args = {Load(x, {at})};
  if (MathOpArity(op) == 2) args.push_back(Load(y, {at}));
  Stmt body = MakeIf(at < n, MakeStore(out, {at}, MakeOp(op, args)));
  body = MakeFor(l, 0, lanes, LoopKind::kVectorized, body);
  body = MakeFor(i, 0, CeilDiv(n, lanes), LoopKind::kSerial, body);
  return {.name = "op", .params = {{x, kIn}, {y, kIn}, {out, kOut}}, .dims_buffer = nullptr, .roots = {body}};
}

template <typename T>
std::vector<T> SpecialValues() {
  using L = std::numeric_limits<T>;
  std::vector<T> v = {0,
                      L::denorm_min(),
                      L::min(),
                      T(1e-3),
                      T(0.5),
                      T(0.9),
                      T(1),
                      T(1.5),
                      T(2),
                      T(3),
                      T(10),
                      T(88.72),
                      T(100),
                      T(709),
                      T(1e5),
                      T(1e9),
                      L::max(),
                      L::infinity(),
                      L::min() / 8,
                      T(0.93),
                      T(M_PI_2),
                      T(M_PI),
                      T(0.25),
                      L::epsilon(),
                      T(1) - L::epsilon()};
  const size_t positive = v.size();
  for (size_t i = 0; i < positive; ++i) v.push_back(-v[i]);
  v.push_back(L::quiet_NaN());
  return v;
}

// The distance in units in the last place of `expected`, subnormal spacing included.
template <typename T>
double Ulps(T actual, long double expected) {
  const T rounded = static_cast<T>(expected);
  if (std::isnan(rounded) || std::isnan(actual)) return std::isnan(rounded) == std::isnan(actual) ? 0 : 1e30;
  if (std::isinf(rounded) || std::isinf(actual)) {
    // Near the largest number, only an exact result tells whether it overflows.
    const bool near = std::abs(expected) > 0.999999L * std::numeric_limits<T>::max();
    return rounded == actual || (near && std::signbit(rounded) == std::signbit(actual)) ? 0 : 1e30;
  }
  int exponent;
  std::frexp(std::max<T>(std::abs(rounded), std::numeric_limits<T>::min()), &exponent);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs((static_cast<long double>(actual) - expected) / unit));
}

struct UnaryCase {
  MathOp op;
  std::function<long double(long double)> expected;
  double low, high;       // the sweep
  double magnitude;       // special values beyond it are left out
  double negligible = 0;  // in f32, where the result is below this, any result below it will do
  double max_ulps = 4;
};

long double SigmoidOf(long double x) { return 1 / (1 + std::exp(-x)); }
long double SiluOf(long double x) { return std::isinf(x) && x < 0 ? -0.0L : x * SigmoidOf(x); }

const std::vector<UnaryCase>& UnaryCases() {
  using LD = long double;
  constexpr double kAll = std::numeric_limits<double>::infinity();
  static const std::vector<UnaryCase> cases = {
      {MathOp::kExp, [](LD x) { return std::exp(x); }, -110, 92, kAll, 0x1p-125},
      {MathOp::kLog, [](LD x) { return std::log(x); }, 1e-6, 5, kAll},
      {MathOp::kSin, [](LD x) { return std::sin(x); }, -1e4, 1e4, 1e5},
      {MathOp::kCos, [](LD x) { return std::cos(x); }, -1e4, 1e4, 1e5},
      {MathOp::kTan, [](LD x) { return std::tan(x); }, -100, 100, 1e5},
      {MathOp::kAsin, [](LD x) { return std::asin(x); }, -1, 1, kAll},
      {MathOp::kAcos, [](LD x) { return std::acos(x); }, -1, 1, kAll},
      {MathOp::kAtan, [](LD x) { return std::atan(x); }, -8, 8, kAll},
      {MathOp::kSinh, [](LD x) { return std::sinh(x); }, -90, 90, kAll},
      {MathOp::kCosh, [](LD x) { return std::cosh(x); }, -90, 90, kAll},
      {MathOp::kTanh, [](LD x) { return std::tanh(x); }, -10, 10, kAll},
      {MathOp::kAsinh, [](LD x) { return std::asinh(x); }, -100, 100, kAll},
      {MathOp::kAcosh, [](LD x) { return std::acosh(x); }, 1, 100, kAll},
      {MathOp::kAtanh, [](LD x) { return std::atanh(x); }, -1, 1, kAll},
      {MathOp::kErf, [](LD x) { return std::erf(x); }, -6, 6, kAll, 0, 6},
      {MathOp::kSigmoid, SigmoidOf, -100, 100, kAll, 0x1p-125},
      {MathOp::kSilu, SiluOf, -100, 100, kAll, 0x1p-118},
      {MathOp::kSqrt, [](LD x) { return std::sqrt(x); }, 0, 100, kAll},
      {MathOp::kFloor, [](LD x) { return std::floor(x); }, -10, 10, kAll},
      {MathOp::kCeil, [](LD x) { return std::ceil(x); }, -10, 10, kAll},
      {MathOp::kRound, [](LD x) { return std::nearbyint(x); }, -10, 10, kAll},
      {MathOp::kTrunc, [](LD x) { return std::trunc(x); }, -10, 10, kAll},
      {MathOp::kAbs, [](LD x) { return std::abs(x); }, -10, 10, kAll},
      {MathOp::kNeg, [](LD x) { return -x; }, -10, 10, kAll},
  };
  return cases;
}

template <typename T>
void CheckUnary(const UnaryCase& c, DType dtype, int64_t lanes, double max_ulps) {
  std::vector<T> x;
  for (const T special : SpecialValues<T>()) {
    if (std::isnan(special) || std::isinf(special) || std::abs(special) <= c.magnitude) x.push_back(special);
  }
  constexpr int kSweep = 20000;
  for (int i = 0; i <= kSweep; ++i) x.push_back(static_cast<T>(c.low + (c.high - c.low) * i / kSweep));
  std::vector<T> out(x.size());
  const auto kernel = TestKernel::Make(Elementwise(c.op, dtype, static_cast<int64_t>(x.size()), lanes));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_EQ(kernel->Run({x.data(), x.data(), out.data()}), 0);
  double worst = 0;
  T worst_x = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const long double expected = c.expected(static_cast<long double>(x[i]));
    if (dtype == DType::kF32 && std::abs(out[i]) < c.negligible && std::abs(expected) < c.negligible)
      continue;
    const double ulps = Ulps(out[i], expected);
    if (ulps > worst) worst = ulps, worst_x = x[i];
    if (x[i] == 0 && out[i] == 0)
      EXPECT_EQ(std::signbit(out[i]), std::signbit(static_cast<T>(c.expected(x[i]))));
  }
  EXPECT_LE(worst, max_ulps) << MathOpName(c.op) << " at " << worst_x;
}

TEST(EmitMath, UnaryF32AgreesWithLibm) {
  for (const UnaryCase& c : UnaryCases()) {
    for (const int64_t lanes : {1, 16}) CheckUnary<float>(c, DType::kF32, lanes, c.max_ulps);
  }
}

TEST(EmitMath, UnaryF64AgreesWithLibm) {
  for (const UnaryCase& c : UnaryCases()) {
    // sinh and cosh shift the argument of exp, whose rounding error exp multiplies by up to 709.
    const bool shifted = c.op == MathOp::kSinh || c.op == MathOp::kCosh;
    for (const int64_t lanes : {1, 8}) CheckUnary<double>(c, DType::kF64, lanes, shifted ? 700 : 4);
  }
}

TEST(EmitMath, HugeAngles) {
  using LD = long double;
  const std::vector<std::pair<MathOp, LD (*)(LD)>> functions = {
      {MathOp::kSin, [](LD x) { return std::sin(x); }},
      {MathOp::kCos, [](LD x) { return std::cos(x); }},
      {MathOp::kTan, [](LD x) { return std::tan(x); }}};
  // 6381956970095103 · 2^797 is, of all f64, nearest to a multiple of π/2 (J.-M. Muller, Elementary
  // Functions).
  std::vector<double> x = {0x1p50,
                           0x1.0000000000001p50,
                           1e15,
                           1e17,
                           1e100,
                           -1e300,
                           1.7e308,
                           -3e38,
                           5.5,
                           1e22,
                           std::ldexp(6381956970095103.0, 797)};
  for (double angle = 1; angle < 1e308; angle *= -1.37) x.push_back(angle);
  x.push_back(std::numeric_limits<double>::infinity());
  for (const auto& [op, expected] : functions) {
    for (const int64_t lanes : {1, 4, 16}) {
      std::vector<double> out(x.size());
      const auto kernel =
          TestKernel::Make(Elementwise(op, DType::kF64, static_cast<int64_t>(x.size()), lanes));
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      ASSERT_EQ(kernel->Run({x.data(), x.data(), out.data()}), 0);
      for (size_t i = 0; i + 1 < x.size(); ++i)
        EXPECT_LE(Ulps(out[i], expected(x[i])), 4) << MathOpName(op) << "(" << x[i] << ") = " << out[i];
      EXPECT_TRUE(std::isnan(out.back()));
    }
  }
}

// All pairs of special values and many random ones.
template <typename T>
void CheckBinary(MathOp op, DType dtype, int64_t lanes, double max_ulps,
                 const std::function<long double(T, T)>& expected) {
  std::vector<T> x, y;
  std::vector<T> values = SpecialValues<T>();
  for (const double v : {-3.0, -2.0, -1.5, 4.0, 5.0, 1025.0, 0.1, 1e-20}) values.push_back(static_cast<T>(v));
  for (const T a : values) {
    for (const T b : values) x.push_back(a), y.push_back(b);
  }
  Random random(7);
  for (int i = 0; i < 5000; ++i) {
    x.push_back(static_cast<T>(std::exp(random.Normal() * 3) * (i % 2 == 0 ? 1 : -1)));
    y.push_back(static_cast<T>(i % 3 == 0 ? random.Integer(-20, 20) : random.Normal() * 10));
  }
  std::vector<T> out(x.size());
  const auto kernel = TestKernel::Make(Elementwise(op, dtype, static_cast<int64_t>(x.size()), lanes));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_EQ(kernel->Run({x.data(), y.data(), out.data()}), 0);
  for (size_t i = 0; i < x.size(); ++i) {
    const long double want = expected(x[i], y[i]);
    EXPECT_LE(Ulps(out[i], want), max_ulps)
        << MathOpName(op) << "(" << x[i] << ", " << y[i] << ") = " << out[i] << ", not " << want;
    if (want == 0)
      EXPECT_EQ(std::signbit(out[i]), std::signbit(want)) << MathOpName(op) << x[i] << ", " << y[i];
  }
}

template <typename T>
void CheckAllBinary(DType dtype, double pow_ulps) {
  for (const int64_t lanes : {1, 8}) {
    CheckBinary<T>(MathOp::kPow, dtype, lanes, pow_ulps, [](T a, T b) {
      return std::pow(static_cast<long double>(a), static_cast<long double>(b));
    });
    CheckBinary<T>(MathOp::kMod, dtype, lanes, 0, [](T a, T b) { return std::fmod(a, b); });
    CheckBinary<T>(MathOp::kFloorMod, dtype, lanes, 0, [](T a, T b) {
      const T r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    });
    CheckBinary<T>(MathOp::kDiv, dtype, lanes, 0, [](T a, T b) { return a / b; });
    CheckBinary<T>(MathOp::kFloorDiv, dtype, lanes, 0, [](T a, T b) { return std::floor(a / b); });
  }
}

TEST(EmitMath, BinaryF32AgreesWithLibm) { CheckAllBinary<float>(DType::kF32, 1); }
TEST(EmitMath, BinaryF64AgreesWithLibm) { CheckAllBinary<double>(DType::kF64, 1); }

// Casts to integers drop the fraction, so that one unit too little would make 728 of 9^3.
TEST(EmitMath, PowersThatAreIntegersAreExact) {
  std::vector<double> x, y, expected;
  for (double base = 2; base <= 40; ++base) {
    double power = base;
    for (double exponent = 1; power < 0x1p53; ++exponent, power *= base) {
      x.push_back(base);
      y.push_back(exponent);
      expected.push_back(power);
    }
  }
  std::vector<double> out(x.size());
  const auto kernel =
      TestKernel::Make(Elementwise(MathOp::kPow, DType::kF64, static_cast<int64_t>(x.size()), 8));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_EQ(kernel->Run({x.data(), y.data(), out.data()}), 0);
  EXPECT_EQ(out, expected);
}

TEST(EmitMath, MinAndMaxGiveNanForNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {1, 2, nan, 1, nan, -5}, y = {2, 1, 1, nan, nan, 5};
  const std::vector<float> low = {1, 1, nan, nan, nan, -5}, high = {2, 2, nan, nan, nan, 5};
  for (const int64_t lanes : {1, 2, 6}) {
    for (const MathOp op : {MathOp::kMin, MathOp::kMax}) {
      std::vector<float> a = x, b = y, out(x.size());
      const auto kernel = TestKernel::Make(Elementwise(op, DType::kF32, 6, lanes));
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      ASSERT_EQ(kernel->Run({a.data(), b.data(), out.data()}), 0);
      EXPECT_THAT(out,
                  ::testing::Pointwise(::testing::NanSensitiveFloatEq(), op == MathOp::kMin ? low : high));
    }
  }
}

}  // namespace
}  // namespace attune
