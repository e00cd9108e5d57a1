#include "zoo/zoo.h"

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "zoo/networks.h"

namespace attune {
namespace {

constexpr int64_t kMaxBatch = 4096;

struct Row {
  const char* name;
  const char* description;
  void (*build)(NetworkBuilder&);
  int64_t side;  // of the square image, or 0: token ids
  int64_t max_batch = kMaxBatch;
};

constexpr Row kRows[] = {
    {"resnet18", "ResNet-18, ImageNet classifier", BuildResNet18, 224},
    {"resnet50", "ResNet-50 v1.5, ImageNet classifier", BuildResNet50, 224},
    {"mobilenet_v2", "MobileNetV2 1.0, ImageNet classifier", BuildMobileNetV2, 224},
    {"squeezenet1_1", "SqueezeNet 1.1, ImageNet classifier", BuildSqueezeNet11, 224},
    {"bert_base", "BERT base, hidden states of 128 tokens", BuildBertBase, 0},
};

}  // namespace

std::vector<ZooEntry> ZooNetworks() {
  std::vector<ZooEntry> entries;
  for (const Row& row : kRows) {
    ZooInput input = {"input", DType::kF32, {1, 3, row.side, row.side}};
    if (row.side == 0) input = {"input_ids", DType::kI64, {1, kBertTokens}};
    entries.push_back({row.name, row.description, {input}});
  }
  return entries;
}

absl::StatusOr<std::string> BuildZooModel(std::string_view name, const ZooOptions& options) {
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    if (options.batch < 1 || options.batch > row.max_batch) {
      return InvalidInput(name, ": the batch is ", options.batch, ", it must be 1 to ", row.max_batch);
    }
    NetworkBuilder builder(name, options.seed, options.batch);
    row.build(builder);
    std::string bytes;
    if (!builder.model().SerializeToString(&bytes)) return InternalError(name, ": the model has over 2 GiB");
    return bytes;
  }
  const auto append_name = [](std::string* out, const Row& row) { out->append(row.name); };
  return absl::NotFoundError(absl::StrCat("no network is named \"", name, "\" in the zoo; it has ",
                                          absl::StrJoin(kRows, ", ", append_name)));
}

}  // namespace attune
