#include "import/tflite/import.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "import/tflite/importer.h"
#include "import/tflite/metadata.h"
#include "import/tflite/model.h"
#include "import/tflite/tensors.h"

namespace attune {
namespace {

using namespace tflite;  // NOLINT: this file is the folder's face

class ParsedTfliteModel final : public ParsedModel {
 public:
  static absl::StatusOr<std::unique_ptr<ParsedModel>> Parse(std::string bytes) {
    std::unique_ptr<ParsedTfliteModel> parsed(new ParsedTfliteModel(std::move(bytes)));
    ASSIGN_OR_RETURN(parsed->model_, Model::Open(parsed->bytes_));
    return parsed;
  }

  absl::StatusOr<DeclaredModel> Declare(const std::string& signature) const override {
    try {
      const Entry entry = FindEntry(*model_, signature);
      const Ints tensors = ToInts(model_->subgraph(entry.subgraph).inputs());
      DeclaredModel declared;
      for (size_t i = 0; i < tensors.size(); ++i) {
        const schema::Tensor& tensor = model_->tensor(entry.subgraph, static_cast<int>(tensors[i]));
        declared.inputs.push_back(Describe(tensor, entry.inputs[i]));
        declared.inputs.back().picture = PictureFormatOf(*model_, entry.subgraph, i);
      }
      return declared;
    } catch (const ImportFailure& failure) {
      return failure.status;
    }
  }

  absl::StatusOr<std::unique_ptr<Graph>> Import(const ImportOptions& options) override {
    return Importer(&*model_, &data_, options).Run();
  }

 private:
  explicit ParsedTfliteModel(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string bytes_;
  std::optional<Model> model_;  // refers to the bytes
  TensorData data_;
};

}  // namespace

bool LooksLikeTflite(std::string_view head) { return head.size() >= 8 && head.substr(4, 4) == "TFL3"; }

absl::StatusOr<std::unique_ptr<ParsedModel>> ParseTflite(std::string bytes) {
  return ParsedTfliteModel::Parse(std::move(bytes));
}

}  // namespace attune
