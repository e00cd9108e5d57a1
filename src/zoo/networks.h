// The networks of the zoo, one function each. Classifiers take "input" [batch, 3, side, side] and return
// "output" [batch, 1000]: logits, or probabilities if the original ends in a softmax.
#ifndef ATTUNE_ZOO_NETWORKS_H_
#define ATTUNE_ZOO_NETWORKS_H_

#include <span>

#include "zoo/builder.h"

namespace attune {

inline constexpr int64_t kBertTokens = 128;
inline constexpr int64_t kImageNetClasses = 1000;

// One line of the zoo's table.
struct ZooRow {
  const char* name;
  const char* description;
  void (*build)(NetworkBuilder&);
  int64_t side;        // of the square image; 0: the input is token ids
  int64_t parameters;  // as counted by NetworkBuilder,
  int64_t macs;        // for a batch of one
  int64_t max_batch = 4096;
  bool scales = false;  // whether its layers' widths go through NetworkBuilder::Scaled
};

std::span<const ZooRow> ZooRows();

void BuildResNet18(NetworkBuilder& b);
void BuildResNet50(NetworkBuilder& b);
void BuildResNet50V2(NetworkBuilder& b);
void BuildResNeXt50(NetworkBuilder& b);
void BuildMobileNetV1(NetworkBuilder& b);
void BuildMobileNetV2(NetworkBuilder& b);
void BuildMobileNetV3Small(NetworkBuilder& b);
void BuildMobileNetV3Large(NetworkBuilder& b);
void BuildShuffleNetV2(NetworkBuilder& b);
void BuildRegNetX400MF(NetworkBuilder& b);
void BuildRegNetY400MF(NetworkBuilder& b);
void BuildSsdMobileNetV2(NetworkBuilder& b);
void BuildInceptionV3(NetworkBuilder& b);
void BuildSqueezeNet11(NetworkBuilder& b);
void BuildDenseNet121(NetworkBuilder& b);
void BuildEfficientNetB0(NetworkBuilder& b);
void BuildVgg16(NetworkBuilder& b);
// "input_ids" i64 [batch, 128] → "last_hidden_state" [batch, 128, 768].
void BuildBertBase(NetworkBuilder& b);
void BuildVitB16(NetworkBuilder& b);

}  // namespace attune

#endif  // ATTUNE_ZOO_NETWORKS_H_
