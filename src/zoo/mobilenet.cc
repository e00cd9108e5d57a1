// MobileNet: Howard et al., MobileNets, 2017 (v1, as in Keras), and Sandler et al., MobileNetV2: Inverted
// Residuals and Linear Bottlenecks, 2018 (as in torchvision).
#include "zoo/mobilenet.h"

#include "absl/strings/str_cat.h"
#include "zoo/networks.h"

namespace attune {
namespace {

Pads PadsOf(const NetworkValue& x, int64_t kernel, int64_t stride, Padding padding) {
  return padding == Padding::kSame ? SamePads(x, kernel, stride) : EvenPads((kernel - 1) / 2);
}

}  // namespace

NetworkValue ConvNormRelu6(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                           int64_t channels, const MobileConv& conv) {
  const ConvOptions options = {.channels = channels,
                               .kernel = {conv.kernel, conv.kernel},
                               .stride = conv.stride,
                               .pads = PadsOf(x, conv.kernel, conv.stride, conv.padding),
                               .groups = conv.depthwise ? channels : 1};
  const NetworkValue y = b.Conv(name + ".0", x, options);
  return b.Relu6(b.BatchNorm(name + ".1", y, {.epsilon = conv.epsilon}));
}

InvertedResidualOutputs InvertedResidual(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                                         const InvertedResidualRow& row, MobileConv conv) {
  const int64_t hidden = x.shape[1] * row.expansion;
  int next = 0;
  NetworkValue expanded = x;
  if (row.expansion != 1) {
    const MobileConv expand = {.epsilon = conv.epsilon};
    expanded = ConvNormRelu6(b, absl::StrCat(name, ".conv.", next++), x, hidden, expand);
  }
  conv.kernel = 3;
  conv.stride = row.stride;
  conv.depthwise = true;
  NetworkValue y = ConvNormRelu6(b, absl::StrCat(name, ".conv.", next++), expanded, hidden, conv);
  y = b.Conv(absl::StrCat(name, ".conv.", next), y, {.channels = row.channels, .gain = kLinearGain});
  const bool residual = row.stride == 1 && x.shape[1] == row.channels;
  y = b.BatchNorm(absl::StrCat(name, ".conv.", next + 1), y,
                  {.epsilon = conv.epsilon, .scale = residual ? 0.5 : 1.0});
  return {expanded, residual ? b.Add(x, y) : y};
}

void BuildMobileNetV1(NetworkBuilder& b) {
  struct Row {
    int64_t channels, stride;
  };
  constexpr Row kRows[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                           {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  const MobileConv keras = {.padding = Padding::kSame, .epsilon = 1e-3f};
  NetworkValue x = b.Input("input", {b.batch(), 3, 224, 224});
  MobileConv conv = keras;
  conv.kernel = 3;
  conv.stride = 2;
  x = ConvNormRelu6(b, "conv1", x, 32, conv);
  int i = 0;
  for (const Row& row : kRows) {
    ++i;
    conv.stride = row.stride;
    conv.depthwise = true;
    x = ConvNormRelu6(b, absl::StrCat("conv_dw_", i), x, x.shape[1], conv);
    x = ConvNormRelu6(b, absl::StrCat("conv_pw_", i), x, row.channels, keras);
  }
  // The classifier is a 1x1 convolution of the pooled features.
  x = b.Conv("conv_preds", b.GlobalAveragePool(x),
             {.channels = kImageNetClasses, .bias = true, .gain = 4 * kLinearGain});
  x = b.Softmax(b.Reshape(x, {b.batch(), kImageNetClasses}));
  b.Output(x, "output");
}

void BuildMobileNetV2(NetworkBuilder& b) {
  NetworkValue x = b.Input("input", {b.batch(), 3, 224, 224});
  x = ConvNormRelu6(b, "features.0", x, 32, {.kernel = 3, .stride = 2});
  int i = 1;
  for (const InvertedResidualRow& row : kMobileNetV2Rows) {
    x = InvertedResidual(b, absl::StrCat("features.", i++), x, row, {}).sum;
  }
  x = ConvNormRelu6(b, "features.18", x, 1280, {});
  b.Output(b.Linear("classifier.1", b.Flatten(b.GlobalAveragePool(x)), kImageNetClasses), "output");
}

}  // namespace attune
