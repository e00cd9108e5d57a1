#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

TEST(InferContraction, Conv) {
  CheckCase({"conv",
             {"f32[1,3,224,224]", "f32[64,3,7,7]", "f32[64]"},
             {{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}},
             "f32[1,64,112,112]"});
  CheckCase(
      {"conv", {"f16[n<=2,8,9]", "f16[4,2,3]"}, {{"group", 4}, {"dilations", Ints{2}}}, "f16[n<=2,4,5]"});
  CheckCase({"conv", {"bf16[0,1,3,3,3]", "bf16[1,1,3,3,3]"}, {}, "bf16[0,1,1,1,1]"});
  CheckCase({"conv", {"bf16[1,4,8]", "bf16[3,4,3]", "f32[3]"}, {{"to", DType::kF32}}, "f32[1,3,6]"});
  CheckCase({"conv",
             {"bf16[1,4,8]", "bf16[3,4,3]", "bf16[3]"},
             {{"to", DType::kF32}},
             "invalid: the bias is bf16[3], must be f32"});
  CheckCase({"conv", {"f32[1,20,4,4]{c1/16}", "f32[8,20,1,1]"}, {}, "f32[1,8,4,4]"});
  CheckCase({"conv",
             {"f32[1,64,8,8]", "f32[8,32,3,3]"},
             {},
             "invalid: input f32[1,64,8,8] has 64 channels, the weight f32[8,32,3,3] expects 32 x group 1"});
  CheckCase({"conv",
             {"f32[1,4,8,8]", "f32[3,2,3,3]"},
             {{"group", 2}},
             "invalid: the 3 output channels of the weight f32[3,2,3,3] do not divide into 2 groups"});
  CheckCase({"conv", {"i8[1,4,8]", "i8[3,4,3]"}, {}, "invalid: the input is i8[1,4,8], must be of floats"});
  CheckCase({"conv",
             {"f32[1,4,8]", "f16[3,4,3]"},
             {},
             "invalid: the weight is f16[3,4,3], must have the dtype of the input"});
  CheckCase({"conv",
             {"f32[1,4,8]", "f32[3,4,3]", "f32[4]"},
             {},
             "invalid: the bias is f32[4], must have the shape [3]"});
  CheckCase({"conv",
             {"f32[1,4,8]", "f32[3,4,3,3]"},
             {},
             "invalid: the input f32[1,4,8] and the weight f32[3,4,3,3] differ in rank"});
  CheckCase({"conv",
             {"f32[1,4]", "f32[3,4]"},
             {},
             "invalid: the input is f32[1,4], must have at least 3 dimensions"});
  CheckCase({"conv", {"f32[1,4,8]", "f32[3,4,0]"}, {}, "invalid: the window has the size 0"});
  CheckCase({"conv",
             {"f32[1,4,2]", "f32[3,4,3]"},
             {},
             "invalid: the window covers 3 elements, spatial dimension 0 has 2 with its pads"});
  CheckCase({"conv",
             {"f32[1,n<=4,8]", "f32[3,4,3]"},
             {},
             "not supported: cannot convolve over the dynamic dimension 1"});
}

TEST(InferContraction, ConvWindowAttributes) {
  const std::vector<std::string> inputs = {"f32[1,4,8,8]", "f32[3,4,3,3]"};
  CheckCase({"conv", inputs, {{"strides", Ints{1}}}, "invalid: strides has 1 values, needs 2"});
  CheckCase({"conv", inputs, {{"strides", Ints{1, 0}}}, "invalid: strides has the value 0"});
  CheckCase({"conv", inputs, {{"pads", Ints{1, 1}}}, "invalid: pads has 2 values, needs 4"});
  CheckCase({"conv", inputs, {{"pads", Ints{0, 0, -1, 0}}}, "invalid: pads has the value -1"});
  CheckCase({"conv", inputs, {{"dilations", Ints{0, 1}}}, "invalid: dilations has the value 0"});
  CheckCase({"conv",
             inputs,
             {{"pads", Ints{0, 0, 0, int64_t{1} << 62}}},
             "invalid: pads has the value 4611686018427387904"});
  CheckCase({"conv",
             inputs,
             {{"dilations", Ints{1, 2147483647}}},
             "invalid: the window covers 4294967295 elements"});
  CheckCase({"conv", inputs, {{"group", 0}}, "invalid: group is 0"});
}

