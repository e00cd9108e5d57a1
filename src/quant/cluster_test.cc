#include "quant/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"
#include "quant/parameters.h"
#include "quant/testing.h"

namespace attune::quant {
namespace {

TEST(Cluster, UnpackingUndoesPacking) {
  Random random(1);
  for (int bits = 1; bits <= 8; ++bits) {
    for (int64_t count : {0, 1, 7, 8, 9, 100}) {
      std::vector<uint8_t> indices;
      for (int64_t i = 0; i < count; ++i)
        indices.push_back(static_cast<uint8_t>(random.Integer(0, (1 << bits) - 1)));
      const std::vector<uint8_t> packed = PackIndices(indices, bits);
      EXPECT_EQ(std::ssize(packed), (count * bits + 7) / 8);
      const auto unpacked = UnpackIndices(packed, bits, count);
      ASSERT_TRUE(unpacked.ok()) << unpacked.status();
      EXPECT_EQ(*unpacked, indices);
    }
  }
}

TEST(Cluster, TheFirstIndexIsInTheLowestBits) {
  EXPECT_EQ(PackIndices(std::vector<uint8_t>{0x1, 0xF}, 4), (std::vector<uint8_t>{0xF1}));
  EXPECT_EQ(PackIndices(std::vector<uint8_t>{0x1F, 0x01}, 5), (std::vector<uint8_t>{0x3F, 0x00}));
}

TEST(Cluster, TooFewBytesAreAnError) {
  const std::vector<uint8_t> packed(4, 0);
  EXPECT_TRUE(UnpackIndices(packed, 5, 6).ok());
  EXPECT_FALSE(UnpackIndices(packed, 5, 7).ok());
  EXPECT_FALSE(UnpackIndices(packed, 5, INT64_MAX).ok());
  EXPECT_FALSE(UnpackIndices(packed, 9, 1).ok());
}

TEST(Cluster, KMeansFindsGroupsThatLieApart) {
  Random random(1);
  std::vector<float> values;
  for (int i = 0; i < 3000; ++i)
    values.push_back(static_cast<float>(10 * (i % 3) + 0.01 * (random.Uniform() - 0.5)));
  const std::vector<float> centers = KMeans(values, 3);
  ASSERT_EQ(centers.size(), 3u);
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(centers[c], 10.0 * static_cast<double>(c), 0.01);
}

TEST(Cluster, FewDifferentNumbersStayAsTheyAre) {
  Tensor tensor(DType::kF32, {7, 11});
  for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.SetDouble(i, 0.5 * static_cast<double>(i % 13));
  const ClusteredTensor clustered = Cluster(tensor, 16);
  EXPECT_EQ(clustered.bits, 4);
  EXPECT_EQ(clustered.codebook.size(), 13u);
  const auto expanded = Expand(clustered);
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  EXPECT_TRUE(expanded->Identical(tensor));
}

TEST(Cluster, MoreClustersErrLess) {
  const Tensor tensor = RandomNumbers({64, 64}, 1);
  double errors[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    const auto expanded = Expand(Cluster(tensor, i == 0 ? 16 : 32));
    ASSERT_TRUE(expanded.ok()) << expanded.status();
    for (int64_t j = 0; j < tensor.num_elements(); ++j)
      errors[i] += std::pow(expanded->ToDouble(j) - tensor.ToDouble(j), 2) / 4096;
  }
  // The errors of the best quantizers of a normal distribution with 16 and 32 levels are 0.0095 and 0.0025
  // (Max, 1960).
  EXPECT_LT(errors[0], 0.012);
  EXPECT_LT(errors[1], 0.0035);
}

TEST(Cluster, TheSameWeightsGiveTheSameClusters) {
  const Tensor tensor = RandomNumbers({40, 40}, 2);
  EXPECT_EQ(Cluster(tensor, 32).codebook, Cluster(tensor, 32).codebook);
  EXPECT_EQ(Cluster(tensor, 32).packed, Cluster(tensor, 32).packed);
}

TEST(Cluster, AnIndexBeyondTheCodebookIsAnError) {
  ClusteredTensor clustered{{2}, {1.0f}, 4, {0x10}};
  EXPECT_FALSE(Expand(clustered).ok());
}

TEST(Cluster, IndexingIsExactOrNothing) {
  Tensor tensor(DType::kI8, {5, 7});
  for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.SetInt(i, i % 16 - 8);
  const std::optional<ClusteredTensor> indexed = IndexValues(tensor, 16);
  ASSERT_TRUE(indexed.has_value());
  const auto expanded = Expand(*indexed);
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  EXPECT_EQ(expanded->ToInts(), tensor.ToInts());
  tensor.SetInt(0, 100);
  tensor.SetInt(16, 101);
  EXPECT_FALSE(IndexValues(tensor, 16).has_value());
}

TEST(Cluster, IntegersHaveOneCodebookForAllChannels) {
  const Tensor weights = RandomNumbers({32, 64}, 3);
  const QuantizedWeights quantized = QuantizeWeights(weights, 0, {}, 1, 16);
  EXPECT_TRUE(IndexValues(quantized.integers, 16).has_value());
  EXPECT_EQ(quantized.scale.size(), 32u);
  double error = 0;
  const Tensor back = Dequantized(quantized, 0);
  for (int64_t i = 0; i < weights.num_elements(); ++i)
    error +=
        std::pow(back.ToDouble(i) - weights.ToDouble(i), 2) / static_cast<double>(weights.num_elements());
  EXPECT_LT(error, 0.03);
}

TEST(Cluster, LayersGetTheWeightsOfTheirCodebook) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  const std::vector<ClusteredLayer> clustered = ClusterWeights(*graph, 16, {}, 200);
  ASSERT_EQ(clustered.size(), 3u);  // without the classifier, which only has 40 weights
  EXPECT_EQ(clustered[0].layer, "stem");
  ASSERT_TRUE(Verify(*graph).ok()) << Verify(*graph);
  for (const auto& node : graph->nodes()) {
    if (node->op() != Op::kConv) continue;
    std::set<float> different;
    for (float weight : node->input(1)->constant()->as<float>()) different.insert(weight);
    EXPECT_LE(different.size(), 16u);
  }
}

}  // namespace
}  // namespace attune::quant
