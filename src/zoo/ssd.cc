// SSD: Liu et al., SSD: Single Shot MultiBox Detector, 2015, on MobileNetV2 with the layers, anchors and
// box coder of the TensorFlow Object Detection API's ssd_mobilenet_v2_coco.
//
// "input" [1, 3, 300, 300] → for n detections "boxes" [n, 4] (top, left, bottom, right in 0 to 1), "scores"
// [n] and "classes" i64 [n] (1 to 90; 0 would be the background), class by class in descending order of
// scores.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "zoo/mobilenet.h"
#include "zoo/networks.h"

namespace attune {
namespace {

constexpr int64_t kClasses = 91;  // includes the background
constexpr MobileConv kTensorFlow = {.padding = Padding::kSame, .epsilon = 1e-3f};
constexpr int kTapRow = 13;  // index in kMobileNetV2Rows; its expansion is the first feature map
constexpr double kMinScale = 0.2;
constexpr double kMaxScale = 0.95;
constexpr double kSmallestScale = 0.1;  // of the square anchor on the first feature map
constexpr float kPositionScale = 10.0f;
constexpr float kSizeScale = 5.0f;
constexpr int64_t kMaxDetectionsPerClass = 100;
constexpr float kIouThreshold = 0.6f;
constexpr float kScoreThreshold = 0.3f;
// Moves most scores below the threshold, as in a trained detector.
constexpr double kClassBias = -3.5;
constexpr double kClassGain = 0.5;

struct AnchorShape {
  double height, width;
};

struct Anchors {
  std::vector<float> y, x, height, width;  // centers and sizes, relative to the image
};

std::vector<NetworkValue> FeatureMaps(NetworkBuilder& b) {
  MobileConv conv = kTensorFlow;
  conv.kernel = 3;
  conv.stride = 2;
  NetworkValue x = b.Input("input", {b.batch(), 3, 300, 300});
  x = ConvNormRelu6(b, "backbone.0", x, b.Scaled(32), conv);
  std::vector<NetworkValue> maps;
  int row = 0;
  for (InvertedResidualRow block : kMobileNetV2Rows) {
    block.channels = b.Scaled(block.channels);
    const auto outputs = InvertedResidual(b, absl::StrCat("backbone.", row + 1), x, block, kTensorFlow);
    if (row++ == kTapRow) maps.push_back(outputs.expanded);
    x = outputs.sum;
  }
  maps.push_back(ConvNormRelu6(b, absl::StrCat("backbone.", row + 1), x, b.Scaled(1280), kTensorFlow));
  for (const int64_t full : {512, 256, 256, 128}) {
    const int64_t channels = b.Scaled(full);
    const std::string name = absl::StrCat("extra.", maps.size() - 2);
    x = ConvNormRelu6(b, name + ".squeeze", maps.back(), channels / 2, kTensorFlow);
    maps.push_back(ConvNormRelu6(b, name + ".expand", x, channels, conv));
  }
  return maps;
}

std::vector<AnchorShape> AnchorShapes(size_t level, size_t levels) {
  const auto scale_of = [&](size_t i) {
    return i == levels ? 1.0 : kMinScale + (kMaxScale - kMinScale) * static_cast<double>(i) / (levels - 1.0);
  };
  const auto shape = [](double scale, double aspect) {
    return AnchorShape{scale / std::sqrt(aspect), scale * std::sqrt(aspect)};
  };
  const double scale = scale_of(level);
  if (level == 0) return {shape(kSmallestScale, 1), shape(scale, 2), shape(scale, 0.5)};
  const double between = std::sqrt(scale * scale_of(level + 1));
  return {shape(scale, 1), shape(scale, 2),       shape(scale, 0.5),
          shape(scale, 3), shape(scale, 1.0 / 3), shape(between, 1)};
}

void AppendAnchors(const std::vector<AnchorShape>& shapes, int64_t rows, int64_t columns, Anchors* anchors) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      for (const AnchorShape& shape : shapes) {
        anchors->y.push_back(
            static_cast<float>((static_cast<double>(row) + 0.5) / static_cast<double>(rows)));
        anchors->x.push_back(
            static_cast<float>((static_cast<double>(column) + 0.5) / static_cast<double>(columns)));
        anchors->height.push_back(static_cast<float>(shape.height));
        anchors->width.push_back(static_cast<float>(shape.width));
      }
    }
  }
}

