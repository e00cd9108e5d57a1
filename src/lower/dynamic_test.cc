#include <gtest/gtest.h>

#include "lower/kernel_under_test.h"

namespace attune {
namespace {

TEST(LowerDynamic, NonZero) {
  ExpectKernelsMatch(InEachDType({{Op::kNonZero, {"f32[3,5] 0 1 0 2 0 0 -1"}, {}},
                                  {Op::kNonZero, {"f32[4] 0"}, {}},
                                  {Op::kNonZero, {"f32[2,2] 1"}, {}},
                                  {Op::kNonZero, {"f32[0,2]"}, {}}},
                                 "f32", {"f32", "i64", "bool", "f16"}));
}

TEST(LowerDynamic, Compress) {
  ExpectKernelsMatch({{Op::kCompress, {"f32[5,3]", "bool[5] 1 0 1 1 0"}, {{"axis", int64_t{0}}}},
                      {Op::kCompress, {"i8[2,6]", "bool[4] 0 1 0 1"}, {{"axis", int64_t{1}}}},
                      {Op::kCompress, {"f16[4]", "bool[4] 0"}, {{"axis", int64_t{0}}}}});
}

TEST(LowerDynamic, Unique) {
  for (int64_t sorted : {0, 1}) {
    ExpectKernelsMatch({{Op::kUnique, {"i64[40] -5..5"}, {{"sorted", sorted}}},
                        {Op::kUnique, {"f32[9] 2 1 nan 1 3 nan 2 0 -1"}, {{"sorted", sorted}}},
                        {Op::kUnique, {"u8[1]"}, {{"sorted", sorted}}},
                        {Op::kUnique, {"f16[17] -2..2"}, {{"sorted", sorted}}}});
  }
}

TEST(LowerDynamic, NonMaxSuppression) {
  const std::string boxes = "f32[2,6,4] 0 0 1 1 0 0.1 1 1.1 1 0.9 0 -0.1 0 10 1 11 0 10.1 1 11.1 0 100 1 101";
  ExpectKernelsMatch(
      {{Op::kNonMaxSuppression,
        {boxes, "f32[2,2,6] 0..1"},
        {{"max_per_class", int64_t{3}}, {"iou_threshold", 0.5}}},
       {Op::kNonMaxSuppression,
        {boxes, "f32[2,1,6] 0.9 0.75 0.6 nan 0.5 0.3 0.9"},
        {{"max_per_class", int64_t{9}}, {"iou_threshold", 0.5}, {"score_threshold", 0.4}}},
       {Op::kNonMaxSuppression,
        {"f32[1,20,4] 0.1..3", "f32[1,3,20] 0..1"},
        {{"max_per_class", int64_t{20}}, {"iou_threshold", 0.3}, {"center_point_box", int64_t{1}}}},
       {Op::kNonMaxSuppression,
        {boxes, "f32[2,2,6]"},
        {{"max_per_class", int64_t{0}}, {"iou_threshold", 0.5}}}});
}

TEST(LowerLinearAlgebra, Det) {
  ExpectKernelsMatch({{Op::kDet, {"f32[2,3,4,4]"}, {}},
                      {Op::kDet, {"f64[1,1]"}, {}},
                      {Op::kDet, {"f32[3,3] 0 1 2 0 3 4 5 6 7"}, {}},
                      {Op::kDet, {"f32[2,2] 1 2 2 4"}, {}}});
}

}  // namespace
}  // namespace attune
