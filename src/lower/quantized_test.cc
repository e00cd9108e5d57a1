#include <gtest/gtest.h>

#include "lower/kernel_under_test.h"

namespace attune {
namespace {

TEST(LowerQuantized, Quantize) {
  const auto quantize = [](std::vector<InputSpec> inputs, DType to, Attributes attrs = {}) {
    attrs.Set("to", to);
    return OperatorCase{Op::kQuantize, std::move(inputs), std::move(attrs)};
  };
  ExpectKernelsMatch(
      {quantize({"f32[3,40] -9..9", "f32[] 0.05", "u8[] 128"}, DType::kU8),
       quantize({"f32[3,40]", "f32[] 0.25"}, DType::kI8),
       quantize({"f32[7] 0.5 1.5 2.5 -0.5 nan inf -inf", "f32[] 1", "i8[] 3"}, DType::kI8),
       quantize({"f32[2,5,3]", "f32[5] 0.1..1", "u8[5] 0..9"}, DType::kU8, {{"axis", int64_t{1}}}),
       quantize({"f32[2,7]", "f32[2,3] 0.1..1"}, DType::kI16,
                {{"axis", int64_t{1}}, {"block_size", int64_t{3}}}),
       quantize({"f32[7] 0.5 1.5 2.5 -0.5 nan inf -inf", "f32[] 1", "i8[] 3"}, DType::kI8,
                {{"rounding", std::string("half_away")}}),
       quantize({"f32[6] 0.49999997 -0.49999997 1.4999999 2.5000002 8388609 -4194303.5", "f32[] 1"},
                DType::kI16, {{"rounding", std::string("half_away")}}),
       quantize({"f32[80] 0.5 1.5 2.5 -0.5 nan inf -inf", "f32[] 1", "u8[] 130"}, DType::kU8),
       quantize({"f32[80] 0.5 1.5 2.5 -0.5 nan inf -inf", "f32[] 1", "u16[] 3"}, DType::kU16),
       quantize({"f16[80] 0.5 1.5 2.5 -0.5 nan inf -inf", "f16[] 1", "i8[] -18"}, DType::kI8),
       quantize({"f16[40]", "f16[] 0.25", "u16[] 7"}, DType::kU16)});
}

TEST(LowerQuantized, Dequantize) {
  ExpectKernelsMatch({{Op::kDequantize, {"u8[3,40] 0..255", "f32[] 0.05", "u8[] 128"}, {}},
                      {Op::kDequantize, {"i8[2,5,3] -128..127", "f32[5]", "i8[5]"}, {{"axis", int64_t{1}}}},
                      {Op::kDequantize, {"i32[3,4] -90000..90000", "f32[]"}, {}},
                      {Op::kDequantize,
                       {"i8[2,7] -128..127", "f16[2,3]"},
                       {{"axis", int64_t{1}}, {"block_size", int64_t{3}}}}});
}

TEST(LowerQuantized, Requantize) {
  for (const char* rounding : {"half_even", "half_away"}) {
    ExpectKernelsMatch({{Op::kRequantize,
                         {"i32[2,5,20] -900..900", "f32[] 0.5", "u8[] 100"},
                         {{"to", DType::kU8}, {"rounding", std::string(rounding)}}},
                        {Op::kRequantize,
                         {"i32[2,5,20] -9000..9000", "f32[5] 0.001..0.1"},
                         {{"to", DType::kI8}, {"axis", int64_t{1}}, {"rounding", std::string(rounding)}}},
                        {Op::kRequantize,
                         {"i32[2,5,20] -900000..900000", "f64[5] 0.0001..0.1", "i8[] 3"},
                         {{"to", DType::kI8}, {"axis", int64_t{1}}, {"rounding", std::string(rounding)}}},
                        {Op::kRequantize,
                         {"i64[2,5,20] -900..900", "f64[] 0.5"},
                         {{"to", DType::kI16}, {"rounding", std::string(rounding)}}}});
  }
}

}  // namespace
}  // namespace attune
