#include "import/common/input_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune::importing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(InputShapes, ExamplesHaveTheDeclaredSizesAndRank) {
  const auto example = [](std::vector<std::string> dims, const InputRules& rules = {}) {
    return ExampleShape({.name = "x", .dtype = "f32", .dims = std::move(dims)}, rules).second;
  };
  EXPECT_THAT(example({"batch", "sequence"}), ElementsAre("1", "128"));
  EXPECT_THAT(example({"batch", "3", "?", "?"}), ElementsAre("1", "3", "224", "224"));
  EXPECT_THAT(example({"?", "?", "?", "?"}, {.channels_last = true}), ElementsAre("1", "224", "224", "1"));
}

TEST(InputShapes, ExamplesWithoutARankAreAnImageOrIds) {
  const auto example = [](std::string dtype, const InputRules& rules = {}) {
    return ExampleShape({.name = "x", .dtype = std::move(dtype), .dims = {}, .ranked = false}, rules).second;
  };
  EXPECT_THAT(example("f32"), ElementsAre("1", "3", "224", "224"));
  EXPECT_THAT(example("u8", {.channels_last = true}), ElementsAre("1", "224", "224", "3"));
  EXPECT_THAT(example("i64"), ElementsAre("1", "128"));
}

TEST(InputShapes, ErrorsShowTheExampleOfEachOpenInput) {
  const std::vector<DeclaredTensor> inputs = {
      {.name = "ids", .dtype = "i64", .dims = {}, .ranked = false},
      {.name = "mask", .dtype = "i64", .dims = {"n", "?"}},
      {.name = "scale", .dtype = "f32", .dims = {"2"}},
  };
  EXPECT_THAT(BindShapes(inputs, {}).status().message(),
              HasSubstr("input 'ids' of any shape, 'mask' [n,?]; give the shapes, for example "
                        "--shape ids=1x128 --shape mask=1x128"));
}

}  // namespace
}  // namespace attune::importing
