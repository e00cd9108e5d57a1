#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

TEST(InferMovement, Reshape) {
  CheckCase({"reshape", {"i8[2,3,4]"}, {{"shape", Ints{6, 4}}}, "i8[6,4]"});
  CheckCase({"reshape", {"f32[1]"}, {{"shape", Ints{}}}, "f32[]"});
  CheckCase({"reshape", {"f32[0,3]"}, {{"shape", Ints{7, 0}}}, "f32[7,0]"});
  CheckCase({"reshape",
             {"f32[2,3]"},
             {{"shape", Ints{5}}},
             "invalid: cannot reshape f32[2,3] of 6 elements to [5] of 5"});
  CheckCase({"reshape", {"f32[2,3]"}, {{"shape", Ints{-1}}}, "invalid: the shape [-1] overflows"});
  CheckCase(
      {"reshape", {"f32[2,3]"}, {{"shape", Ints{int64_t{1} << 40, int64_t{1} << 40}}}, "invalid: overflows"});
}

TEST(InferMovement, ReshapeKeepsSymbolsThatKeepTheirPlace) {
  CheckCase({"reshape", {"f32[n<=9,3,4]"}, {{"shape", Ints{9, 12}}}, "f32[n<=9,12]"});
  CheckCase({"reshape", {"f32[n<=9,3]"}, {{"shape", Ints{1, 9, 1, 3}}}, "f32[1,n<=9,1,3]"});
  CheckCase({"reshape", {"f32[2,3,n<=9,4,m<=5]"}, {{"shape", Ints{6, 9, 2, 2, 5}}}, "f32[6,n<=9,2,2,m<=5]"});
  CheckCase(
      {"reshape", {"f32[n<=4,4]"}, {{"shape", Ints{16}}}, "not supported: would mix a dynamic dimension"});
  CheckCase(
      {"reshape", {"f32[3,n<=9]"}, {{"shape", Ints{9, 3}}}, "not supported: reshaping f32[3,n<=9] to [9,3]"});
  CheckCase({"reshape", {"f32[n<=9,m<=9]"}, {{"shape", Ints{81, 1}}}, "not supported: would mix"});
}

TEST(InferMovement, Transpose) {
  CheckCase({"transpose", {"u8[2,n<=3,4]"}, {{"perm", Ints{2, 0, 1}}}, "u8[4,2,n<=3]"});
  CheckCase({"transpose", {"u8[]"}, {{"perm", Ints{}}}, "u8[]"});
  CheckCase({"transpose", {"u8[1,20,4,4]{c1/16}"}, {{"perm", Ints{0, 1, 2, 3}}}, "u8[1,20,4,4]"});
  CheckCase({"transpose", {"u8[2,3]"}, {{"perm", Ints{0, 0}}}, "invalid: perm names axis 0 twice"});
  CheckCase({"transpose", {"u8[2,3]"}, {{"perm", Ints{0, 2}}}, "invalid: perm has the value 2"});
  CheckCase({"transpose", {"u8[2,3]"}, {{"perm", Ints{0}}}, "invalid: perm has 1 values, needs 2"});
}

TEST(InferMovement, Broadcast) {
  CheckCase({"broadcast", {"f32[3,1]"}, {{"shape", Ints{2, 3, 4}}}, "f32[2,3,4]"});
  CheckCase({"broadcast", {"f32[n<=3,1]"}, {{"shape", Ints{2, 3, 0}}}, "f32[2,n<=3,0]"});
  CheckCase({"broadcast", {"f32[3]"}, {{"shape", Ints{1}}}, "invalid: cannot broadcast f32[3] to [1]"});
  CheckCase({"broadcast", {"f32[1,3]"}, {{"shape", Ints{3}}}, "invalid: cannot broadcast f32[1,3] to [3]"});
  CheckCase({"broadcast", {"f32[1]"}, {{"shape", Ints{-2}}}, "invalid: the shape [-2]"});
}

InferCase SliceCase(std::string x, Ints starts, Ints sizes, Ints steps, std::string expected) {
  return {
      "slice", {std::move(x)}, {{"starts", starts}, {"sizes", sizes}, {"steps", steps}}, std::move(expected)};
}

