#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lower/kernel_under_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The loop nest of a case for AVX2, with 8 lanes of f32.
std::string NestOf(const OperatorCase& test_case) {
  const auto group = MakeGroup(test_case);
  if (!group.ok()) return group.status().ToString();
  const auto scheduled = ScheduleGroup(*group->region, "group", *TargetByName("x86-64-v3"));
  if (!scheduled.ok()) return scheduled.status().ToString();
  const auto nest = scheduled->schedule.Lower();
  return nest.ok() ? Print(*nest) : nest.status().ToString();
}

TEST(LowerMovement, Reshape) {
  ExpectKernelsMatch(InEachDType({{Op::kReshape, {"f32[2,3,4]"}, {{"shape", Ints{6, 4}}}},
                                  {Op::kReshape, {"f32[4,6]"}, {{"shape", Ints{3, 8}}}}},
                                 "f32", {"f32", "i64", "f16", "bool"}));
  ExpectKernelsMatch({{Op::kReshape, {"f32[1,20,3,5]{c1/16}"}, {{"shape", Ints{1, 300}}}},
                      {Op::kReshape, {"f32[2,20,3,5]{c1/16}"}, {{"shape", Ints{2, 20, 1, 15}}}, "{c1/16}"},
                      {Op::kReshape, {"f32[1,1]"}, {{"shape", Ints{}}}},
                      {Op::kReshape, {"f32[0,4]"}, {{"shape", Ints{2, 0, 3}}}},
                      {Op::kReshape, {"f32[7,1,5]"}, {{"shape", Ints{1, 35, 1}}}, "", {Op::kRelu}}});
}

TEST(LowerMovement, Transpose) {
  ExpectKernelsMatch(InEachDType({{Op::kTranspose, {"f32[2,3,20]"}, {{"perm", Ints{2, 0, 1}}}},
                                  {Op::kTranspose, {"f32[5,33]"}, {{"perm", Ints{1, 0}}}},
                                  {Op::kTranspose, {"f32[2,4,8,16]"}, {{"perm", Ints{0, 2, 1, 3}}}}},
                                 "f32", {"f32", "f64", "u8"}));
}

TEST(LowerMovement, BlocksMoveWhole) {
  ExpectKernelsMatch(
      {{Op::kTranspose, {"f32[4,20,1,15]{c1/16}"}, {{"perm", Ints{2, 1, 0, 3}}}, "{c1/16}"},
       {Op::kPad, {"f32[2,20,3,5]{c1/8}"}, {{"pads", Ints{1, 0, 0, 1, 2, 0, 1, 0}}}, "{c1/8}"},
       {Op::kSlice,
        {"f32[7,20,3,5]{c1/16}"},
        {{"starts", Ints{1, 0, 0, 0}}, {"sizes", Shape{3, 20, 3, 5}}, {"steps", Ints{2, 1, 1, 1}}},
        "{c1/16}"}});
}

// Tiles that divide evenly and that do not, in both directions, with plain and with blocked memory.
TEST(LowerMovement, TransposeInTiles) {
  std::vector<OperatorCase> cases;
  for (const char* rows : {"2", "15", "16", "90"}) {
    for (const char* columns : {"16", "64", "77"}) {
      cases.push_back({Op::kTranspose,
                       {absl::StrCat("f32[2,", columns, ",", rows, "]")},
                       {{"perm", Ints{0, 2, 1}}},
                       "",
                       {Op::kRelu}});
      cases.push_back({Op::kTranspose,
                       {absl::StrCat("f32[1,5,", columns, ",", rows, "]")},
                       {{"perm", Ints{0, 3, 1, 2}}}});
      cases.push_back({Op::kLayoutTransform,
                       {absl::StrCat("f32[1,", rows, ",5,", columns, "]{c1/16}")},
                       {{"blocked_axis", int64_t{-1}}, {"block", int64_t{1}}}});
      cases.push_back({Op::kLayoutTransform,
                       {absl::StrCat("f32[1,", rows, ",5,", columns, "]")},
                       {{"blocked_axis", int64_t{1}}, {"block", int64_t{16}}},
                       "{c1/16}"});
    }
  }
  cases.push_back({Op::kTranspose, {"f32[300,90]"}, {{"perm", Ints{1, 0}}}});
  cases.push_back({Op::kTranspose, {"f32[300,90,2]"}, {{"perm", Ints{2, 1, 0}}}});
  cases.push_back({Op::kTranspose, {"f32[1,149,149,3]"}, {{"perm", Ints{0, 3, 1, 2}}}});
  ExpectKernelsMatch(InEachDType(cases, "f32", {"f32", "f64", "i8"}));
  EXPECT_THAT(NestOf({Op::kTranspose, {"f32[300,90]"}, {{"perm", Ints{1, 0}}}}),
              AllOf(HasSubstr("%transpose0.d0.i in 0, 16"), HasSubstr("vector %transpose0.d1.i in 0, 16")));
}

