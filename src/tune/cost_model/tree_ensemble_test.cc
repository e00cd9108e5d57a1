#include "tune/cost_model/tree_ensemble.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/random.h"

namespace attune {
namespace {

constexpr char kStump[] =
    "attune cost model 2\nfeature_version 7\nnum_features 3\nnum_trees 1\n2<1.5 -0.25 0.5\n";

std::string WithDigest(const std::string& lines) {
  return absl::StrCat(lines, "sha256 ", Sha256Hex(lines), "\n");
}

absl::StatusOr<TreeEnsemble> Parse(const std::string& text) { return TreeEnsemble::Parse(text, 3, 7); }

// The error of Parse() for a model with these trees and a correct digest.
std::string Refusal(const std::string& trees, const std::string& num_trees = "1") {
  const auto parsed = Parse(WithDigest(absl::StrCat(
      "attune cost model 2\nfeature_version 7\nnum_features 3\nnum_trees ", num_trees, "\n", trees, "\n")));
  return parsed.ok() ? "" : std::string(parsed.status().message());
}

// Adds a tree in which every path has `depth` splits.
void AddTree(Random& random, int depth, int num_features, TreeEnsembleBuilder& builder) {
  if (depth == 0) {
    ASSERT_TRUE(builder.AddLeaf(static_cast<float>(0.1 * random.Normal())).ok());
    return;
  }
  const auto feature = static_cast<int>(random.Integer(0, num_features - 1));
  ASSERT_TRUE(builder.AddSplit(feature, static_cast<float>(10 * random.Normal())).ok());
  AddTree(random, depth - 1, num_features, builder);
  AddTree(random, depth - 1, num_features, builder);
}

TreeEnsemble RandomTrees(int trees, int depth, int num_features) {
  Random random(1);
  TreeEnsembleBuilder builder(num_features, 7);
  for (int i = 0; i < trees; ++i) AddTree(random, depth, num_features, builder);
  return *std::move(builder).Build();
}

TEST(TreeEnsemble, AddsUpTheLeavesThatAVectorEndsIn) {
  TreeEnsembleBuilder builder(3, 7);
  ASSERT_TRUE(builder.AddSplit(0, 1).ok());
  ASSERT_TRUE(builder.AddSplit(1, 5).ok());
  ASSERT_TRUE(builder.AddLeaf(1).ok());
  ASSERT_TRUE(builder.AddLeaf(2).ok());
  ASSERT_TRUE(builder.AddLeaf(3).ok());
  ASSERT_TRUE(builder.AddLeaf(0.5).ok());  // a second tree
  const TreeEnsemble trees = *std::move(builder).Build();
  EXPECT_EQ(trees.num_trees(), 2);
  EXPECT_EQ(trees.Predict(std::vector<float>{0, 4, 0}), 1.5f);
  EXPECT_EQ(trees.Predict(std::vector<float>{0, 5, 0}), 2.5f);
  EXPECT_EQ(trees.Predict(std::vector<float>{std::nextafter(1.0f, 0.0f), 9, 0}), 2.5f);
  EXPECT_EQ(trees.Predict(std::vector<float>{1, 4, 0}), 3.5f);
}

TEST(TreeEnsemble, ContinuesABase) {
  TreeEnsembleBuilder builder(*Parse(WithDigest(kStump)));
  ASSERT_TRUE(builder.AddLeaf(2).ok());
  const TreeEnsemble trees = *std::move(builder).Build();
  EXPECT_EQ(trees.num_features(), 3);
  EXPECT_EQ(trees.feature_version(), 7);
  EXPECT_EQ(trees.Predict(std::vector<float>{0, 0, 1}), 1.75f);
}

TEST(TreeEnsemble, TextIsCanonical) {
  EXPECT_EQ(Parse(WithDigest(kStump))->Serialize(), WithDigest(kStump));
  const TreeEnsemble none = *TreeEnsembleBuilder(3, 7).Build();
  EXPECT_EQ(none.Serialize(),
            WithDigest("attune cost model 2\nfeature_version 7\nnum_features 3\nnum_trees 0\n"));
  EXPECT_EQ(Parse(none.Serialize())->Predict(std::vector<float>(3)), 0);
}

TEST(TreeEnsemble, FloatsKeepTheirBits) {
  Random random(1);
  std::vector<float> values = {0.0f, 1e20f, std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::min(), -0.1f};
  while (values.size() < 2000) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random.Next()));
    if (std::abs(value) <= 1e20f) values.push_back(value);
  }
  for (float value : values) {
    TreeEnsembleBuilder builder(1, 7);
    ASSERT_TRUE(builder.AddSplit(0, value).ok());
    ASSERT_TRUE(builder.AddLeaf(value).ok());
    ASSERT_TRUE(builder.AddLeaf(1).ok());
    const auto again = TreeEnsemble::Parse((*std::move(builder).Build()).Serialize(), 1, 7);
    ASSERT_TRUE(again.ok()) << again.status();
    const float below = std::nextafter(value, -std::numeric_limits<float>::infinity());
    EXPECT_EQ(again->Predict(std::vector<float>{below}), value);
    EXPECT_EQ(again->Predict(std::vector<float>{value}), 1);
  }
}

