// VGG-16: Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, 2014
// (configuration D, without batch norm).
#include "absl/strings/str_cat.h"
#include "zoo/networks.h"

namespace attune {

void BuildVgg16(NetworkBuilder& b) {
  struct Stage {
    int64_t channels;
    int convolutions;
  };
  constexpr Stage kStages[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
  NetworkValue x = b.Input("input", {b.batch(), 3, 224, 224});
  int index = 0;  // also counts ReLUs and poolings
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.convolutions; ++i, index += 2) {
      x = b.Relu(b.Conv(
          absl::StrCat("features.", index), x,
          {.channels = b.Scaled(stage.channels), .kernel = {3, 3}, .pads = EvenPads(1), .bias = true}));
    }
    x = b.MaxPool(x, {.kernel = 2, .stride = 2});
    ++index;
  }
  // If the input already is 7x7, adaptive pooling to 7x7 is exported like this.
  x = b.AveragePool(x, {.kernel = 1});
  x = b.Relu(b.Linear("classifier.0", b.Flatten(x), b.Scaled(4096), kReluGain));
  x = b.Relu(b.Linear("classifier.3", x, b.Scaled(4096), kReluGain));
  b.Output(b.Linear("classifier.6", x, kImageNetClasses), "output");
}

}  // namespace attune
