// ViT-B/16: Dosovitskiy et al., An Image is Worth 16x16 Words, 2020. Attention has the form of
// torchvision's exported multi-head attention: one projection to queries, keys and values, tokens first.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "zoo/networks.h"
#include "zoo/transformer.h"

namespace attune {
namespace {

constexpr int64_t kPatch = 16;
constexpr int64_t kPatches = (224 / kPatch) * (224 / kPatch);
constexpr int64_t kTokens = kPatches + 1;
constexpr int64_t kLayers = 12;
constexpr int64_t kHeadWidth = 64;
constexpr float kEpsilon = 1e-6f;
constexpr double kTokenLimit = 0.5;
// A factor of the gain in front of the residual stream.
constexpr double kBranchGain = 0.25;

// Numbers per token: 12 heads.
int64_t Width(const NetworkBuilder& b) { return b.Scaled(12 * kHeadWidth, kHeadWidth); }

// [batch, 3, 224, 224] → [batch, tokens, width].
NetworkValue Tokens(NetworkBuilder& b, const NetworkValue& image) {
  const ConvOptions patches = {
      .channels = Width(b), .kernel = {kPatch, kPatch}, .stride = kPatch, .bias = true, .gain = kLinearGain};
  NetworkValue x = b.Reshape(b.Conv("conv_proj", image, patches), {b.batch(), Width(b), kPatches});
  x = b.Transpose(x, {0, 2, 1});
  NetworkValue token = b.Weight("class_token", {1, 1, Width(b)}, kTokenLimit);
  const std::vector<int64_t> expanded = {b.batch(), 1, Width(b)};
  token = b.Node("Expand", {token, b.Ints(expanded)}, expanded);
  return b.Add(b.Concat({token, x}, 1),
               b.Weight("encoder.pos_embedding", {1, kTokens, Width(b)}, kTokenLimit));
}

// The queries, keys or values (`index` 0, 1 or 2) in `packed` [3, tokens, batch, width], as [batch, heads,
// tokens, head width].
NetworkValue Heads(NetworkBuilder& b, const NetworkValue& packed, int64_t index) {
  NetworkValue x = b.Gather(packed, b.IntScalar(index), 0);
  x = b.Transpose(b.Reshape(x, {kTokens, b.batch() * Width(b) / kHeadWidth, kHeadWidth}), {1, 0, 2});
  return b.Reshape(x, {b.batch(), Width(b) / kHeadWidth, kTokens, kHeadWidth});
}

NetworkValue SelfAttention(NetworkBuilder& b, const std::string& name, const NetworkValue& x) {
  const int64_t batch = b.batch();
  NetworkValue packed = b.Dense(name + ".in_proj", b.Transpose(x, {1, 0, 2}), 3 * Width(b));
  packed = b.Reshape(packed, {kTokens, batch, 3, Width(b)});
  packed = b.Node("Unsqueeze", {packed, b.Ints(std::array<int64_t, 1>{0})}, {1, kTokens, batch, 3, Width(b)});
  packed = b.Transpose(packed, {3, 1, 2, 0, 4});
  packed = b.Node("Squeeze", {packed, b.Ints(std::array<int64_t, 1>{3})}, {3, kTokens, batch, Width(b)});
  const NetworkValue query = Heads(b, packed, 0);
  const NetworkValue key = b.Transpose(Heads(b, packed, 1), {0, 1, 3, 2});
  const NetworkValue value = Heads(b, packed, 2);
  // Each side gets the square root of the scaling.
  const float scale = std::sqrt(1.0f / std::sqrt(static_cast<float>(kHeadWidth)));
  const NetworkValue scores = b.MatMul(b.Mul(query, b.Scalar(scale)), b.Mul(key, b.Scalar(scale)));
  NetworkValue y = b.Transpose(b.MatMul(b.Softmax(scores), value), {2, 0, 1, 3});
  y = b.Linear(name + ".out_proj", b.Reshape(y, {kTokens * batch, Width(b)}), Width(b));
  return b.Transpose(b.Reshape(y, {kTokens, batch, Width(b)}), {1, 0, 2});
}

}  // namespace

void BuildVitB16(NetworkBuilder& b) {
  NetworkValue x = Tokens(b, b.Input("input", {b.batch(), 3, 224, 224}));
  for (int64_t i = 0; i < kLayers; ++i) {
    const std::string name = absl::StrCat("encoder.layers.encoder_layer_", i);
    NetworkValue y = LayerNorm(b, name + ".ln_1", x, kEpsilon);
    x = b.Add(SelfAttention(b, name + ".self_attention", y), x);
    y = LayerNorm(b, name + ".ln_2", x, kEpsilon);
    y = Gelu(b, b.Dense(name + ".mlp.0", y, 4 * Width(b)));
    x = b.Add(x, b.Dense(name + ".mlp.3", y, Width(b), kGeluGain * kBranchGain));
  }
  x = b.Gather(LayerNorm(b, "encoder.ln", x, kEpsilon), b.IntScalar(0), 1);
  b.Output(b.Linear("heads.head", x, kImageNetClasses), "output");
}

}  // namespace attune