TEST(TreeEnsemble, TextIsCompactAndOfShortLines) {
  const TreeEnsemble trees = RandomTrees(200, 5, 205);
  const std::string text = trees.Serialize();
  EXPECT_LT(text.size(), 200'000);
  size_t width = 0;
  for (size_t start = 0, end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    width = std::max(width, end - start);
  EXPECT_LT(width, 120);
  EXPECT_EQ(TreeEnsemble::Parse(text, 205, 7)->Serialize(), text);
}

TEST(TreeEnsemble, DamageIsFoundAnywhere) {
  const std::string text = RandomTrees(4, 2, 3).Serialize();
  ASSERT_TRUE(Parse(text).ok());
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(Parse(text.substr(0, length)).ok()) << length;
  for (size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_FALSE(Parse(damaged).ok()) << at;
    }
  }
  EXPECT_FALSE(Parse(text + "\n").ok());
  EXPECT_EQ(Parse(text.substr(0, text.size() - 1)).status().message(), "the cost model is damaged");
}

TEST(TreeEnsemble, ForgedTreesAreRefused) {
  EXPECT_EQ(Refusal("2<1.5 -0.25 0.5"), "");
  EXPECT_EQ(Refusal("3<1.5 -0.25 0.5"), "the cost model asks for feature 3 of 3");
  EXPECT_EQ(Refusal("-1<1.5 -0.25 0.5"), "the cost model asks for feature -1 of 3");
  EXPECT_EQ(Refusal("0<inf 1 2"), "a threshold of the cost model is not finite");
  EXPECT_EQ(Refusal("0<nan 1 2"), "a threshold of the cost model is not finite");
  EXPECT_EQ(Refusal("0<1 nan 2"), "a score of the cost model is nan, beyond 1e+20");
  EXPECT_EQ(Refusal("0<1 1 -inf"), "a score of the cost model is -inf, beyond 1e+20");
  EXPECT_EQ(Refusal("0<1 3e38 3e38"), "a score of the cost model is 3e+38, beyond 1e+20");
  for (const char* trees :
       {"99999999999<1 1 2", "0<1e99 1 2", "0< 1 2", "<1 1 2", "<", "0<1<2 1 2", "0x1<1 1 2", "0<1 1 +2",
        "0<1 1 two", "0<1\t1\t2", "0<1 1 2\r", "0<1 1  2", "0<1 1 2 "})
    EXPECT_EQ(Refusal(trees), "the cost model is damaged") << trees;
}

TEST(TreeEnsemble, ForgedCountsAreRefused) {
  EXPECT_EQ(Refusal("0<1 1"), "a tree of the cost model is not complete");
  EXPECT_EQ(Refusal("0<1"), "a tree of the cost model is not complete");
  EXPECT_EQ(Refusal("1 2 3", "3"), "");
  EXPECT_EQ(Refusal("1 2 3", "2"), "the cost model has 3 trees where 2 are announced");
  EXPECT_EQ(Refusal("1", "9223372036854775807"),
            "the cost model has 1 trees where 9223372036854775807 are announced");
  for (const char* count : {"", "many", "1 2", "99999999999999999999", " 1"})
    EXPECT_EQ(Refusal("1", count), "the cost model does not say its num_trees") << count;
  EXPECT_EQ(Parse(WithDigest("attune cost model 2\n")).status().message(),
            "the cost model does not say its feature_version");
}

TEST(TreeEnsemble, DeepTreesAreReadWithoutRecursion) {
  std::string chain;
  for (int i = 0; i < 1'000'000; ++i) chain += "0<1 1 ";
  EXPECT_EQ(Refusal(chain.substr(0, chain.size() - 1)), "a tree of the cost model is not complete");
  EXPECT_EQ(Refusal(chain + "1"), "");
  for (char& c : chain) c = c == ' ' ? '\n' : c;
  EXPECT_EQ(Refusal(chain + "1"), "");
}

TEST(TreeEnsemble, OthersAreRefusedInOneSentence) {
  EXPECT_EQ(Parse("").status().message(), "these bytes are not a cost model of this version of Attune");
  EXPECT_EQ(Parse("a poem").status().message(), "these bytes are not a cost model of this version of Attune");
  EXPECT_EQ(Parse("attune cost model 3\n").status().message(),
            "these bytes are not a cost model of this version of Attune");
  EXPECT_EQ(
      TreeEnsemble::Parse(WithDigest(kStump), 3, 8).status().message(),
      "the cost model has learned from 3 features of version 7, this version of Attune has 3 of version "
      "8: let it learn anew from the records");
  EXPECT_FALSE(TreeEnsemble::Parse(WithDigest(kStump), 4, 7).ok());
}

}  // namespace
}  // namespace attune
