// Text in, text out. The error of a compiled network is tested in api/check_indices_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "opt/testing.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST(CheckIndices, ChecksData) {
  ExpectRewrite("check_indices", R"(graph @g(%x: f32[4,2], %i: i64[3]) {
    %y = gather(%x, %i) {axis = 0} @"words" : f32[3,2]
    return "out": %y
  })",
                R"(graph @g(%x: f32[4,2], %i: i64[3]) {
    %0 = check_index(%i) {negative = 1, reader = "gather \"words\"", sizes = [4]} @"words" : i64[3]
    %y = gather(%x, %0) {axis = 0} @"words" : f32[3,2]
    return "out": %y
  })");
}

TEST(CheckIndices, ChecksEachColumnOfPositions) {
  EXPECT_THAT(RunPasses("check_indices", R"(graph @g(%x: f32[3,4,2], %i: i32[3,2]) {
    %y = gather_nd(%x, %i) {batch_dims = 1} : f32[3]
    return "out": %y
  })"),
              HasSubstr("sizes = [4, 2]"));
}

TEST(CheckIndices, ChecksImagesOfRegionsAndLengths) {
  const std::string text = RunPasses("check_indices", R"(graph @g(%x: f32[2,3,8,8], %r: f32[5,4], %i: i64[5],
                                                                  %s: f32[3,7], %n: i32[3]) {
    %y = roi_align(%x, %r, %i) {height = 2, width = 2} @"boxes" : f32[5,3,2,2]
    %z = reverse_sequence(%s, %n) {batch_axis = 0, time_axis = 1} @"flip" : f32[3,7]
    return "y": %y, "z": %z
  })");
  EXPECT_THAT(text, HasSubstr(R"((%i) {negative = 0, reader = "roi_align \"boxes\"", sizes = [2]})"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"((%n) {negative = 0, reader = "reverse_sequence \"flip\", lengths up to 7", sizes = [8]})"));
}

TEST(CheckIndices, SharesACheck) {
  const std::string text =
      RunPasses("check_indices", R"(graph @g(%x: f32[4], %w: f32[4], %v: f32[5], %i: i64[3]) {
    %a = gather(%x, %i) {axis = 0} @"a" : f32[3]
    %b = gather(%w, %i) {axis = 0} @"b" : f32[3]
    %c = gather(%v, %i) {axis = 0} @"c" : f32[3]
    return "a": %a, "b": %b, "c": %c
  })");
  EXPECT_THAT(text, HasSubstr("gather \\\"a\\\""));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("gather \\\"b\\\"")));
  EXPECT_THAT(text, HasSubstr("gather \\\"c\\\""));
}

TEST(CheckIndices, LeavesWhatIsInRange) {
  ExpectUnchanged("check_indices", R"(graph @g(%x: f32[4,2], %f: f32[5,4], %j: i32[2]) {
    %i = arg_max(%f) {axis = 1, keepdims = 0} : i64[5]
    %y = gather(%x, %i) {axis = 0} : f32[5,2]
    %k = clip(%j) {max = 3, min = -4} : i32[2]
    %z = gather(%x, %k) {axis = 0} : f32[2,2]
    %c = constant() {value = i64[2]<-4, 3>} : i64[2]
    %w = gather(%x, %c) {axis = 0} : f32[2,2]
    return "y": %y, "z": %z, "w": %w
  })");
}

TEST(CheckIndices, RefusesAConstantOutOfRange) {
  const auto graph = [](const std::string& index) {
    return "graph @g(%x: f32[4,2]) {\n  %c = constant() {value = i64[2]<0, " + index +
           ">} : i64[2]\n  %y = gather(%x, %c) {axis = 0} @\"words\" : f32[2,2]\n  return \"y\": %y\n}";
  };
  EXPECT_THAT(RunPasses("check_indices", graph("4")),
              HasSubstr("gather \"words\": index 4 is outside an axis of size 4"));
  EXPECT_THAT(RunPasses("check_indices", graph("-5")),
              HasSubstr("gather \"words\": index -5 is outside an axis of size 4"));
  ExpectUnchanged("check_indices", graph("-4"));
  ExpectUnchanged("check_indices unchecked=1", graph("-5"));
}

// A branch may never run.
TEST(CheckIndices, ChecksAConstantOfABranchWhenItRuns) {
  const std::string text = RunPasses("check_indices", R"(graph @g(%t: bool[], %x: f32[4]) {
    %y = if(%t, %x) {
      graph(%u: f32[4]) {
        %c = constant() {value = i64[1]<7>} : i64[1]
        %a = gather(%u, %c) {axis = 0} : f32[1]
        return "a": %a
      }
      graph(%v: f32[4]) {
        %d = constant() {value = i64[1]<3>} : i64[1]
        %b = gather(%v, %d) {axis = 0} : f32[1]
        return "b": %b
      }
    } : f32[1]
    return "y": %y
  })");
  EXPECT_THAT(text, HasSubstr("check_index(%c)"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("check_index(%d)")));
}

TEST(CheckIndices, KnowsTheIterationsOfALoop) {
  const auto loop = [](const char* trips) {
    return absl::StrCat("graph @g(%x: f32[4], %t: bool[], %s: f32[]) {\n  %n = constant() {value = i64[]<",
                        trips, R"(>} : i64[]
    %y, %z = loop(%n, %t, %s, %x) {
      graph(%i: i64[], %c: bool[], %v: f32[], %u: f32[4]) {
        %e = gather(%u, %i) {axis = 0} : f32[]
        %w = add(%v, %e) : f32[]
        return "": %c, "": %w, "": %u
      }
    } : f32[], f32[4]
    return "y": %y
  })");
  };
  ExpectUnchanged("check_indices", loop("4"));
  EXPECT_THAT(RunPasses("check_indices", loop("5")), HasSubstr("check_index(%i)"));
}

TEST(CheckIndices, DropsAnImportersCheckThatIsNotNeeded) {
  ExpectRewrite("check_indices", R"(graph @g(%x: f32[4], %f: f32[5,4], %j: i64[2]) {
    %i = arg_max(%f) {axis = 1, keepdims = 0} : i64[5]
    %c = check_index(%i) {negative = 0, reader = "gather", sizes = [4]} : i64[5]
    %y = gather(%x, %c) {axis = 0} : f32[5]
    %d = check_index(%j) {negative = 0, reader = "gather", sizes = [4]} : i64[2]
    %z = gather(%x, %d) {axis = 0} : f32[2]
    return "y": %y, "z": %z
  })",
                R"(graph @g(%x: f32[4], %f: f32[5,4], %j: i64[2]) {
    %i = arg_max(%f) {axis = 1, keepdims = 0} : i64[5]
    %y = gather(%x, %i) {axis = 0} : f32[5]
    %d = check_index(%j) {negative = 0, reader = "gather", sizes = [4]} : i64[2]
    %z = gather(%x, %d) {axis = 0} : f32[2]
    return "y": %y, "z": %z
  })");
}

TEST(CheckIndices, UncheckedDropsAllChecks) {
  ExpectRewrite("check_indices unchecked=1", R"(graph @g(%x: f32[4], %j: i64[2]) {
    %d = check_index(%j) {negative = 0, reader = "gather", sizes = [4]} : i64[2]
    %z = gather(%x, %d) {axis = 0} : f32[2]
    return "z": %z
  })",
                R"(graph @g(%x: f32[4], %j: i64[2]) {
    %z = gather(%x, %j) {axis = 0} : f32[2]
    return "z": %z
  })");
}

}  // namespace
}  // namespace attune
