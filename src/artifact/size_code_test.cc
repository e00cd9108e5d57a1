#include "artifact/size_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "artifact/testing/size_steps.h"
#include "base/random.h"

namespace attune {
namespace {

using testing::Constant;
using testing::kLesser;
using testing::kModulo;
using testing::kOver;
using testing::kPlus;
using testing::kTimes;
using testing::Size;

std::optional<int64_t> ValueOf(const SizeCode& code, std::vector<int64_t> sizes = {}) {
  int64_t number = 0;
  if (Evaluate(code, sizes, &number) != SizeFault::kNone) return std::nullopt;
  return number;
}

SizeFault FaultOf(const SizeCode& code) {
  int64_t number = 0;
  return Evaluate(code, {}, &number);
}

TEST(SizeCodeTest, ComputesTheSizeOfAConvolution) {
  // (size + 2 * 1 - 3) / 2 + 1
  const SizeCode code = {Size(0), Constant(-1), kPlus, Constant(2), kOver, Constant(1), kPlus};
  ASSERT_EQ(CheckSizeCode(code, 1), "");
  EXPECT_EQ(ValueOf(code, {224}), 112);
  EXPECT_EQ(ValueOf(code, {1}), 1);
  EXPECT_EQ(ValueOf(code, {0}), 0);  // -1 / 2 is -1
}

TEST(SizeCodeTest, DividesLikePeople) {
  for (int64_t left = -9; left <= 9; ++left) {
    for (int64_t right = 1; right <= 4; ++right) {
      // Moved to numbers that are not negative.
      const auto moved = [&](const SizeStep& op) {
        return *ValueOf({Constant(left), Constant(right), op, Constant(100), kPlus}) - 100;
      };
      EXPECT_EQ(moved(kOver) * right + moved(kModulo), left);
      EXPECT_GE(moved(kModulo), 0);
      EXPECT_LT(moved(kModulo), right);
    }
  }
}

TEST(SizeCodeTest, FaultsAreNoticed) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(FaultOf({Constant(kMost), Constant(1), kPlus}), SizeFault::kOverflow);
  EXPECT_EQ(FaultOf({Constant(kMost), Constant(2), kTimes}), SizeFault::kOverflow);
  EXPECT_EQ(FaultOf({Constant(3), Constant(-4), kPlus}), SizeFault::kNegative);
  EXPECT_EQ(FaultOf({Constant(3), Constant(0), kOver}), SizeFault::kDivisor);
  EXPECT_EQ(FaultOf({Constant(3), Constant(-1), kModulo}), SizeFault::kDivisor);
  EXPECT_EQ(FaultOf({Constant(std::numeric_limits<int64_t>::min()), Constant(-1), kOver}),
            SizeFault::kDivisor);
}

// Appends the code of a random expression and returns its value, or nullopt if there is none.
std::optional<__int128> Append(Random& random, int depth, const std::vector<int64_t>& sizes, SizeCode& code) {
  if (depth == 0 || random.Integer(0, 3) == 0) {
    if (random.Integer(0, 1) == 0) {
      code.push_back(Constant(random.Integer(-3, 20)));
      return code.back().value;
    }
    code.push_back(Size(random.Integer(0, static_cast<int64_t>(sizes.size()) - 1)));
    return sizes[static_cast<size_t>(code.back().value)];
  }
  const std::optional<__int128> left = Append(random, depth - 1, sizes, code);
  const std::optional<__int128> right = Append(random, depth - 1, sizes, code);
  const auto op = static_cast<SizeOpcode>(random.Integer(2, 7));
  code.push_back({op, 0});
  if (!left || !right) return std::nullopt;
  const bool divides = op == SizeOpcode::kFloorDiv || op == SizeOpcode::kMod;
  if (divides && *right <= 0) return std::nullopt;
  __int128 floor = divides ? *left / *right : 0;
  if (divides && floor * *right > *left) --floor;
  const __int128 value = op == SizeOpcode::kAdd        ? *left + *right
                         : op == SizeOpcode::kMul      ? *left * *right
                         : op == SizeOpcode::kFloorDiv ? floor
                         : op == SizeOpcode::kMod      ? *left - floor * *right
                         : op == SizeOpcode::kMin      ? std::min(*left, *right)
                                                       : std::max(*left, *right);
  const auto word = static_cast<int64_t>(value);
  return word == value ? std::optional(value) : std::nullopt;
}

TEST(SizeCodeTest, AgreesWithTheExpression) {
  Random random(5);
  int valid = 0;
  for (int round = 0; round < 5000; ++round) {
    const std::vector<int64_t> sizes = {random.Integer(0, 9), random.Integer(0, int64_t{1} << 33)};
    SizeCode code;
    std::optional<__int128> expected = Append(random, 5, sizes, code);
    const std::string fault = CheckSizeCode(code, sizes.size());
    if (!fault.empty()) {
      ASSERT_EQ(fault, "divides by a number that is not positive");
      continue;
    }
    if (expected && *expected < 0) expected.reset();
    const std::optional<int64_t> found = ValueOf(code, sizes);
    ASSERT_EQ(found.has_value(), expected.has_value());
    if (!found) continue;
    ASSERT_EQ(*found, static_cast<int64_t>(*expected));
    ++valid;
  }
  EXPECT_GT(valid, 1000);
}

TEST(SizeCodeTest, MalformedCodeIsRefused) {
  EXPECT_EQ(CheckSizeCode({}, 1), "leaves other than one number");
  EXPECT_EQ(CheckSizeCode({Size(0), Size(0)}, 1), "leaves other than one number");
  EXPECT_EQ(CheckSizeCode({Size(1)}, 1), "names a size that does not exist");
  EXPECT_EQ(CheckSizeCode({Size(-1)}, 1), "names a size that does not exist");
  EXPECT_EQ(CheckSizeCode({Size(0), kTimes}, 1), "lacks a number");
  EXPECT_EQ(CheckSizeCode({kLesser}, 1), "lacks a number");
  EXPECT_EQ(CheckSizeCode({Size(0), Size(0), {SizeOpcode::kMul, 1}}, 1), "has a value where there is none");
  EXPECT_EQ(CheckSizeCode({Size(0), Constant(0), kModulo}, 1), "divides by a number that is not positive");
  SizeCode deep(kMaxSizeDepth, Size(0));
  deep.insert(deep.end(), kMaxSizeDepth - 1, kPlus);
  EXPECT_EQ(CheckSizeCode(deep, 1), "");
  deep.insert(deep.begin(), Size(0));
  deep.push_back(kPlus);
  EXPECT_EQ(CheckSizeCode(deep, 1), "is nested too deeply");
  SizeCode long_code = {Size(0)};
  while (long_code.size() + 2 <= kMaxSizeSteps) long_code.insert(long_code.end(), {Size(0), kPlus});
  EXPECT_EQ(CheckSizeCode(long_code, 1), "");
  long_code.insert(long_code.end(), {Size(0), kPlus});
  EXPECT_EQ(CheckSizeCode(long_code, 1), "has more steps than 256");
}

TEST(SizeCodeTest, ASizeAloneIsRecognized) {
  EXPECT_EQ(SizeOf({Size(3)}), 3u);
  EXPECT_EQ(SizeOf({Constant(3)}), std::nullopt);
  EXPECT_EQ(SizeOf({Size(3), Constant(1), kTimes}), std::nullopt);
}

}  // namespace
}  // namespace attune