TEST(InferMovement, Slice) {
  CheckCase(SliceCase("f32[10,5]", {2, 4}, {4, 5}, {2, -1}, "f32[4,5]"));
  CheckCase(SliceCase("f32[n<=10,5]", {0, 1}, {10, 3}, {1, 1}, "f32[n<=10,3]"));
  CheckCase(SliceCase("f32[3,0]", {3, -1}, {0, 0}, {1, -1}, "f32[0,0]"));
  CheckCase(SliceCase("f32[10]", {8}, {2}, {2},
                      "invalid: the slice of 2 elements from 8 by 2 leaves axis 0 of f32[10]"));
  CheckCase(SliceCase("f32[10]", {1}, {3}, {-1}, "invalid: leaves axis 0"));
  CheckCase(SliceCase("f32[10]", {11}, {0}, {1}, "invalid: leaves axis 0"));
  CheckCase(SliceCase("f32[10]", {0}, {3}, {int64_t{1} << 62}, "invalid: leaves axis 0"));
  CheckCase(SliceCase("f32[10]", {0}, {1}, {0}, "invalid: the step along axis 0 is 0"));
  CheckCase(SliceCase("f32[10]", {0}, {-1}, {1}, "invalid: sizes has the value -1"));
  CheckCase(SliceCase("f32[n<=10]", {0}, {9}, {1},
                      "not supported: cannot slice the dynamic dimension 0 of f32[n<=10]"));
}

TEST(InferMovement, Concat) {
  CheckCase({"concat", {"f32[2,3]", "f32[2,0]", "f32[2,4]"}, {{"axis", 1}}, "f32[2,7]"});
  CheckCase({"concat", {"f32[n<=2,3]", "f32[n<=2,4]"}, {{"axis", 1}}, "f32[n<=2,7]"});
  CheckCase({"concat", {"f32[n<=2,3]"}, {{"axis", 0}}, "f32[n<=2,3]"});
  CheckCase({"concat",
             {"f32[2,3]", "f32[3,3]"},
             {{"axis", 1}},
             "invalid: input 1 is f32[3,3], which does not continue input 0, f32[2,3]"});
  CheckCase({"concat", {"f32[2,3]", "f32[2]"}, {{"axis", 1}}, "invalid: input 1 is f32[2]"});
  CheckCase({"concat",
             {"f32[2]", "f16[2]"},
             {{"axis", 0}},
             "invalid: input 1 is f16[2], must have the dtype of input 0"});
  CheckCase({"concat",
             {"f32[2]", "f32[2]"},
             {{"axis", 1}},
             "invalid: axis 1 is not an axis of a tensor of 1 dimensions"});
  CheckCase({"concat",
             {"f32[2]", "f32[n<=2]"},
             {{"axis", 0}},
             "not supported: cannot concatenate the dynamic dimension 0 of f32[n<=2]"});
}

TEST(InferMovement, Pad) {
  CheckCase({"pad", {"f32[2,n<=3]"}, {{"pads", Ints{1, 0, 2, 0}}}, "f32[5,n<=3]"});
  CheckCase({"pad", {"f32[0]"}, {{"pads", Ints{1, 1}}, {"value", ExactNumber(1.5)}}, "f32[2]"});
  CheckCase({"pad", {"i8[3]"}, {{"pads", Ints{2, 2}}, {"mode", "reflect"}}, "i8[7]"});
  CheckCase({"pad",
             {"i8[3]"},
             {{"pads", Ints{3, 0}}, {"mode", "reflect"}},
             "invalid: cannot reflect 3 elements along axis 0 of i8[3]"});
  CheckCase({"pad",
             {"i8[0]"},
             {{"pads", Ints{1, 0}}, {"mode", "edge"}},
             "invalid: nothing to repeat along axis 0"});
  CheckCase({"pad", {"i8[3]"}, {{"pads", Ints{-1, 0}}}, "invalid: pads has the value -1"});
  CheckCase({"pad", {"i8[3]"}, {{"pads", Ints{1}}}, "invalid: pads has 1 values, needs 2"});
  CheckCase({"pad", {"i8[3]"}, {{"pads", Ints{1, 0}}, {"mode", "mirror"}}, "invalid: mode is 'mirror'"});
  CheckCase(
      {"pad", {"i8[n<=3]"}, {{"pads", Ints{1, 0}}}, "not supported: cannot pad the dynamic dimension 0"});
}

