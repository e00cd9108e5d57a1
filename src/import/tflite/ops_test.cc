// Tests families of operators on numbers that can be checked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "import/common/floor_divisions_for_test.h"
#include "import/tflite/testing/import.h"

namespace attune::tflite {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The sum of two numbers may not fit in their type, and the quotient is truncated.
TEST(TfliteOps, MeansOfIntegers) {
  const auto mean = [](Type type, DType dtype, const std::vector<int64_t>& x) {
    ModelBuilder m;
    const int in = m.AddInput({.name = "x", .shape = {static_cast<int32_t>(x.size())}, .type = type});
    const int axes = m.AddInts("axes", {0});
    const int y = m.Add({.name = "y", .shape = {1}, .type = type});
    m.AddOp(Code::MEAN, {in, axes}, {y}, schema::CreateReducerOptions(m.builder(), true));
    m.SetOutputs({y});
    const auto out = RunBuilt(m.Finish(), {IntTensor(x, {static_cast<int64_t>(x.size())}, dtype)});
    return out.empty() ? INT64_MIN : out[0].ToInt(0);
  };
  EXPECT_EQ(mean(Type::INT32, DType::kI32, {INT32_MAX, INT32_MAX}), INT32_MAX);
  EXPECT_EQ(mean(Type::INT32, DType::kI32, {INT32_MIN, INT32_MIN, INT32_MIN}), INT32_MIN);
  EXPECT_EQ(mean(Type::INT32, DType::kI32, {INT32_MAX, INT32_MIN, -6}), -2);
  EXPECT_EQ(mean(Type::INT32, DType::kI32, {-3, -4}), -3);
  EXPECT_EQ(mean(Type::INT32, DType::kI32, {3, 4}), 3);
  EXPECT_EQ(mean(Type::INT64, DType::kI64, {int64_t{1} << 61, int64_t{1} << 61}), int64_t{1} << 61);
  EXPECT_EQ(mean(Type::INT16, DType::kI16, {INT16_MAX, INT16_MAX, INT16_MAX}), INT16_MAX);
  EXPECT_EQ(mean(Type::UINT8, DType::kU8, {255, 255, 254}), 254);
}

// All bytes by all bytes.
TEST(TfliteOps, FloorDivisionIsExact) {
  const std::vector<int64_t> bytes = importing::AllBytes();
  ModelBuilder m;
  const int a = m.AddInput({.name = "a", .shape = {256, 1}, .type = Type::INT8});
  const int b = m.AddInput({.name = "b", .shape = {256}, .type = Type::INT8});
  const int out = m.Add({.name = "y", .shape = {256, 256}, .type = Type::INT8});
  m.AddOp(Code::FLOOR_DIV, {a, b}, {out});
  m.SetOutputs({out});
  const std::vector<double> y = Elements(
      RunBuilt(m.Finish(), {IntTensor(bytes, {256, 1}, DType::kI8), IntTensor(bytes, {256}, DType::kI8)}));
  ASSERT_EQ(y.size(), 65536U);
  EXPECT_THAT(importing::WrongFloorDivisions(y), IsEmpty());
}

// Quotients that f32 rounds up to a whole number.
TEST(TfliteOps, FloorDivisionOfFloatsDividesInDouble) {
  constexpr int kNumbers = 40;
  Tensor dividends(DType::kF32, {kNumbers, 1}), divisors(DType::kF32, {kNumbers});
  const auto dividend = [](int i) { return static_cast<double>(static_cast<float>(i - 20) * 0.3F); };
  const auto divisor = [](int i) { return static_cast<double>(static_cast<float>(i + 1) * 0.1F); };
  for (int i = 0; i < kNumbers; ++i) {
    dividends.SetDouble(i, dividend(i));
    divisors.SetDouble(i, divisor(i));
  }
  ModelBuilder m;
  const int a = m.AddInput({.name = "a", .shape = {kNumbers, 1}});
  const int b = m.AddInput({.name = "b", .shape = {kNumbers}});
  const int out = m.Add({.name = "y", .shape = {kNumbers, kNumbers}});
  m.AddOp(Code::FLOOR_DIV, {a, b}, {out});
  m.SetOutputs({out});
  const std::vector<double> y = Elements(RunBuilt(m.Finish(), {dividends, divisors}));
  ASSERT_EQ(y.size(), size_t{kNumbers * kNumbers});
  for (int i = 0; i < kNumbers; ++i) {
    for (int j = 0; j < kNumbers; ++j)
      EXPECT_EQ(y[static_cast<size_t>(i * kNumbers + j)], std::floor(dividend(i) / divisor(j)))
          << i << " " << j;
  }
}

// The operator applied to the positions of the true elements of six, [n,1].
std::string OfPositions(Code code, const std::vector<int32_t>& argument) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {6}, .type = Type::BOOL});
  const int found = m.Add({.name = "found", .shape = {6, 1}, .type = Type::INT64, .signature = {-1, 1}});
  const int y = m.Add({.name = "y", .shape = {}, .type = Type::INT64});
  m.AddOp(Code::WHERE, {x}, {found});
  if (code == Code::SQUEEZE) {
    m.AddOp(code, {found}, {y}, schema::CreateSqueezeOptionsDirect(m.builder(), &argument));
  } else {
    m.AddOp(code, {found, m.AddInts("shape", argument)}, {y});
  }
  m.SetOutputs({y});
  return m.Finish();
}

// The bound of a size that data decides is no number of the model.
TEST(TfliteOps, ShapesThatDataDecides) {
  for (const std::vector<int32_t>& shape :
       {std::vector<int32_t>{6}, {6, 1}, {1, 6}, {6, -1}, {4, -1}, {5, 1}})
    EXPECT_THAT(ErrorOf(OfPositions(Code::RESHAPE, shape)), HasSubstr("not supported: RESHAPE y: whether "));
  for (const std::vector<int32_t>& shape : {std::vector<int32_t>{6, 1}, {2, 6, 1}, {6, 3}, {5, 1}})
    EXPECT_THAT(ErrorOf(OfPositions(Code::BROADCAST_TO, shape)),
                HasSubstr("not supported: BROADCAST_TO y: whether "));
  EXPECT_THAT(ErrorOf(OfPositions(Code::SQUEEZE, {})), HasSubstr("not supported: SQUEEZE y: which axes of "));
  const std::pair<Code, std::vector<int32_t>> right[] = {
      {Code::RESHAPE, {-1}}, {Code::RESHAPE, {1, -1}}, {Code::SQUEEZE, {1}}};
  for (const auto& [code, argument] : right) {
    const auto out =
        RunBuilt(OfPositions(code, argument), {IntTensor({0, 1, 0, 0, 1, 0}, {6}, DType::kBool)});
    EXPECT_THAT(Elements(out), ElementsAre(1, 4));
  }
}

}  // namespace
}  // namespace attune::tflite
