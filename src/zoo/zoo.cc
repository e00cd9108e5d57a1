#include "zoo/zoo.h"

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "zoo/networks.h"

namespace attune {
namespace {

constexpr ZooRow kRows[] = {
    {"resnet18", "ResNet-18, ImageNet classifier", BuildResNet18, 224, 11'689'512, 1'814'073'344, 4096, true},
    {"resnet50", "ResNet-50 v1.5, ImageNet classifier", BuildResNet50, 224, 25'557'032, 4'089'184'256, 4096,
     true},
    {"resnet50_v2", "ResNet-50 with pre-activation as in Keras, ImageNet classifier", BuildResNet50V2, 224,
     25'568'360, 3'482'255'360, 4096, true},
    {"resnext50_32x4d", "ResNeXt-50 32x4d, ImageNet classifier", BuildResNeXt50, 224, 25'028'904,
     4'230'479'872, 4096, true},
    {"mobilenet_v1", "MobileNet 1.0 as in Keras, ImageNet classifier", BuildMobileNetV1, 224, 4'231'976,
     568'740'352},
    {"mobilenet_v2", "MobileNetV2 1.0, ImageNet classifier", BuildMobileNetV2, 224, 3'504'872, 300'774'272},
    {"mobilenet_v3_small", "MobileNetV3 small 1.0, ImageNet classifier", BuildMobileNetV3Small, 224,
     2'542'856, 56'510'400},
    {"mobilenet_v3_large", "MobileNetV3 large 1.0, ImageNet classifier", BuildMobileNetV3Large, 224,
     5'483'032, 216'589'760},
    {"shufflenet_v2", "ShuffleNetV2 1.0, ImageNet classifier", BuildShuffleNetV2, 224, 2'278'604,
     144'907'992},
    {"regnet_x_400mf", "RegNetX-400MF, ImageNet classifier", BuildRegNetX400MF, 224, 5'495'976, 413'812'608},
    {"regnet_y_400mf", "RegNetY-400MF, ImageNet classifier", BuildRegNetY400MF, 224, 4'344'144, 401'842'848},
    {"ssd_mobilenet_v2", "SSD on MobileNetV2, detector of 90 COCO classes", BuildSsdMobileNetV2, 300,
     17'156'351, 1'901'178'416, 1, true},
    {"inception_v3", "Inception v3, ImageNet classifier", BuildInceptionV3, 299, 23'834'568, 5'713'216'096,
     4096, true},
    {"squeezenet1_1", "SqueezeNet 1.1, ImageNet classifier", BuildSqueezeNet11, 224, 1'235'496, 349'151'936},
    {"densenet121", "DenseNet-121, ImageNet classifier", BuildDenseNet121, 224, 7'978'856, 2'834'161'664},
    {"efficientnet_b0", "EfficientNet-B0, ImageNet classifier", BuildEfficientNetB0, 224, 5'288'548,
     385'814'752},
    {"vgg16", "VGG-16, ImageNet classifier", BuildVgg16, 224, 138'357'544, 15'470'264'320, 4096, true},
    {"bert_base", "BERT base, hidden states of 128 tokens", BuildBertBase, 0, 108'891'648, 11'173'625'856,
     4096, true},
    {"vit_b_16", "ViT-B/16, ImageNet classifier", BuildVitB16, 224, 86'567'656, 17'563'828'224, 4096, true},
};

}  // namespace

std::span<const ZooRow> ZooRows() { return kRows; }

std::vector<ZooEntry> ZooNetworks() {
  std::vector<ZooEntry> entries;
  for (const ZooRow& row : kRows) {
    ZooInput input = {"input", DType::kF32, {1, 3, row.side, row.side}};
    if (row.side == 0) input = {"input_ids", DType::kI64, {1, kBertTokens}};
    entries.push_back({row.name, row.description, {input}, row.parameters, row.macs, row.scales});
  }
  return entries;
}

absl::StatusOr<std::string> BuildZooModel(std::string_view name, const ZooOptions& options) {
  for (const ZooRow& row : kRows) {
    if (row.name != name) continue;
    if (options.batch < 1 || options.batch > row.max_batch) {
      return InvalidInput(name, ": the batch is ", options.batch, ", it must be 1",
                          row.max_batch > 1 ? absl::StrCat(" to ", row.max_batch) : "");
    }
    if (!(options.width > 0 && options.width <= 1) || (options.width < 1 && !row.scales)) {
      return InvalidInput(name, ": the width is ", options.width, ", it must be ",
                          row.scales ? "above 0 and at most 1" : "1");
    }
    NetworkBuilder builder(name, options.seed, options.batch, options.width);
    row.build(builder);
    std::string bytes;
    if (!builder.model().SerializeToString(&bytes)) return InternalError(name, ": the model has over 2 GiB");
    return bytes;
  }
  const auto append_name = [](std::string* out, const ZooRow& row) { out->append(row.name); };
  return absl::NotFoundError(absl::StrCat("no network is named \"", name, "\" in the zoo; it has ",
                                          absl::StrJoin(kRows, ", ", append_name)));
}

}  // namespace attune
