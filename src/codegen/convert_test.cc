// Conversions between all element types against a plain model, value by value.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/float16.h"
#include "base/random.h"
#include "codegen/run_kernel.h"
#include "device/host.h"

namespace attune {
namespace {

// An element of any type: floats hold their value as f64, integers as the 64 bits of a sign- or zero-extended
// number.
struct Element {
  double real = 0;
  int64_t integer = 0;
};

double RoundTo(DType dtype, double x) {
  if (dtype == DType::kF32) return static_cast<float>(x);
  // Rounds to 11 or 8 significant bits and the format's subnormal spacing, ties to even. f64 computes this
  // exactly.
  if (dtype == DType::kF64 || std::isnan(x) || std::isinf(x) || x == 0) return x;
  const int digits = dtype == DType::kF16 ? 11 : 8, least = dtype == DType::kF16 ? -24 : -133;
  int exponent;
  std::frexp(x, &exponent);
  const int unit = std::max(exponent - digits, least);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  const double limit = dtype == DType::kF16 ? 65504 : static_cast<double>(BF16ToFloat(0x7F7F));
  return std::abs(rounded) > limit ? std::copysign(INFINITY, x) : rounded;
}

int64_t Wrap(DType dtype, int64_t v) {
  const int shift = 64 - 8 * DTypeSize(dtype);
  const uint64_t moved = static_cast<uint64_t>(v) << shift;
  return IsSignedInt(dtype) ? static_cast<int64_t>(moved) >> shift : static_cast<int64_t>(moved >> shift);
}

int64_t Saturate(DType dtype, double x) {
  if (std::isnan(x)) return 0;
  const int bits = 8 * DTypeSize(dtype) - (IsSignedInt(dtype) ? 1 : 0);
  const double limit = std::ldexp(1.0, bits);
  const uint64_t most = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  if (x >= limit) return static_cast<int64_t>(most);
  if (x < 0) {
    if (!IsSignedInt(dtype)) return 0;
    return x <= -limit ? static_cast<int64_t>(~most) : static_cast<int64_t>(x);
  }
  return static_cast<int64_t>(static_cast<uint64_t>(x));
}

Element Convert(DType from, DType to, Element e) {
  Element out;
  if (to == DType::kBool) {
    out.integer = IsFloat(from) ? e.real != 0 : e.integer != 0;
  } else if (IsFloat(from)) {
    if (IsFloat(to)) {
      out.real = RoundTo(to, e.real);
    } else {
      out.integer = Saturate(to, e.real);
    }
  } else if (to == DType::kF32) {
    out.real = from == DType::kU64 ? static_cast<float>(static_cast<uint64_t>(e.integer))
                                   : static_cast<float>(e.integer);
  } else if (IsFloat(to)) {
    out.real = RoundTo(to, from == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(e.integer))
                                               : static_cast<double>(e.integer));
  } else {
    out.integer = Wrap(to, e.integer);
  }
  return out;
}

void Put(DType dtype, const Element& e, char* at) {
  const float f = static_cast<float>(e.real);
  const uint16_t half = FloatToF16(f), brain = FloatToBF16(f);
  const void* from = &e.integer;
  if (dtype == DType::kF64) from = &e.real;
  if (dtype == DType::kF32) from = &f;
  if (dtype == DType::kF16) from = &half;
  if (dtype == DType::kBF16) from = &brain;
  std::memcpy(at, from, static_cast<size_t>(DTypeSize(dtype)));
}

Element Get(DType dtype, const char* at) {
  Element e;
  float f;
  uint16_t half;
  std::memcpy(&half, at, std::min(2, DTypeSize(dtype)));
  switch (dtype) {
    case DType::kF64:
      std::memcpy(&e.real, at, 8);
      break;
    case DType::kF32:
      std::memcpy(&f, at, 4);
      e.real = f;
      break;
    case DType::kF16:
      e.real = F16ToFloat(half);
      break;
    case DType::kBF16:
      e.real = BF16ToFloat(half);
      break;
    default:
      std::memcpy(&e.integer, at, static_cast<size_t>(DTypeSize(dtype)));
      e.integer = dtype == DType::kBool ? e.integer : Wrap(dtype, e.integer);
  }
  return e;
}

std::vector<Element> Samples(DType dtype) {
  std::vector<Element> samples;
  Random random(static_cast<uint64_t>(dtype) + 1);
  if (dtype == DType::kBool) return {{0, 0}, {0, 1}, {0, 1}};
  if (!IsFloat(dtype)) {
    for (int bit = 0; bit < 64; ++bit) {
      for (const int64_t delta : {-1, 0, 1})
        samples.push_back({0, static_cast<int64_t>(uint64_t{1} << bit) + delta});
    }
    for (int i = 0; i < 200; ++i)
      samples.push_back({0, static_cast<int64_t>(random.Next() >> random.Integer(0, 60))});
    for (Element& e : samples) e.integer = Wrap(dtype, e.integer);
    return samples;
  }
  for (const double v : {0.0,
                         0.5,
                         1.0,
                         1.5,
                         2.5,
                         65504.0,
                         65519.9,
                         65520.0,
                         1e10,
                         9.3e18,
                         1.9e19,
                         1e39,
                         3.39e38,
                         1e300,
                         5.9e-8,
                         2.9e-8,
                         1e-40,
                         1e-320,
                         1.00048828125,
                         1.00146484375,
                         1.00048828126,
                         1.00390625,
                         127.5,
                         128.0,
                         255.5,
                         256.0,
                         2147483648.0,
                         4294967296.0,
                         static_cast<double>(INFINITY)}) {
    for (const double sign : {1.0, -1.0}) samples.push_back({sign * v, 0});
  }
  samples.push_back({NAN, 0});
  for (int i = 0; i < 300; ++i) samples.push_back({random.Normal() * std::exp(random.Normal() * 12), 0});
  for (Element& e : samples) e.real = RoundTo(dtype, e.real);
  return samples;
}

TEST(Cast, EveryPairOfTypesAgreesWithTheModel) {
  constexpr int64_t kLanes = 16;
  for (int f = 0; f < kNumDTypes; ++f) {
    const DType from = static_cast<DType>(f);
    const std::vector<Element> samples = Samples(from);
    const int64_t n = static_cast<int64_t>(samples.size());
    // One kernel with a root for each type to convert to: first in vectors, then the tail one by one.
    const Buffer x = MakeBuffer("x", from, {n});
    LoopNest nest{.name = "casts", .params = {{x, BufferRole::kInput}}, .dims_buffer = nullptr, .roots = {}};
    std::vector<std::vector<char>> outputs;
    std::vector<char> input(samples.size() * static_cast<size_t>(DTypeSize(from)));
    for (size_t i = 0; i < samples.size(); ++i)
      Put(from, samples[i], &input[i * static_cast<size_t>(DTypeSize(from))]);
    std::vector<void*> buffers = {input.data()};
    for (int t = 0; t < kNumDTypes; ++t) {
      const DType to = static_cast<DType>(t);
      const Buffer out = MakeBuffer(std::string(DTypeName(to)), to, {n});
      nest.params.push_back({out, BufferRole::kOutput});
      outputs.emplace_back(samples.size() * static_cast<size_t>(DTypeSize(to)));
      const Var i = MakeVar("i"), l = MakeVar("l"), tail = MakeVar("tail");
      const auto store = [&](const Expr& at) { return MakeStore(out, {at}, CastTo(to, Load(x, {at}))); };
      Stmt body = MakeFor(l, 0, kLanes, LoopKind::kVectorized, store(Expr(i) * kLanes + Expr(l)));
      nest.roots.push_back(MakeFor(i, 0, n / kLanes, LoopKind::kSerial, body));
      nest.roots.push_back(
          MakeFor(tail, n / kLanes * kLanes, n % kLanes, LoopKind::kSerial, store(Expr(tail))));
    }
    for (std::vector<char>& output : outputs) buffers.push_back(output.data());
    for (const char* cpu : {"", "x86-64-v3"}) {
      const auto target = *cpu ? TargetByName(cpu) : HostTarget();
      const auto kernel = TestKernel::Make(nest, *target, {});
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      ASSERT_EQ(kernel->Run(buffers), 0);
      for (int t = 0; t < kNumDTypes; ++t) {
        const DType to = static_cast<DType>(t);
        for (size_t i = 0; i < samples.size(); ++i) {
          const Element want = Convert(from, to, samples[i]);
          const Element got =
              Get(to, &outputs[static_cast<size_t>(t)][i * static_cast<size_t>(DTypeSize(to))]);
          // A processor's own conversion to bf16 flushes subnormals.
          const bool flushed = to == DType::kBF16 && std::abs(want.real) < 0x1p-126 && got.real == 0;
          const bool same_real =
              got.real == want.real || flushed || (std::isnan(got.real) && std::isnan(want.real));
          EXPECT_TRUE(same_real && got.integer == want.integer)
              << DTypeName(from) << " " << samples[i].real << " " << samples[i].integer << " to "
              << DTypeName(to) << ": got " << got.real << " " << got.integer << ", not " << want.real << " "
              << want.integer;
        }
      }
    }
  }
}

}  // namespace
}  // namespace attune
