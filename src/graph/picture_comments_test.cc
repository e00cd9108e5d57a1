#include "graph/picture_comments.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace attune {
namespace {

constexpr char kGraph[] = "graph @g(%x: f32[1,2,2,3]) {\n  return \"y\": %x\n}\n";

TEST(PictureComments, AreFoundByTheInputsName) {
  const PictureFormats formats = {{"x", *PictureFormatNamed("torch")},
                                  {"strange \" name\n// picture", *PictureFormatNamed("caffe")}};
  const std::string text = PictureComments(formats) + kGraph;
  for (const auto& [input, format] : formats) EXPECT_EQ(FindPictureComment(text, input), format) << input;
  EXPECT_EQ(FindPictureComment(text, "y"), std::nullopt);
  EXPECT_EQ(FindPictureComment(kGraph, "x"), std::nullopt);
  EXPECT_EQ(FindPictureComment("", "x"), std::nullopt);
}

TEST(PictureComments, TheGraphBehindThemParses) {
  const auto graph = ParseGraph(PictureComments({{"x", PictureFormat()}}) + kGraph);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Print(**graph), kGraph);
}

}  // namespace
}  // namespace attune
