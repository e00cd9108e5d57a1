#include "graph/demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/text.h"

namespace attune {
namespace {

using ::testing::ElementsAreArray;

struct Case {
  const char* text;
  std::vector<double> read, written;
  double contraction_flops = 0;
};

TEST(DemandTest, EachOperatorDemandsWhatItReads) {
  const Case cases[] = {
      // No more than one row of a table is certain to be read.
      {"(%t: f32[1000,8], %i: i64[5]) { %y = gather(%t, %i) {axis = 0} : f32[5,8]", {8, 5}, {40}},
      {"(%t: f32[3,1000], %i: i64[2]) { %y = gather(%t, %i) {axis = 1} : f32[3,2]", {3, 2}, {6}},
      {"(%t: f32[10,20,4], %i: i64[6,2]) { %y = gather_nd(%t, %i) : f32[6,4]", {4, 12}, {24}},
      {"(%x: f32[8,8], %i: i64[2,8]) { %y = gather_elements(%x, %i) {axis = 0} : f32[2,8]", {8, 16}, {16}},
      // A scatter may be in place.
      {"(%x: f32[100], %i: i64[2], %u: f32[2]) { %y = scatter_elements(%x, %i, %u) {axis = 0} : f32[100]",
       {0, 0, 0},
       {0}},
      {"(%x: f32[100]) { %s = slice(%x) {starts = [10], sizes = [5], steps = [3]} : f32[5] "
       "%y = exp(%s) : f32[5]",
       {5},
       {5}},
      {"(%x: f32[4,1], %z: f32[3]) { %y = add(%x, %z) : f32[4,3]", {4, 3}, {12}},
      // Elements that are sliced away need not be computed or read.
      {"(%x: f32[4], %z: f32[4]) { %a = concat(%x, %z) {axis = 0} : f32[8] "
       "%y = slice(%a) {starts = [1], sizes = [5], steps = [1]} : f32[5]",
       {1, 1},
       {5}},
      {"(%c: bool[6], %x: f32[6], %z: f32[6]) { %y = where(%c, %x, %z) : f32[6]", {6, 0, 0}, {6}},
      {"(%x: f32[4,5]) { %y = reduce_sum(%x) {axes = [1], keepdims = 0} : f32[4]", {20}, {4}},
      // One truth value may decide.
      {"(%x: bool[4,5]) { %y = reduce_max(%x) {axes = [1], keepdims = 0} : bool[4]", {0}, {4}},
      {"(%x: f32[2,3], %w: f32[3,4]) { %y = matmul(%x, %w) : f32[2,4]", {6, 12}, {8}, 48},
      // Every second row and column.
      {"(%x: f32[1,2,8,8], %w: f32[4,2,1,1]) { %y = conv(%x, %w) {strides = [2, 2]} : f32[1,4,4,4]",
       {32, 8},
       {64},
       2 * 64 * 2},
      // Four of nine taps at each of four positions meet the input.
      {"(%x: f32[1,1,2,2], %w: f32[1,1,3,3]) { %y = conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,1,2,2]",
       {4, 9},
       {4},
       2 * 16},
      // All taps but the middle one lie in the padding.
      {"(%x: f32[1,1,1,1], %w: f32[1,1,3,3]) { %y = conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,1,1,1]",
       {1, 1},
       {1},
       2},
      {"(%x: f32[1,1,9]) { %y = max_pool(%x) {kernel = [1], strides = [4]} : f32[1,1,3]", {3}, {3}},
      // How many there are depends on data.
      {"(%x: f32[4]) { %y = non_zero(%x) : i64[1,n<=4]", {0}, {0}},
  };
  for (const Case& one : cases) {
    const auto graph = ParseGraph(absl::StrCat("graph", one.text, " return \"\": %y }"));
    ASSERT_TRUE(graph.ok()) << one.text << graph.status();
    const Demand demand = DemandOf(**graph);
    EXPECT_THAT(demand.elements_read, ElementsAreArray(one.read)) << one.text;
    EXPECT_THAT(demand.elements_written, ElementsAreArray(one.written)) << one.text;
    EXPECT_EQ(demand.contraction_flops, one.contraction_flops) << one.text;
  }
}

TEST(DemandTest, NarrowNumbersCountLess) {
  const auto flops = [](const std::string& type) {
    const auto graph = ParseGraph(
        absl::StrCat("graph(%x: ", type, "[64]) { %y = add(%x, %x) : ", type, "[64] return \"\": %y }"));
    EXPECT_TRUE(graph.ok()) << graph.status();
    return DemandOf(**graph).other_flops;
  };
  EXPECT_EQ(flops("f32"), 64);
  EXPECT_EQ(flops("i8"), 16);
  EXPECT_EQ(flops("f64"), 64);
}

}  // namespace
}  // namespace attune
