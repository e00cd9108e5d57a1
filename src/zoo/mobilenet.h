// The blocks of MobileNet, which the SSD detector also uses.
#ifndef ATTUNE_ZOO_MOBILENET_H_
#define ATTUNE_ZOO_MOBILENET_H_

#include <string>

#include "zoo/builder.h"

namespace attune {

// Half the kernel size on every side (torchvision), or TensorFlow's SAME.
enum class Padding { kHalf, kSame };

struct MobileConv {
  int64_t kernel = 1;
  int64_t stride = 1;
  Padding padding = Padding::kHalf;
  bool depthwise = false;
  float epsilon = 1e-5f;
};

// Conv (NAME.0), BatchNormalization (NAME.1) and ReLU6. If depthwise, `channels` is that of `x`.
NetworkValue ConvNormRelu6(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                           int64_t channels, const MobileConv& conv);

struct InvertedResidualRow {
  int64_t expansion, channels, stride;
};

// Table 2 of the MobileNetV2 paper, one row per block.
inline constexpr InvertedResidualRow kMobileNetV2Rows[] = {
    {1, 16, 1}, {6, 24, 2},  {6, 24, 1},  {6, 32, 2},  {6, 32, 1}, {6, 32, 1},
    {6, 64, 2}, {6, 64, 1},  {6, 64, 1},  {6, 64, 1},  {6, 96, 1}, {6, 96, 1},
    {6, 96, 1}, {6, 160, 2}, {6, 160, 1}, {6, 160, 1}, {6, 320, 1}};

struct InvertedResidualOutputs {
  NetworkValue expanded;  // output of the pointwise expansion
  NetworkValue sum;       // output of the block
};

// Expansion, depthwise convolution and linear projection; adds `x` if the shapes agree. Padding and epsilon
// come from `conv`, everything else from `row`.
InvertedResidualOutputs InvertedResidual(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                                         const InvertedResidualRow& row, MobileConv conv);

}  // namespace attune

#endif  // ATTUNE_ZOO_MOBILENET_H_
