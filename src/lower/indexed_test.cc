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

// Beyond the updates and indices that are there, memory holds NaN and -1.
TEST(LowerIndexed, ScattersOfADynamicSize) {
  for (const int64_t size : {0, 1, 3, 6}) {
    for (const char* reduction : {"none", "add", "mul", "min", "max"}) {
      const Attributes attrs = {{"reduction", std::string(reduction)}};
      const auto along = [&](int64_t axis) {
        Attributes with_axis = attrs;
        with_axis.Set("axis", axis);
        return with_axis;
      };
      std::vector<OperatorCase> cases = {
          {Op::kScatterNd, {"f32[9]", "i64[n<=6,1] -9..8", "f32[n<=6]"}, attrs},
          {Op::kScatterNd, {"f32[5,4,3]", "i32[n<=6,2] -4..3", "f32[n<=6,3]"}, attrs},
          {Op::kScatterNd, {"f32[4,3]", "i64[n<=6,m<=6,1] -4..3", "f32[n<=6,m<=6,3]"}, attrs},
          {Op::kScatterElements, {"f32[9]", "i64[n<=6] -9..8", "f32[n<=6]"}, along(0)},
          {Op::kScatterElements, {"f32[3,9]", "i64[2,n<=6] -9..8", "f32[2,n<=6]"}, along(1)},
          {Op::kScatterElements, {"f32[n<=6,9]", "i64[n<=6,4] -9..8", "f32[n<=6,4]"}, along(1)}};
      for (OperatorCase& test_case : cases) test_case.dynamic_size = size;
      ExpectKernelsMatch(InEachDType(cases, "f32", {"f32", "i32", "bf16"}));
    }
  }
}

}  // namespace
}  // namespace attune
