#include <gtest/gtest.h>

#include "lower/kernel_under_test.h"

namespace attune {
namespace {

TEST(LowerIndexed, Gathers) {
  ExpectKernelsMatch(
      InEachDType({{Op::kGather, {"f32[6,40]", "i64[2,3] -6..5"}, {{"axis", int64_t{0}}}},
                   {Op::kGather, {"f32[6,40]", "i32[5] -40..39"}, {{"axis", int64_t{1}}}},
                   {Op::kGather, {"f32[6,40]", "i32[] 3"}, {{"axis", int64_t{0}}}},
                   {Op::kGatherElements, {"f32[6,7]", "i64[4,7] -6..5"}, {{"axis", int64_t{0}}}},
                   {Op::kGatherElements, {"f32[6,7]", "i64[6,20] -7..6"}, {{"axis", int64_t{1}}}}},
                  "f32", {"f32", "i64", "f16", "bool"}));
  ExpectKernelsMatch({{Op::kGatherNd, {"f32[3,4,20]", "i64[5,2] -3..2"}, {}},
                      {Op::kGatherNd, {"f32[3,4,20]", "i64[3,2,1] -4..3"}, {{"batch_dims", int64_t{1}}}},
                      {Op::kGather, {"f32[4,0]", "i64[3] 0..3"}, {{"axis", int64_t{0}}}}});
}

TEST(LowerIndexed, Scatters) {
  for (const char* reduction : {"none", "add", "mul", "min", "max"}) {
    const Attributes attrs = {{"reduction", std::string(reduction)}};
    Attributes along = attrs;
    along.Set("axis", int64_t{1});
    ExpectKernelsMatch(InEachDType({{Op::kScatterElements, {"f32[3,9]", "i64[2,5] -9..8", "f32[2,5]"}, along},
                                    {Op::kScatterNd, {"f32[5,4,3]", "i64[6,2] -4..3", "f32[6,3]"}, attrs}},
                                   "f32", {"f32", "i32", "bf16"}));
  }
}

}  // namespace
}  // namespace attune
