// Warnings where tensors have other shapes than the file declares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/common/warnings_for_test.h"
#include "import/tflite/testing/import.h"

namespace attune::tflite {
namespace {

using importing::WarningsOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Warnings(const std::string& bytes, const TfliteImportOptions& options = {}) {
  return WarningsOf([&] { EXPECT_EQ(ErrorOf(bytes, options), ""); });
}

// x [1,4,6,3] → max pool of 2 by 2 → p → tanh → y. The pool has other axes than the file's inside.
std::string Pool(std::vector<int32_t> pool, std::vector<int32_t> y, std::vector<int32_t> signature = {}) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1, 4, 6, 3}});
  const int p = m.Add({.name = "p", .shape = std::move(pool), .signature = std::move(signature)});
  const int out = m.Add({.name = "y", .shape = std::move(y)});
  m.AddOp(Code::MAX_POOL_2D, {x}, {p},
          schema::CreatePool2DOptions(m.builder(), schema::Padding::VALID, 2, 2, 2, 2));
  m.AddOp(Code::TANH, {p}, {out});
  m.SetOutputs({out});
  return m.Finish();
}

TEST(TfliteShapes, DeclaredShapesAreCompared) {
  EXPECT_THAT(Warnings(Pool({1, 2, 3, 3}, {1, 2, 3, 3})), IsEmpty());
  EXPECT_THAT(Warnings(Pool({1, 3, 2, 3}, {6, 3})),
              ElementsAre("a tensor has another shape than the model declares tensor=p shape=[1,2,3,3] "
                          "declared=[1,3,2,3] others=1"));
}

TEST(TfliteShapes, OpenSizesFit) {
  EXPECT_THAT(Warnings(Pool({1, 1, 1, 3}, {}, {1, -1, -1, 3})), IsEmpty());
  EXPECT_THAT(Warnings(Pool({1, 1, 1, 3}, {}, {1, -1, -1, 4})),
              ElementsAre("a tensor has another shape than the model declares tensor=p shape=[1,2,3,3] "
                          "declared=[1,?,?,4] others=0"));
}

TEST(TfliteShapes, OtherInputsHaveOtherShapes) {
  TfliteImportOptions options;
  options.input_shapes["x"] = {2, 8, 6, 3};
  EXPECT_THAT(Warnings(Pool({1, 2, 3, 3}, {1, 2, 3, 3}), options), IsEmpty());
  // The same shape is not another one.
  options.input_shapes["x"] = {1, 4, 6, 3};
  EXPECT_THAT(Warnings(Pool({1, 3, 2, 3}, {}), options), ::testing::SizeIs(1));
}

}  // namespace
}  // namespace attune::tflite
