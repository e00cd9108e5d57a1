// Tests the arithmetic of operators: types that are promoted, integers that stay exact, division that rounds
// down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "import/common/floor_divisions_for_test.h"
#include "import/pytorch/test_program.h"

namespace attune::pytorch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PytorchNumbers, TypesArePromoted) {
  Program program;
  program.AddInput("x", {"2"}, /*int64*/ 5);
  program.AddInput("z", {"2"}, /*float16*/ 6);
  program.AddNode("torch.ops.aten.div.Tensor", "half", {{"self", T("x")}, {"other", I(2)}});
  program.AddNode("torch.ops.aten.mul.Tensor", "scaled", {{"self", T("z")}, {"other", F(2)}});
  program.AddNode("torch.ops.aten.add.Tensor", "sum", {{"self", T("x")}, {"other", T("z")}});
  for (const char* name : {"half", "scaled", "sum"}) program.AddOutput(name);
  const auto graph = program.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->outputs()[0].value->type().dtype, DType::kF32);
  EXPECT_EQ((*graph)->outputs()[1].value->type().dtype, DType::kF16);
  EXPECT_EQ((*graph)->outputs()[2].value->type().dtype, DType::kF16);
}

// All bytes by all bytes.
TEST(PytorchNumbers, FloorDivisionOfIntegersIsExact) {
  const Tensor numbers = Tensor::FromInts(importing::AllBytes(), DType::kI8);
  for (const std::string target : {"floor_divide.default", "div.Tensor_mode"}) {
    Program program;
    program.AddInput("a", {"256", "1"}, /*int8*/ 2);
    program.AddInput("b", {"256"}, /*int8*/ 2);
    std::vector<std::pair<std::string, nlohmann::json>> arguments = {{"self", T("a")}, {"other", T("b")}};
    if (target == "div.Tensor_mode") arguments.emplace_back("rounding_mode", S("floor"));
    program.AddNode("torch.ops.aten." + target, "y", arguments);
    program.AddOutput("y");
    const Tensor y = program.Run({numbers.Reshaped({256, 1}), numbers});
    ASSERT_EQ(y.num_elements(), 65536);
    std::vector<double> quotients;
    for (int64_t i = 0; i < y.num_elements(); ++i) quotients.push_back(y.ToDouble(i));
    EXPECT_THAT(importing::WrongFloorDivisions(quotients), IsEmpty());
  }
}

// As c10::div_floor_floating does it.
float FloorDivided(float a, float b) {
  if (b == 0) return a / b;
  const float rest = std::fmod(a, b);
  float quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0F, a / b);
  const float floor = std::floor(quotient);
  return quotient - floor > 0.5F ? floor + 1 : floor;
}

// 1 / 0.1 is 10 in f32, but 0.1 is a little more than a tenth there, so that 1 holds only 9 of it.
TEST(PytorchNumbers, FloorDivisionOfFloatsIsThatOfTheirRemainder) {
  const float infinite = std::numeric_limits<float>::infinity();
  std::vector<float> a = {1, -1, 0.6F, 45.8F, -21.2F, 7, -7, 0, 1, -1, 5, 1, -1, infinite, NAN, 3e38F};
  std::vector<float> b = {0.1F,     0.1F,     0.2F,      0.1F, 0.2F, -2, 0.7F, -3,
                          infinite, infinite, -infinite, 0,    0,    2,  2,    1e-3F};
  for (int i = -300; i <= 300; ++i) {
    for (const float divisor : {0.1F, -0.1F, 0.7F, -0.3F, 1.1F, 2.0F}) {
      a.push_back(static_cast<float>(i) / 10);
      b.push_back(divisor);
    }
  }
  Program program;
  const std::string size = std::to_string(a.size());
  program.AddInput("a", {size});
  program.AddInput("b", {size});
  program.AddNode("torch.ops.aten.floor_divide.default", "y", {{"self", T("a")}, {"other", T("b")}});
  program.AddOutput("y");
  const Shape shape = {static_cast<int64_t>(a.size())};
  const std::vector<double> y = Values(program.Run({Floats32(a, shape), Floats32(b, shape)}));
  ASSERT_EQ(y.size(), a.size());
  EXPECT_EQ(y[0], 9);
  for (size_t i = 0; i < y.size(); ++i) {
    const double expected = FloorDivided(a[i], b[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(y[i])) << a[i] << " // " << b[i];
    } else {
      EXPECT_EQ(y[i], expected) << a[i] << " // " << b[i];
      EXPECT_EQ(std::signbit(y[i]), std::signbit(expected)) << a[i] << " // " << b[i];
    }
  }
}

// A double does not hold these numbers.
TEST(PytorchNumbers, LargeIntegersAreArgumentsAsTheyAre) {
  const int64_t odd = (int64_t{1} << 53) + 1, large = (int64_t{1} << 60) + 1;
  using Arguments = std::vector<std::pair<std::string, nlohmann::json>>;
  const auto of = [](const std::string& target, const Arguments& arguments, const Ints& x,
                     const Shape& shape) {
    Program program;
    std::vector<std::string> sizes;
    for (const int64_t size : shape) sizes.push_back(std::to_string(size));
    program.AddInput("x", sizes, /*int64*/ 5);
    program.AddNode("torch.ops.aten." + target, "y", arguments);
    program.AddOutput("y");
    return program.Run({Tensor::FromInts(x).Reshaped(shape)}).ToInts();
  };
  EXPECT_THAT(of("hardtanh.default", {{"self", T("x")}, {"min_val", I(odd)}, {"max_val", I(large)}},
                 {0, odd + 1, large, large + 1}, {4}),
              ElementsAre(odd, odd + 1, large, large));
  EXPECT_THAT(of("threshold.default", {{"self", T("x")}, {"threshold", I(odd)}, {"value", I(-1)}},
                 {odd - 1, odd, odd + 1}, {3}),
              ElementsAre(-1, -1, odd + 1));
  for (const auto& [target, a, b, shape] :
       {std::tuple<std::string, std::string, std::string, Shape>{"addmm.default", "mat1", "mat2", {1, 1}},
        {"baddbmm.default", "batch1", "batch2", {1, 1, 1}}}) {
    EXPECT_THAT(
        of(target, {{"self", T("x")}, {a, T("x")}, {b, T("x")}, {"beta", I(odd)}, {"alpha", I(large)}}, {1},
           shape),
        ElementsAre(odd + large));
  }
}

}  // namespace
}  // namespace attune::pytorch
