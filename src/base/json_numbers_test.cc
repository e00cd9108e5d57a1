#include "base/json_numbers.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int64_t kLeast = -5, kMost = kMaxJsonInteger;

std::optional<int64_t> Integer(const std::string& text) {
  try {
    return IntegerOf(Json::parse(text), kLeast, kMost);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::optional<double> Number(const std::string& text) {
  try {
    return NumberOf(Json::parse(text), 0, 1e9);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

TEST(JsonNumbersTest, IntegersWithinTheBoundsAreTaken) {
  EXPECT_EQ(Integer("0"), 0);
  EXPECT_EQ(Integer("-5"), -5);
  EXPECT_EQ(Integer("7.0"), 7);
  EXPECT_EQ(Integer("1e3"), 1000);
  EXPECT_EQ(Integer("9007199254740992"), kMaxJsonInteger);
  EXPECT_EQ(WholeNumber(Json::parse("7"), 0, 7), 7);
  EXPECT_EQ(WholeNumber(Json::parse("7.0"), 0, 7), std::nullopt);
}

// Each of them is undefined, or another number, to nlohmann's own conversion.
TEST(JsonNumbersTest, WhatIsNoneOfThemIsRefused) {
  for (const char* text :
       {"-6", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "1e19", "1e300", "-1e300", "0.5", "true", "null", "\"7\"", "[7]", "{}"})
    EXPECT_EQ(Integer(text), std::nullopt) << text;
}

TEST(JsonNumbersTest, NumbersAreFiniteAndWithinTheBounds) {
  EXPECT_EQ(Number("0.5"), 0.5);
  EXPECT_EQ(Number("1000000000"), 1e9);
  for (const char* text : {"-1e-9", "1e300", "18446744073709551615", "null", "true", "\"1\"", "[]"})
    EXPECT_EQ(Number(text), std::nullopt) << text;
  EXPECT_THROW(NumberOf(Json(std::numeric_limits<double>::infinity())), Json::exception);
  EXPECT_THROW(NumberOf(Json(std::numeric_limits<double>::quiet_NaN())), Json::exception);
}

}  // namespace
}  // namespace attune
