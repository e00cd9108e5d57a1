// SqueezeNet 1.1: Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters, 2016, in
// the authors' variant with 2.4 times less computation.
#include "absl/strings/str_cat.h"
#include "zoo/networks.h"

namespace attune {
namespace {

NetworkValue ConvRelu(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                      ConvOptions options) {
  options.bias = true;
  return b.Relu(b.Conv(name, x, options));
}

NetworkValue Fire(NetworkBuilder& b, const std::string& name, const NetworkValue& x, int64_t squeeze,
                  int64_t expand) {
  const NetworkValue y = ConvRelu(b, name + ".squeeze", x, {.channels = squeeze});
  const ConvOptions wide = {.channels = expand, .kernel = {3, 3}, .pads = EvenPads(1)};
  return b.Concat(
      {ConvRelu(b, name + ".expand1x1", y, {.channels = expand}), ConvRelu(b, name + ".expand3x3", y, wide)},
      1);
}

}  // namespace

void BuildSqueezeNet11(NetworkBuilder& b) {
  struct Row {
    int64_t index, squeeze, expand;
    bool pool;  // before the module
  };
  constexpr Row kRows[] = {{3, 16, 64, true},    {4, 16, 64, false},  {6, 32, 128, true},
                           {7, 32, 128, false},  {9, 48, 192, true},  {10, 48, 192, false},
                           {11, 64, 256, false}, {12, 64, 256, false}};
  NetworkValue x = b.Input("input", {b.batch(), 3, 224, 224});
  x = ConvRelu(b, "features.0", x, {.channels = 64, .kernel = {3, 3}, .stride = 2});
  for (const Row& row : kRows) {
    if (row.pool) x = b.MaxPool(x, {.kernel = 3, .stride = 2, .ceil_mode = true});
    x = Fire(b, absl::StrCat("features.", row.index), x, row.squeeze, row.expand);
  }
  x = ConvRelu(b, "classifier.1", x, {.channels = kImageNetClasses});
  b.Output(b.Flatten(b.GlobalAveragePool(x)), "output");
}

}  // namespace attune
