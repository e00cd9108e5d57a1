#include "io/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(Labels, ReadsOneNameALine) {
  const auto labels = Labels::Parse("background\r\ntench, Tinca tinca\n\n3 wheeler\n\n", "l.txt");
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_EQ(labels->size(), 4);
  EXPECT_EQ(labels->Name(0), "background");
  EXPECT_EQ(labels->Name(1), "tench, Tinca tinca");
  EXPECT_EQ(labels->Name(2), "");
  EXPECT_EQ(labels->Name(3), "3 wheeler");
  EXPECT_EQ(labels->Name(4), "4");
  EXPECT_EQ(labels->Name(-1), "-1");
}

TEST(Labels, ReadsNumberedLines) {
  const auto labels = Labels::Parse("0  person\n17: cat\n\n89\thair drier\n", "l.txt");
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_EQ(labels->size(), 3);
  EXPECT_EQ(labels->Name(0), "person");
  EXPECT_EQ(labels->Name(17), "cat");
  EXPECT_EQ(labels->Name(89), "hair drier");
  EXPECT_EQ(labels->Name(1), "1");
}

TEST(Labels, SkipsTheBackgroundThatANetworkLacks) {
  const auto labels = Labels::Parse("background\ntench\ngoldfish\n", "l.txt");
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_EQ(labels->Name(0, 2), "tench");
  EXPECT_EQ(labels->Name(1, 2), "goldfish");
  EXPECT_EQ(labels->Name(0, 3), "background");
  EXPECT_EQ(labels->Name(1, 3), "tench");
}

TEST(Labels, ReadsDigitsAsNames) {
  const auto labels = Labels::Parse("9\n8\n7\n", "l.txt");
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_EQ(labels->Name(0), "9");
}

TEST(Labels, RefusesNothingAndTwoNamesForOneClass) {
  EXPECT_EQ(Labels::Parse("\n \n", "l.txt").status().message(), "l.txt: no labels in it");
  EXPECT_EQ(Labels::Parse("1 a\n1 b", "l.txt").status().message(), "l.txt:2: class 1 has a name already");
  EXPECT_THAT(Labels::Read("/nonexistent/l.txt").status().message(), ::testing::HasSubstr("cannot open"));
}

}  // namespace
}  // namespace attune
