#include "zoo/zoo.h"

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "zoo/networks.h"

namespace attune {
namespace {

constexpr ZooRow kRows[] = {
    {"resnet18", "ResNet-18, ImageNet classifier", BuildResNet18, 224, 11'689'512, 1'814'073'344},
    {"resnet50", "ResNet-50 v1.5, ImageNet classifier", BuildResNet50, 224, 25'557'032, 4'089'184'256},
    {"resnet50_v2", "ResNet-50 with pre-activation as in Keras, ImageNet classifier", BuildResNet50V2, 224,
     25'568'360, 3'482'255'360},
    {"mobilenet_v1", "MobileNet 1.0 as in Keras, ImageNet classifier", BuildMobileNetV1, 224, 4'231'976,
     568'740'352},
    {"mobilenet_v2", "MobileNetV2 1.0, ImageNet classifier", BuildMobileNetV2, 224, 3'504'872, 300'774'272},
    {"ssd_mobilenet_v2", "SSD on MobileNetV2, detector of 90 COCO classes", BuildSsdMobileNetV2, 300,
     17'156'351, 1'901'178'416, 1},
    {"inception_v3", "Inception v3, ImageNet classifier", BuildInceptionV3, 299, 23'834'568, 5'713'216'096},
    {"squeezenet1_1", "SqueezeNet 1.1, ImageNet classifier", BuildSqueezeNet11, 224, 1'235'496, 349'151'936},
    {"densenet121", "DenseNet-121, ImageNet classifier", BuildDenseNet121, 224, 7'978'856, 2'834'161'664},
    {"efficientnet_b0", "EfficientNet-B0, ImageNet classifier", BuildEfficientNetB0, 224, 5'288'548,
     385'814'752},
    {"vgg16", "VGG-16, ImageNet classifier", BuildVgg16, 224, 138'357'544, 15'470'264'320},
    {"bert_base", "BERT base, hidden states of 128 tokens", BuildBertBase, 0, 108'891'648, 11'173'625'856},
    {"vit_b_16", "ViT-B/16, ImageNet classifier", BuildVitB16, 224, 86'567'656, 17'563'828'224},
};

}  // namespace

std::span<const ZooRow> ZooRows() { return kRows; }

std::vector<ZooEntry> ZooNetworks() {
  std::vector<ZooEntry> entries;
  for (const ZooRow& row : kRows) {
    ZooInput input = {"input", DType::kF32, {1, 3, row.side, row.side}};
    if (row.side == 0) input = {"input_ids", DType::kI64, {1, kBertTokens}};
    entries.push_back({row.name, row.description, {input}, row.parameters, row.macs});
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
    NetworkBuilder builder(name, options.seed, options.batch);
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
