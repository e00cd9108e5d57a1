#include <gtest/gtest.h>

#include <algorithm>

#include "lower/kernel_under_test.h"

namespace attune {
namespace {

TEST(LowerElementwise, EveryUnaryOperator) {
  std::vector<OperatorCase> cases;
  for (const OpInfo& info : AllOps()) {
    const bool is_unary = info.category == OpCategory::kUnary || info.op == Op::kIdentity;
    if (!is_unary || info.op == Op::kNot || std::ranges::any_of(info.attributes, &AttributeInfo::required))
      continue;
    cases.push_back({info.op, {"f32[3,21]"}, {}});
    cases.push_back({info.op, {"f32[5] nan inf -inf 0 -0"}, {}});
    cases.push_back({info.op, {"f16[19]"}, {}});
  }
  ExpectKernelsMatch(cases);
}

TEST(LowerElementwise, OperatorsWithAttributes) {
  ExpectKernelsMatch(InEachLayout({{Op::kLeakyRelu, {"f32[1,20,3,4]"}, {{"alpha", 0.1}}},
                                   {Op::kClip,
                                    {"f32[1,20,3,4]"},
                                    {{"min", ExactNumber(-0.5)}, {"max", ExactNumber(1.0)}},
                                    "",
                                    {Op::kNeg}}}));
  ExpectKernelsMatch(
      {{Op::kClip, {"i64[33] -9..9"}, {{"min", ExactNumber(-2.5)}, {"max", ExactNumber(3.5)}}},
       {Op::kClip, {"u8[33] 0..255"}, {{"min", ExactNumber(-7.0)}, {"max", ExactNumber(300.0)}}},
       {Op::kElu, {"f32[33]"}, {{"alpha", 0.5}}},
       {Op::kHardSigmoid, {"f32[33]"}, {{"alpha", 0.2}, {"beta", 0.5}}},
       {Op::kGelu, {"f32[33]"}, {{"approximate", std::string("tanh")}}},
       {Op::kCast, {"f32[33] -300..300"}, {{"to", DType::kU8}}},
       {Op::kCast, {"f32[200] -300..300"}, {{"to", DType::kI8}}},
       {Op::kCast, {"f32[200] -90000..90000"}, {{"to", DType::kI16}}},
       {Op::kCast, {"f32[8] nan inf -inf 1e20 -1e20 127.9 -0.9 254.5"}, {{"to", DType::kU8}}},
       {Op::kCast, {"f32[8] nan inf -inf 1e20 -1e20 127.9 -0.9 254.5"}, {{"to", DType::kI8}}},
       {Op::kCast, {"i64[33]"}, {{"to", DType::kF16}}},
       {Op::kCast, {"f32[33]"}, {{"to", DType::kBool}}},
       {Op::kNot, {"bool[5]"}, {}}});
}

TEST(LowerElementwise, BinaryOperatorsBroadcast) {
  std::vector<OperatorCase> cases;
  for (Op op :
       {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMin, Op::kMax, Op::kEqual, Op::kLess, Op::kMod}) {
    for (const OperatorCase& test_case :
         InEachDType({{op, {"f32[2,3,20]", "f32[3,1]"}, {}}}, "f32", {"f32", "f16", "i32", "u8"}))
      cases.push_back(test_case);
    cases.push_back({op,
                     {"f32[2,20,3,4]{c1/16}", "f32[20,1,1]"},
                     {},
                     op == Op::kEqual || op == Op::kLess ? "" : "{c1/16}"});
  }
  for (const int64_t truncate : {0, 1}) {
    cases.push_back({Op::kMod,
                     {"f32[9] 1 -1 1e30 -3e38 5 -5 inf nan 1e-40", "f32[7,1] inf -inf 1e-3 -0.7 3 0 1e-45"},
                     {{"truncate", truncate}}});
    cases.push_back({Op::kMod,
                     {"f64[8] 1 -1 1e300 -1e17 5 -5 inf 0.3", "f64[6,1] inf -inf 1e-3 -0.7 3 0.1"},
                     {{"truncate", truncate}}});
  }
  cases.push_back({Op::kWhere, {"bool[3,20]", "f32[20]", "f32[]"}, {}});
  cases.push_back({Op::kPow, {"f32[20] 0.1..3", "f32[20]"}, {}});
  cases.push_back({Op::kPow, {"i32[40] -9..9", "i64[40] -2..9"}, {}});
  cases.push_back({Op::kPow, {"u8[40] 0..9", "u8[40] 0..9"}, {}});
  cases.push_back({Op::kPow, {"i32[40] 1..9", "f32[40] 0..9"}, {}});
  cases.push_back({Op::kAdd, {"f32[0,3]", "f32[3]"}, {}});
  ExpectKernelsMatch(cases);
}

}  // namespace
}  // namespace attune