TEST(InferMovement, LayoutTransform) {
  CheckCase(
      {"layout_transform", {"f32[1,20,4,4]"}, {{"blocked_axis", 1}, {"block", 16}}, "f32[1,20,4,4]{c1/16}"});
  CheckCase({"layout_transform", {"f32[1,20]{c1/16}"}, {{"blocked_axis", -1}, {"block", 1}}, "f32[1,20]"});
  CheckCase({"layout_transform",
             {"f32[1,20]"},
             {{"blocked_axis", 2}, {"block", 16}},
             "invalid: blocked_axis 2 is not an axis"});
  CheckCase({"layout_transform", {"f32[1,20]"}, {{"blocked_axis", 1}, {"block", 1}}, "invalid: block is 1"});
  CheckCase({"layout_transform",
             {"f32[1,n<=9]"},
             {{"blocked_axis", 1}, {"block", 8}},
             "not supported: cannot block the dynamic dimension 1"});
}

TEST(InferMovement, DepthAndSpace) {
  CheckCase({"depth_to_space", {"f32[n<=2,12,2,3]"}, {{"block", 2}}, "f32[n<=2,3,4,6]"});
  CheckCase({"depth_to_space", {"u8[1,9,1,1]"}, {{"block", 3}, {"mode", "CRD"}}, "u8[1,1,3,3]"});
  CheckCase({"depth_to_space",
             {"f32[1,6,2,3]"},
             {{"block", 2}},
             "invalid: the 6 channels of f32[1,6,2,3] are not a multiple of block 2 squared"});
  CheckCase({"depth_to_space",
             {"f32[12,2,3]"},
             {{"block", 2}},
             "invalid: the input is f32[12,2,3], must have 4 dimensions"});
  CheckCase({"depth_to_space", {"f32[1,4,2,3]"}, {{"block", 0}}, "invalid: block is 0"});
  CheckCase({"depth_to_space", {"f32[1,4,2,3]"}, {{"block", 2}, {"mode", "RCD"}}, "invalid: mode is 'RCD'"});
  CheckCase({"space_to_depth", {"f32[n<=2,3,4,6]"}, {{"block", 2}}, "f32[n<=2,12,2,3]"});
  CheckCase({"space_to_depth", {"f32[1,1,2,3]"}, {{"block", 1}}, "f32[1,1,2,3]"});
  CheckCase(
      {"space_to_depth", {"f32[1,1,4,3]"}, {{"block", 2}}, "invalid: the height and width of f32[1,1,4,3]"});
  CheckCase({"space_to_depth",
             {"f32[1,n<=4,4,4]"},
             {{"block", 2}},
             "not supported: cannot rearrange the dynamic dimension 1"});
}

TEST(InferMovement, ReverseSequence) {
  CheckCase(
      {"reverse_sequence", {"f32[4,2,3]", "i64[2]"}, {{"batch_axis", 1}, {"time_axis", 0}}, "f32[4,2,3]"});
  CheckCase({"reverse_sequence",
             {"f32[n<=4,2]", "i32[n<=4]"},
             {{"batch_axis", 0}, {"time_axis", 1}},
             "f32[n<=4,2]"});
  CheckCase({"reverse_sequence",
             {"f32[4,2]", "i64[2]"},
             {{"batch_axis", 0}, {"time_axis", 1}},
             "invalid: the lengths tensor is i64[2], must have the shape [4]"});
  CheckCase({"reverse_sequence",
             {"f32[4,2]", "i64[4]"},
             {{"batch_axis", 0}, {"time_axis", 0}},
             "invalid: batch_axis and time_axis are both 0"});
  CheckCase({"reverse_sequence",
             {"f32[4,2]", "f32[4]"},
             {{"batch_axis", 0}, {"time_axis", 1}},
             "invalid: the lengths tensor is f32[4], must be i32 or i64"});
}

}  // namespace
}  // namespace attune::infer