// To and from blocks of channels: as wide as a vector, wider and narrower, with and without a masked end.
TEST(LowerMovement, TransposeOfBlocks) {
  std::vector<OperatorCase> cases;
  for (const char* block : {"4", "8", "16", "32"}) {
    for (const char* channels : {"3", "12", "16", "21", "32", "273"}) {
      const std::string blocked = absl::StrCat("{c1/", block, "}");
      cases.push_back({Op::kTranspose,
                       {absl::StrCat("f32[2,", channels, ",3,5]", blocked)},
                       {{"perm", Ints{0, 2, 3, 1}}}});
      cases.push_back({Op::kTranspose,
                       {absl::StrCat("f32[2,3,5,", channels, "]")},
                       {{"perm", Ints{0, 3, 1, 2}}},
                       blocked});
    }
  }
  ExpectKernelsMatch(InEachDType(cases, "f32", {"f32", "f64", "u8"}));
}

TEST(LowerMovement, BlocksAreMovedInVectors) {
  const auto from_blocks = [](const char* type) {
    return OperatorCase{Op::kTranspose, {type}, {{"perm", Ints{0, 2, 3, 1}}}};
  };
  EXPECT_THAT(NestOf(from_blocks("f32[1,21,3,5]{c1/4}")), HasSubstr("vector %transpose0.d3.i in 0, 4"));
  for (const char* type : {"f32[1,21,3,5]{c1/8}", "f32[1,21,3,5]{c1/16}", "f32[1,32,3,5]{c1/16}"}) {
    EXPECT_THAT(NestOf(from_blocks(type)), HasSubstr("vector %transpose0.d3.i in 0, 8")) << type;
  }
  EXPECT_THAT(NestOf({Op::kTranspose, {"f32[1,3,5,21]"}, {{"perm", Ints{0, 3, 1, 2}}}, "{c1/16}"}),
              HasSubstr("vector "));
}

TEST(LowerMovement, BroadcastAndSlice) {
  ExpectKernelsMatch(
      {{Op::kBroadcast, {"f32[3,1,5]"}, {{"shape", Ints{2, 3, 4, 5}}}},
       {Op::kBroadcast, {"i32[]"}, {{"shape", Ints{37}}}},
       {Op::kSlice, {"f32[9,20]"}, {{"starts", Ints{8, 1}}, {"sizes", Ints{4, 17}}, {"steps", Ints{-2, 1}}}},
       {Op::kSlice,
        {"f32[1,40,3,4]{c1/16}"},
        {{"starts", Ints{0, 16, 0, 1}}, {"sizes", Ints{1, 20, 3, 3}}, {"steps", Ints{1, 1, 1, 1}}},
        "{c1/16}"},
       {Op::kSlice,
        {"f32[1,40,3,4]{c1/16}"},
        {{"starts", Ints{0, 5, 0, 1}}, {"sizes", Ints{1, 20, 3, 3}}, {"steps", Ints{1, 1, 1, 1}}},
        "{c1/16}"}});
}

TEST(LowerMovement, Concat) {
  ExpectKernelsMatch(
      {{Op::kConcat, {"f32[2,3,5]", "f32[2,4,5]", "f32[2,1,5]"}, {{"axis", int64_t{1}}}},
       {Op::kConcat, {"f32[2,3]", "f32[2,40]", "f32[2,0]"}, {{"axis", int64_t{1}}}},
       {Op::kConcat, {"i64[1]", "i64[3]"}, {{"axis", int64_t{0}}}},
       {Op::kConcat, {"f32[1,32,3,3]{c1/16}", "f32[1,16,3,3]{c1/16}"}, {{"axis", int64_t{1}}}, "{c1/16}"},
       {Op::kConcat,
        {"f32[1,20,3,3]{c1/16}", "f32[1,7,3,3]", "f32[1,16,3,3]{c1/16}"},
        {{"axis", int64_t{1}}},
        "{c1/16}",
        {Op::kRelu}}});
}

