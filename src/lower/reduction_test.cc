#include <gtest/gtest.h>

#include "lower/kernel_under_test.h"

namespace attune {
namespace {

const std::vector<std::string> kNumbers = {"f32", "f64", "f16", "bf16", "i8", "i32", "u8", "i64"};

TEST(LowerReduction, EveryReductionOfEveryDType) {
  for (Op op : {Op::kReduceSum, Op::kReduceMean, Op::kReduceProd, Op::kReduceMax, Op::kReduceMin}) {
    ExpectKernelsMatch(InEachDType({{op, {"f32[3,70]"}, {{"axes", Ints{1}}}}}, "f32", kNumbers));
  }
  ExpectKernelsMatch({{Op::kReduceMax, {"bool[3,5]"}, {{"axes", Ints{1}}}},
                      {Op::kReduceMin, {"bool[3,5]"}, {{"axes", Ints{0}}}}});
}

TEST(LowerReduction, EveryShape) {
  const auto sum = [](const char* input, Ints axes, bool keepdims) {
    return OperatorCase{
        Op::kReduceSum, {input}, {{"axes", std::move(axes)}, {"keepdims", int64_t{keepdims}}}};
  };
  ExpectKernelsMatch({sum("f32[5,7,20]", {1}, false), sum("f32[5,7,20]", {0, 2}, true),
                      sum("f32[2,3,4,5]", {1, 2}, false), sum("f32[130]", {0}, false),
                      sum("f32[130]", {0}, true), sum("f32[3,0]", {1}, false), sum("f32[3,4]", {}, true),
                      sum("f32[1,1]", {0, 1}, true), sum("f32[6,64]", {0}, true),
                      sum("f32[2,3,64]", {2}, true), sum("f32[]", {}, true)});
  ExpectKernelsMatch(
      InEachLayout({{Op::kReduceMean, {"f32[2,20,7,7]"}, {{"axes", Ints{2, 3}}}},
                    {Op::kReduceMax, {"f32[1,32,5,3]"}, {{"axes", Ints{2, 3}}}, "", {Op::kRelu}}}));
}

TEST(LowerReduction, LongSumsKeepPrecision) {
  const auto mean = [](const char* input, Ints axes) {
    return OperatorCase{Op::kReduceMean, {input}, {{"axes", std::move(axes)}}};
  };
  ExpectKernelsMatch({mean("f32[1,16,500,400]{c1/16} 7..8", {2, 3}), mean("f32[16,300,100] 7..8", {1, 2}),
                      mean("f32[70000,20] 7..8", {0}), mean("f32[30003] 7..8", {0}),
                      mean("f32[3,12345] 7..8", {1}), mean("f32[2,1500,30] 7..8", {1}),
                      mean("i32[5000,32]", {0})});
}

TEST(LowerReduction, PositionsOfExtrema) {
  for (Op op : {Op::kArgMax, Op::kArgMin}) {
    ExpectKernelsMatch({{op, {"f32[3,40]"}, {{"axis", int64_t{1}}}},
                        {op, {"f32[4,5,6]"}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}},
                        {op, {"i8[3,40]"}, {{"axis", int64_t{1}}, {"select_last", int64_t{1}}}},
                        {op, {"u8[50] 0..3"}, {{"axis", int64_t{0}}}},
                        {op, {"f32[2,4] nan 1 2 0 1 nan 3 -1"}, {{"axis", int64_t{1}}}}});
  }
}

TEST(LowerReduction, Scans) {
  for (Op op : {Op::kCumSum, Op::kCumProd}) {
    ExpectKernelsMatch(InEachDType(
        {{op, {"f32[3,9]"}, {{"axis", int64_t{1}}}},
         {op, {"f32[3,9]"}, {{"axis", int64_t{0}}, {"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}}},
        "f32", {"f32", "i32", "f16"}));
  }
}

TEST(LowerReduction, TopK) {
  ExpectKernelsMatch(
      {{Op::kTopK, {"f32[3,40]"}, {{"axis", int64_t{1}}, {"k", int64_t{5}}}},
       {Op::kTopK, {"i32[40,3] 0..4"}, {{"axis", int64_t{0}}, {"k", int64_t{40}}, {"largest", int64_t{0}}}},
       {Op::kTopK, {"f32[6] 1 nan 3 nan 2 0"}, {{"axis", int64_t{0}}, {"k", int64_t{3}}}},
       {Op::kTopK, {"f16[6]"}, {{"axis", int64_t{0}}, {"k", int64_t{1}}}},
       {Op::kTopK, {"f32[6]"}, {{"axis", int64_t{0}}, {"k", int64_t{0}}}}});
}

}  // namespace
}  // namespace attune
