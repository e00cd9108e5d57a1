// ShuffleNetV2 1.0: Ma et al., ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design,
// 2018, as in torchvision.
#include "absl/strings/str_cat.h"
#include "zoo/networks.h"

namespace attune {
namespace {

// A pointwise convolution and ReLU; `first` is the number of the convolution in its name.
NetworkValue Pointwise(NetworkBuilder& b, const std::string& branch, int first, const NetworkValue& x,
                       int64_t channels) {
  const NetworkValue y = b.Conv(absl::StrCat(branch, ".", first), x, {.channels = channels});
  return b.Relu(b.BatchNorm(absl::StrCat(branch, ".", first + 1), y));
}

NetworkValue Depthwise(NetworkBuilder& b, const std::string& branch, int first, const NetworkValue& x,
                       int64_t stride) {
  const ConvOptions options = {.channels = x.shape[1],
                               .kernel = {3, 3},
                               .stride = stride,
                               .pads = EvenPads(1),
                               .groups = x.shape[1],
                               .gain = kLinearGain};
  return b.BatchNorm(absl::StrCat(branch, ".", first + 1),
                     b.Conv(absl::StrCat(branch, ".", first), x, options));
}

// Interleaves the halves of the channels.
NetworkValue Shuffle(NetworkBuilder& b, const NetworkValue& x) {
  const int64_t half = x.shape[1] / 2, height = x.shape[2], width = x.shape[3];
  const NetworkValue halves = b.Reshape(x, {b.batch(), 2, half, height, width});
  return b.Reshape(b.Transpose(halves, {0, 2, 1, 3, 4}), {b.batch(), 2 * half, height, width});
}

// With a stride, both branches read all of `x`; without, one half of the channels is passed through.
NetworkValue Unit(NetworkBuilder& b, const std::string& name, const NetworkValue& x, int64_t channels,
                  int64_t stride) {
  const int64_t half = channels / 2;
  NetworkValue left, right;
  if (stride > 1) {
    const std::string branch = name + ".branch1";
    left = Pointwise(b, branch, 2, Depthwise(b, branch, 0, x, stride), half);
    right = x;
  } else {
    left = b.Slice(x, 1, 0, half);
    right = b.Slice(x, 1, half, channels);
  }
  const std::string branch = name + ".branch2";
  right = Depthwise(b, branch, 3, Pointwise(b, branch, 0, right, half), stride);
  return Shuffle(b, b.Concat({left, Pointwise(b, branch, 5, right, half)}, 1));
}

}  // namespace

void BuildShuffleNetV2(NetworkBuilder& b) {
  struct Stage {
    int64_t channels;
    int units;
  };
  constexpr Stage kStages[] = {{116, 4}, {232, 8}, {464, 4}};
  NetworkValue x = b.Input("input", {b.batch(), 3, 224, 224});
  x = b.Conv("conv1.0", x, {.channels = 24, .kernel = {3, 3}, .stride = 2, .pads = EvenPads(1)});
  x = b.MaxPool(b.Relu(b.BatchNorm("conv1.1", x)), {.kernel = 3, .stride = 2, .pads = EvenPads(1)});
  int index = 2;
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.units; ++i) {
      x = Unit(b, absl::StrCat("stage", index, ".", i), x, stage.channels, i == 0 ? 2 : 1);
    }
    ++index;
  }
  x = Pointwise(b, "conv5", 0, x, 1024);
  b.Output(b.Linear("fc", b.Flatten(b.GlobalAveragePool(x)), kImageNetClasses), "output");
}

}  // namespace attune