// Parts that are contiguous in the result are copied as such, whatever the length of their rows, even if
// threads share a part and it is guarded therefore.
TEST(LowerMovement, ConcatOfContiguousParts) {
  const OperatorCase rows = {
      Op::kConcat, {"f32[1,301,61]", "f32[1,23,61]", "f32[1,2,61]"}, {{"axis", int64_t{1}}}};
  OperatorCase activated = rows, columns = rows;
  activated.epilogue = {Op::kSigmoid};
  columns.inputs = {"f32[1,301,1]", "f32[1,301,1]", "f32[1,301,3]"};
  columns.attrs = {{"axis", int64_t{2}}};
  ExpectKernelsMatch({rows, activated, columns, {Op::kRelu, {"f32[1,1,301,61]"}}});
  for (const char* part : {"concat0", "concat0.1", "concat0.2"}) {
    EXPECT_THAT(NestOf(rows), HasSubstr(absl::StrCat("vector %", part, ".flat0.i in 0, 8"))) << part;
  }
}

TEST(LowerMovement, Pad) {
  for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
    ExpectKernelsMatch(InEachLayout({{Op::kPad,
                                      {"f32[1,5,6,7]"},
                                      {{"pads", Ints{0, 0, 1, 2, 0, 0, 3, 1}},
                                       {"mode", std::string(mode)},
                                       {"value", ExactNumber(1.5)}}}}));
  }
  ExpectKernelsMatch({{Op::kPad,
                       {"f32[1,20,3,4]{c1/16}"},
                       {{"pads", Ints{0, 0, 0, 0, 0, 21, 1, 0}}, {"value", ExactNumber(1.5)}},
                       "{c1/16}"},
                      {Op::kPad, {"u8[7]"}, {{"pads", Ints{1, 2}}, {"value", ExactNumber(-1.0)}}},
                      {Op::kPad, {"i8[3,5]"}, {{"pads", Ints{2, 1, 0, 20}}, {"value", ExactNumber(-3.0)}}},
                      {Op::kPad, {"f32[0,2]"}, {{"pads", Ints{1, 0, 1, 0}}}}});
}

TEST(LowerMovement, Rearrangements) {
  ExpectKernelsMatch(
      {{Op::kLayoutTransform,
        {"f32[2,20,3,4]"},
        {{"blocked_axis", int64_t{1}}, {"block", int64_t{16}}},
        "{c1/16}"},
       {Op::kLayoutTransform,
        {"f32[2,20,3,4]{c1/8}"},
        {{"blocked_axis", int64_t{-1}}, {"block", int64_t{1}}}},
       {Op::kDepthToSpace, {"f32[1,12,2,3]"}, {{"block", int64_t{2}}}},
       {Op::kDepthToSpace, {"f32[1,12,2,3]"}, {{"block", int64_t{2}}, {"mode", std::string("CRD")}}},
       {Op::kSpaceToDepth, {"f32[2,3,4,6]"}, {{"block", int64_t{2}}}},
       {Op::kReverseSequence,
        {"f32[4,3,5]", "i64[3] 0..4"},
        {{"batch_axis", int64_t{1}}, {"time_axis", int64_t{0}}}}});
}

// Rows of blocked channels read a member of the group along an axis that is shorter than a vector: the loop
// over it stays a loop.
TEST(LowerMovement, GroupsOfNarrowMaps) {
  for (const std::string layout : {"{c1/8}", "{c1/16}"}) {
    for (const std::string channels : {"3", "8", "9"}) {
      const std::string plain = "f32[2," + channels + ",7,7]", blocked = plain + layout;
      ExpectKernelsMatch(std::vector<std::string>{
          "graph @g(%x: " + blocked + ", %l: i64[" + channels +
              "]) { %n = clip(%l) {max = 2.0, min = 0.0} : i64[" + channels + "] %t = tanh(%x) : " + blocked +
              " %r = reverse_sequence(%x, %n) {batch_axis = 1, time_axis = 0} : " + plain +
              " %y = div(%r, %t) : " + blocked + " return \"\": %y }",
          "graph @g(%x: " + blocked + ") { %r = softmax(%x) {axis = 1} : " + plain +
              " %y = mul(%r, %x) : " + blocked + " return \"\": %y }",
          "graph @g(%x: " + blocked + ") { %r = transpose(%x) {perm = [0, 1, 3, 2]} : " + plain +
              " %y = add(%r, %x) : " + blocked + " return \"\": %y }"});
    }
  }
}

}  // namespace
}  // namespace attune