// Predicts `size` numbers for each of the `anchors` anchors per pixel of the feature map `map`: [batch,
// pixels · anchors, size].
NetworkValue Predict(NetworkBuilder& b, const std::string& name, const NetworkValue& map, int64_t anchors,
                     int64_t size, double bias_center, double gain) {
  // The kernel shrinks to the size of a smaller feature map.
  const int64_t kernel = std::min<int64_t>(3, std::min(map.shape[2], map.shape[3]));
  NetworkValue y = b.Conv(name, map,
                          {.channels = anchors * size,
                           .kernel = {kernel, kernel},
                           .pads = SamePads(map, kernel, 1),
                           .bias = true,
                           .bias_center = bias_center,
                           .gain = gain});
  y = b.Transpose(y, {0, 2, 3, 1});
  return b.Reshape(y, {b.batch(), map.shape[2] * map.shape[3] * anchors, size});
}

// Faster R-CNN's box coder: offsets in units of the anchor's size, sizes as logarithms.
NetworkValue DecodeBoxes(NetworkBuilder& b, const NetworkValue& codes, const Anchors& anchors) {
  const auto count = static_cast<int64_t>(anchors.y.size());
  const auto constant = [&](const std::vector<float>& values) { return b.Constant(values, {count, 1}); };
  const auto code = [&](int64_t i, float scale) {
    return b.Binary("Div", b.Slice(codes, 2, i, i + 1), b.Scalar(scale));
  };
  const auto decode = [&](int64_t i, const std::vector<float>& center, const std::vector<float>& size) {
    const NetworkValue extent = constant(size);
    const NetworkValue middle = b.Add(b.Mul(code(i, kPositionScale), extent), constant(center));
    const NetworkValue log_ratio = code(i + 2, kSizeScale);
    const NetworkValue length = b.Mul(b.Node("Exp", {log_ratio}, log_ratio.shape), extent);
    const NetworkValue half = b.Mul(length, b.Scalar(0.5f));
    return std::pair(b.Binary("Sub", middle, half), b.Add(middle, half));
  };
  const auto [top, bottom] = decode(0, anchors.y, anchors.height);
  const auto [left, right] = decode(1, anchors.x, anchors.width);
  return b.Clip(b.Concat({top, left, bottom, right}, 2), 0.0f, 1.0f);
}

void EmitDetections(NetworkBuilder& b, const NetworkValue& boxes, const NetworkValue& scores) {
  const int64_t count = boxes.shape[1];
  NetworkValue picked =
      b.Node("NonMaxSuppression",
             {boxes, scores, b.Ints(std::array{kMaxDetectionsPerClass}),
              b.Constant(std::array{kIouThreshold}, {1}), b.Constant(std::array{kScoreThreshold}, {1})},
             {-1, 3}, {{"center_point_box", 0}});
  picked.dtype = DType::kI64;  // each row: batch, class and box
  const NetworkValue box_index = b.Gather(picked, b.IntScalar(2), 1);
  const NetworkValue class_index = b.Gather(picked, b.IntScalar(1), 1);
  b.Output(b.Gather(b.Reshape(boxes, {count, 4}), box_index, 0), "boxes");
  b.Output(b.Node("GatherND", {scores, picked}, {-1}, {{"batch_dims", 0}}), "scores");
  b.Output(b.Add(class_index, b.IntScalar(1)), "classes");
}

}  // namespace

void BuildSsdMobileNetV2(NetworkBuilder& b) {
  const std::vector<NetworkValue> maps = FeatureMaps(b);
  std::vector<NetworkValue> codes, logits;
  Anchors anchors;
  for (size_t level = 0; level < maps.size(); ++level) {
    const NetworkValue& map = maps[level];
    const std::vector<AnchorShape> shapes = AnchorShapes(level, maps.size());
    const auto count = static_cast<int64_t>(shapes.size());
    const std::string name = absl::StrCat("predictor.", level);
    codes.push_back(Predict(b, name + ".boxes", map, count, 4, 0.0, kLinearGain));
    logits.push_back(Predict(b, name + ".classes", map, count, kClasses, kClassBias, kClassGain));
    AppendAnchors(shapes, map.shape[2], map.shape[3], &anchors);
  }
  const NetworkValue boxes = DecodeBoxes(b, b.Concat(codes, 1), anchors);
  const NetworkValue scores = b.Slice(b.Sigmoid(b.Concat(logits, 1)), 2, 1, kClasses);
  EmitDetections(b, boxes, b.Transpose(scores, {0, 2, 1}));
}

}  // namespace attune
