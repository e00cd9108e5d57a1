#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

TEST(InferQuantized, Quantize) {
  const Attributes to_u8 = {{"to", DType::kU8}};
  CheckCase({"quantize", {"f32[2,3]", "f32[]", "u8[]"}, to_u8, "u8[2,3]"});
  CheckCase({"quantize", {"f16[n<=2,3]", "f32[3]"}, to_u8, "u8[n<=2,3]"});
  CheckCase({"quantize",
             {"f32[5,2]", "f32[3,2]", "i16[3,2]"},
             {{"to", DType::kI16}, {"axis", 0}, {"block_size", 2}},
             "i16[5,2]"});
  CheckCase({"quantize", {"i32[2,3]", "f32[]"}, to_u8, "invalid: the input is i32[2,3], must be of floats"});
  CheckCase(
      {"quantize", {"f32[2,3]", "f32[2]"}, to_u8, "invalid: the scale is f32[2], must have the shape [3]"});
  CheckCase({"quantize",
             {"f32[2,3]", "f32[3]", "u8[]"},
             to_u8,
             "invalid: the zero point is u8[], must have the shape [3]"});
  CheckCase(
      {"quantize", {"f32[2,3]", "f32[]", "i8[]"}, to_u8, "invalid: the zero point is i8[], must be u8"});
  CheckCase({"quantize", {"f32[2,3]", "f32[]"}, {{"to", DType::kI32}}, "invalid: cannot quantize to i32"});
  CheckCase({"quantize", {"f32[3]", "f32[3]"}, to_u8, "invalid: axis 1 is not an axis of f32[3]"});
  CheckCase({"quantize",
             {"f32[5,2]", "f32[2,2]"},
             {{"to", DType::kI8}, {"axis", 0}, {"block_size", 2}},
             "invalid: the scale is f32[2,2], must have the shape [3,2]"});
  CheckCase({"quantize",
             {"f32[5,2]", "f32[]"},
             {{"to", DType::kI8}, {"block_size", -1}},
             "invalid: block_size is -1"});
}

TEST(InferQuantized, Dequantize) {
  CheckCase({"dequantize", {"u8[2,3]", "f16[]", "u8[]"}, {}, "f16[2,3]"});
  CheckCase({"dequantize", {"i32[2,n<=3]", "f32[2]"}, {{"axis", 0}}, "f32[2,n<=3]"});
  CheckCase({"dequantize", {"i8[4,6]", "f32[4,2]"}, {{"block_size", 3}}, "f32[4,6]"});
  CheckCase({"dequantize",
             {"i64[2]", "f32[]"},
             {},
             "invalid: the input is i64[2], must be i8 or u8 or i16 or u16 or i32"});
  CheckCase({"dequantize", {"i8[2]", "i8[]"}, {}, "invalid: the scale is i8[], must be of floats"});
  CheckCase({"dequantize", {"i8[2]", "f32[]", "u8[]"}, {}, "invalid: the zero point is u8[], must be i8"});
  CheckCase({"dequantize",
             {"i8[4,n<=6]", "f32[4,2]"},
             {{"block_size", 3}},
             "not supported: cannot quantize in blocks along the dynamic dimension 1"});
}

TEST(InferQuantized, Requantize) {
  const Attributes to_i8 = {{"to", DType::kI8}};
  CheckCase({"requantize", {"i32[2,3]", "f32[]"}, to_i8, "i8[2,3]"});
  CheckCase({"requantize",
             {"i32[1,3,4]", "f32[3]", "u8[]"},
             {{"to", DType::kU8}, {"rounding", "half_away"}},
             "u8[1,3,4]"});
  CheckCase({"requantize", {"i64[2,3]", "f64[]"}, to_i8, "i8[2,3]"});
  CheckCase({"requantize", {"u8[2,3]", "f32[]"}, to_i8, "invalid: the input is u8[2,3], must be i32"});
  CheckCase({"requantize", {"i32[2,3]", "f16[]"}, to_i8, "invalid: the scale is f16[], must be f32"});
  const Attributes in_fixed_point = {{"to", DType::kI8}, {"rounding", "fixed_point"}};
  CheckCase({"requantize", {"i32[2,3]", "f64[3]"}, in_fixed_point, "i8[2,3]"});
  CheckCase(
      {"requantize", {"i32[2,3]", "f32[]"}, in_fixed_point, "invalid: the scale is f32[], must be f64"});
  CheckCase({"requantize",
             {"i32[2,3]", "f32[3]", "i8[3]"},
             to_i8,
             "invalid: the zero point is i8[3], must have the shape []"});
  CheckCase({"requantize",
             {"i32[2]", "f32[]"},
             {{"to", DType::kI8}, {"rounding", "up"}},
             "invalid: rounding is 'up'"});
}

}  // namespace
}  // namespace attune::infer