TEST(InferContraction, ConvTranspose) {
  CheckCase({"conv_transpose",
             {"f32[1,8,5,5]", "f32[8,3,3,3]", "f32[3]"},
             {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}, {"output_padding", Ints{1, 0}}},
             "f32[1,3,10,9]"});
  CheckCase({"conv_transpose",
             {"f16[n<=2,4,3]", "f16[4,1,2]"},
             {{"group", 2}, {"dilations", Ints{3}}},
             "f16[n<=2,2,6]"});
  CheckCase({"conv_transpose",
             {"f32[1,8,5]", "f32[4,3,3]"},
             {},
             "invalid: input f32[1,8,5] has 8 channels, the weight f32[4,3,3] expects 4 in 1 groups"});
  CheckCase({"conv_transpose", {"f32[1,8,5]", "f32[8,3,3]"}, {{"group", 3}}, "invalid: in 3 groups"});
  CheckCase({"conv_transpose",
             {"f32[1,8,5]", "f32[8,3,3]", "f32[8]"},
             {},
             "invalid: the bias is f32[8], must have the shape [3]"});
  CheckCase({"conv_transpose",
             {"f32[1,8,1]", "f32[8,3,3]"},
             {{"pads", Ints{2, 2}}},
             "invalid: spatial dimension 0 of the output would have -1 elements"});
  CheckCase({"conv_transpose",
             {"f32[1,8,1]", "f32[8,3,3]"},
             {{"output_padding", Ints{-1}}},
             "invalid: output_padding has the value -1"});
  CheckCase(
      {"conv_transpose",
       {"f32[1,8,9]", "f32[8,30,3]"},
       {{"output_padding", Ints{2147483647}}, {"strides", Ints{2147483647}}, {"dilations", Ints{2147483647}}},
       "invalid: f32[1,30,23622320118] is larger than 2^40 bytes"});
  CheckCase({"conv_transpose",
             {"f32[1,8,500]", "f32[8,536870912,1]"},
             {{"group", 8}},
             "invalid: is larger than 2^40 bytes"});
}

TEST(InferContraction, ConvInteger) {
  CheckCase({"conv_integer", {"u8[1,4,8]", "i8[3,4,3]", "u8[]", "i8[3]"}, {}, "i32[1,3,6]"});
  CheckCase({"conv_integer", {"i8[1,4,8]", "u8[3,4,3]", "_", "u8[]"}, {{"pads", Ints{1, 1}}}, "i32[1,3,8]"});
  CheckCase({"conv_integer",
             {"f32[1,4,8]", "i8[3,4,3]"},
             {},
             "invalid: the input is f32[1,4,8], must be u8 or i8 or i16"});
  CheckCase({"conv_integer",
             {"u8[1,4,8]", "i8[3,4,3]", "i8[]"},
             {},
             "invalid: the input's zero point is i8[], must have the dtype of the input"});
  CheckCase({"conv_integer",
             {"u8[1,4,8]", "i8[3,4,3]", "u8[4]"},
             {},
             "invalid: the input's zero point is u8[4], must have the shape []"});
  CheckCase({"conv_integer",
             {"u8[1,4,8]", "i8[3,4,3]", "_", "i8[4]"},
             {},
             "invalid: the weight's zero point is i8[4], must have the shape [3]"});
}

TEST(InferContraction, DeformConv) {
  const std::string x = "f32[1,4,5,5]";
  const std::string w = "f32[6,4,3,3]";
  CheckCase({"deform_conv", {x, "f32[1,18,3,3]", w}, {}, "f32[1,6,3,3]"});
  CheckCase({"deform_conv",
             {x, "f32[1,36,5,5]", w, "f32[6]", "f32[1,18,5,5]"},
             {{"offset_group", 2}, {"pads", Ints{1, 1, 1, 1}}},
             "f32[1,6,5,5]"});
  CheckCase({"deform_conv",
             {x, "f32[1,9,3,3]", w},
             {},
             "invalid: the offset is f32[1,9,3,3], must have the shape [1,18,3,3]"});
  CheckCase({"deform_conv",
             {x, "f32[1,18,3,3]", w, "_", "f32[1,18,3,3]"},
             {},
             "invalid: the mask is f32[1,18,3,3], must have the shape [1,9,3,3]"});
  CheckCase({"deform_conv",
             {x, "f32[1,54,3,3]", w},
             {{"offset_group", 3}},
             "invalid: the 4 channels of f32[1,4,5,5] do not divide into 3 offset groups"});
  CheckCase({"deform_conv",
             {"f32[1,4,5]", "f32[1,6,3]", "f32[6,4,3]"},
             {},
             "invalid: the input is f32[1,4,5], must have 4 dimensions"});
}

}  // namespace
}  // namespace attune::infer
