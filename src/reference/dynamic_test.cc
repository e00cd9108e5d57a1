#include <cmath>

#include "reference/evaluate_for_test.h"

namespace attune::reference {
namespace {

TEST(Dynamic, NonZero) {
  const Tensor found = Evaluate(Op::kNonZero, {F32({2, 2}, {0, 7, NAN, 0})});
  EXPECT_THAT(found, HasShape({2, 2}));
  EXPECT_THAT(found, Has({0, 1, 1, 0}));
  EXPECT_THAT(Evaluate(Op::kNonZero, {F32({3}, {0, 0, 0})}), HasShape({1, 0}));
}

TEST(Dynamic, NonMaxSuppression) {
  const Tensor boxes = F32({1, 4, 4}, {0, 0, 2, 2, 0, 0, 2, 1.9, 5, 5, 6, 6, 6, 6, 5, 5});
  const Tensor scores = F32({1, 1, 4}, {0.8, 0.9, 0.5, 0.5});
  const auto select = [&](double score_threshold, int64_t max_boxes) {
    return Evaluate(
        Op::kNonMaxSuppression, {boxes, scores},
        {{"max_per_class", max_boxes}, {"iou_threshold", 0.5}, {"score_threshold", score_threshold}});
  };
  // Box 0 overlaps box 1, which has a better score; box 3 is box 2 with its corners swapped.
  const Tensor all = select(0, 10);
  EXPECT_THAT(all, HasShape({2, 3}));
  EXPECT_THAT(all, Has({0, 0, 1, 0, 0, 2}));
  EXPECT_THAT(select(0.5, 10), Has({0, 0, 1}));
  EXPECT_THAT(select(0, 1), Has({0, 0, 1}));
  EXPECT_THAT(select(0, 0), HasShape({0, 3}));
}

TEST(Dynamic, NonMaxSuppressionOfCentredBoxes) {
  const Tensor boxes = F32({1, 2, 4}, {1, 1, 2, 2, 1.5, 1, 2, 2});
  const Tensor scores = F32({1, 2, 2}, {1, 2, 4, 3});
  const auto select = [&](double iou_threshold) {
    return Evaluate(
        Op::kNonMaxSuppression, {boxes, scores},
        {{"max_per_class", int64_t{2}}, {"iou_threshold", iou_threshold}, {"center_point_box", int64_t{1}}});
  };
  // The intersection over union of the two boxes is 3/5.
  EXPECT_THAT(select(0.59), Has({0, 0, 1, 0, 1, 0}));
  EXPECT_THAT(select(0.61), HasShape({4, 3}));
}

TEST(Dynamic, Compress) {
  const Tensor kept =
      Evaluate(Op::kCompress, {Iota({2, 3}), Make(DType::kBool, {2}, {0, 1})}, {{"axis", int64_t{1}}});
  EXPECT_THAT(kept, HasShape({2, 1}));
  EXPECT_THAT(kept, Has({1, 4}));
}

TEST(Dynamic, Unique) {
  const Tensor x = F32({6}, {3, 1, NAN, 3, 1, NAN});
  const std::vector<Tensor> sorted = EvaluateAll(Op::kUnique, {x});
  ASSERT_EQ(sorted.size(), 4);
  EXPECT_THAT(sorted[0], Has({1, 3, NAN}));
  EXPECT_THAT(sorted[1], Has({1, 0, 2}));
  EXPECT_THAT(sorted[2], Has({1, 0, 2, 1, 0, 2}));
  EXPECT_THAT(sorted[3], Has({2, 2, 2}));
  const std::vector<Tensor> in_order = EvaluateAll(Op::kUnique, {x}, {{"sorted", int64_t{0}}});
  EXPECT_THAT(in_order[0], Has({3, 1, NAN}));
  EXPECT_THAT(in_order[1], Has({0, 1, 2}));
  EXPECT_THAT(in_order[2], Has({0, 1, 2, 0, 1, 2}));
}

TEST(LinearAlgebra, Determinant) {
  const Tensor x = F32({2, 3, 3}, {0, 2, 0, 3, 0, 0, 0, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_THAT(Evaluate(Op::kDet, {x}), Has({-24, 0}, 1e-6));
  EXPECT_THAT(Evaluate(Op::kDet, {F32({0, 0}, {})}), Has({1}));
}

}  // namespace
}  // namespace attune::reference
