#include "base/face.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

class FaceTest : public ::testing::Test {
 protected:
  ~FaceTest() override { SetFace(Face::kCommandLine); }

  const std::vector<WrittenShape> shapes_ = {{"a", {"1", "64"}}, {"b", {}}};
};

TEST_F(FaceTest, TheCommandLineHasFlags) {
  EXPECT_EQ(ShapesAsGiven(shapes_), "--shape a=1x64 --shape b=");
  EXPECT_EQ(ValueAsGiven("a"), "--input a=FILE");
  EXPECT_EQ(NameAsGiven("--cpu", "cpus"), "--cpu");
}

TEST_F(FaceTest, PythonHasKeywords) {
  SetFace(Face::kPython);
  EXPECT_EQ(ShapesAsGiven(shapes_), "shapes={\"a\": [1, 64], \"b\": []}");
  EXPECT_EQ(ValueAsGiven("a"), "values={\"a\": array}");
  EXPECT_EQ(NameAsGiven("--cpu", "cpus"), "cpus");
}

TEST_F(FaceTest, CppHasMembers) {
  SetFace(Face::kCpp);
  EXPECT_EQ(ShapesAsGiven(shapes_), ".shapes = {{\"a\", {1, 64}}, {\"b\", {}}}");
  EXPECT_EQ(ValueAsGiven("a"), ".values = {{\"a\", tensor}}");
  EXPECT_EQ(NameAsGiven("--cpu", "cpus"), "cpus");
}

}  // namespace
}  // namespace attune
