#include "import/common/shape_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/common/failure.h"
#include "import/common/names.h"
#include "import/common/warnings_for_test.h"

namespace attune::importing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const TensorType kComputed(DType::kF32, Shape{1, 3, 224});

std::vector<std::string> Logged(const ShapeNotices& notices) {
  return WarningsOf([&] { notices.Log(); });
}

TEST(ShapeNotices, WhatFitsIsNotMentioned) {
  ShapeNotices notices;
  notices.Compare("same", kComputed, {1, 3, 224});
  notices.Compare("open", kComputed, {-1, 3, -1});
  notices.Compare("scalar", TensorType(DType::kI64, Shape{}), {});
  notices.Compare("depends on data", TensorType(DType::kI64, {Dim("n", 100), Dim(3)}), {7, 3});
  EXPECT_THAT(Logged(notices), IsEmpty());
}

TEST(ShapeNotices, TheFirstIsNamedAndTheOthersAreCounted) {
  ShapeNotices notices;
  notices.Compare("good", kComputed, {1, 3, 224});
  notices.Compare("a", kComputed, {-1, 3, 223});
  notices.Compare("b", TensorType(DType::kI64, {Dim("n", 100), Dim(3)}), {100, 4});
  notices.Compare("rank", kComputed, {1, 3, 224, 1});
  for (int step = 0; step < 3; ++step) notices.Compare("in a loop", kComputed, {});
  EXPECT_THAT(Logged(notices),
              ElementsAre("a tensor has another shape than the model declares tensor=a shape=[1,3,224] "
                          "declared=[?,3,223] others=3"));
}

TEST(ShapeNotices, EachKindHasOneLine) {
  ShapeNotices notices;
  notices.Compare("y", TensorType(DType::kI64, {Dim("n", 100), Dim(3)}), {4});
  notices.AddScaled("up", 320, 0.7F, 224, 223);
  notices.AddScaled("up", 320, 0.7F, 224, 223);
  notices.AddScaled("again", 100, 0.7F, 70, 69);
  EXPECT_THAT(
      Logged(notices),
      ElementsAre("a size is rounded as runtimes round it, not as ONNX says node=up size=320 scale=0.7 "
                  "becomes=224 by_onnx=223 others=1",
                  "a tensor has another shape than the model declares tensor=y shape=[?,3] "
                  "declared=[4] others=0"));
}

TEST(ShapeNotices, NamesAreNoLongerThanElsewhere) {
  ShapeNotices notices;
  notices.Compare(std::string(100'000, 'x'), kComputed, {});
  notices.AddScaled(std::string(100'000, 'x'), 10, 2.3F, 23, 22);
  for (const std::string& line : Logged(notices)) EXPECT_LE(line.size(), kMaxNameLength + 200);
}

// A wrong shape may be why the next operator refuses it.
TEST(ShapeNotices, FailuresOfBrokenModelsAreExplained) {
  const auto after = [](absl::Status status) {
    return WarningsOf([&] {
      ShapeNotices notices;
      const auto graph = notices.LogAfter([&]() -> std::unique_ptr<Graph> {
        notices.Compare("y", kComputed, {1, 3, 223});
        if (!status.ok()) throw ImportFailure{status};
        return std::make_unique<Graph>("g");
      });
      EXPECT_EQ(graph.status(), status);
    });
  };
  EXPECT_THAT(after(absl::OkStatus()), ElementsAre(HasSubstr("tensor=y")));
  EXPECT_THAT(after(absl::InvalidArgumentError("69 columns, 70 rows")), SizeIs(1));
  EXPECT_THAT(after(absl::UnimplementedError("not supported: Poem")), IsEmpty());
}

}  // namespace
}  // namespace attune::importing
