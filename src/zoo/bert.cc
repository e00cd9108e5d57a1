// BERT base, uncased: Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language
// Understanding, 2018, without the pooler: the output is the hidden state of every token.
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "zoo/networks.h"
#include "zoo/transformer.h"

namespace attune {
namespace {

constexpr int64_t kVocabulary = 30522;
constexpr int64_t kMaxPositions = 512;
constexpr int64_t kLayers = 12;
constexpr int64_t kHeadWidth = 64;
constexpr float kEpsilon = 1e-12f;
constexpr double kEmbeddingLimit = 0.1;

// Numbers per token: 12 heads.
int64_t Width(const NetworkBuilder& b) { return b.Scaled(12 * kHeadWidth, kHeadWidth); }

NetworkValue Embeddings(NetworkBuilder& b, const NetworkValue& ids) {
  const std::string name = "embeddings.";
  const NetworkValue words =
      b.Weight(name + "word_embeddings.weight", {kVocabulary, Width(b)}, kEmbeddingLimit);
  const NetworkValue types = b.Weight(name + "token_type_embeddings.weight", {2, Width(b)}, kEmbeddingLimit);
  const NetworkValue places =
      b.Weight(name + "position_embeddings.weight", {kMaxPositions, Width(b)}, kEmbeddingLimit);
  std::vector<int64_t> positions(kBertTokens);
  std::iota(positions.begin(), positions.end(), 0);
  const std::vector<int64_t> first_type(kBertTokens, 0);
  NetworkValue x = b.Gather(words, ids, 0);
  x = b.Add(x, b.Gather(types, b.Ints(first_type), 0));
  x = b.Add(x, b.Gather(places, b.Ints(positions), 0));
  return DecomposedLayerNorm(b, name + "LayerNorm", x, kEpsilon);
}

NetworkValue SelfAttention(NetworkBuilder& b, const std::string& name, const NetworkValue& x) {
  const auto heads = [&](const char* which, const std::vector<int64_t>& permutation) {
    const NetworkValue y = b.Dense(absl::StrCat(name, ".self.", which), x, Width(b));
    return b.Transpose(b.Reshape(y, {b.batch(), kBertTokens, Width(b) / kHeadWidth, kHeadWidth}),
                       permutation);
  };
  const NetworkValue query = heads("query", {0, 2, 1, 3});
  const NetworkValue key = heads("key", {0, 2, 3, 1});
  const NetworkValue value = heads("value", {0, 2, 1, 3});
  const NetworkValue root = b.Scalar(std::sqrt(static_cast<float>(kHeadWidth)));
  const NetworkValue scores = b.Binary("Div", b.MatMul(query, key), root);
  const NetworkValue mixed = b.Transpose(b.MatMul(b.Softmax(scores), value), {0, 2, 1, 3});
  const NetworkValue joined = b.Reshape(mixed, {b.batch(), kBertTokens, Width(b)});
  return b.Dense(name + ".output.dense", joined, Width(b));
}

}  // namespace

void BuildBertBase(NetworkBuilder& b) {
  NetworkValue x = Embeddings(b, b.Input("input_ids", {b.batch(), kBertTokens}, DType::kI64));
  for (int64_t i = 0; i < kLayers; ++i) {
    const std::string name = absl::StrCat("encoder.layer.", i);
    x = b.Add(SelfAttention(b, name + ".attention", x), x);
    x = DecomposedLayerNorm(b, name + ".attention.output.LayerNorm", x, kEpsilon);
    const NetworkValue hidden = Gelu(b, b.Dense(name + ".intermediate.dense", x, 4 * Width(b)));
    x = b.Add(b.Dense(name + ".output.dense", hidden, Width(b), kGeluGain), x);
    x = DecomposedLayerNorm(b, name + ".output.LayerNorm", x, kEpsilon);
  }
  b.Output(x, "last_hidden_state");
}

}  // namespace attune
