// ResNet: He et al., Deep Residual Learning for Image Recognition, 2015 (v1.5: the stride is in the 3x3
// convolution, as in torchvision), and Identity Mappings in Deep Residual Networks, 2016 (v2). ResNeXt: Xie
// et al., Aggregated Residual Transformations for Deep Neural Networks, 2017.
#include <array>

#include "absl/strings/str_cat.h"
#include "zoo/networks.h"

namespace attune {
namespace {

constexpr double kBranchScale = 0.5;
// Prevents the probabilities of ResNet v2, whose residual stream grows, from collapsing to one class.
constexpr double kHeadGain = 0.1;

NetworkValue ConvNorm(NetworkBuilder& b, const std::string& conv, const std::string& norm,
                      const NetworkValue& x, const ConvOptions& options, double scale = 1.0) {
  return b.BatchNorm(norm, b.Conv(conv, x, options), {.scale = scale});
}

// The input itself, or a projection if the block changes the shape.
NetworkValue Shortcut(NetworkBuilder& b, const std::string& name, const NetworkValue& x, int64_t channels,
                      int64_t stride) {
  if (stride == 1 && x.shape[1] == channels) return x;
  return ConvNorm(b, name + ".downsample.0", name + ".downsample.1", x,
                  {.channels = channels, .stride = stride, .gain = kLinearGain});
}

NetworkValue BasicBlock(NetworkBuilder& b, const std::string& name, const NetworkValue& x, int64_t width,
                        int64_t stride) {
  const ConvOptions first = {.channels = width, .kernel = {3, 3}, .stride = stride, .pads = EvenPads(1)};
  const ConvOptions second = {.channels = width, .kernel = {3, 3}, .pads = EvenPads(1)};
  NetworkValue y = b.Relu(ConvNorm(b, name + ".conv1", name + ".bn1", x, first));
  y = ConvNorm(b, name + ".conv2", name + ".bn2", y, second, kBranchScale);
  return b.Relu(b.Add(y, Shortcut(b, name, x, width, stride)));
}

// `width` inner channels in `groups` groups, and `channels` output channels.
NetworkValue GroupedBottleneck(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                               int64_t width, int64_t groups, int64_t channels, int64_t stride) {
  const ConvOptions middle = {
      .channels = width, .kernel = {3, 3}, .stride = stride, .pads = EvenPads(1), .groups = groups};
  NetworkValue y = b.Relu(ConvNorm(b, name + ".conv1", name + ".bn1", x, {.channels = width}));
  y = b.Relu(ConvNorm(b, name + ".conv2", name + ".bn2", y, middle));
  y = ConvNorm(b, name + ".conv3", name + ".bn3", y, {.channels = channels}, kBranchScale);
  return b.Relu(b.Add(y, Shortcut(b, name, x, channels, stride)));
}

NetworkValue Bottleneck(NetworkBuilder& b, const std::string& name, const NetworkValue& x, int64_t width,
                        int64_t stride) {
  return GroupedBottleneck(b, name, x, width, 1, 4 * width, stride);
}

// 32 groups; of 4 channels for `width` 64.
NetworkValue ResNeXtBottleneck(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                               int64_t width, int64_t stride) {
  return GroupedBottleneck(b, name, x, 2 * width, 32, 4 * width, stride);
}

using Block = NetworkValue (*)(NetworkBuilder&, const std::string&, const NetworkValue&, int64_t, int64_t);

void BuildResNet(NetworkBuilder& b, Block block, const std::array<int, 4>& depths) {
  const NetworkValue input = b.Input("input", {b.batch(), 3, 224, 224});
  NetworkValue x =
      b.Relu(ConvNorm(b, "conv1", "bn1", input,
                      {.channels = b.Scaled(64), .kernel = {7, 7}, .stride = 2, .pads = EvenPads(3)}));
  x = b.MaxPool(x, {.kernel = 3, .stride = 2, .pads = EvenPads(1)});
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < depths[stage]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = block(b, absl::StrCat("layer", stage + 1, ".", i), x, b.Scaled(int64_t{64} << stage), stride);
    }
  }
  b.Output(b.Linear("fc", b.Flatten(b.GlobalAveragePool(x)), kImageNetClasses), "output");
}

// Keras pads in a separate node, also before the max pooling, where zeros are not neutral.
NetworkValue ZeroPad(NetworkBuilder& b, const NetworkValue& x, int64_t n) {
  const NetworkValue pads = b.Ints(std::array<int64_t, 8>{0, 0, n, n, 0, 0, n, n});
  return b.Node("Pad", {x, pads}, {x.shape[0], x.shape[1], x.shape[2] + 2 * n, x.shape[3] + 2 * n});
}

constexpr BatchNormOptions kKerasNorm = {.epsilon = 1.001e-5f};

NetworkValue PreactivationBlock(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                                int64_t width, bool project, int64_t stride) {
  const NetworkValue preact = b.Relu(b.BatchNorm(name + "_preact_bn", x, kKerasNorm));
  NetworkValue shortcut = x;
  if (project) {
    shortcut = b.Conv(name + "_0_conv", preact, {.channels = 4 * width, .stride = stride, .bias = true});
  } else if (stride > 1) {
    shortcut = b.MaxPool(x, {.kernel = 1, .stride = stride});
  }
  NetworkValue y = b.Conv(name + "_1_conv", preact, {.channels = width});
  y = b.Relu(b.BatchNorm(name + "_1_bn", y, kKerasNorm));
  y = b.Conv(name + "_2_conv", ZeroPad(b, y, 1), {.channels = width, .kernel = {3, 3}, .stride = stride});
  y = b.Relu(b.BatchNorm(name + "_2_bn", y, kKerasNorm));
  const double branch_gain = kReluGain * kBranchScale * kBranchScale;
  y = b.Conv(name + "_3_conv", y, {.channels = 4 * width, .bias = true, .gain = branch_gain});
  return b.Add(shortcut, y);
}

}  // namespace

void BuildResNet18(NetworkBuilder& b) { BuildResNet(b, BasicBlock, {2, 2, 2, 2}); }

void BuildResNet50(NetworkBuilder& b) { BuildResNet(b, Bottleneck, {3, 4, 6, 3}); }

void BuildResNeXt50(NetworkBuilder& b) { BuildResNet(b, ResNeXtBottleneck, {3, 4, 6, 3}); }

void BuildResNet50V2(NetworkBuilder& b) {
  const NetworkValue input = b.Input("input", {b.batch(), 3, 224, 224});
  const ConvOptions stem = {
      .channels = b.Scaled(64), .kernel = {7, 7}, .stride = 2, .bias = true, .gain = kLinearGain};
  NetworkValue x = b.Conv("conv1_conv", ZeroPad(b, input, 3), stem);
  x = b.MaxPool(ZeroPad(b, x, 1), {.kernel = 3, .stride = 2});
  constexpr std::array<int, 4> kDepths = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < kDepths[stage]; ++i) {
      const bool last = i + 1 == kDepths[stage];
      x = PreactivationBlock(b, absl::StrCat("conv", stage + 2, "_block", i + 1), x,
                             b.Scaled(int64_t{64} << stage), i == 0, last && stage < 3 ? 2 : 1);
    }
  }
  x = b.Relu(b.BatchNorm("post_bn", x, kKerasNorm));
  x = b.Node("ReduceMean", {x}, {b.batch(), x.shape[1]},
             {{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", 0}});
  b.Output(b.Softmax(b.Dense("predictions", x, kImageNetClasses, kHeadGain)), "output");
}

}  // namespace attune
