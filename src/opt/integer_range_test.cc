#include "opt/integer_range.h"

#include <gtest/gtest.h>

#include <string>

#include "opt/testing.h"

namespace attune {
namespace {

std::string Text(const IntegerRange& range) {
  return std::to_string(static_cast<int64_t>(range.low)) + ".." +
         std::to_string(static_cast<int64_t>(range.high));
}

// The range of the first output of a graph over %i: i32[2,3], %j: i64[3] and %f: f32[2,3].
std::string RangeOf(const std::string& body, int axis = -1, int64_t position = 0) {
  const auto graph = ParseOrDie("graph @g(%i: i32[2,3], %j: i64[3], %f: f32[2,3]) {\n" + body + "\n}");
  return Text(IntegerRanges().Of(graph->outputs()[0].value, axis, position));
}

constexpr const char* kAnyI32 = "-2147483648..2147483647";

TEST(IntegerRange, OfInputsIsThatOfTheirType) {
  EXPECT_EQ(RangeOf("return \"y\": %i"), kAnyI32);
  EXPECT_EQ(RangeOf("%b = less(%f, %f) : bool[2,3]\nreturn \"y\": %b"), "0..1");
}

TEST(IntegerRange, OfBoundedValues) {
  const std::string constants =
      "%c = constant() {value = i32[]<5>} : i32[]\n%n = constant() {value = i32[]<-2>} : i32[]\n";
  const auto of = [&](const std::string& body) { return RangeOf(constants + body + "\nreturn \"y\": %y"); };
  EXPECT_EQ(of("%y = clip(%i) {max = 7, min = -1} : i32[2,3]"), "-1..7");
  EXPECT_EQ(of("%y = mod(%i, %c) : i32[2,3]"), "0..4");
  EXPECT_EQ(of("%y = mod(%i, %c) {truncate = 1} : i32[2,3]"), "-4..4");
  EXPECT_EQ(of("%y = mod(%i, %n) : i32[2,3]"), kAnyI32);
  EXPECT_EQ(of("%a = min(%i, %c) : i32[2,3]\n%y = max(%a, %n) : i32[2,3]"), "-2..5");
  EXPECT_EQ(of("%a = mod(%i, %c) : i32[2,3]\n%y = sub(%n, %a) : i32[2,3]"), "-6..-2");
  EXPECT_EQ(of("%a = mod(%i, %c) : i32[2,3]\n%y = mul(%a, %n) : i32[2,3]"), "-8..0");
  EXPECT_EQ(of("%a = relu(%i) : i32[2,3]\n%y = and(%a, %c) : i32[2,3]"), "0..5");
  EXPECT_EQ(of("%a = mod(%i, %c) : i32[2,3]\n%y = xor(%a, %c) : i32[2,3]"), "0..7");
  EXPECT_EQ(of("%y = xor(%i, %c) : i32[2,3]"), kAnyI32);
  EXPECT_EQ(of("%a = mod(%i, %c) : i32[2,3]\n%y = less(%a, %n) : bool[2,3]"), "0..0");
  EXPECT_EQ(of("%a = mod(%i, %c) : i32[2,3]\n%y = less(%a, %c) : bool[2,3]"), "1..1");
  EXPECT_EQ(of("%a = mod(%i, %c) : i32[2,3]\n%y = less(%c, %a) : bool[2,3]"), "0..0");
  EXPECT_EQ(of("%y = less(%i, %c) : bool[2,3]"), "0..1");
}

// The form that importers write. Dividing the index of a box and a class by the number of classes gives an
// index.
TEST(IntegerRange, OfFloorDivision) {
  const auto of = [](const std::string& dividend) {
    return RangeOf(
        "%c = constant() {value = i32[]<5>} : i32[]\n%o = constant() {value = i32[]<0>} : i32[]\n" +
        dividend + R"(
      %q = div(%a, %c) : i32[2,3]
      %r = mod(%a, %c) {truncate = 1} : i32[2,3]
      %e = equal(%r, %o) : bool[2,3]
      %s = less(%r, %o) : bool[2,3]
      %t = less(%c, %o) : bool[]
      %d = xor(%s, %t) : bool[2,3]
      %n = not(%e) : bool[2,3]
      %x = and(%n, %d) : bool[2,3]
      %w = cast(%x) {to = i32} : i32[2,3]
      %y = sub(%q, %w) : i32[2,3]
      return "y": %y)");
  };
  EXPECT_EQ(of("%a = clip(%i) {max = 99, min = 0} : i32[2,3]"), "0..19");
  EXPECT_EQ(of("%a = clip(%i) {max = 99, min = -7} : i32[2,3]"), "-2..19");
}

TEST(IntegerRange, OfSumsThatMayOverflowIsThatOfTheType) {
  const std::string one = "%c = constant() {value = i32[]<1>} : i32[]\n";
  EXPECT_EQ(RangeOf(one + "%y = add(%i, %c) : i32[2,3]\nreturn \"y\": %y"), kAnyI32);
  EXPECT_EQ(RangeOf("%y = neg(%i) : i32[2,3]\nreturn \"y\": %y"), kAnyI32);
}

TEST(IntegerRange, OfFloatsThatBecomeIntegers) {
  const auto of = [](const std::string& type, const std::string& limits) {
    return RangeOf("%g = cast(%f) {to = " + type + "} : " + type + "[2,3]\n%a = floor(%g) : " + type +
                   "[2,3]\n%b = clip(%a) {" + limits + "} : " + type +
                   "[2,3]\n%y = cast(%b) {to = i32} : i32[2,3]\nreturn \"y\": %y");
  };
  EXPECT_EQ(of("f32", "max = 6.5, min = 1"), "0..7");  // 0: a NaN
  EXPECT_EQ(of("f32", "max = 6"), "-2147483648..6");
  EXPECT_EQ(of("bf16", "max = 301, min = 0"), "0..2147483647");  // bf16 has no 301, and may round up
}

TEST(IntegerRange, OfPositions) {
  EXPECT_EQ(RangeOf("%y = arg_max(%f) {axis = 1} : i64[2,1]\nreturn \"y\": %y"), "0..2");
  EXPECT_EQ(RangeOf("%v, %y = top_k(%f) {axis = 0, k = 1} : f32[1,3], i64[1,3]\nreturn \"y\": %y"), "0..1");
  const std::string non_zero = "%n = non_zero(%f) : i64[2,d0<=6]\n";
  EXPECT_EQ(RangeOf(non_zero + "return \"y\": %n"), "0..2");
  EXPECT_EQ(RangeOf(non_zero + "return \"y\": %n", 0, 0), "0..1");
  EXPECT_EQ(RangeOf(non_zero + "%t = transpose(%n) {perm = [1, 0]} : i64[d0<=6,2]\nreturn \"y\": %t", 1, 0),
            "0..1");
}

TEST(IntegerRange, FollowsOnePositionOfAnAxis) {
  const std::string columns =
      "%a = arg_max(%f) {axis = 1} : i64[2,1]\n%b = arg_max(%f) {axis = 0} : i64[1,3]\n"
      "%c = broadcast(%b) {shape = [2, 3]} : i64[2,3]\n%y = concat(%a, %c) {axis = 1} : i64[2,4]\n";
  EXPECT_EQ(RangeOf(columns + "return \"y\": %y"), "0..2");
  EXPECT_EQ(RangeOf(columns + "return \"y\": %y", 1, 0), "0..2");
  EXPECT_EQ(RangeOf(columns + "return \"y\": %y", 1, 3), "0..1");
  const std::string slice = "%s = slice(%y) {sizes = [2, 1], starts = [0, 2], steps = [1, 1]} : i64[2,1]\n";
  EXPECT_EQ(RangeOf(columns + slice + "return \"y\": %s"), "0..1");
}

TEST(IntegerRange, OfCheckedIndices) {
  EXPECT_EQ(RangeOf("%y = check_index(%i) {reader = \"gather\", sizes = [9]} : i32[2,3]\nreturn \"y\": %y"),
            "-9..8");
  const std::string columns =
      "%y = check_index(%i) {negative = 0, reader = \"gather_nd\", sizes = [9, 4, 2]} : i32[2,3]\n";
  EXPECT_EQ(RangeOf(columns + "return \"y\": %y"), "0..8");
  EXPECT_EQ(RangeOf(columns + "return \"y\": %y", 1, 2), "0..1");
}

}  // namespace
}  // namespace attune
