#include "reference/evaluate_for_test.h"

namespace attune::reference {
namespace {

TEST(Movement, ReshapeTransposeBroadcast) {
  EXPECT_THAT(Evaluate(Op::kReshape, {Iota({2, 3})}, {{"shape", Ints{3, 2}}}), HasShape({3, 2}));
  const Tensor turned = Evaluate(Op::kTranspose, {Iota({2, 3, 1})}, {{"perm", Ints{1, 2, 0}}});
  EXPECT_THAT(turned, HasShape({3, 1, 2}));
  EXPECT_THAT(turned, Has({0, 3, 1, 4, 2, 5}));
  EXPECT_THAT(Evaluate(Op::kBroadcast, {I64({2, 1}, {5, 6})}, {{"shape", Ints{2, 2, 2}}}),
              Has({5, 5, 6, 6, 5, 5, 6, 6}));
}

TEST(Movement, SliceWalksBothWays) {
  const Attributes attrs = {{"starts", Ints{1, 3}}, {"sizes", Ints{1, 2}}, {"steps", Ints{1, -2}}};
  const Tensor slice = Evaluate(Op::kSlice, {Iota({2, 4})}, attrs);
  EXPECT_THAT(slice, HasShape({1, 2}));
  EXPECT_THAT(slice, Has({7, 5}));
}

TEST(Movement, Concat) {
  EXPECT_THAT(Evaluate(Op::kConcat, {Iota({2, 1}), Iota({2, 2}), F32({2, 0}, {})}, {{"axis", int64_t{1}}}),
              Has({0, 0, 1, 1, 2, 3}));
}

TEST(Movement, PadModes) {
  const Tensor x = F32({1, 3}, {1, 2, 3});
  const Ints pads = {0, 2, 1, 1};
  EXPECT_THAT(Evaluate(Op::kPad, {x}, {{"pads", pads}, {"value", ExactNumber(9.0)}}),
              Has({9, 9, 1, 2, 3, 9, 9, 9, 9, 9, 9, 9}));
  const Ints along = {0, 2, 0, 1};
  const auto mode = [&](const char* name) {
    return Evaluate(Op::kPad, {x}, {{"pads", along}, {"mode", name}});
  };
  EXPECT_THAT(mode("reflect"), Has({3, 2, 1, 2, 3, 2}));
  EXPECT_THAT(mode("edge"), Has({1, 1, 1, 2, 3, 3}));
  EXPECT_THAT(mode("wrap"), Has({2, 3, 1, 2, 3, 1}));
}

TEST(Movement, DepthAndSpace) {
  // Channels 0 to 3 of one pixel become a block of 2 by 2.
  EXPECT_THAT(Evaluate(Op::kDepthToSpace, {Iota({1, 8, 1, 1})}, {{"block", int64_t{2}}}),
              Has({0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_THAT(Evaluate(Op::kDepthToSpace, {Iota({1, 8, 1, 1})}, {{"block", int64_t{2}}, {"mode", "CRD"}}),
              Has({0, 1, 2, 3, 4, 5, 6, 7}));
  const Tensor back = Evaluate(Op::kSpaceToDepth, {Iota({1, 1, 2, 4})}, {{"block", int64_t{2}}});
  EXPECT_THAT(back, HasShape({1, 4, 1, 2}));
  EXPECT_THAT(back, Has({0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(Movement, ReverseSequence) {
  const Attributes attrs = {{"batch_axis", int64_t{1}}, {"time_axis", int64_t{0}}};
  EXPECT_THAT(Evaluate(Op::kReverseSequence, {Iota({3, 2}), I64({2}, {2, 3})}, attrs),
              Has({2, 5, 0, 3, 4, 1}));
  EXPECT_FALSE(EvaluateStatus(Op::kReverseSequence, {Iota({3, 2}), I64({2}, {2, 4})}, attrs).ok());
}

TEST(Movement, LayoutTransformKeepsTheValue) {
  const Attributes attrs = {{"blocked_axis", int64_t{1}}, {"block", int64_t{4}}};
  EXPECT_THAT(Evaluate(Op::kLayoutTransform, {Iota({1, 6})}, attrs), Has({0, 1, 2, 3, 4, 5}));
}

TEST(Indexed, Gather) {
  const Tensor x = Iota({2, 3});
  const Tensor columns = Evaluate(Op::kGather, {x, I64({2}, {-1, 0})}, {{"axis", int64_t{1}}});
  EXPECT_THAT(columns, HasShape({2, 2}));
  EXPECT_THAT(columns, Has({2, 0, 5, 3}));
  EXPECT_THAT(Evaluate(Op::kGather, {x, I64({}, {1})}, {{"axis", int64_t{0}}}), HasShape({3}));
  const absl::Status status = EvaluateStatus(Op::kGather, {x, I64({1}, {3})}, {{"axis", int64_t{1}}});
  EXPECT_THAT(status.message(), ::testing::HasSubstr("index 3 in an axis of size 3"));
}

TEST(Indexed, GatherElementsAndNd) {
  const Tensor x = Iota({2, 3});
  EXPECT_THAT(Evaluate(Op::kGatherElements, {x, I64({2, 2}, {2, 0, 1, -1})}, {{"axis", int64_t{1}}}),
              Has({2, 0, 4, 5}));
  EXPECT_THAT(Evaluate(Op::kGatherNd, {x, I64({2, 2}, {1, 0, 0, -1})}), Has({3, 2}));
  EXPECT_THAT(Evaluate(Op::kGatherNd, {x, I64({1, 1}, {1})}), Has({3, 4, 5}));
  EXPECT_THAT(Evaluate(Op::kGatherNd, {x, I64({2, 1}, {2, 0})}, {{"batch_dims", int64_t{1}}}), Has({2, 3}));
  EXPECT_FALSE(EvaluateStatus(Op::kGatherNd, {x, I64({1, 1}, {-3})}).ok());
}

TEST(Indexed, Scatter) {
  const Tensor x = Iota({3});
  const Tensor indices = I64({2}, {1, -2});
  const Tensor updates = F32({2}, {10, 20});
  const auto scatter = [&](const char* reduction) {
    return Evaluate(Op::kScatterElements, {x, indices, updates},
                    {{"axis", int64_t{0}}, {"reduction", reduction}});
  };
  EXPECT_THAT(scatter("none"), Has({0, 20, 2}));
  EXPECT_THAT(scatter("add"), Has({0, 31, 2}));
  EXPECT_THAT(scatter("mul"), Has({0, 200, 2}));
  EXPECT_THAT(scatter("max"), Has({0, 20, 2}));
  EXPECT_THAT(scatter("min"), Has({0, 1, 2}));
  EXPECT_THAT(x, Has({0, 1, 2}));  // the input must not change
  EXPECT_THAT(Evaluate(Op::kScatterNd, {Iota({2, 2}), I64({1, 1}, {1}), F32({1, 2}, {8, 9})}),
              Has({0, 1, 8, 9}));
}

}  // namespace
}  // namespace attune::reference
