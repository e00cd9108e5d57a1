// The networks of the zoo, one function each. Classifiers take "input" [batch, 3, side, side] and return
// "output" [batch, 1000]: logits, or probabilities if the original ends in a softmax.
#ifndef ATTUNE_ZOO_NETWORKS_H_
#define ATTUNE_ZOO_NETWORKS_H_

#include <span>

#include "zoo/builder.h"

namespace attune {

inline constexpr int64_t kBertTokens = 128;
inline constexpr int64_t kImageNetClasses = 1000;

using NetworkFunction = void(NetworkBuilder& b);

// One line of the zoo's table.
struct ZooRow {
  const char* name;
  const char* description;
  NetworkFunction* build;
  int64_t side;        // of the square image; 0: the input is token ids
  int64_t parameters;  // as counted by NetworkBuilder,
  int64_t macs;        // for a batch of one
  int64_t max_batch = 4096;
  bool scales = false;  // whether its layers' widths go through NetworkBuilder::Scaled
};

std::span<const ZooRow> ZooRows();

NetworkFunction BuildResNet18, BuildResNet50, BuildResNet50V2, BuildResNeXt50, BuildMobileNetV1,
    BuildMobileNetV2, BuildMobileNetV3Small, BuildMobileNetV3Large, BuildShuffleNetV2, BuildRegNetX400MF,
    BuildRegNetY400MF, BuildSsdMobileNetV2, BuildInceptionV3, BuildSqueezeNet11, BuildDenseNet121,
    BuildEfficientNetB0, BuildVgg16, BuildVitB16;
// "input_ids" i64 [batch, 128] → "last_hidden_state" [batch, 128, 768].
NetworkFunction BuildBertBase;

}  // namespace attune

#endif  // ATTUNE_ZOO_NETWORKS_H_
