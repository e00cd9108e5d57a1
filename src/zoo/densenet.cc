// DenseNet-121: Huang et al., Densely Connected Convolutional Networks, 2016.
#include "absl/strings/str_cat.h"
#include "zoo/networks.h"

namespace attune {
namespace {

constexpr int64_t kGrowth = 32;
constexpr int64_t kBottleneck = 4 * kGrowth;

NetworkValue NormRelu(NetworkBuilder& b, const std::string& name, const NetworkValue& x) {
  return b.Relu(b.BatchNorm(name, x));
}

// Each layer reads the block's input and the features of all earlier layers.
NetworkValue DenseBlock(NetworkBuilder& b, const std::string& name, const NetworkValue& x, int layers) {
  std::vector<NetworkValue> features = {x};
  for (int i = 1; i <= layers; ++i) {
    const std::string layer = absl::StrCat(name, ".denselayer", i);
    NetworkValue y = NormRelu(b, layer + ".norm1", b.Concat(features, 1));
    y = b.Conv(layer + ".conv1", y, {.channels = kBottleneck});
    y = NormRelu(b, layer + ".norm2", y);
    features.push_back(
        b.Conv(layer + ".conv2", y, {.channels = kGrowth, .kernel = {3, 3}, .pads = EvenPads(1)}));
  }
  return b.Concat(features, 1);
}

}  // namespace

void BuildDenseNet121(NetworkBuilder& b) {
  constexpr int kLayers[] = {6, 12, 24, 16};
  NetworkValue x = b.Input("input", {b.batch(), 3, 224, 224});
  x = b.Conv("features.conv0", x, {.channels = 64, .kernel = {7, 7}, .stride = 2, .pads = EvenPads(3)});
  x = b.MaxPool(NormRelu(b, "features.norm0", x), {.kernel = 3, .stride = 2, .pads = EvenPads(1)});
  int block = 1;
  for (int layers : kLayers) {
    x = DenseBlock(b, absl::StrCat("features.denseblock", block), x, layers);
    if (block < 4) {
      const std::string name = absl::StrCat("features.transition", block);
      x = b.Conv(name + ".conv", NormRelu(b, name + ".norm", x), {.channels = x.shape[1] / 2});
      x = b.AveragePool(x, {.kernel = 2, .stride = 2});
    }
    ++block;
  }
  x = b.GlobalAveragePool(NormRelu(b, "features.norm5", x));
  b.Output(b.Linear("classifier", b.Flatten(x), kImageNetClasses), "output");
}

}  // namespace attune
