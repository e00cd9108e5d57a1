#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

TEST(InferWindow, EveryPool) {
  for (const char* op : {"max_pool", "avg_pool"}) {
    CheckCase({op,
               {"f32[1,64,112,112]"},
               {{"kernel", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}},
               "f32[1,64,56,56]"});
    CheckCase({op, {"f16[n<=2,c<=3,7]"}, {{"kernel", Ints{2}}, {"dilations", Ints{3}}}, "f16[n<=2,c<=3,4]"});
    CheckCase({op, {"f32[1,1,6]"}, {{"kernel", Ints{3}}, {"strides", Ints{2}}}, "f32[1,1,2]"});
    CheckCase(
        {op, {"f32[1,1,6]"}, {{"kernel", Ints{3}}, {"strides", Ints{2}}, {"ceil_mode", 1}}, "f32[1,1,3]"});
    CheckCase({op, {"f32[1,64,8,8]{c1/16}"}, {{"kernel", Ints{8, 8}}}, "f32[1,64,1,1]"});
    CheckCase({op,
               {"f32[1,1,4]"},
               {{"kernel", Ints{5}}},
               "invalid: the window covers 5 elements, spatial dimension 0 has 4"});
    CheckCase({op,
               {"f32[1,1,4]"},
               {{"kernel", Ints{2}}, {"pads", Ints{0, 2}}},
               "invalid: a pad of 2 holds the whole window of 2 elements"});
    CheckCase({op, {"f32[1,1,4]"}, {{"kernel", Ints{2, 2}}}, "invalid: kernel has 2 values, needs 1"});
    CheckCase({op, {"f32[1,1,4]"}, {{"kernel", Ints{0}}}, "invalid: kernel has the value 0"});
    CheckCase({op,
               {"f32[1,4]"},
               {{"kernel", Ints{}}},
               "invalid: the input is f32[1,4], must have at least 3 dimensions"});
    CheckCase({op,
               {"f32[1,1,n<=4]"},
               {{"kernel", Ints{2}}},
               "not supported: cannot pool over the dynamic dimension 2"});
  }
}

TEST(InferWindow, CeilModeDropsWindowsThatStartInTheEndPad) {
  const Attributes attrs = {
      {"kernel", Ints{2}}, {"strides", Ints{3}}, {"pads", Ints{0, 1}}, {"ceil_mode", 1}};
  CheckCase({"max_pool", {"f32[1,1,4]"}, attrs, "f32[1,1,2]"});  // windows from 0 and 3
  CheckCase({"max_pool", {"f32[1,1,3]"}, attrs, "f32[1,1,1]"});  // one from 3 would see the pad alone
}

TEST(InferWindow, MaxPool) {
  CheckCase({"max_pool", {"u8[1,1,4]"}, {{"kernel", Ints{2}}}, "u8[1,1,3]"});
  CheckCase({"max_pool", {"f32[1,1,4]"}, {{"kernel", Ints{2}}}, "f32[1,1,3] i64[1,1,3]", 2});
  CheckCase({"max_pool",
             {"f32[n<=2,1,4]"},
             {{"kernel", Ints{2}}},
             "not supported: cannot count positions in the dynamic dimension 0",
             2});
  CheckCase({"max_pool", {"bool[1,1,4]"}, {{"kernel", Ints{2}}}, "invalid: the input is bool[1,1,4]"});
}

TEST(InferWindow, AvgPoolTakesFloats) {
  CheckCase({"avg_pool",
             {"u8[1,1,4]"},
             {{"kernel", Ints{2}}},
             "invalid: the input is u8[1,1,4], must be of floats"});
  CheckCase({"avg_pool",
             {"f32[1,1,4]"},
             {{"kernel", Ints{2}}, {"count_include_pad", 5}},
             "invalid: count_include_pad is 5"});
}

Attributes LrnAttributes(int64_t size) {
  return {{"size", size}, {"alpha", 1e-4}, {"beta", 0.75}, {"bias", 1.0}};
}

TEST(InferWindow, Lrn) {
  CheckCase({"lrn", {"f32[n<=1,8,4,4]"}, LrnAttributes(5), "f32[n<=1,8,4,4]"});
  CheckCase({"lrn", {"bf16[1,8]"}, LrnAttributes(1), "bf16[1,8]"});
  CheckCase({"lrn", {"f32[1,8,4,4]"}, LrnAttributes(0), "invalid: size is 0"});
  CheckCase(
      {"lrn", {"f32[8]"}, LrnAttributes(5), "invalid: the input is f32[8], must have at least 2 dimensions"});
  CheckCase({"lrn",
             {"f32[1,c<=8]"},
             LrnAttributes(5),
             "not supported: cannot normalize over the dynamic dimension 1"});
}

TEST(InferWindow, Col2Im) {
  CheckCase({"col2im",
             {"f32[1,10,8]"},
             {{"image", Ints{5, 4}}, {"block", Ints{2, 5}}, {"pads", Ints{0, 0, 0, 2}}},
             "f32[1,1,5,4]"});
  CheckCase({"col2im",
             {"i32[n<=2,6,4]"},
             {{"image", Ints{7}}, {"block", Ints{2}}, {"strides", Ints{2}}, {"pads", Ints{1, 0}}},
             "i32[n<=2,3,7]"});
  CheckCase({"col2im",
             {"f32[1,10,7]"},
             {{"image", Ints{5, 4}}, {"block", Ints{2, 5}}, {"pads", Ints{0, 0, 0, 2}}},
             "invalid: the input f32[1,10,7] has 7 windows, the image [5,4] has 8"});
  CheckCase({"col2im",
             {"f32[1,9,4]"},
             {{"image", Ints{5}}, {"block", Ints{2}}},
             "invalid: dimension 1 of f32[1,9,4] is not a multiple"});
  CheckCase({"col2im",
             {"f32[1,9,4]"},
             {{"image", Ints{}}, {"block", Ints{}}},
             "invalid: the image has no dimension"});
  CheckCase({"col2im",
             {"f32[1,9,4]"},
             {{"image", Ints{5}}, {"block", Ints{2, 2}}},
             "invalid: block has 2 values, needs 1"});
}

}  // namespace
}  // namespace attune::infer
